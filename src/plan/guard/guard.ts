/** The guard: turns accidents into holds. What a tripped rule is about is held, and the rest goes on. Pure. */
import type { FieldName } from '../../core/listing.ts'
import { countsOf, hold } from '../change.ts'
import type { Action, Change } from '../change.ts'
import { fieldsOfFact } from './facts.ts'
import type { FactKind } from './facts.ts'
import { endsOf, factOf } from './hold.ts'
import type { HeldPart, Pair, PartHeld, Remembered, RuleName, Weighed } from './hold.ts'
import type { Trip } from './rules.ts'
import { isLetGo, partOf, standingOf } from './scales.ts'
import type { Policy, Standing } from './scales.ts'

/** An accident that holds an action, or one part of it. */
interface HeldBy {
  /** null: no rule asks for it any more. It was refused, or waits for its time all the same. */
  readonly trip: Trip | null
  readonly part: HeldPart
  /** A number: it waits for its time, by a clock that began then. `other number`: it was let go, and the time of that one is told. */
  readonly wait: 'a person' | 'whoever refused it' | 'other number' | number
  /** No earlier run held that part as it is now, nor saw that its listing was absent. */
  readonly isNew: boolean
}

/** What the guard decides about an action. */
export interface Verdict {
  readonly change: Change
  readonly weighed: Weighed
  /** What holds it or a part of it, but for earlier holds that have no time to tell, as a person is asked or this run ends none. */
  readonly heldBy: readonly HeldBy[]
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
  /** Of an old number: an earlier run held what comes for it, too. */
  readonly wasHeldBeside?: boolean
}

/** Decides what of an action is held, by the accidents found and by earlier holds. null: it goes as planned, with nothing to note. */
export function judge(action: Action, beside: Beside, trips: readonly Trip[], policy: Policy): Verdict | null {
  const { remembered, pair, heldBeside, isRefusedBeside = false, wasHeldBeside = false } = beside
  const { endsNone } = policy
  const standing = (part: HeldPart): Standing => standingOf(remembered, action, part, policy)
  // A renumbered home with a fact beyond belief is held whole: the site keeps its old number, and with that the old fact. Its old
  // number is held by the same rule: what is approved or confirmed of the one is so of the other.
  const isWhole = (fact: FactKind, label: string): boolean =>
    pair === 'renumbered' &&
    (action.kind === 'create' ? action.broken.includes(fact) : heldBeside?.includes(label) === true)
  const about = trips.flatMap((trip) => {
    const { name, fact, label } = trip
    const ends = endsOf(name)
    const part: HeldPart = fact === undefined || isWhole(fact, label) ? action.kind : `update ${fact}`
    const stands = standing(part)
    // A hold of an update goes on as one of the create, if the listing vanished from the service meanwhile.
    const isHeld = stands.record !== null || (action.kind === 'create' && standing('update').record !== null)
    if (!trip.holds(action, pair, isHeld) || !hasPart(action, part)) return []
    const isHolding = trip.isToldOn !== true && (heldBeside !== null || !isLetGo(stands, ends, policy))
    return { trip, ends, part, ...stands, isHolding }
  })
  const isAsked = about.some(({ ends, isHolding }) => isHolding && ends === 'never')
  const byRule = about.filter(({ is, isHolding }) => isHolding || (isAsked && is === 'confirmed'))
  const isAsking =
    isRefusedBeside || byRule.some(({ ends }) => ends === 'never' || (ends === 'listed again' && !policy.isListedAgain))
  const held = new Set(byRule.map(({ part }) => part))
  const before = remembered.holds.flatMap(({ part }) => {
    const stands = standing(part)
    return stands.is !== 'new' && hasPart(action, part) ? { trip: null, part, ...stands } : []
  })
  // The clock of a home that is only renumbered is that of its old number. That goes at once if nothing came for it before.
  const hasOwnTime = pair !== 'renumbered' || wasHeldBeside || ('broken' in action && action.broken.length > 0)
  // With the feed's clock it waits for that, or a person, even if no rule trips any more.
  const isWaiting = ({ part, is, record }: (typeof before)[number]): boolean => {
    if (is !== 'waiting' || policy.healed.has(part)) return false
    const hasClock = record.clock !== null && record.ends !== 'listed again'
    return endsNone || (policy.confirm !== null && hasClock && (hasOwnTime || policy.confirm === Infinity))
  }
  const byItself = before.filter(
    (earlier) => !held.has(earlier.part) && (earlier.is === 'refused' || isWaiting(earlier)),
  )
  // What comes for an old number that waits does so, too, whatever was edited of it meanwhile.
  const isBesideWaiting = pair === 'renumbered' && action.kind === 'create' && heldBeside?.includes(heldBefore) === true
  const isFree = isBesideWaiting && [...byRule, ...byItself].every(({ part }) => part !== 'create')
  const comes = isFree ? standing('create') : null
  const isWith = comes?.is === 'new' || comes?.is === 'waiting'
  const byNone = isWith ? [...byItself, { trip: null, part: 'create' as const, ...comes }] : byItself
  for (const { part } of byNone) held.add(part)
  // While a person is asked, what waits has no time to tell.
  const mentioned = byNone.filter(({ is }) => is === 'refused' || endsNone || !isAsking)
  const reasonOf = ({ is }: Standing): string =>
    is === 'refused' ? 'it was refused' : endsNone ? 'this run ends no hold' : heldBefore
  const labels = new Set([...byRule.map(({ trip }) => trip.label), ...mentioned.map(reasonOf)])
  // A part that was let go stays held if it shares a field with one that is held.
  const fields = new Set([...held].flatMap((part) => fieldsOf(action, part) ?? []))
  const sharesField = (part: HeldPart): boolean =>
    part !== 'update' && fieldsOf(action, part)?.some((field) => fields.has(field)) === true
  for (const { part } of remembered.holds) if (sharesField(part)) held.add(part)
  // A hold without a clock only asked a person. Once no rule asks, and something else of the action is held, it ends unreleased.
  const isReleased = ({ is, record }: (typeof before)[number]): boolean =>
    held.size === 0 || is === 'approved' || (is === 'confirmed' && record.clock !== null)
  const released = before.filter((earlier) => !held.has(earlier.part) && isReleased(earlier))
  if (held.size === 0 && released.length === 0 && pair !== 'renumbered' && heldBeside === null) return null
  // What goes counts, unless a person approved it or the feed confirmed it. Another list is no word of the feed.
  const isCounted = (part: HeldPart): boolean =>
    !sharesField(part) && !held.has(part) && !isLetGo(standing(part), 'confirmed', policy)
  const counts = countsOf(action, pair).filter((what) => isCounted(partOf(action, what, pair)))
  const waitsAs = (part: HeldPart): HeldPart => (pair === 'renumbered' ? 'delete' : part)
  const heldParts = Array.from(held, (part): PartHeld => {
    const was = remembered.holds.find((record) => record.part === part)
    // A hold of a delete that knows no number yet takes the first that comes for its home.
    const content = policy.contentOf(action, part, was?.content === '' ? undefined : was)
    if (!endsNone && byNone.some((earlier) => earlier.part === part && earlier.is !== 'refused'))
      return { part, content, rules: [ruleOf(waitsAs(part))], ends: 'confirmed' }
    const by = byRule.filter((holding) => holding.part === part)
    const [first] = by
    // What the feed has confirmed stays a hold of the feed, although under other keys the rule `chatbot` alone still holds it.
    const isOfFeed = first?.is === 'confirmed' && first.record.ends === 'confirmed' && first.ends === 'listed again'
    const ends = isOfFeed || by.some((holding) => holding.ends === 'confirmed') ? 'confirmed' : (first?.ends ?? 'never')
    const rules = [...new Set(by.map(({ trip }) => trip.name))]
    return { part, content, rules, ends: isRefusedBeside ? 'never' : ends }
  })
  const change = withheld(action, heldParts, [...labels].join(', '), heldBeside)
  return {
    change,
    weighed: { heldParts, counts, released: released.map(({ part }) => part) },
    heldBy: [...byRule, ...(endsNone ? [] : mentioned)].map(({ trip, part, is, record }) => {
      const isReady = trip !== null && record !== null && isLetGo({ is, record }, endsOf(trip.name), policy)
      const time =
        isReady || (trip === null && isWith) ? 'other number' : (record?.clock ?? record?.since ?? policy.now)
      const isNew = record === null && (part !== 'delete' || remembered.absence === null)
      const wait = is === 'refused' ? 'whoever refused it' : isAsking ? 'a person' : time
      return { trip, part: waitsAs(part), wait, isNew }
    }),
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
    label: heldBefore,
    ...(fact !== null && { fact }),
    numbers: { waiting: listings },
    sentence: `what the rule ${name} held before goes on waiting, though it no longer asks about that`,
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
function withheld(action: Action, heldParts: readonly PartHeld[], labels: string, heldBeside: string | null): Change {
  if (heldParts.length === 0 && heldBeside !== null) {
    const has = 'home' in action && action.home === null ? 'may have' : 'has'
    const why = `${action.why}; its home ${has} another MLSNumber, too: both wait for a sync that can change both (${heldBeside})`
    return hold(action, 'other-number', why)
  }
  if (heldParts.length === 0) return action
  const all = heldParts.map(({ part }) => fieldsOf(action, part))
  if ('fields' in action && !all.includes(null)) {
    const fields = [...new Set(all.flatMap((some) => some ?? []))]
    if (action.kind === 'create' || action.fields.some(({ field }) => !fields.includes(field)))
      return { ...action, why: `${action.why}; held of it: ${labels}`, withheld: fields }
  }
  return hold(action, 'guard', `${action.why}; held: ${labels}`)
}
