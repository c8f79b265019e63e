/** The ClientAsk operation (docs/service.md, "Message a chatbot"), whole or streamed. */
import { ServiceError } from '../core/errors.ts'
import { many, unknownName } from '../core/text.ts'
import { failureIn, notUnderstood } from './envelope.ts'
import type { Cleaner } from './envelope.ts'
import { ObjectSplitter } from './framing.ts'
import { member, Misread, readBoolean, readInteger, readMembers } from './members.ts'
import type { Members } from './members.ts'
import { RequestError } from './operations.ts'
import type { Operation } from './operations.ts'
import type { StreamResponse } from './send.ts'

export type ChatAskType = 'Text' | 'Audio' | 'Image' | 'Video'

/** The request body of ClientAsk without `stream`. */
export interface ChatQuestion {
  /** From the service's Create Chat Session operation, whose path is not documented. */
  sessionID: number
  /** The user's message; may be empty if `chatAskType` is Image, Audio or Video. */
  content: string
  /** Default: Text. */
  chatAskType?: ChatAskType | null
  /**
   * IDs of uploaded files: several for Image, exactly one for Audio and Video, none for Text. Audio is WAV; video MP4, MKV,
   * AVI, FLV or MPEG, up to 100 MB; images are PNG, JPEG, WEBP or non-animated GIF, up to 20 MB each.
   */
  fileIds?: readonly number[] | null
}

/** `Data` of an answer in one piece. */
export interface ChatAnswer {
  /** null: the service doesn't say. */
  messageid: number | null
  content: string
  /** Tokens consumed; null: the service doesn't say. */
  totalToken: number | null
  /** The chatbot had no answer. */
  noAnswer: boolean
}

/** A part of a streamed answer. */
export interface ChatPiece {
  content: string
}

/** The final object of a streamed answer. */
export interface ChatEnd {
  /** Message ID of the request; null if the service doesn't say, as where it sent a whole answer instead of a stream. */
  QuestionID: number | null
  /** Message ID of the answer; null: the service doesn't say. */
  AnswerID: number | null
  /** The complete answer. */
  Answer: string
  /** Tokens consumed; null: the service doesn't say. */
  TotalToken: number | null
  /** Only if the service sends it: it is documented for whole answers only. */
  noAnswer?: boolean
}

/** A stream that ended before its final object; `received`: the answer so far. */
export class BrokenAnswerError extends ServiceError {
  override name = 'BrokenAnswerError'
  readonly received: string
  constructor(problem: string, received: string, cause?: unknown) {
    const came =
      received === '' ? 'nothing of the answer had arrived' : `${many(received.length, 'character')} of it had arrived`
    super('transient', `${problem}; ${came}`, { effect: 'unknown', cause })
    this.received = received
  }
}

/** Not repeatable: a message might be asked, counted and paid twice. */
export const askOperation: Operation<ChatAnswer> = {
  name: 'ClientAsk',
  path: '/chat/Chat/ClientAsk',
  kind: 'ask',
  repeatable: false,
  read: readChatAnswer,
  lost: 'the chatbot may have received the message, so it was not sent again',
}

const members: readonly (keyof ChatQuestion)[] = ['sessionID', 'content', 'chatAskType', 'fileIds']

/** The body to send. Throws `RequestError` with every problem. */
export function askBody(question: ChatQuestion, stream: boolean): object {
  const { sessionID, content, chatAskType = null, fileIds = null, ...others } = question
  const problems = Object.entries(others).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${unknownName(name, members, 'field')}`],
  )
  const type = chatAskType ?? 'Text'
  if (!Number.isSafeInteger(sessionID)) problems.push(`sessionID: takes a whole number, not ${String(sessionID)}`)
  const isType = ['Text', 'Audio', 'Image', 'Video'].includes(type)
  if (!isType) problems.push(`chatAskType: takes Text, Audio, Image or Video, not ${JSON.stringify(type)}`)
  const files = fileIds ?? []
  if (!Array.isArray(files) || !files.every((id) => Number.isSafeInteger(id)))
    problems.push('fileIds: takes a list of whole numbers')
  else if (type === 'Text' && files.length > 0) problems.push('fileIds: only Image, Audio and Video take files')
  else if ((type === 'Audio' || type === 'Video') && files.length !== 1)
    problems.push(`fileIds: ${type} takes exactly one file, not ${files.length}`)
  if (typeof content !== 'string') problems.push('content: takes text')
  else if (content === '' && (type === 'Text' || files.length === 0))
    problems.push('content: may be empty only where a file is sent')
  if (problems.length > 0) throw new RequestError('ClientAsk', problems)
  return {
    sessionID,
    content,
    ...(chatAskType !== null && { chatAskType }),
    ...(stream && { stream }),
    ...(files.length > 0 && { fileIds: files }),
  }
}

/**
 * The pieces of a streamed answer, then its final object. Throws `ServiceError` if the service refuses, in an envelope or by
 * its status, and `BrokenAnswerError` if the final object is missing.
 */
export async function* chatParts(
  { status, headers, chunks }: StreamResponse,
  now: () => number,
  clean: Cleaner,
): AsyncGenerator<ChatPiece | ChatEnd, void> {
  const failure = (body: string): ServiceError => failureIn({ status, headers, body }, askOperation.name, now(), clean)
  if (status < 200 || status >= 300) throw failure(await whole(chunks))
  const splitter = new ObjectSplitter()
  let received = ''
  let passedOver = ''
  try {
    for await (const chunk of chunks) {
      for (const object of splitter.push(chunk)) {
        const part = readPart(object)
        if (part !== null && 'envelope' in part) {
          yield* answered(part.envelope, failure)
          return
        }
        if (part === null) {
          // Perhaps an undocumented form of error.
          passedOver = JSON.stringify(object).slice(0, 200)
          continue
        }
        yield part
        if ('Answer' in part) return
        received += part.content
      }
    }
  } catch (error) {
    if (error instanceof Misread)
      throw new BrokenAnswerError(
        notUnderstood(askOperation.name, error, { status, headers }, now(), clean).message,
        received,
        error,
      )
    if (error instanceof SyntaxError) throw new BrokenAnswerError('The stream contains invalid JSON', received, error)
    // Without a code the connection failed, not the service.
    if (error instanceof ServiceError && error.code === null)
      throw new BrokenAnswerError(error.message, received, error)
    throw error
  }
  const rest = splitter.rest || passedOver
  const held = rest === '' ? '' : ` and holds "${clean(rest)}" at its end`
  throw new BrokenAnswerError(`The stream ended without its final object${held}`, received)
}

/** An envelope in a stream: a refusal, or the whole answer in one piece. Throws `Misread`. */
function* answered(envelope: Members, failure: (body: string) => ServiceError): Generator<ChatPiece | ChatEnd, void> {
  const isSuccess = readBoolean(member(envelope, 'Success'), 'Success')
  if (!isSuccess || readInteger(member(envelope, 'Code'), 'Code') !== 200) throw failure(JSON.stringify(envelope))
  const { messageid, content, totalToken, noAnswer } = readChatAnswer(member(envelope, 'Data'))
  yield { content }
  yield { QuestionID: null, AnswerID: messageid, Answer: content, TotalToken: totalToken, noAnswer }
}

/** The kind of an object in a stream; null: undocumented, such as a keep-alive. Throws `Misread`. */
function readPart(object: unknown): ChatPiece | ChatEnd | { envelope: Members } | null {
  const part = readMembers(object, 'a part of the stream')
  if (member(part, 'Success') !== undefined) return { envelope: part }
  const [Answer, content] = [member(part, 'Answer'), member(part, 'content')]
  if (Answer === undefined) return typeof content === 'string' ? { content } : null
  const sentence = member(part, 'noAnswer')
  return {
    QuestionID: readOptional(part, 'QuestionID'),
    AnswerID: readOptional(part, 'AnswerID'),
    Answer: readText(Answer, 'Answer'),
    TotalToken: readOptional(part, 'TotalToken'),
    ...(sentence !== undefined && { noAnswer: readBoolean(sentence, 'noAnswer') }),
  }
}

/** Throws `Misread`. */
function readChatAnswer(data: unknown): ChatAnswer {
  const answer = readMembers(data, 'Data')
  const sentence = member(answer, 'noAnswer')
  const content = member(answer, 'content')
  // Without an answer its text may be absent, too; and a text is an answer, whatever is absent beside it.
  const noAnswer = sentence === undefined ? content === '' : readBoolean(sentence, 'Data.noAnswer')
  return {
    messageid: readOptional(answer, 'messageid', 'Data.'),
    content: noAnswer && content === undefined ? '' : readText(content, 'Data.content'),
    totalToken: readOptional(answer, 'totalToken', 'Data.'),
    noAnswer,
  }
}

function readText(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  throw new Misread(name, 'text', value)
}

/** A whole number; null: there is none. */
function readOptional(object: Members, name: string, place = ''): number | null {
  const value = member(object, name)
  return value === undefined ? null : readInteger(value, place + name)
}

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const blocks: Uint8Array[] = []
  for await (const chunk of chunks) blocks.push(chunk)
  return Buffer.concat(blocks).toString('utf8')
}
