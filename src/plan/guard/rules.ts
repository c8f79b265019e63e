/** The guard's rules. Each asks of a whole plan: is the feed wrong, or did an office change a lot in one night, which must be shown? */
import { many } from '../../core/text.ts'
import { countsOf } from '../change.ts'
import type { Action } from '../change.ts'
import type { PlanConfig } from '../settings.ts'
import { askingRules } from './hold.ts'
import type { Pair, RuleName } from './hold.ts'
import { factKinds, facts } from './facts.ts'
import type { FactKind } from './facts.ts'
import type { Figures, Policy } from './scales.ts'

/** The settings below `limits` that rules ask for, in percent of the listings that are ours. */
export type Limits = Readonly<Pick<PlanConfig['limits'], 'share' | 'growth'>>

/** What the rules ask for: what the changes of the plan come to, and what is known beside them. */
export interface Seen extends Readonly<Figures> {
  /** Listings that the chatbot shows and this feed owns, and those that left within 24 hours. */
  readonly ours: number
  /** No complete delivery was carried out for two and a half days: more has happened meanwhile, so twice as much may change. */
  readonly isRare: boolean
  /** No delivery has been carried over whole yet. */
  readonly isFirstLoad: boolean
  /** `ownership: mirror`: what others made leaves, from the first run on. */
  readonly isMirror: boolean
  /** The delivery is a whole document without a record. */
  readonly isEmpty: boolean
  /** Set if the delivery was written before the last one: when each was, as people read it. */
  readonly older: { readonly written: string; readonly last: string } | null
  readonly saysItself: Policy['saysItself']
  /** The last delivery was held as older than the one before. */
  readonly wasOlder: boolean
  /** The last delivery was held as unrecognisable. */
  readonly wasUnrecognisable: boolean
  /** Listings with this feed's mark under MLSNumbers that it never wrote. */
  readonly strange: number
  /** The service is called with other keys than when its list was last as expected. */
  readonly otherKeys: boolean
}

/** What a rule measured, for programs that read the report. */
export type Numbers = Readonly<Record<string, number | string>>

/** An accident that a rule found. */
export interface Trip {
  readonly name: RuleName
  /** The setting below `limits` that it goes by; null: it goes by constants alone. */
  readonly setting: keyof Limits | null
  /** As a clause, the only thing that ends it besides a person. */
  readonly waitsFor?: string
  /** It holds what earlier deltas said, and not the whole of this delivery. */
  readonly isOfEarlier?: boolean
  /** It holds only what a person is asked about anyway: the feed has said the rest for long enough. */
  readonly isToldOn?: boolean
  /** Why a change is held, as a clause. */
  readonly label: string
  /** It holds only this kind of fact of an update; the rest of the update goes on. */
  readonly fact?: FactKind
  readonly numbers: Numbers
  /** What it found, for people. `endingOf` adds what is held and until when. */
  readonly sentence: string
  /** Whether it holds this action. `isHeld`: an earlier run held the very same. */
  holds(action: Action, pair: Pair | null, isHeld: boolean): boolean
}

/** One question asked of a plan; null: nothing is wrong. Pure. */
export type Rule = (seen: Seen, limits: Limits) => Trip | null

/** With fewer listings than this a share says nothing. */
const leastOffice = 3
/** How many are always allowed: to leave or change status, to change another kind of fact, and to be new. */
const least = 3
const leastSeldom = 1
const leastNew = 10
/** `older`: at least so many come back and so many young ones go, and at least this share of all creates and of all deletes. */
const leastBack = 3
const shareBack = 0.8
/** `unrecognisable`: less than this share of the site stays as it is. */
const shareStaying = 0.25

type Size = Pick<Seen, 'ours' | 'isRare'>

/** How many of `ours` may leave, or change a fact, within 24 hours: a share of them, never more than half. */
export function allowed({ ours, isRare }: Size, { share }: Limits, isSeldom = false): number {
  if (ours < leastOffice) return ours
  const times = isRare ? 2 : 1
  const some = Math.max(times * (isSeldom ? leastSeldom : least), Math.floor((times * ours * share) / 100))
  return Math.min(some, Math.floor(ours / 2))
}

/** How many may be new within 24 hours. */
export function allowedNew({ ours, isRare }: Size, { growth }: Limits): number {
  const times = isRare ? 2 : 1
  return Math.max(times * leastNew, Math.floor((times * ours * growth) / 100))
}

/** How many may leave within 24 hours; Infinity: all, in the first load. */
function mayLeave(seen: Seen, limits: Limits): number {
  // An empty document may be an accident, or the last listing was sold: the feed has to say it again.
  if (seen.isEmpty) return 0
  return seen.isFirstLoad && !seen.isMirror ? Infinity : allowed(seen, limits)
}

/** Rules that ask a person. They hold no `refresh`: some come each night, so the person would be asked for ever. */
const asks = { setting: null, holds: ({ cause }: Action) => cause !== 'refresh' } as const

const leaving: Rule = (seen, limits) => {
  const { ours, counts } = seen
  if (counts.delete <= mayLeave(seen, limits)) return null
  const usual = mayLeave({ ...seen, isEmpty: false }, limits)
  const isAsEmpty = counts.delete <= usual
  const because = isAsEmpty
    ? ', as the delivery is whole and has no record'
    : `; up to ${usual} may in 24 hours (limits.share)`
  return {
    name: 'leaving',
    setting: isAsEmpty ? null : 'share',
    label: 'too many listings would leave',
    numbers: { leaving: counts.delete, ours, allowed: isAsEmpty ? 0 : usual },
    sentence: `${counts.delete} of ${ours} listings would leave the site${because}`,
    holds: ({ kind }, pair) => kind === 'delete' && pair !== 'renumbered',
  }
}

const renumbered: Rule = (seen, limits) => {
  const { ours, counts, isFirstLoad } = seen
  const most = allowed(seen, limits)
  if (isFirstLoad || counts.renumber <= most) return null
  return {
    name: 'leaving',
    setting: 'share',
    label: 'too many homes came under other MLSNumbers',
    numbers: { renumbered: counts.renumber, ours, allowed: most },
    sentence: `${counts.renumber} of ${ours} homes came under other MLSNumbers`,
    // A home without an address can't be paired, and may be renumbered all the same. As all creates wait, its delete has to
    // wait, too, or the home would be off the site.
    holds: (action, pair) =>
      action.kind === 'create' ||
      (action.kind === 'delete' && (pair !== null || (action.cause === 'absent' && action.home === null))),
  }
}

const arriving: Rule = (seen, limits) => {
  const { ours, counts, leavingLater, isFirstLoad } = seen
  const usual = allowedNew(seen, limits)
  const leaving = counts.delete + leavingLater
  const most = leaving > mayLeave(seen, limits) ? Math.max(0, Math.min(usual, ours - leaving)) : usual
  if (isFirstLoad || counts.create <= most) return null
  const because =
    most < usual
      ? `where so many leave, no more may come than the ${most} that ${most === 1 ? 'stays' : 'stay'}`
      : `up to ${most} may come in 24 hours (limits.growth)`
  return {
    name: 'arriving',
    setting: most < usual ? null : 'growth',
    label: 'too many listings are new',
    numbers: { arriving: counts.create, ours, allowed: most },
    sentence: `${many(counts.create, 'new listing')} beside ${ours}; ${because}`,
    holds: (action, pair) => action.cause === 'new' && !action.isBack && pair !== 'renumbered',
  }
}

const changing =
  (fact: FactKind): Rule =>
  (seen, limits) => {
    const { ours, counts, examples, confirmedExamples, isFirstLoad } = seen
    const { words, isOften } = facts[fact]
    const [subject, predicate, plural] = words
    const most = allowed(seen, limits, isOften !== true)
    const [listings, example = ''] = [counts[fact], examples[fact] ?? confirmedExamples[fact]]
    if (isFirstLoad || listings <= most) return null
    const such = example === '' ? '' : ` (${example}, …)`
    return {
      name: 'facts',
      setting: 'share',
      label: `too many listings would change ${plural}`,
      fact,
      numbers: { kind: fact, listings, ours, allowed: most, example },
      sentence: `${subject} of ${listings} of ${Math.max(ours, listings)} listings would ${predicate}${such}; up to ${most} may in 24 hours (limits.share)`,
      holds: () => true,
    }
  }

const older: Rule = (seen) => {
  const { isFirstLoad, older: times, back, young, wasOlder, saysItself } = seen
  const isMost =
    back >= seen.creates * shareBack && young >= seen.deletes * shareBack && Math.min(back, young) >= leastBack
  // A restored database goes on from its old state: new listings in it don't make it newer while it says what was held.
  const goesOn = wasOlder && Math.min(seen.backBefore, seen.youngBefore) >= leastBack
  if (isFirstLoad || (times === null && !isMost && !goesOn)) return null
  const how =
    times === null
      ? `it brings back ${back} listings that had gone and takes away ${young} new ones`
      : `it was written on ${times.written}, and the last one on ${times.last}`
  return {
    name: 'older',
    ...asks,
    waitsFor: 'a newer one comes',
    label: 'the delivery is older than the last',
    numbers: { ...(times ?? { back, young }) },
    sentence: `this delivery is older than the last: ${how}`,
    holds: (action) => asks.holds(action) && saysItself(action.mlsNumber),
  }
}

const unrecognisable: Rule = (seen, limits) => {
  const { ours, own, earlier, isFirstLoad, wasUnrecognisable } = seen
  // What asks a person goes on asking, however long nothing is delivered.
  const mostNew = allowedNew({ ours, isRare: seen.isRare && !wasUnrecognisable }, limits)
  const remaining = ({ gone, changed, create }: Seen['own']) => {
    const [stay, after] = [Math.max(0, ours - gone - changed), ours - gone + create]
    // A few new listings drown nothing, however small the office is.
    const isDrowned = !isFirstLoad && create > mostNew && stay < after * shareStaying
    return { stay, after, isLittle: stay < ours * shareStaying || isDrowned }
  }
  if (ours < leastOffice || !remaining(seen.outlook).isLittle) return null
  // If earlier deltas alone are to blame, this one goes on, but for more of the same.
  const isOfEarlier = remaining(earlier).isLittle && !remaining(own).isLittle
  const isMore = (action: Action): boolean => countsOf(action).some((what) => earlier[what] > allowed(seen, limits))
  const { stay, after } = remaining(isOfEarlier ? earlier : seen.outlook)
  return {
    name: 'unrecognisable',
    ...asks,
    isOfEarlier,
    waitsFor: 'the feed is back',
    label: 'too little would stay as it is',
    numbers: { stay, ours, after },
    sentence: `after ${isOfEarlier ? 'what earlier deliveries said' : 'this delivery'} ${stay} of ${Math.max(ours, after)} listings would stay as they are`,
    holds: (action, _, isHeld) => asks.holds(action) && (!isOfEarlier || isHeld || isMore(action)),
  }
}

/** What the list shows is no word of the feed, so no delivery confirms it, only another list. */
const chatbot: Rule = (seen, limits) => {
  const { missing, strange, editedAgain, otherKeys } = seen
  // `seen.ours` has only listings that are shown, those under strange numbers among them.
  const ours = seen.ours + Math.max(0, missing - strange)
  // One that is missing and one under a strange number are the same listing, which the service respells: one is enough.
  const isRespelled = missing > 0 && strange > 0
  // Under other keys a pause explains nothing.
  const mostMissing = allowed({ ours, isRare: seen.isRare && !otherKeys }, limits)
  const isList = isRespelled || missing > mostMissing
  const most = isList ? mostMissing : allowed(seen, limits, true)
  if (!isList && editedAgain <= most) return null
  const upTo = `up to ${most} may be (limits.share)`
  const keys = otherKeys ? ', which was read with other keys than before' : ''
  const lacks = `${missing} of ${many(ours, 'listing')} ${missing === 1 ? 'is' : 'are'} missing from the chatbot's list${keys}`
  const [are, numbers] = strange === 1 ? ['is', 'an MLSNumber'] : ['are', 'MLSNumbers']
  const under = `and ${strange} ${are} there under ${numbers} that this feed never wrote`
  const list = isRespelled ? `${lacks}, ${under}` : `${lacks}; ${upTo}`
  const edited = `${editedAgain} of ${ours} listings were edited on the chatbot again after they had been sent again`
  return {
    name: 'chatbot',
    setting: 'share',
    label: "the chatbot's list is in doubt",
    numbers: { missing, strange, editedAgain, ours, allowed: most, keys: otherKeys ? 'other' : 'as before' },
    sentence: isList ? list : `${edited}; ${upTo}; another program seems to write them`,
    holds: (action, pair) => (isList ? isAboutList(action, pair, otherKeys) : action.kind === 'update' && action.again),
  }
}

function isAboutList(action: Action, pair: Pair | null, otherKeys: boolean): boolean {
  // The home may still be on the site, under the number that the list lacks.
  if (pair === 'missing') return true
  // Under other keys it may be somebody else's chatbot: nothing is put there.
  if (action.kind === 'create') return action.cause === 'gone-from-service' || otherKeys
  // If its row were forgotten because of this list, the listing could be created a second time.
  if (action.kind === 'forget') return action.cause !== 'other-feed'
  // Without a snapshot row it may be one that the service respelled.
  return action.kind === 'delete' && action.cause === 'absent' && action.snapshot === null
}

/** In the order in which people are told of them. */
export const rules: readonly Rule[] = [
  older,
  unrecognisable,
  leaving,
  renumbered,
  arriving,
  ...factKinds.map(changing),
  chatbot,
]

/** What the rules find. While one of them asks a person, the others say on why, for as long as it lasts. A test may hand over its own. */
export function tripsOf(seen: Seen, limits: Limits, from: readonly Rule[] = rules): Trip[] {
  const foundIn = (what: Seen): Trip[] => from.flatMap((rule) => rule(what, limits) ?? [])
  const found = foundIn(seen)
  if (!found.some(({ name }) => askingRules.has(name))) return found
  const labels = new Set(found.map(({ label }) => label))
  const stillFound = foundIn({ ...seen, counts: seen.outlook, leavingLater: 0 })
  return stillFound.map((trip) => ({ ...trip, isToldOn: !labels.has(trip.label) }))
}
