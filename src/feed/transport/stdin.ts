import type { Readable } from 'node:stream'
import { FeedError, messageOf } from '../../core/errors.ts'
import type { Opened, Transport, TransportOptions } from './transport.ts'

/** The process's standard input; `isTTY` where a person sits there. */
export type InputStream = Readable & { isTTY?: boolean }

const name = 'standard input'

/**
 * The source `-`. The stream is asked for only when a feed is read from it, and can be read once. Throws `FeedError` for
 * a terminal, and for a second reading.
 */
export function standardInput(stream: () => InputStream): Transport {
  let isRead = false
  return async (_source, options) => {
    options.signal.throwIfAborted()
    if (isRead) throw new FeedError(`${name} was read already; it can be read once`)
    const input = stream()
    if (input.isTTY) {
      throw new FeedError(
        `a feed is expected on ${name} (source "-"), which is a terminal: give it one, as with < export.xml`,
      )
    }
    isRead = true
    return opened(input, options)
  }
}

/** That of this process. */
export const stdin = standardInput(() => process.stdin)

function opened(input: InputStream, options: TransportOptions): Opened {
  const reasons: string[] = []
  const deadline = AbortSignal.timeout(options.transferTimeout)
  return {
    name,
    bytes: blocksOf(input, options, deadline, reasons),
    charset: null,
    contentEncoding: null,
    validators: {},
    // Whoever writes may have died half way: the end of a pipe says nothing.
    end: () => ({ proven: false, reasons }),
  }
}

async function* blocksOf(
  input: InputStream,
  options: TransportOptions,
  deadline: AbortSignal,
  reasons: string[],
): AsyncGenerator<Buffer> {
  const signal = AbortSignal.any([options.signal, deadline])
  const stop = (): void => void input.destroy(new Error('stopped'))
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  let size = 0
  try {
    for await (const part of input) {
      const block: Buffer = part
      size += block.length
      if (size > options.maxBytes) {
        reasons.push(`more than ${options.maxBytes} bytes came in; the rest was not read`)
        return
      }
      yield block
    }
  } catch (error) {
    if (options.signal.aborted) reasons.push(`reading ${name} was stopped after ${size} bytes`)
    else if (deadline.aborted) {
      reasons.push(`${name} did not end within ${options.transferTimeout} ms; it was given up after ${size} bytes`)
    } else reasons.push(`reading ${name} failed after ${size} bytes: ${messageOf(error)}`)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
