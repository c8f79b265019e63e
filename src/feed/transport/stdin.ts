import type { Readable } from 'node:stream'
import { FeedError, messageOf } from '../../core/errors.ts'
import type { Opened, Transport, TransportOptions } from './transport.ts'

/** `isTTY`: a person is typing. */
export type InputStream = Readable & { isTTY?: boolean }

const name = 'standard input'

const doubt =
  'a pipe ends just so if its writer dies half way; give the file compressed (.gz or .zip), or name the file as the source, with ready.marker if another program writes it'

/**
 * The source `-`. The stream is opened only when a feed is read from it, once. Throws `FeedError` for a terminal and for a
 * second reading.
 */
export function standardInput(stream: () => InputStream): Transport {
  let isRead = false
  return async (_source, options) => {
    options.signal.throwIfAborted()
    if (isRead) throw new FeedError(`${name} was read already; it can be read once`)
    const input = stream()
    if (input.isTTY) {
      throw new FeedError(`${name} (source "-") is a terminal; redirect a feed into it, as with < export.xml`)
    }
    isRead = true
    return opened(input, options)
  }
}

export const stdin = standardInput(() => process.stdin)

function opened(input: InputStream, options: TransportOptions): Opened {
  const reasons: string[] = []
  const deadline = AbortSignal.timeout(options.transferTimeout)
  async function* bytes(): AsyncGenerator<Buffer> {
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
          reasons.push(`more than ${options.maxBytes} bytes arrived (maxBytes); the rest was not read`)
          return
        }
        yield block
      }
    } catch (error) {
      if (options.signal.aborted) reasons.push(`reading ${name} was stopped after ${size} bytes`)
      else if (deadline.aborted) {
        reasons.push(
          `${name} did not end within ${options.transferTimeout} ms (transferTimeout); gave up after ${size} bytes`,
        )
      } else reasons.push(`reading ${name} failed after ${size} bytes: ${messageOf(error)}`)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }
  return {
    name,
    bytes: bytes(),
    charset: null,
    contentEncoding: null,
    validators: {},
    end: () => ({ proven: false, reasons, doubt }),
  }
}
