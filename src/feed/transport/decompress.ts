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
 * through. Every member of a gzip must be whole (F3, F4): several are one document, anything else after them is a
 * reason. Of a ZIP archive one member is the document, which may be a gzip itself.
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
    const peek = await peeked(sent)
    try {
      if (isZip(peek.head)) yield* member(peek)
      // A server may compress on its way what is a .gz file already.
      else yield* isGzip(peek.head) ? gunzipped(peek.all) : peek.all
    } finally {
      await peek.close()
    }
  }
  async function* member(archive: Peeked): AsyncGenerator<Buffer> {
    const own = opened.contentEncoding === null ? opened.file : undefined
    const file = own ?? join(options.scratch, 'archive.zip')
    try {
      if (own === undefined) await putAside(archive.all, file)
      else await archive.close()
      const reasons = [...opened.end().reasons, ...layers.flatMap((each) => each.reasons)]
      const unpacked = unzipped({ file, name: opened.name, reasons }, options.member, options, layer())
      const { head, all, close } = await peeked(unpacked)
      try {
        if (isZip(head)) throw new FeedError(`${opened.name} is an archive in an archive, which is not unpacked`)
        yield* isGzip(head) ? gunzipped(all) : all
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
interface Peeked {
  /** The first bytes, at least the four that tell what they begin. */
  head: Buffer
  /** All of them from the start; may be walked once. */
  all: AsyncIterable<Buffer>
  /** Ends the source, walked or not. */
  close: () => Promise<void>
}

async function peeked(source: AsyncIterable<Buffer>): Promise<Peeked> {
  const blocks = source[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  while (head.length < 4) {
    const next = await blocks.next()
    if (next.done) break
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value])
  }
  async function* all(): AsyncGenerator<Buffer> {
    if (head.length > 0) yield head
    for (let next = await blocks.next(); !next.done; next = await blocks.next()) yield next.value
  }
  return { head, all: all(), close: async () => void (await blocks.return?.()) }
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
