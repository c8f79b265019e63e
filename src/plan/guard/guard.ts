/** The guard: turns accidents into holds. What a tripped rule is about is held, and the rest goes on. Pure. */
import type { FieldName } from '../../core/listing.ts'
import { countsOf, hold } from '../change.ts'
import type { Action, Change } from '../change.ts'
import { fieldsOfFact } from './facts.ts'
import type { FactKind } from './facts.ts'
import { askingRules, factOf } from './hold.ts'
import type { HeldPart, HoldRecord, Pair, PartHeld, Remembered, RuleName, Weighed } from './hold.ts'
import type { Trip } from './rules.ts'
import { isLetGo, partOf, standingOf } from './scales.ts'
import type { Policy, Standing } from './scales.ts'

/** An accident that holds an action, or one part of it. */
interface HeldBy {
  readonly trip: Trip
  /** When the clock of that part began, in milliseconds; null: it has none. */
  readonly clock: number | null
  readonly isRefused: boolean
  /** No earlier run held that part as it is now. */
  readonly isNew: boolean
}

/** What the guard decides about an action. */
export interface Verdict {
  readonly change: Change
  readonly weighed: Weighed
  /** The accidents that hold the action or a part of it. */
  readonly heldBy: readonly HeldBy[]
  /** Holds of earlier runs that no rule asks for any more, and that wait for their time all the same. */
  readonly waiting: readonly HoldRecord[]
  /** A person refused a part of it that no rule holds now: it stays held all the same. */
  readonly staysRefused: boolean
  /** What was held of it and goes now without an approval. */
  readonly letGo: readonly Exclude<Standing, { is: 'new' }>[]
}

/** What the guard knows of an action beside the action itself. */
export interface Beside {
  readonly remembered: Remembered
  readonly pair: Pair | null
  /** If the other half of the pair is held: its MLSNumber and why. This one is then held, too, whatever was let go of it. */
  readonly heldBeside: string | null
  /** A person refused the other half. Then no clock lets this one go either. */
  readonly isRefusedBeside?: boolean
}

/** Decides what of an action is held, by the accidents found and by earlier holds. null: it goes as planned, with nothing to note. */
export function judge(action: Action, beside: Beside, trips: readonly Trip[], policy: Policy): Verdict | null {
  const { remembered, pair, heldBeside, isRefusedBeside = false } = beside
  const { endsNone } = policy
  const standing = (part: HeldPart): Standing => standingOf(remembered, action, part, policy)
  // A renumbered home with a fact beyond belief is held whole: the site keeps its old number, and with that the old fact.
  const isWhole = (fact: FactKind): boolean =>
    pair === 'renumbered' && action.kind === 'create' && action.broken.includes(fact)
  // Its old number is held by the same rule: what is approved or confirmed of the one is so of the other.
  const isOldNumber = (label: string): boolean =>
    pair === 'renumbered' && action.kind === 'delete' && heldBeside?.includes(label) === true
  const about = trips.flatMap((trip) => {
    const { fact, ends, label } = trip
    const part: HeldPart = fact === undefined || isWhole(fact) || isOldNumber(label) ? action.kind : `update ${fact}`
    const stands = standing(part)
    // A hold of an update goes on as one of the create, if the listing vanished from the service meanwhile.
    const isHeld = stands.record !== null || (action.kind === 'create' && standing('update').record !== null)
    if (!trip.holds(action, pair, isHeld) || !hasPart(action, part)) return []
    const isHolding = trip.isToldOn !== true && (heldBeside !== null || !isLetGo(stands, ends, policy))
    return { trip, part, ...stands, isHolding }
  })
  const isAsked = about.some(({ trip, isHolding }) => isHolding && askingRules.has(trip.name))
  const byRule = about.filter(({ is, isHolding }) => isHolding || (isAsked && is === 'confirmed'))
  const before = remembered.holds.flatMap(({ part }) => (hasPart(action, part) ? { part, ...standing(part) } : []))
  // With the feed's clock it waits for that, or a person, even if no rule trips any more. Of a renumbered home both halves go.
  const isWaiting = ({ part, is, record }: (typeof before)[number]): boolean => {
    if (is !== 'waiting' || policy.healed.has(part)) return false
    const hasClock = record.clock !== null && record.ends !== 'listed again'
    return endsNone || (policy.confirm !== null && hasClock && (pair !== 'renumbered' || policy.confirm === Infinity))
  }
  const held = new Set(byRule.map(({ part }) => part))
  const byNone = before.filter((one) => !held.has(one.part) && (one.is === 'refused' || isWaiting(one)))
  const waiting = byNone.flatMap((one) => (one.is === 'waiting' ? one : []))
  for (const { part } of byNone) held.add(part)
  const isAsking =
    isRefusedBeside ||
    byRule.some(({ trip: { ends } }) => ends === 'never' || (ends === 'listed again' && !policy.isListedAgain))
  const labels = new Set(byRule.map(({ trip }) => trip.label))
  // While a person is asked, none of these has a time to tell.
  const waitsForTime = endsNone || isAsking ? [] : waiting
  if (waitsForTime.length > 0) labels.add(heldBefore)
  if (endsNone && waiting.length > 0) labels.add('this run ends no hold')
  if (byNone.length > waiting.length) labels.add('it was refused')
  // A part that was let go stays held if it shares a field with one that is held.
  const fields = new Set([...held].flatMap((part) => fieldsOf(action, part) ?? []))
  const sharesField = (part: HeldPart): boolean =>
    part !== 'update' && fieldsOf(action, part)?.some((field) => fields.has(field)) === true
  for (const { part } of before) if (sharesField(part)) held.add(part)
  // A hold without a clock only asked a person. Once no rule asks, and something else of the action is held, it ends unreleased.
  const released = before.flatMap((one) => {
    if (one.is === 'new' || held.has(one.part)) return []
    const isReleased = held.size === 0 || one.is === 'approved' || (one.is === 'confirmed' && one.record.clock !== null)
    return isReleased ? one : []
  })
  if (held.size === 0 && released.length === 0 && pair !== 'renumbered' && heldBeside === null) return null
  // What goes counts, unless a person approved it or the feed confirmed it. Another list is no word of the feed.
  const isCounted = (part: HeldPart): boolean =>
    !sharesField(part) && !held.has(part) && !isLetGo(standing(part), 'confirmed', policy)
  const counts = countsOf(action, pair).filter((what) => isCounted(partOf(action, what, pair)))
  const parts = Array.from(held, (part): PartHeld => {
    const noted = remembered.holds.find((one) => one.part === part)?.content
    const content = policy.contentOf(action, part, noted)
    if (!endsNone && waiting.some((one) => one.part === part))
      return { part, content, rules: [ruleOf(part)], ends: 'confirmed' }
    const by = byRule.filter((one) => one.part === part)
    const [first] = by
    // What the feed has confirmed stays a hold of the feed, although under other keys the rule `chatbot` alone still holds it.
    const isOfFeed =
      first?.is === 'confirmed' && first.record.ends === 'confirmed' && first.trip.ends === 'listed again'
    const ends =
      isOfFeed || by.some(({ trip }) => trip.ends === 'confirmed') ? 'confirmed' : (first?.trip.ends ?? 'never')
    const rules = [...new Set(by.map(({ trip }) => trip.name))]
    return { part, content, rules, ends: isRefusedBeside ? 'never' : ends }
  })
  const change = withheld(action, parts, [...labels].join(', '), heldBeside)
  return {
    change,
    weighed: { parts, counts, released: released.map(({ part }) => part) },
    heldBy: byRule.map(({ trip, is, record }) => {
      const isRefused = is === 'refused'
      const clock = isAsking || isRefused ? null : (record?.clock ?? record?.since ?? policy.now)
      return { trip, clock, isRefused, isNew: record === null }
    }),
    waiting: waitsForTime.map(({ record }) => record),
    staysRefused: byNone.length > waiting.length,
    letGo: change.kind === 'hold' ? [] : released.filter(({ is }) => is !== 'approved'),
  }
}

/** The rule with a clock that can have held such a part: what is remembered of a hold does not name its rules. */
const ruleOf = (part: HeldPart): RuleName => (part === 'delete' ? 'leaving' : part === 'create' ? 'arriving' : 'facts')

const heldBefore = 'it was held before, and goes on waiting'

/** Tells of holds of so many listings that no rule asks for any more, in the form of an accident. */
export function waitOf(part: HeldPart, listings: number): Trip {
  const [name, fact] = [ruleOf(part), factOf(part)]
  return {
    name,
    setting: name === 'arriving' ? 'growth' : 'share',
    ends: 'confirmed',
    label: heldBefore,
    ...(fact !== null && { fact }),
    numbers: { waiting: listings },
    sentence: `the rule ${name} asks no more, but what it held goes on waiting`,
    holds: () => false,
  }
}

/** The fields of an action that a held part covers. null: the whole action; []: none, the part is not of this action. */
function fieldsOf(action: Action, part: HeldPart): readonly FieldName[] | null {
  if (part === action.kind) return null
  if (!('fields' in action) || !part.startsWith('update')) return []
  const fact = factOf(part)
  // While its update is held, a listing that is created again is sent as it was sent last.
  if (fact === null) return action.fields.map(({ field }) => field)
  // Other updates, as of an edit on the service, tell nothing new from the feed.
  const isNews = action.kind === 'create' || action.cause === 'changed' || action.cause === 'mapping'
  return isNews || action.broken.includes(fact) ? fieldsOfFact(fact, action.fields) : []
}

/** Whether a held part covers anything of this action. It does not if the action leaves its fields as they are. */
export const hasPart = (action: Action, part: HeldPart): boolean => fieldsOf(action, part)?.length !== 0

/** The action with the held parts taken out: without the held fields if others are left, else as a hold. */
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
    if (action.kind === 'create' || action.fields.some(({ field }) => !fields.includes(field)))
      return { ...action, why: `${action.why}; held of it: ${labels}`, withheld: fields }
  }
  return hold(action, 'guard', `${action.why}; held: ${labels}`)
}
