/** Asks the chatbot about listings and reads its answers. Failures are in the result, never thrown. */
import { ServiceError, UserError } from '../core/errors.ts'
import type { Listing } from '../core/listing.ts'
import { questionOf } from './question.ts'
import { readAnswer, readAnswerOfGone } from './read-answer.ts'
import type { Verification, VerifiedListing } from './verification.ts'

/** `gone`: deleted; only the MLSNumber need be known. */
export type Subject =
  | { expected: 'listed'; listing: Listing }
  | { expected: 'gone'; listing: Listing | { MLSNumber: string } }

export interface Asking {
  session: number
  /** Template, see `questionOf`. */
  question: string
  /** Sends one message once; throws as the client's `ask` does. */
  ask(content: string): Promise<{ content: string; totalToken: number | null; noAnswer: boolean }>
  /** The answer at the rate limit (setting RateLimitMessage); null: unknown. */
  rateLimitMessage: string | null
  /** Text after every answer (setting AnswerSuffix), which is not about listings. */
  answerSuffix: string
  signal: AbortSignal
}

/** After so many calls in a row without an answer, no more is asked. */
const mostFailures = 2

/**
 * Asks about the subjects one at a time, as they share a session. As each question costs, it ends at the first rejected
 * message, the first refusal, and the second lost call in a row.
 */
export async function verify(subjects: readonly Subject[], asking: Asking): Promise<Verification> {
  const listings: VerifiedListing[] = []
  let stopped: string | null = null
  let asked = 0
  let failures = 0
  for (const subject of subjects) {
    if (asking.signal.aborted) stopped ??= 'it was stopped'
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
      const reply = await asking.ask(question)
      failures = 0
      stopped = turnedAway(reply, asking.rateLimitMessage)
      Object.assign(row, { tokens: reply.totalToken, answer: reply.content, problem: stopped })
      if (stopped === null) Object.assign(row, readingOf(withoutSuffix(reply, asking.answerSuffix), subject))
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
    unanswered: count('unclear', 'no answer'),
    tokens: listings.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
    stopped,
  }
}

type Said = Awaited<ReturnType<Asking['ask']>>

/** Detects the answer of a message limit in place of the chatbot, which uses no tokens. */
function turnedAway({ content, totalToken, noAnswer }: Said, rateLimitMessage: string | null): string | null {
  const isLimit = rateLimitMessage !== null && content.trim() === rateLimitMessage.trim() && content.trim() !== ''
  if (!isLimit && !(noAnswer && totalToken === 0)) return null
  return `the message was rejected without using tokens: ${content.trim() === '' ? 'without a message' : content}`
}

function withoutSuffix(reply: Said, suffix: string): Said {
  const { content } = reply
  return suffix !== '' && content.endsWith(suffix) ? { ...reply, content: content.slice(0, -suffix.length) } : reply
}

function readingOf({ content, noAnswer }: Said, subject: Subject): Partial<VerifiedListing> {
  const isEmpty = noAnswer || content.trim() === ''
  if (subject.expected === 'gone') return isEmpty ? { verdict: 'agrees' } : readAnswerOfGone(content, subject.listing)
  return isEmpty ? { problem: 'the chatbot had no answer' } : readAnswer(content, subject.listing)
}
