import { createInterface } from 'node:readline'
import type { App, CommandContext } from '../app/app.ts'
import type { Channel } from '../app/doors.ts'
import { openApp } from '../app/open.ts'
import { ServiceError, UsageError, UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { jsonDocument, many, printable, printableText } from '../core/text.ts'
import { chosenFeeds, sessionOf, withApp } from './command.ts'
import { jsonLine, openTranscript, questionsOf } from './transcript.ts'

interface AskOptions {
  feed: string
  session?: string
  stream?: true
  format: 'text' | 'json' | 'jsonl'
  type?: 'Text' | 'Image' | 'Audio' | 'Video'
  files?: string
  transcript?: string
}

/** A message and what came of it, as `--format` and `--transcript` write it. Times are ISO 8601. */
interface Answered {
  at: string
  session: number
  question: string
  /** null: none. */
  answer: string | null
  noAnswer: boolean
  /** null: the service doesn't say. */
  tokens: number | null
  /** Milliseconds until the answer was whole. */
  took: number
  /** Why there is no whole answer; null: there is one. */
  problem: string | null
}

/**
 * `ask`: sends one message to the chatbot or, without a text, each line of standard input. Answers go to standard output,
 * token counts to standard error.
 */
export function askCommand(context: CommandContext, text: string | undefined, options: AskOptions): Promise<number> {
  const { format, type } = options
  const sessionID = sessionOf('ask', options.session)
  const fileIds = fileIdsOf(options)
  if (text?.trim() === '' && fileIds.length === 0) throw new UsageError('ask takes a text that is not empty')
  return withApp(openApp(context, { logLevel: 'error' }), async (app) => {
    const [feed] = chosenFeeds(app.config, [options.feed])
    const { out, err } = app.doors
    const { clock } = app.runtime
    // One attempt: a 429 is often meant for the chatbot's visitor, and a message sent twice is counted twice.
    const client = await app.client({ ...feed, service: { ...feed.service, attempts: 1 } })
    const transcript = openTranscript(options.transcript, app.doors)
    const answers: Answered[] = []
    const ask = options.stream ? askStreaming : askOnce
    const putQuestion = async (content: string, signal: AbortSignal): Promise<number> => {
      const pieces = out.pieces()
      const printer = new ChatPrinter(pieces.write)
      const end = (): void => {
        printer.end()
        pieces.end()
      }
      const startedAt = clock.now()
      const iso = (): string => new Date(clock.now()).toISOString()
      const document: Answered = {
        at: iso(),
        session: sessionID,
        question: content,
        answer: null,
        noAnswer: false,
        tokens: null,
        took: 0,
        problem: null,
      }
      const note = (): void => {
        document.took = clock.now() - startedAt
        answers.push(document)
        transcript?.add(document)
        if (format === 'jsonl') out.document(document, jsonLine)
      }
      const listener: Listener = {
        piece(piece) {
          document.answer = (document.answer ?? '') + piece
          if (format === 'text') printer.print(piece)
          else if (format === 'jsonl' && options.stream) out.document({ at: iso(), content: piece }, jsonLine)
        },
        differs(whole) {
          if (format !== 'text') return
          printer.end()
          err.write('the complete answer differs from its pieces:\n')
          printer.print(whole)
        },
      }
      try {
        const question = { sessionID, content, ...(type && { chatAskType: type }), fileIds }
        const { answer, tokens, noAnswer } = await ask(client, question, listener, signal)
        if (format === 'text') end()
        Object.assign(document, { answer, tokens, noAnswer })
        note()
        const cost = tokens === null ? 'the service says no number of tokens' : many(tokens, 'token')
        err.write(`${cost}${noAnswer ? '; the chatbot had no answer' : ''}\n`)
        return noAnswer ? exitStatus.partial : exitStatus.right
      } catch (error) {
        if (format === 'text') end()
        if (!(error instanceof ServiceError)) throw error
        document.problem = error.message
        note()
        throw new UserError(`${feed.name}: ${error.message}`, { cause: error })
      }
    }
    try {
      return await (text === undefined
        ? chat(putQuestion, { err, signal: context.signal, history: questionsOf(options.transcript) })
        : putQuestion(text, context.signal))
    } finally {
      if (format === 'json') out.document({ version: 1, feed: feed.name, chatbot: feed.chatbot, answers }, jsonDocument)
      transcript?.close()
    }
  })
}

/** The IDs of --files. The client checks number and kind together, before sending. */
function fileIdsOf({ files, type = 'Text' }: AskOptions): number[] {
  const ids = files === undefined ? [] : files.split(',').map((id) => id.trim())
  const problems = ids.filter((id) => !/^\d{1,15}$/.test(id)).map((id) => `"${id}" is no file ID, which is a number`)
  if (type === 'Text' && ids.length > 0) problems.push('files need --type Image, Audio or Video')
  if ((type === 'Audio' || type === 'Video') && ids.length !== 1)
    problems.push(`--type ${type} takes exactly one file, not ${ids.length}`)
  if (type === 'Image' && ids.length === 0) problems.push('--type Image takes at least one file')
  if (problems.length > 0) throw new UsageError(`--files: ${problems.join('; ')}`)
  return ids.map(Number)
}

interface ChatDoors {
  err: Channel
  signal: AbortSignal
  /** For the arrow keys, the latest first. */
  history: string[]
}

/**
 * Asks line after line. On a terminal, a failed message does not end the chat, and Ctrl-C ends the answer that is waited for
 * or, where none is, the chat.
 */
async function chat(
  putQuestion: (content: string, signal: AbortSignal) => Promise<number>,
  { err, signal, history }: ChatDoors,
): Promise<number> {
  const isTerminal = process.stdin.isTTY && err.isTTY
  const terminal = { output: process.stderr, history, historySize: 1000, removeHistoryDuplicates: true }
  const lines = createInterface({ input: process.stdin, ...(isTerminal && terminal), signal })
  // On a terminal, readline handles Ctrl-C itself.
  let asking: AbortController | null = null
  lines.on('SIGINT', () => {
    if (asking === null) lines.close()
    else asking.abort()
  })
  const prompt = (): void => {
    if (isTerminal) lines.prompt()
  }
  let status: number = exitStatus.right
  prompt()
  for await (const line of lines) {
    if (line.trim() !== '') {
      asking = new AbortController()
      try {
        status = Math.max(status, await putQuestion(line, AbortSignal.any([signal, asking.signal])))
      } catch (error) {
        if (!isTerminal || signal.aborted || !(error instanceof UserError)) throw error
        err.write(`${printable(error.message)}\n`)
      } finally {
        asking = null
      }
    }
    prompt()
  }
  return isTerminal ? exitStatus.right : status
}

/** Hears an answer as it comes. */
interface Listener {
  piece(text: string): void
  /** Called with the whole answer, if it differs from its pieces. */
  differs(whole: string): void
}

type Client = Awaited<ReturnType<App['client']>>

type Ask = (
  client: Client,
  question: Parameters<Client['ask']>[0],
  listener: Listener,
  signal: AbortSignal,
) => Promise<{ answer: string; tokens: number | null; noAnswer: boolean }>

const askOnce: Ask = async (client, question, listener, signal) => {
  const { content, totalToken, noAnswer } = await client.ask(question, { signal })
  listener.piece(content)
  return { answer: content, tokens: totalToken, noAnswer }
}

const askStreaming: Ask = async (client, question, listener, signal) => {
  let came = ''
  for await (const part of client.askStreaming(question, { signal })) {
    if ('content' in part) {
      listener.piece(part.content)
      came += part.content
      continue
    }
    const { Answer, TotalToken, noAnswer = Answer.trim() === '' } = part
    if (!Answer.startsWith(came)) listener.differs(Answer)
    else if (Answer.length > came.length) listener.piece(Answer.slice(came.length))
    return { answer: Answer, tokens: TotalToken, noAnswer }
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
