/**
 * The guard's rules. A feed is wrong now and then, and the site must not show it; an office also changes a lot in one night
 * now and then, and the site must show that. Each rule asks one question of a plan, and holds the changes that it is about.
 */
import { countsOf } from '../change.ts'
import type { Action } from '../change.ts'
import type { PlanConfig } from '../settings.ts'
import type { Ends, Pair, RuleName, Tally } from './hold.ts'
import { factKinds, facts } from './facts.ts'
import type { FactKind } from './facts.ts'
import type { Policy } from './scales.ts'

/** The settings below `limits` that rules ask for, in percent of the listings that are ours. */
export type Limits = Readonly<Pick<PlanConfig['limits'], 'share' | 'growth'>>

/** What the rules measure by, without what was approved, or confirmed by the feed for long enough. */
export interface Seen {
  /** Listings that the chatbot shows and this feed owns, and those that left within 24 hours. */
  readonly ours: number
  /** No complete delivery was gone through for two and a half days: more happened meanwhile, so that twice as much may change. */
  readonly isRare: boolean
  /** No delivery was carried over whole yet: what comes is the first load. */
  readonly isFirstLoad: boolean
  /** The chatbot belongs to this feed alone: what others made leaves, from the first run on. */
  readonly isMirror: boolean
  /** The delivery is a whole document without a record. */
  readonly isEmpty: boolean
  /** What changed in the last 24 hours and what this plan would change; renumbered listings neither leave nor come. */
  readonly counts: Readonly<Tally>
  /** The same if all that is not approved were carried out, the confirmed part too. */
  readonly outlook: Readonly<Pick<Tally, 'delete' | 'create' | 'changed'>>
  /** Of that what a delta says itself, and what earlier ones said that is planned again with it; both with the last 24 hours. */
  readonly own: Seen['outlook']
  readonly earlier: Readonly<Tally>
  /** A change beyond belief, as people read it: "250,000 → 25,000,000 in M-1041". */
  readonly examples: Readonly<Partial<Record<FactKind, string>>>
  /** When the delivery says that it was written, where that is before the last one was; both as people read them. */
  readonly older: { readonly written: string; readonly last: string } | null
  readonly saysItself: Policy['saysItself']
  /** The last delivery was held as older than the one before. */
  readonly wasOlder: boolean
  /** Creates of this plan, and those that bring back what we took off in the last 45 days. */
  readonly creates: number
  readonly back: number
  /** Deletes of this plan, those that wait among them, and those that take away what was new in the last 45 days. */
  readonly deletes: number
  readonly young: number
  /** Deletes that wait for something else than the guard, of listings that went absent within 24 hours. */
  readonly leavingLater: number
  /** Listings of ours that the chatbot's list lacks. */
  readonly missing: number
  /** Listings with this feed's mark under MLSNumbers that it never wrote. */
  readonly strange: number
  /** The service is called with other keys than when its list was like ours. */
  readonly otherKeys: boolean
  /** Listings that were edited on the service, sent again, and edited once more. */
  readonly editedAgain: number
}

/** What a rule measured, for programs that read the report. */
export type Numbers = Readonly<Record<string, number | string>>

/** An accident that a rule found. */
export interface Trip {
  readonly name: RuleName
  /** The setting below `limits` that governs it; null: constants alone do. */
  readonly setting: keyof Limits | null
  readonly ends: Ends
  /** What ends it, if nothing but that and a person does, as a clause. */
  readonly waitsFor?: string
  /** Not this delivery is held whole, but what earlier deltas said. */
  readonly isOfEarlier?: boolean
  /** Why a change is held, as a clause. */
  readonly label: string
  /** Of an update only this kind of fact is held, and the rest goes on. */
  readonly fact?: FactKind
  readonly numbers: Numbers
  /** The numbers for people; what is held and until when is said behind it (`endingOf`). */
  readonly sentence: string
  /** Whether this action is held back. `pair`: with what it is about the same home. `isHeld`: the very same was held before. */
  holds(action: Action, pair: Pair | null, isHeld: boolean): boolean
}

export type Rule = (seen: Seen, limits: Limits) => Trip | null

/** From so many listings on a share says something. */
const leastOffice = 3
/** What is always allowed of what changes often, of what seldom does, and of what is new. */
const least = 3
const leastSeldom = 1
const leastNew = 10
/** `older`: so many listings back and so many gone again, and so much of all creates and deletes. */
const leastBack = 3
const shareBack = 0.8
/** `unrecognisable`: less than this share of the site stays as it is. */
const shareStaying = 0.25

type Size = Pick<Seen, 'ours' | 'isRare'>

/** How many of `ours` may leave, or change a fact, within 24 hours: a share of them, never more than half. */
export function allowed({ ours, isRare }: Size, { share }: Limits, isSeldom = false): number {
  if (ours < leastOffice) return ours
  const some = Math.max(isSeldom ? leastSeldom : least, Math.floor((ours * share) / 100))
  return Math.min(some * (isRare ? 2 : 1), Math.floor(ours / 2))
}

/** How many may be new within 24 hours. */
export function allowedNew({ ours, isRare }: Size, { growth }: Limits): number {
  return Math.max(leastNew, Math.floor((ours * growth) / 100)) * (isRare ? 2 : 1)
}

function mayLeave(seen: Seen, limits: Limits): number {
  // A file with nothing in it may mean that the last listing was sold, or an accident: the feed has to say it again.
  if (seen.isEmpty) return 0
  return seen.isFirstLoad && !seen.isMirror ? Infinity : allowed(seen, limits)
}

/** What the feed goes on saying is believed in the end. */
const byShare = { setting: 'share', ends: 'confirmed' } as const
/** A turn of what moves by itself comes each night: who was asked about them would be asked for ever. */
const asks = { setting: null, ends: 'never', holds: ({ cause }: Action) => cause !== 'refresh' } as const

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
    ends: 'confirmed',
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
    ...byShare,
    label: 'too many homes came under other MLSNumbers',
    numbers: { renumbered: counts.renumber, ours, allowed: most },
    sentence: `${counts.renumber} of ${ours} homes came under other MLSNumbers`,
    // What has no address pairs with none and may be one of them all the same: as its create waits, so does its delete,
    // or the home would be on the site twice, or not at all.
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
      ? `where so many leave, no more may come than the ${most} that stay`
      : `up to ${most} may come in 24 hours (limits.growth)`
  return {
    name: 'arriving',
    setting: most < usual ? null : 'growth',
    ends: 'confirmed',
    label: 'too many listings are new',
    numbers: { arriving: counts.create, ours, allowed: most },
    sentence: `${counts.create} new listings beside ${ours}; ${because}`,
    holds: (action, pair) => action.cause === 'new' && !action.isBack && pair !== 'renumbered',
  }
}

const changing =
  (fact: FactKind): Rule =>
  (seen, limits) => {
    const { ours, counts, examples, isFirstLoad } = seen
    const {
      words: [subject, predicate, plural],
      isOften,
    } = facts[fact]
    const most = allowed(seen, limits, isOften !== true)
    const [listings, example = ''] = [counts[fact], examples[fact]]
    if (isFirstLoad || listings <= most) return null
    const such = example === '' ? '' : ` (${example}, …)`
    return {
      name: 'facts',
      ...byShare,
      label: `too many listings would change ${plural}`,
      fact,
      numbers: { kind: fact, listings, ours, allowed: most, example },
      sentence: `${subject} of ${listings} of ${ours} listings would ${predicate}${such}; up to ${most} may in 24 hours (limits.share)`,
      holds: () => true,
    }
  }

const older: Rule = (seen) => {
  const { isFirstLoad, older: times, creates, back, deletes, young, wasOlder, saysItself } = seen
  // A database that was set back goes on from there: what is new in it makes it no newer.
  const isMost = wasOlder || (back >= creates * shareBack && young >= deletes * shareBack)
  if (isFirstLoad || (times === null && !(isMost && Math.min(back, young) >= leastBack))) return null
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
  const { ours, own, earlier, isFirstLoad } = seen
  const left = ({ delete: gone, changed, create }: Seen['outlook']) => {
    const [stay, after] = [Math.max(0, ours - gone - changed), ours - gone + create]
    // A few new listings drown nothing, however small the office is.
    const isDrowned = !isFirstLoad && create > allowedNew(seen, limits) && stay < after * shareStaying
    return { stay, after, isLittle: stay < ours * shareStaying || isDrowned }
  }
  if (ours < leastOffice || !left(seen.outlook).isLittle) return null
  // Then a delta takes nothing with it that is not more of the same.
  const isOfEarlier = left(earlier).isLittle && !left(own).isLittle
  const isMore = (action: Action): boolean => countsOf(action).some((what) => earlier[what] > allowed(seen, limits))
  const { stay, after } = left(isOfEarlier ? earlier : seen.outlook)
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

/** What the chatbot shows is not the feed's word, and is asked separately. */
const chatbot: Rule = (seen, limits) => {
  const { missing, strange, editedAgain, otherKeys } = seen
  // What is there under a strange number counts already.
  const ours = seen.ours + Math.max(0, missing - strange)
  const most = allowed({ ...seen, ours }, limits)
  // What is missing here and strange there is one listing, which the service spells its own way: one is enough.
  const isRespelled = missing > 0 && strange > 0
  const isList = isRespelled || missing > most
  if (!isList && editedAgain <= allowed(seen, limits, true)) return null
  const lacks = `${missing} of ${ours} listings are missing from the chatbot's list`
  const under = `and ${strange} are there under MLSNumbers that this feed never wrote`
  const edited = `${editedAgain} of ${ours} listings were edited on the chatbot again after they had been sent again`
  const list = isRespelled ? `${lacks}, ${under}` : `${lacks}; up to ${most} may be (limits.share)`
  return {
    name: 'chatbot',
    setting: 'share',
    ends: 'listed again',
    label: "the chatbot's list is in doubt",
    numbers: { missing, strange, editedAgain, ours, allowed: most, keys: otherKeys ? 'other' : 'as before' },
    sentence: isList ? list : `${edited}; another program seems to write them`,
    holds: (action, pair) => (isList ? isAboutList(action, pair, otherKeys) : action.kind === 'update' && action.again),
  }
}

function isAboutList(action: Action, pair: Pair | null, otherKeys: boolean): boolean {
  // Its home may be on the site still, under the number that the list lacks.
  if (pair === 'missing') return true
  // Under other keys it may be somebody else's chatbot: nothing is put there.
  if (action.kind === 'create') return action.cause === 'gone-from-service' || otherKeys
  // What is forgotten on the word of this list would be created beside a listing that is there, if it came again.
  if (action.kind === 'forget') return action.cause !== 'other-feed'
  return action.kind === 'delete' && action.cause === 'absent' && action.snapshot === null
}

/** In the order in which people are told. */
export const rules: readonly Rule[] = [
  older,
  unrecognisable,
  leaving,
  renumbered,
  arriving,
  ...factKinds.map(changing),
  chatbot,
]

/** What the rules find, `from` others in a test. */
export const tripsOf = (seen: Seen, limits: Limits, from: readonly Rule[] = rules): Trip[] =>
  from.flatMap((rule) => rule(seen, limits) ?? [])
