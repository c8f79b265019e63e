import { createInterface } from 'node:readline'
import type { App, CommandContext } from '../app/app.ts'
import type { Channel } from '../app/doors.ts'
import { openApp } from '../app/open.ts'
import type { FeedConfig } from '../config/config.ts'
import { ServiceError, UsageError, UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { printable, printableText } from '../core/text.ts'
import { chosenFeeds, withApp } from './command.ts'

interface AskOptions {
  feed: string
  session: string
  stream?: true
}

/**
 * `ask`: sends one message to the chatbot or, without a text, each line of standard input. Answers go to standard output,
 * token counts to standard error.
 */
export function askCommand(context: CommandContext, text: string | undefined, options: AskOptions): Promise<number> {
  if (!/^-?\d+$/.test(options.session) || !Number.isSafeInteger(Number(options.session)))
    throw new UsageError(`--session takes the number of a chat session, not "${options.session}"`)
  if (text?.trim() === '') throw new UsageError('ask takes a text that is not empty')
  return withApp(openApp(context, { logLevel: 'error' }), async (app) => {
    const [feed] = chosenFeeds(app.config, [options.feed])
    const ask = options.stream ? askStreaming : askOnce
    const one = async (content: string): Promise<number> => {
      const pieces = app.doors.out.pieces()
      const printer = new ChatPrinter(pieces.write)
      const end = (): void => {
        printer.end()
        pieces.end()
      }
      try {
        const question = { sessionID: Number(options.session), content }
        const { tokens, answered } = await ask(app, feed, question, printer, context.signal)
        end()
        const cost = tokens === null ? 'the service says no number of tokens' : `${tokens} tokens`
        app.doors.err.write(`${cost}${answered ? '' : '; the chatbot had no answer'}\n`)
        return answered ? exitStatus.right : exitStatus.partial
      } catch (error) {
        end()
        throw error instanceof ServiceError ? new UserError(`${feed.name}: ${error.message}`, { cause: error }) : error
      }
    }
    return text === undefined ? chat(one, app.doors.err, context.signal) : one(text)
  })
}

/** Asks line after line. On a terminal, a failed message does not end the chat. */
async function chat(one: (content: string) => Promise<number>, err: Channel, signal: AbortSignal): Promise<number> {
  const isTerminal = process.stdin.isTTY && err.isTTY
  const lines = createInterface({ input: process.stdin, ...(isTerminal && { output: process.stderr }), signal })
  // On a terminal, readline handles Ctrl-C itself.
  lines.on('SIGINT', () => lines.close())
  const prompt = (): void => {
    if (isTerminal) lines.prompt()
  }
  let status: number = exitStatus.right
  prompt()
  for await (const line of lines) {
    if (line.trim() !== '') {
      try {
        status = Math.max(status, await one(line))
      } catch (error) {
        if (!isTerminal || signal.aborted || !(error instanceof UserError)) throw error
        err.write(`${printable(error.message)}\n`)
      }
    }
    prompt()
  }
  return isTerminal ? exitStatus.right : status
}

type Ask = (
  app: App,
  feed: FeedConfig,
  question: { sessionID: number; content: string },
  printer: ChatPrinter,
  signal: AbortSignal,
) => Promise<{ tokens: number | null; answered: boolean }>

const askOnce: Ask = async (app, feed, question, printer, signal) => {
  const { content, totalToken, noAnswer } = await app.client(feed).ask(question, { signal })
  printer.print(content)
  return { tokens: totalToken, answered: !noAnswer }
}

const askStreaming: Ask = async (app, feed, question, printer, signal) => {
  let came = ''
  for await (const part of app.client(feed).askStreaming(question, { signal })) {
    if ('content' in part) {
      printer.print(part.content)
      came += part.content
      continue
    }
    const { Answer, TotalToken, noAnswer = Answer.trim() === '' } = part
    if (Answer.startsWith(came)) printer.print(Answer.slice(came.length))
    else {
      printer.end()
      app.doors.err.write('the complete answer differs from its pieces:\n')
      printer.print(Answer)
    }
    return { tokens: TotalToken, answered: !noAnswer }
  }
  throw new Error('a stream ended without its final object and without an error')
}

/** Longest escape sequence to wait for across pieces. */
const longestSequence = 64

/**
 * Prints an answer as it comes, without escape sequences, control or bidirectional characters, even if they are split over
 * pieces; line breaks stay.
 */
export class ChatPrinter {
  readonly #write: (text: string) => void
  #held = ''
  #last = '\n'

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  print(piece: string): void {
    const text = this.#held + piece
    const cut = safeEnd(text)
    this.#held = text.slice(cut)
    this.#put(text.slice(0, cut))
  }

  /** Prints what is left, and ends the line. */
  end(): void {
    this.#put(this.#held)
    this.#held = ''
    if (this.#last !== '\n') this.#put('\n')
  }

  #put(text: string): void {
    const shown = printableText(text)
    if (shown === '') return
    this.#write(shown)
    this.#last = shown.at(-1)!
  }
}

/** Where the text can be cut: before a lone surrogate or an unfinished escape sequence. */
function safeEnd(text: string): number {
  const start = Math.max(text.lastIndexOf('\u001b'), text.lastIndexOf('\u009b'))
  // A sequence ends with a letter or the like.
  // oxlint-disable-next-line no-control-regex
  const isOpen = /^(?:\u001b|\u009b|\u001b\[)[\d;?:]*$|^\u001b\][^\u0007]*$/.test(text.slice(start))
  if (start >= 0 && isOpen && text.length - start <= longestSequence) return start
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
}
