/** What a run would do or did, in one sentence. */
import { many, printable, shorten } from '../core/text.ts'
import { minuteIn } from '../core/zone.ts'
import type { ChangeKind } from '../plan/change.ts'
import type { HeldInBrief, Report } from './report.ts'

const writing = ['create', 'update', 'delete'] as const

export function headline(report: Report): string {
  const name = `${printable(report.feed)} (chatbot ${printable(report.chatbot)})`
  const error = report.error === null ? null : printable(report.error)
  const nothingKnown = report.delivery.records + report.remote.pages === 0
  if (report.result === 'failed' && (report.applied === null || nothingKnown))
    return `${name}: failed: ${error ?? 'no reason given'}`
  const sentence = report.applied === null ? planned(report) : carriedOut(report, report.applied)
  return `${name}: ${sentence}${error === null ? '' : `; stopped: ${error}`}`
}

function planned(report: Report): string {
  const verbs = actions(report, writing)
  const memory = actions(report, ['adopt', 'forget'])
  const clauses = verbs.length > 0 ? [`would ${listed(verbs)}`] : [quiet(report, 'nothing to change')]
  if (memory.length > 0) clauses.push(`would ${listed(memory)} in the snapshot only`)
  return [...clauses, ...aside(report)].join('; ')
}

function carriedOut(report: Report, { outcomes }: NonNullable<Report['applied']>): string {
  const all = outcomes.done + outcomes.failed + outcomes.unknown + outcomes.skipped
  if (all === 0) return [quiet(report, 'nothing changed'), ...aside(report)].join('; ')
  const left = (['failed', 'unknown', 'skipped'] as const).filter((name) => outcomes[name] > 0)
  const verbs = actions(report, [...writing, 'adopt', 'forget'])
  const plan = verbs.length > 0 ? ` (${listed(verbs)})` : ''
  const results = left.map((name) => `${outcomes[name]} ${name}`)
  return [`carried out ${outcomes.done} of ${many(all, 'change')}${plan}`, ...results, ...aside(report)].join('; ')
}

/** The sentence if nothing is done. Beside rejects that is no good news, and must not read like it. */
function quiet(report: Report, otherwise: string): string {
  const { feed, delivery } = report
  const { records, rejects, listings } = delivery
  if (rejects > 0 && listings === 0) {
    const isOne = rejects === 1
    const which = rejects === records && !isOne ? `all ${many(records, 'record')}` : many(rejects, 'record')
    const why = commonProblem(report, isOne) ?? ` ${isOne ? 'is' : 'are'} rejected`
    return `nothing can be loaded: ${which}${why}; run: listing-sync inspect ${printable(feed)}`
  }
  const { whole, inPart, others } = heldOf(report)
  if (whole + inPart + others > 0 || report.result === 'held') return `${otherwise} now`
  if (rejects > 0) return `no change of the ${many(listings, 'listing')} that can be read`
  return report.applied === null || otherwise !== 'nothing changed' ? otherwise : 'nothing to change'
}

/** " lack YearBuilt" or " have the problem …": what all rejects have in common, by a look at some thousands; null: nothing. */
function commonProblem(report: Report, isOne: boolean): string | null {
  let common = null as Set<string> | null
  let looked = 0
  for (const { problems } of report.rejects()) {
    const these = new Set(problems.map(withoutValues))
    common = common === null ? these : new Set([...common].filter((problem) => these.has(problem)))
    if (common.size === 0 || ++looked === 5000) break
  }
  const lacking = [...(common ?? [])].flatMap((problem) => /^(\w+): is missing/.exec(problem)?.[1] ?? [])
  if (lacking.length > 0) return ` ${isOne ? 'lacks' : 'lack'} ${listed(lacking)}`
  const [problem] = common ?? []
  return problem === undefined ? null : ` ${isOne ? 'has' : 'have'} the problem: ${shorten(printable(problem), 200)}`
}

/** The problem without its values, so that the same mistake in many records counts as one. */
export function withoutValues(problem: string): string {
  return problem.replace(/"[^"]*"/g, '"…"').replace(/^(\w+: )'[^']*'/, "$1'…'")
}

function aside(report: Report): string[] {
  const { feed, result, delivery } = report
  const { whole, inPart, goes, others } = heldOf(report)
  const clauses: string[] = []
  const some = whole > 0 ? [`${whole} held`] : []
  const held = inPart > 0 ? [...some, `${inPart} ${whole > 0 ? '' : 'held '}in part`] : some
  if (held.length > 0 || result === 'held') {
    const what = listed(held) || 'something is held'
    const waits = goes === null ? '' : `, waiting ${goes ? 'for time or ' : ''}for you`
    clauses.push(`${what}${waits}: listing-sync approve ${printable(feed)}`)
  }
  if (others > 0) clauses.push(clauses.length > 0 ? `${others} more held for other reasons` : `${others} held`)
  const isSaid = delivery.listings === 0 && delivery.rejects > 0
  if (delivery.rejects > 0 && !isSaid) clauses.push(`${many(delivery.rejects, 'record')} rejected`)
  return clauses
}

function heldOf({ held, holds, result, counts: { hold } }: Report): HeldInBrief {
  if (held !== undefined) return held
  const isOfGuard = holds.length > 0 || result === 'held'
  return { whole: isOfGuard ? hold : 0, inPart: 0, goes: true, others: isOfGuard ? 0 : hold }
}

/** "create 3", "update 1": the kinds there are. */
export function actions({ counts }: Report, kinds: readonly ChangeKind[]): string[] {
  return kinds.filter((kind) => counts[kind] > 0).map((kind) => `${kind} ${counts[kind]}`)
}

function listed(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

/** The kinds of changes in the order in which people see them. */
export const shownKinds: readonly ChangeKind[] = ['hold', 'update', 'create', 'delete', 'adopt', 'forget']

/** When the list was last read whole; '': every run reads it. */
export function observedText({ observed, reader }: Pick<Report, 'observed' | 'reader'>): string {
  if (observed === undefined) return ''
  const { at, next, lookedUp } = observed
  const here = lookedUp === null ? '' : `; ${many(lookedUp, 'listing')} looked up in this run`
  return `read whole at ${minuteIn(reader.timezone, at)}, next at ${minuteIn(reader.timezone, next)}${here}`
}
