import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { FeedError } from '../../errors.ts'
import type { Opened, TransportEnd } from '../feed.ts'

export interface DecompressionLimits {
  /** Most bytes of the document. */
  maxBytes: number
}

/** Bombs: a document over 10 MB that is more than 200 times as long as what was sent (fault-model F7). */
const ratioFrom = 10 * 1024 * 1024
const maxRatio = 200
const outputBlock = 256 * 1024

type Decoder = Transform & { readonly bytesWritten: number }

/** The document's bytes of an open source, and where they ended. */
export interface Decompressed {
  /** Never throws for a broken stream: the bytes end, and `end()` says why. Throws `FeedError` for an unknown encoding. */
  bytes: AsyncIterable<Buffer>
  /** Valid after the last byte. A gzip trailer that fits proves the length, whatever the transport could. */
  end(): TransportEnd
}

/**
 * Decompresses by Content-Encoding, or by gzip's first bytes where there is none; anything else passes through.
 * Every member of a gzip must be whole (F3, F4): several are one document, anything else after them is a reason.
 */
export function decompressed(opened: Opened, limits: DecompressionLimits): Decompressed {
  const layers: TransportEnd[] = []
  const layer = (): TransportEnd => {
    const end: TransportEnd = { proven: false, reasons: [] }
    layers.push(end)
    return end
  }
  async function* bytes(): AsyncGenerator<Buffer> {
    const encoding = opened.contentEncoding
    const stream: AsyncIterator<Buffer> = (
      encoding === null ? opened.bytes : inflated(opened.bytes, decoderFor(encoding), limits, layer())
    )[Symbol.asyncIterator]()
    try {
      const head = await peeked(stream)
      const rest = remaining(head, stream)
      // A server may compress on its way what is a .gz file already.
      if (head[0] === 0x1f && head[1] === 0x8b) yield* inflated(rest, decoderFor('gzip'), limits, layer())
      else yield* rest
    } finally {
      await stream.return?.()
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

/** The first bytes, at least the two that tell gzip. */
async function peeked(source: AsyncIterator<Buffer>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0)
  while (head.length < 2) {
    const next = await source.next()
    if (next.done) break
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value])
  }
  return head
}

async function* remaining(head: Buffer, source: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  for (let next = await source.next(); !next.done; next = await source.next()) yield next.value
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

/**
 * Feeds the decoder block by block and hands out what comes of each before the next: nothing piles up, and what was
 * decoded before a fault is not lost.
 */
async function* inflated(
  source: AsyncIterable<Buffer>,
  decoder: Decoder,
  limits: DecompressionLimits,
  end: TransportEnd,
): AsyncGenerator<Buffer> {
  const state = { input: 0, output: 0, fault: null as Error | null, ended: false }
  let wake = (): void => {}
  decoder.on('readable', () => wake())
  decoder.on('end', () => {
    state.ended = true
    wake()
  })
  decoder.on('error', (error) => {
    state.fault = error
    wake()
  })
  async function* output(over: () => boolean): AsyncGenerator<Buffer> {
    while (true) {
      for (let block: Buffer | null = decoder.read(); block !== null; block = decoder.read()) {
        state.output += block.length
        yield block
      }
      if (over() || state.fault || state.ended) return
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  async function* decodedBlocks(): AsyncGenerator<Buffer> {
    for await (const block of source) {
      state.input += block.length
      let taken = false
      decoder.write(block, () => {
        taken = true
        wake()
      })
      yield* output(() => taken)
      if (state.fault || state.ended) return
    }
    decoder.end()
    yield* output(() => state.ended)
  }
  try {
    for await (const block of decodedBlocks()) {
      const problem = excess(state, limits)
      if (problem) {
        end.reasons.push(`the document unpacks to more than ${problem}; the rest was not read`)
        return
      }
      yield block
    }
    if (state.fault) end.reasons.push(`the compressed data is broken or cut off (${codeOf(state.fault)})`)
    else if (decoder.bytesWritten < state.input) end.reasons.push('there is something after the compressed data')
    else end.proven = true
  } finally {
    decoder.destroy()
  }
}

function excess(state: { input: number; output: number }, limits: DecompressionLimits): string | null {
  if (state.output > limits.maxBytes) return `${limits.maxBytes} bytes`
  if (state.output > ratioFrom && state.output > maxRatio * state.input) return `${maxRatio} times what was sent`
  return null
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.name
}
