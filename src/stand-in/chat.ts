import { answerTo } from './answer.ts'
import type { Said } from './answer.ts'
import type { AskKind, Asked } from './check.ts'
import { Refusal, success } from './envelope.ts'
import type { Reply } from './envelope.ts'
import type { Call, ServiceParts } from './call.ts'
import { streamOf } from './stream.ts'

/** Answers one message. Throws `Refusal`. */
export function ask(request: Asked<'ClientAsk'>, call: Call, service: ServiceParts): Reply {
  const { chatbots, messages, profile, rows, lag } = service
  checkFiles(request, service.files)
  const serialNumber = chatbotOf(request.sessionId, service)
  const settings = chatbots.settings(serialNumber)
  const sender = { serialNumber, sessionId: request.sessionId }
  const refusal = messages.refusal(sender, settings, profile, service.now())
  if (refusal !== null) {
    if (profile.tooManyMessages === 'refused') throw new Refusal('messages', refusal)
    return reply(request, { content: refusal, noAnswer: true }, 0, service)
  }
  const shown = lag.rowsAsShown(
    rows.all(serialNumber),
    serialNumber,
    call.request,
    profile.answerLag ?? profile.listLag,
  )
  const answer = call.say ?? answerTo(request.content, shown, settings)
  const content = answer.content + (settings.AnswerSuffix ?? '')
  return reply(request, { ...answer, content }, tokens(request.content) + tokens(content), service)
}

/** How sessions are created is not documented: they are in the settings, or there is only one chatbot. */
function chatbotOf(sessionId: number, { sessions, chatbots, rows, profile }: ServiceParts): string {
  if (sessions) {
    if (!Object.hasOwn(sessions, String(sessionId))) {
      throw new Refusal('session', `There is no chat session ${sessionId}`)
    }
    const serialNumber = sessions[String(sessionId)]
    if (profile.chatbots?.includes(serialNumber) ?? true) return serialNumber
    throw new Refusal('chatbot', `There is no chatbot ${serialNumber}`)
  }
  const known = new Set([...rows.serialNumbers, ...chatbots.serialNumbers])
  const used = [...known].filter(
    (serialNumber) => rows.count(serialNumber) > 0 || Object.keys(chatbots.settings(serialNumber)).length > 0,
  )
  const all = profile.chatbots ?? (used.length > 0 ? used : [...known])
  if (all.length === 1) return all[0]
  const held = all.length === 0 ? 'no chatbot' : `chatbots ${all.join(', ')}`
  const why = 'without "sessions" in the settings of the stand-in every session is one of the only chatbot'
  throw new Refusal('session', `There is no chat session ${sessionId}: ${why}, and it has ${held}`)
}

function reply(
  { stream }: Asked<'ClientAsk'>,
  { content, noAnswer }: Said,
  totalToken: number,
  service: ServiceParts,
): Reply {
  const { messages, profile } = service
  const [question, answer] = [messages.nextId(), messages.nextId()]
  const whole = success({ messageid: answer, content, totalToken, noAnswer }, profile.version)
  if (!stream) return whole
  const final = { QuestionID: question, AnswerID: answer, Answer: content, TotalToken: totalToken }
  return { ...whole, stream: streamOf(final, profile) }
}

/** Roughly what a model would count: four characters each. */
function tokens(text: string): number {
  return Math.ceil(text.length / 4)
}

/** Formats and sizes (docs/service.md, "Message a chatbot"); there is no limit for audio. MPEG files have either extension. */
const rules: Record<Exclude<AskKind, 'Text'>, { endings: readonly string[]; mostBytes: number }> = {
  Image: { endings: ['png', 'jpeg', 'jpg', 'webp', 'gif'], mostBytes: 20 * 1024 * 1024 },
  Video: { endings: ['mp4', 'mkv', 'avi', 'flv', 'mpeg', 'mpg'], mostBytes: 100 * 1024 * 1024 },
  Audio: { endings: ['wav'], mostBytes: Infinity },
}

/** Checks the files of a message against the rules for its kind. Throws `Refusal`. */
function checkFiles({ kind, fileIds }: Asked<'ClientAsk'>, files: ServiceParts['files']): void {
  if (!files || kind === 'Text') return
  const { endings, mostBytes } = rules[kind]
  for (const id of fileIds) {
    if (!Object.hasOwn(files, String(id))) throw new Refusal('file', `There is no file ${id}`)
    const { name, bytes, animated } = files[String(id)]
    const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
    if (!endings.includes(ending)) throw new Refusal('file', `File ${id} must be one of ${endings.join(', ')}`)
    if (animated) throw new Refusal('file', `File ${id} must not be animated`)
    if (bytes > mostBytes) throw new Refusal('file', `File ${id} must not be larger than ${mostBytes} bytes`)
  }
}
