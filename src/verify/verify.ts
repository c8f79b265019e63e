/** Asks the chatbot about one listing after another and reads what it says. What goes wrong is told, never thrown. */
import { ServiceError, UserError } from '../core/errors.ts'
import type { Listing } from '../core/listing.ts'
import { questionOf } from './question.ts'
import { readAnswer, readAnswerOfGone } from './read-answer.ts'
import type { Verification, VerifiedListing } from './verification.ts'

/** `gone`: it was deleted; of it no more than the number need be known. */
export type Subject =
  | { expected: 'listed'; listing: Listing }
  | { expected: 'gone'; listing: Listing | { MLSNumber: string } }

export interface Asking {
  session: number
  /** Template, see `questionOf`. */
  question: string
  /** One message to the chatbot, sent once; throws as the client's `ask` does. */
  ask(content: string): Promise<{ content: string; totalToken: number; noAnswer: boolean }>
  /** What the chatbot is known to say to whoever asks too much (setting RateLimitMessage); null: not known. */
  rateLimitMessage: string | null
  /** What the chatbot is known to put behind every answer (setting AnswerSuffix): it tells of no listing. Empty: nothing. */
  answerSuffix: string
  signal: AbortSignal
}

/** Calls without an answer, one after the other, after which no more is asked. */
const mostFailures = 2

/**
 * Asks about each subject in its order, one at a time, as they share a session. Each question costs: it ends with the first
 * answer that turns messages away, the first refusal, and the second call running that was lost.
 */
export async function verify(subjects: readonly Subject[], asking: Asking): Promise<Verification> {
  const listings: VerifiedListing[] = []
  let stopped: string | null = null
  let asked = 0
  let failures = 0
  for (const subject of subjects) {
    if (asking.signal.aborted) stopped ??= 'it was told to stop'
    const question = questionOf(asking.question, subject.listing)
    const row: VerifiedListing = {
      mlsNumber: subject.listing.MLSNumber,
      expected: subject.expected,
      verdict: 'no answer',
      price: null,
      status: null,
      question,
      answer: null,
      tokens: 0,
      problem: stopped === null ? null : 'not asked',
    }
    listings.push(row)
    if (stopped !== null) continue
    asked++
    try {
      const said = await asking.ask(question)
      failures = 0
      stopped = turnedAway(said, asking.rateLimitMessage)
      Object.assign(row, { tokens: said.totalToken, answer: said.content, problem: stopped })
      if (stopped === null) Object.assign(row, readingOf(withoutSuffix(said, asking.answerSuffix), subject))
    } catch (error) {
      if (!(error instanceof ServiceError || error instanceof UserError)) throw error
      row.problem = error.message
      const isLost = error instanceof ServiceError && error.kind === 'transient' && error.effect === 'unknown'
      if (!isLost || ++failures >= mostFailures) stopped = error.message
    }
  }
  const count = (...verdicts: VerifiedListing['verdict'][]): number =>
    listings.filter(({ verdict }) => verdicts.includes(verdict)).length
  return {
    session: asking.session,
    listings,
    asked,
    agreed: count('agrees'),
    disagreed: count('disagrees'),
    unanswered: count('not mentioned', 'no answer'),
    tokens: listings.reduce((sum, { tokens }) => sum + tokens, 0),
    stopped,
  }
}

type Said = Awaited<ReturnType<Asking['ask']>>

/** Whether a message limit answered in place of the chatbot, which then took no tokens. */
function turnedAway({ content, totalToken, noAnswer }: Said, rateLimitMessage: string | null): string | null {
  const isLimit = rateLimitMessage !== null && content.trim() === rateLimitMessage.trim() && content.trim() !== ''
  if (!isLimit && !(noAnswer && totalToken === 0)) return null
  return `the message was turned away, it took no tokens: ${content.trim() === '' ? 'without a word' : content}`
}

function withoutSuffix(said: Said, suffix: string): Said {
  const { content } = said
  return suffix !== '' && content.endsWith(suffix) ? { ...said, content: content.slice(0, -suffix.length) } : said
}

function readingOf({ content, noAnswer }: Said, subject: Subject): Partial<VerifiedListing> {
  const isEmpty = noAnswer || content.trim() === ''
  if (subject.expected === 'gone') return isEmpty ? { verdict: 'agrees' } : readAnswerOfGone(content, subject.listing)
  return isEmpty ? { problem: 'the chatbot had no answer' } : readAnswer(content, subject.listing)
}
