import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { FeedError, messageOf } from '../../core/errors.ts'
import { isGzip } from '../../core/gzip.ts'
import { assertRoom } from '../../core/room.ts'
import { inflated, outputBlock } from './inflate.ts'
import type { Decoder, DecompressionLimits } from './inflate.ts'
import type { Opened, TransportEnd } from './transport.ts'
import { isZip, unzipped } from './zip.ts'

export interface DecompressionOptions extends DecompressionLimits {
  /** Folder for an archive that is not in a file yet. */
  scratch: string
  /** Which member of an archive is the feed, as a glob; null: the only possible one. */
  member: string | null
  /** Most members of an archive. */
  maxFiles: number
  /** Bytes that stay free on the disk with the scratch folder. */
  keepFree: number
}

/**
 * Decompresses by Content-Encoding, or by the first bytes of gzip and ZIP where there is none; anything else passes
 * through. Every member of a gzip must be whole (docs/faults.md, F3 and F4): several form one document, other data
 * after them is a reason. One member of a ZIP archive is the document, which may itself be gzipped.
 *
 * `bytes` never throws for a broken stream: the bytes end, and `end()` says why, once the last byte is read. It throws
 * `FeedError` for an unknown encoding and for an archive whose feed can't be read. A matching gzip trailer or archive
 * checksum proves the length.
 */
export function decompressed(opened: Opened, options: DecompressionOptions) {
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
      // A server may compress a .gz file once more for the transfer.
      else yield* isGzip(peek.head) ? gunzipped(peek.bytes) : peek.bytes
    } finally {
      await peek.close()
    }
  }
  async function* member(archive: Beginning): AsyncGenerator<Buffer> {
    const own = opened.contentEncoding === null ? opened.file : undefined
    const file = own ?? join(options.scratch, 'archive.zip')
    try {
      if (own === undefined) await putAside(archive.bytes, file, options)
      else await archive.close()
      const reasons = [...opened.end().reasons, ...layers.flatMap((each) => each.reasons)]
      const unpacked = unzipped({ file, name: opened.name, reasons }, options, layer())
      const { head, bytes, close } = await beginning(unpacked)
      try {
        if (isZip(head)) throw new FeedError(`${opened.name} is an archive inside an archive, which is not supported`)
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
    end(): TransportEnd {
      const sent = opened.end()
      const reasons = [...sent.reasons, ...layers.flatMap((each) => each.reasons)]
      const proven = layers.length > 0 ? layers.every((each) => each.proven) : sent.proven
      const ownEnd = layers.length > 0 ? {} : { doubt: sent.doubt, surplus: sent.surplus }
      return { proven: proven && reasons.length === 0, reasons, ...ownEnd }
    },
  }
}

type Beginning = Awaited<ReturnType<typeof beginning>>

/** The first bytes of a source, `size` of them unless there are fewer; four show the compression. */
export async function beginning(source: AsyncIterable<Buffer>, size = 4) {
  const iterator = source[Symbol.asyncIterator]()
  const chunks: Buffer[] = []
  let length = 0
  let done = false
  while (length < size && !done) {
    const next = await iterator.next()
    if (next.done) done = true
    else {
      // A block may be reused (`Opened.bytes`).
      chunks.push(Buffer.from(next.value))
      length += next.value.length
    }
  }
  const head = Buffer.concat(chunks)
  async function* bytes(): AsyncGenerator<Buffer> {
    try {
      if (head.length > 0) yield head
      for (let next = done ? null : await iterator.next(); next && !next.done; next = await iterator.next())
        yield next.value
    } finally {
      await iterator.return?.()
    }
  }
  return {
    /** A copy. */
    head,
    /** Whether that is all there is. */
    whole: done,
    /** From the start; can be read once. */
    bytes: bytes(),
    /** Ends the source, read or not. */
    close: async (): Promise<void> => void (await iterator.return?.()),
  }
}

const decoders = new Map<string, (options: { chunkSize: number }) => Decoder>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
])

function decoderFor(contentEncoding: string): Decoder {
  const create = decoders.get(contentEncoding)
  if (create) return create({ chunkSize: outputBlock })
  const name = JSON.stringify(contentEncoding.slice(0, 40))
  throw new FeedError(
    `the feed is sent with Content-Encoding ${name}, which is not known; known are ${[...decoders.keys()].join(', ')}: have the server leave it out`,
  )
}

/** Writes an archive to a file: its directory is at its end. */
async function putAside(
  bytes: AsyncIterable<Buffer>,
  file: string,
  { scratch, keepFree }: DecompressionOptions,
): Promise<void> {
  async function* whileThereIsRoom(): AsyncGenerator<Buffer> {
    for await (const block of bytes) {
      assertRoom(scratch, block.length, keepFree)
      yield block
    }
  }
  try {
    await pipeline(whileThereIsRoom, createWriteStream(file, { mode: 0o600 }))
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new FeedError(
      `the archive can't be written to the scratch folder: ${messageOf(error)}; free some space there`,
    )
  }
}
