import type { Transform } from 'node:stream'
import { codeOf } from '../../core/errors.ts'
import type { TransportEnd } from './transport.ts'

export interface DecompressionLimits {
  /** Most bytes of the document. */
  maxUnpackedBytes: number
  /** How many times as long as what was sent a document over 10 MB may be (docs/faults.md, F7). */
  maxRatio: number
}

/** Short documents may well repeat themselves. */
const ratioFrom = 10 * 1024 * 1024

/** Bytes per block of a decoder. */
export const outputBlock = 256 * 1024

export type Decoder = Transform & { readonly bytesWritten: number }

/**
 * Decodes block by block and yields the result of each before the next: nothing piles up, and what was decoded before a
 * fault is kept.
 */
export async function* inflated(
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
    if (state.fault)
      end.reasons.push(`the compressed data is broken or cut off (${codeOf(state.fault) || state.fault.name})`)
    else if (decoder.bytesWritten < state.input) end.reasons.push('there is other data after the compressed data')
    else end.proven = true
  } finally {
    decoder.destroy()
  }
}

/** The limit that a document of `output` bytes, sent as `input` bytes, exceeds; null: none. */
export function excess(state: { input: number; output: number }, limits: DecompressionLimits): string | null {
  const { maxUnpackedBytes, maxRatio } = limits
  if (state.output > maxUnpackedBytes) return `${maxUnpackedBytes} bytes (maxUnpackedBytes)`
  if (state.output > ratioFrom && state.output > maxRatio * state.input)
    return `${maxRatio} times what was sent (maxRatio)`
  return null
}
