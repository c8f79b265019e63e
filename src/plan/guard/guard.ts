/** The guard: an accident becomes holds. What a tripped rule is about is held back, and the rest goes on. Pure. */
import type { FieldName } from '../../core/listing.ts'
import { countsOf, hold } from '../change.ts'
import type { Action, Change } from '../change.ts'
import { fieldsOfFact, isFact } from './facts.ts'
import type { FactKind } from './facts.ts'
import { countedAs } from './hold.ts'
import type { HeldPart, HoldRecord, Pair, PartHeld, Remembered, RuleName, Weighed } from './hold.ts'
import type { Trip } from './rules.ts'
import { isLetGo, partOf, standingOf } from './scales.ts'
import type { Policy, Standing } from './scales.ts'

/** An accident that holds an action, or a part of it. */
interface HeldBy {
  readonly trip: Trip
  /** When the clock of that part began, in milliseconds; null: none runs. */
  readonly clock: number | null
  /** A person refused that part. */
  readonly isRefused: boolean
}

/** What became of an action under the guard. */
export interface Verdict {
  readonly change: Change
  readonly weighed: Weighed
  /** The accidents that hold it, wholly or in part. */
  readonly heldBy: readonly HeldBy[]
  /** What no rule holds now, and waits for the end of its clock all the same. */
  readonly waiting: readonly HoldRecord[]
  /** What was held of it and goes now, though nobody approved it. */
  readonly letGo: readonly Standing[]
}

/** What is known of an action beside it. */
export interface Beside {
  readonly remembered: Remembered
  readonly pair: Pair | null
  /** The other MLSNumber of the pair, and why it is held: so is this one, whatever was let go of it. null: it is not held. */
  readonly heldBeside: string | null
}

/** null: it goes as it was planned, and nothing about it is remembered. */
export function judge(
  action: Action,
  { remembered, pair, heldBeside }: Beside,
  trips: readonly Trip[],
  policy: Policy,
): Verdict | null {
  const { endsNone } = policy
  const standing = (part: HeldPart): Standing => standingOf(remembered, action, part, policy)
  // A home that comes under another number with a fact beyond belief keeps its old number, and with it the fact.
  const isWhole = (fact: FactKind): boolean =>
    pair === 'renumbered' && action.kind === 'create' && action.broken.includes(fact)
  const partFor = ({ fact }: Trip): HeldPart => (fact === undefined || isWhole(fact) ? action.kind : `update ${fact}`)
  const heldBy = trips.filter((trip) => {
    const before = standing(partFor(trip))
    // What was held of an update is held of the create of a listing that is gone meanwhile.
    const asUpdate = action.kind === 'create' ? standing('update') : before
    const isHeld = (before.record ?? asUpdate.record) !== null
    const isAbout = trip.holds(action, pair, isHeld) && isOf(action, partFor(trip))
    return isAbout && (heldBeside !== null || !isLetGo(before, trip.ends, policy))
  })
  const about = remembered.holds.map(({ part }) => part).filter((part) => isOf(action, part))
  // What a rule held once waits for its own time, however few of its kind are left. Two of one home lose nothing by going together.
  const isWaiting = (part: HeldPart): boolean => {
    const { is, record } = standing(part)
    if (is !== 'waiting' || policy.healed.has(part)) return false
    return endsNone || (policy.confirm !== null && pair !== 'renumbered' && hasOwnClock(record!))
  }
  const byRule = new Set(heldBy.map(partFor))
  const held = new Set([...byRule, ...about.filter((part) => isWaiting(part) || standing(part).is === 'refused')])
  const isAsking = heldBy.some(({ ends }) => ends === 'never' || (ends === 'listed again' && !policy.isListedAgain))
  const waiting = [...held].filter((part) => !byRule.has(part) && isWaiting(part))
  const labels = new Set(heldBy.map(({ label }) => label))
  // What a person is asked about goes at no time of its own.
  const waitsAlone = endsNone || isAsking ? [] : waiting
  if (waitsAlone.length > 0) labels.add(heldBefore)
  if (endsNone && waiting.length > 0) labels.add('this run ends no hold')
  if (held.size > byRule.size + waiting.length) labels.add('it was refused')
  // What was let go of, and shares a field with what is held, stays with it.
  const fields = new Set([...held].flatMap((part) => fieldsOf(action, part) ?? []))
  const isAlong = (part: HeldPart): boolean =>
    part !== 'update' && fieldsOf(action, part)?.some((field) => fields.has(field)) === true
  for (const part of about.filter(isAlong)) held.add(part)
  // Where something else of it is held, what only asked before is over: the delivery is believed again.
  const goes = (part: HeldPart): boolean => {
    const { is, record } = standing(part)
    return held.size === 0 || is === 'approved' || (is === 'confirmed' && record!.clock !== null)
  }
  const released = about.filter((part) => !held.has(part) && standing(part).record !== null && goes(part))
  if (held.size === 0 && released.length === 0 && pair !== 'renumbered' && heldBeside === null) return null
  // What another list alone let go of counts: the feed has not confirmed it.
  const isOpen = (part: HeldPart): boolean =>
    !isAlong(part) && !held.has(part) && !isLetGo(standing(part), 'confirmed', policy)
  const counts = countsOf(action, pair).filter((what) => isOpen(partOf(action, what, pair)))
  const parts = Array.from(held, (part): PartHeld => {
    const content = policy.contentOf(action, part)
    if (!endsNone && waiting.includes(part)) return { part, content, rules: [ruleOf(part)], ends: 'confirmed' }
    const by = heldBy.filter((trip) => partFor(trip) === part)
    const { is, record } = standing(part)
    // The feed has confirmed it already, and under other keys the list is asked for alone.
    const isOfFeed = is === 'confirmed' && record!.ends === 'confirmed' && by[0]?.ends === 'listed again'
    const ends = isOfFeed || by.some((trip) => trip.ends === 'confirmed') ? 'confirmed' : (by[0]?.ends ?? 'never')
    return { part, content, rules: [...new Set(by.map(({ name }) => name))], ends }
  })
  const change = withheld(action, parts, [...labels].join(', '), heldBeside)
  const withEnd = (trip: Trip): HeldBy => {
    const { is, record } = standing(partFor(trip))
    const isRefused = is === 'refused'
    return { trip, clock: isAsking || isRefused ? null : (record?.clock ?? record?.since ?? policy.now), isRefused }
  }
  const letGo = change.kind === 'hold' ? [] : released.map(standing).filter(({ is }) => is !== 'approved')
  return {
    change,
    weighed: { parts, counts, released },
    heldBy: heldBy.map(withEnd),
    waiting: waitsAlone.map((part) => standing(part).record!),
    letGo,
  }
}

/** Whether it goes by itself once the feed has said it for long enough, whatever else held it beside. */
const hasOwnClock = ({ clock, ends }: HoldRecord): boolean => clock !== null && ends !== 'listed again'

/** The rule that holds such a part, where it is not told any more which did. */
const ruleOf = (part: HeldPart): RuleName => (part === 'delete' ? 'leaving' : part === 'create' ? 'arriving' : 'facts')

const heldBefore = 'it was held before, and waits for its time'

/** As an accident what was held of so many listings, and no rule holds any more. */
export function waitOf(part: HeldPart, listings: number): Trip {
  const [name, what] = [ruleOf(part), countedAs(part)]
  return {
    name,
    setting: name === 'arriving' ? 'growth' : 'share',
    ends: 'confirmed',
    label: heldBefore,
    ...(what !== null && isFact(what) && { fact: what }),
    numbers: { waiting: listings },
    sentence: `fewer are left of what the rule ${name} held, and the rest waits for its own time`,
    holds: () => false,
  }
}

/** The fields of an action that a part is about: null for all of it, none where it is another's. */
function fieldsOf(action: Action, part: HeldPart): readonly FieldName[] | null {
  if (part === action.kind) return null
  if (!('fields' in action) || !part.startsWith('update')) return []
  const [, fact] = part.split(' ') as [string, FactKind?]
  // What is created again stays as it was sent last as far as its update is held.
  if (fact === undefined) return action.fields.map(({ field }) => field)
  // Of a listing that was there before, or was edited on the service, the feed says nothing new.
  const isNews = action.kind === 'create' || action.cause === 'changed' || action.cause === 'mapping'
  return isNews || action.broken.includes(fact) ? fieldsOfFact(fact, action.fields) : []
}

/** Whether a part is about this action: of what it leaves as it is nothing is held. */
export const isOf = (action: Action, part: HeldPart): boolean => fieldsOf(action, part)?.length !== 0

/** The action as a hold, or the update without the fields that are held where something else of it is left. */
function withheld(action: Action, parts: readonly PartHeld[], labels: string, heldBeside: string | null): Change {
  if (parts.length === 0 && heldBeside !== null) {
    const has = 'home' in action && action.home === null ? 'may have' : 'has'
    const why = `${action.why}; its home ${has} another MLSNumber, too: both wait for a sync that can change both (${heldBeside})`
    return hold(action, 'other-number', why)
  }
  if (parts.length === 0) return action
  const all = parts.map(({ part }) => fieldsOf(action, part))
  if ('fields' in action && !all.includes(null)) {
    const fields = [...new Set(all.flatMap((some) => some ?? []))]
    const isHeld = (field: FieldName): boolean => fields.includes(field)
    const rest = { why: `${action.why}; held of it: ${labels}`, withheld: fields }
    if (action.kind === 'create') return { ...action, ...rest }
    if (action.fields.some(({ field }) => !isHeld(field))) return { ...action, ...rest }
  }
  return hold(action, 'guard', `${action.why}; held: ${labels}`)
}
