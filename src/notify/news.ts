/**
 * What is news about a feed, given what was told of it before. Each trouble is told once, with a reminder a day while it lasts; of a
 * feed that flaps, every few hours at most.
 */

import { hasPassed } from '../core/turn.ts'

export const eventNames = ['failed', 'held', 'stale', 'recovered'] as const
export type EventName = (typeof eventNames)[number]

/** How a feed is; times in milliseconds. */
export interface Condition {
  readonly at: number
  /** Its last run failed. */
  readonly failed: boolean
  /** What kind of failure that is: equal for the same reason. */
  readonly failure?: string | undefined
  /** No run was good for so long that somebody should know. */
  readonly stale: boolean
  /** The last run was good: no earlier trouble is left. */
  readonly good: boolean
  /** The rules of the guard that hold something nobody has approved. */
  readonly held: readonly string[]
}

/** What one place was told of one feed. */
export interface Notified {
  readonly trouble: { readonly kind: 'failed' | 'stale'; readonly since: number; readonly at: number } | null
  readonly held: { readonly rules: readonly string[]; readonly since: number; readonly at: number } | null
  /** When it was last told of each event as new. */
  readonly last: Readonly<Partial<Record<EventName, number>>>
  /** Rules whose holds were told as new of late, to be told again only after `quiet`. */
  readonly lately?: readonly string[]
  /** Kinds of failures that were told as new of late. */
  readonly failures?: readonly string[]
}

export interface News {
  readonly event: EventName
  /** `over`: nothing is held any more. */
  readonly is: 'new' | 'reminder' | 'over'
  /** Since when it is so, in milliseconds; `over`: since when it had been. */
  readonly since: number
}

export const nothingTold: Notified = { trouble: null, held: null, last: {} }

const hour = 3_600_000
const reminderAfter = 24 * hour
/** Milliseconds before the same is told as new again, so that a feed that flaps does not flood anybody. */
const quiet = 6 * hour
/** So many kinds of failures are told in that time; a server may put something new into each. */
const mostKinds = 3

/** What was told, with times of a clock that was ahead set back to now: else nobody would hear anything until then. */
function toldBy({ trouble, held, last, ...lately }: Notified, now: number): Notified {
  const by = <Since extends { since: number; at: number }>(state: Since | null): Since | null =>
    state && { ...state, since: Math.min(state.since, now), at: Math.min(state.at, now) }
  const times = Object.entries(last).map(([event, at]) => [event, Math.min(at, now)])
  return { ...lately, trouble: by(trouble), held: by(held), last: Object.fromEntries(times) }
}

/** The news, and what counts as told once it is delivered. `on`: the events that this place wants to hear of. */
export function newsOf(before: Notified, now: Condition, on: readonly EventName[]): { news: News[]; after: Notified } {
  const earlier = toldBy(before, now.at)
  const news: News[] = []
  const last = { ...earlier.last }
  const isQuiet = (event: EventName): boolean => now.at < (last[event] ?? -Infinity) + quiet
  const begin = (event: EventName): void => {
    news.push({ event, is: 'new', since: now.at })
    last[event] = now.at
  }

  let { trouble, held } = earlier
  let failures = isQuiet('failed') ? (earlier.failures ?? []) : []
  const isOther = now.failure !== undefined && !failures.includes(now.failure) && failures.length < mostKinds
  const kind = now.failed && on.includes('failed') ? 'failed' : now.stale && on.includes('stale') ? 'stale' : null
  if (now.good && trouble !== null) {
    if (on.includes('recovered')) news.push({ event: 'recovered', is: 'new', since: trouble.since })
    trouble = null
  } else if (trouble === null) {
    if (kind !== null && (!isQuiet(kind) || (kind === 'failed' && isOther))) {
      begin(kind)
      if (kind === 'failed') failures = [...failures, now.failure ?? '']
      trouble = { kind, since: now.at, at: now.at }
    }
  } else if (hasPassed(trouble.at, reminderAfter, now.at)) {
    // The last run may have failed no more, without being good.
    const still = now[trouble.kind] ? trouble.kind : now.stale && on.includes('stale') ? 'stale' : null
    if (still !== null) {
      news.push({ event: still, is: 'reminder', since: trouble.since })
      trouble = { ...trouble, kind: still, at: now.at }
    }
  }

  let lately = isQuiet('held') ? (earlier.lately ?? []) : []
  if (!on.includes('held')) return { news, after: { trouble, held, last, lately, failures } }
  const rules = now.held.toSorted()
  const known = [...lately, ...(held?.rules ?? [])]
  if (rules.length === 0) {
    if (held !== null) news.push({ event: 'held', is: 'over', since: held.since })
    held = null
  } else if (rules.some((rule) => !known.includes(rule))) {
    begin('held')
    lately = [...new Set([...lately, ...rules])]
    held = { rules, since: held?.since ?? now.at, at: now.at }
  } else if (held !== null && hasPassed(held.at, reminderAfter, now.at)) {
    news.push({ event: 'held', is: 'reminder', since: held.since })
    held = { rules, since: held.since, at: now.at }
  }
  return { news, after: { trouble, held, last, lately, failures } }
}
