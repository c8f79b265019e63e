import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { FeedError, messageOf } from '../../core/errors.ts'
import { inflated, outputBlock } from './inflate.ts'
import type { Decoder, DecompressionLimits } from './inflate.ts'
import type { Opened, TransportEnd } from './transport.ts'
import { isZip, unzipped } from './zip.ts'

export interface DecompressionOptions extends DecompressionLimits {
  /** Folder for an archive that is in no file yet. */
  scratch: string
  /** Which member of an archive is the feed, as a glob; null: the only one that can be one. */
  member: string | null
}

/** The document's bytes of an open source, and where they ended. */
export interface Decompressed {
  /**
   * Never throws for a broken stream: the bytes end, and `end()` says why. Throws `FeedError` for an unknown encoding and
   * for an archive whose feed can't be had.
   */
  bytes: AsyncIterable<Buffer>
  /** Valid after the last byte. A gzip trailer or an archive's check sum that fits proves the length, whatever the transport could. */
  end(): TransportEnd
}

/**
 * Decompresses by Content-Encoding, or by the first bytes of gzip and ZIP where there is none; anything else passes
 * through. Every member of a gzip must be whole (docs/faults.md, F3 and F4): several are one document, anything else after
 * them is a reason. Of a ZIP archive one member is the document, which may be a gzip itself.
 */
export function decompressed(opened: Opened, options: DecompressionOptions): Decompressed {
  const layers: TransportEnd[] = []
  const layer = (): TransportEnd => {
    const end: TransportEnd = { proven: false, reasons: [] }
    layers.push(end)
    return end
  }
  const gunzipped = (source: AsyncIterable<Buffer>): AsyncIterable<Buffer> =>
    inflated(source, decoderFor('gzip'), options, layer())
  async function* bytes(): AsyncGenerator<Buffer> {
    const encoding = opened.contentEncoding
    const sent = encoding === null ? opened.bytes : inflated(opened.bytes, decoderFor(encoding), options, layer())
    const peek = await beginning(sent)
    try {
      if (isZip(peek.head)) yield* member(peek)
      // A server may compress on its way what is a .gz file already.
      else yield* isGzip(peek.head) ? gunzipped(peek.bytes) : peek.bytes
    } finally {
      await peek.close()
    }
  }
  async function* member(archive: Beginning): AsyncGenerator<Buffer> {
    const own = opened.contentEncoding === null ? opened.file : undefined
    const file = own ?? join(options.scratch, 'archive.zip')
    try {
      if (own === undefined) await putAside(archive.bytes, file)
      else await archive.close()
      const reasons = [...opened.end().reasons, ...layers.flatMap((each) => each.reasons)]
      const unpacked = unzipped({ file, name: opened.name, reasons }, options.member, options, layer())
      const { head, bytes, close } = await beginning(unpacked)
      try {
        if (isZip(head)) throw new FeedError(`${opened.name} is an archive in an archive, which is not unpacked`)
        yield* isGzip(head) ? gunzipped(bytes) : bytes
      } finally {
        await close()
      }
    } finally {
      if (own === undefined) await rm(file, { force: true })
    }
  }
  return {
    bytes: bytes(),
    end() {
      const sent = opened.end()
      const reasons = [...sent.reasons, ...layers.flatMap((each) => each.reasons)]
      const proven = layers.length > 0 ? layers.every((each) => each.proven) : sent.proven
      return { proven: proven && reasons.length === 0, reasons }
    },
  }
}

function isGzip(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b
}

/** A source of which the beginning is known. */
interface Beginning {
  /** A copy of the first bytes, at least so many where there are as many; four tell what is around a document. */
  head: Buffer
  /** Whether that is all there is. */
  whole: boolean
  /** All of them from the start; may be walked once. */
  bytes: AsyncGenerator<Buffer>
  /** Ends the source, walked or not. */
  close: () => Promise<void>
}

export async function beginning(source: AsyncIterable<Buffer>, size = 4): Promise<Beginning> {
  const iterator = source[Symbol.asyncIterator]()
  const parts: Buffer[] = []
  let length = 0
  let done = false
  while (length < size && !done) {
    const next = await iterator.next()
    if (next.done) done = true
    else {
      // A block may be filled anew (`Opened.bytes`).
      parts.push(Buffer.from(next.value))
      length += next.value.length
    }
  }
  const head = Buffer.concat(parts)
  async function* bytes(): AsyncGenerator<Buffer> {
    try {
      if (head.length > 0) yield head
      for (let next = done ? null : await iterator.next(); next && !next.done; next = await iterator.next())
        yield next.value
    } finally {
      await iterator.return?.()
    }
  }
  const close = async (): Promise<void> => void (await iterator.return?.())
  return { head, whole: done, bytes: bytes(), close }
}

function decoderFor(contentEncoding: string): Decoder {
  switch (contentEncoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip({ chunkSize: outputBlock })
    case 'deflate':
      return createInflate({ chunkSize: outputBlock })
    case 'br':
      return createBrotliDecompress({ chunkSize: outputBlock })
    case 'zstd':
      return createZstdDecompress({ chunkSize: outputBlock })
    default:
      throw new FeedError(
        `the feed is sent in the encoding ${JSON.stringify(contentEncoding.slice(0, 40))}, which is not known`,
      )
  }
}

/** Writes an archive into a file: its directory stands at its end. */
async function putAside(bytes: AsyncIterable<Buffer>, file: string): Promise<void> {
  try {
    await pipeline(bytes, createWriteStream(file, { mode: 0o600 }))
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new FeedError(`the archive can't be put aside to be read: ${messageOf(error)}; free some space there`)
  }
}
