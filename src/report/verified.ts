/** What the chatbot said of a run's listings, in words. Its answers are not to be trusted: they are made printable. */
import { many, printable, shorten } from '../core/text.ts'
import type { Finding, Verification, VerifiedListing } from '../verify/verification.ts'

/** Longest answer that is shown to people; the JSON form has all of it. */
const longest = 300

/** "2 agree, 1 disagrees, of 3 listings; 3 questions, 120 tokens; stopped: …". */
export function verifiedSentence(verification: Verification): string {
  const { listings, asked, agreed, disagreed, unanswered, tokens, stopped } = verification
  const why = stopped === null ? '' : shorten(printable(stopped), longest)
  if (listings.length === 0) return `nothing was asked${why === '' ? ', as nothing changed' : `: ${why}`}`
  const clauses = [
    agreed > 0 ? `${agreed} ${agreed === 1 ? 'agrees' : 'agree'}` : '',
    disagreed > 0 ? `${disagreed} ${disagreed === 1 ? 'disagrees' : 'disagree'}` : '',
    unanswered > 0 ? `${unanswered} without a clear answer` : '',
  ].filter((part) => part !== '')
  const cost = `${many(asked, 'question')}, ${many(tokens, 'token')}`
  return `${clauses.join(', ')}, of ${many(listings.length, 'listing')}; ${cost}${why === '' ? '' : `; stopped: ${why}`}`
}

/** "disagrees: price $425,000, the chatbot says 450000; status Active". */
export function verdictOf({ verdict, expected, price, status, problem }: VerifiedListing): string {
  const findings =
    expected === 'gone' ? [goneText(status)] : [findingText('price', price), findingText('status', status)]
  const clauses = problem === null ? findings.filter((part) => part !== '') : [shorten(printable(problem), longest)]
  return clauses.length === 0 ? verdict : `${verdict}: ${clauses.join('; ')}`
}

function goneText(status: Finding | null): string {
  if (status === null || status.verdict === 'agrees') return 'no listing of this number is synced, and none is offered'
  if (status.verdict === 'unclear')
    return 'no listing of this number is synced, and the answer does not say for sure whether one is offered'
  return `no listing of this number is synced, but the chatbot offers one: ${saidText(status)}`
}

function findingText(name: string, finding: Finding | null): string {
  if (finding === null) return ''
  const wanted = `${name} ${printable(finding.wanted)}`
  if (finding.verdict === 'agrees') return wanted
  if (finding.verdict === 'disagrees') return `${wanted}, the chatbot says ${saidText(finding)}`
  return `${wanted} is not said${finding.said.length === 0 ? '' : ` for sure: ${saidText(finding)}`}`
}

function saidText({ said }: Finding): string {
  return shorten(printable(said.join(', ')), 120)
}

/** An answer on one line, cut; null: there is none. */
export function answerText({ answer }: VerifiedListing): string | null {
  return answer === null ? null : `"${shorten(printable(answer), longest)}"`
}
