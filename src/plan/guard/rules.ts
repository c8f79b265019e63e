/**
 * The guard's rules. A feed is wrong now and then, and the site must not show it; an office also changes a lot in one night
 * now and then, and the site must show that. Each rule asks one question of a plan, and holds the changes that it is about.
 */
import type { FieldName } from '../../core/listing.ts'
import type { Action, Update } from '../change.ts'
import type { PlanConfig } from '../settings.ts'
import type { Ends, Pair, RuleName } from './hold.ts'
import { factKinds, facts, fieldsOfFact } from './facts.ts'
import type { FactKind } from './facts.ts'

/** The settings below `limits` that rules ask for, in percent of the listings that are ours. */
export type Limits = Readonly<Pick<PlanConfig['limits'], 'share' | 'growth'>>

/**
 * What the rules measure by. Counts are of the last 24 hours: what was carried out and what this plan would do. What was
 * approved, or confirmed by the feed for long enough, is not counted.
 */
export interface Seen {
  /** Listings that the chatbot shows and this feed owns, and those that left within 24 hours. */
  readonly ours: number
  /** No complete delivery came for two and a half days: more happened meanwhile, so that twice as much may change. */
  readonly isRare: boolean
  /** No delivery was carried over whole yet: what comes is the first load. */
  readonly isFirstLoad: boolean
  /** The chatbot belongs to this feed alone: what others made leaves, from the first run on. */
  readonly isMirror: boolean
  /** The delivery is a whole document without a record. */
  readonly isEmpty: boolean
  /** Deletes of any cause, without renumbered listings. */
  readonly leaving: number
  /** Homes whose listing is gone and that are delivered under another MLSNumber. */
  readonly renumbered: number
  /** Creates of what is new to the feed, without renumbered listings and without those that we took off in the last 45 days. */
  readonly arriving: number
  /** Listings that change a fact beyond belief, by kind. */
  readonly changing: Readonly<Record<FactKind, number>>
  /** Such a change, as people read it: "250,000 → 25,000,000 in M-1041". */
  readonly examples: Readonly<Partial<Record<FactKind, string>>>
  /** When the delivery says that it was written, where that is before the last one was; both as people read them. */
  readonly older: { readonly written: string; readonly last: string } | null
  /** The last delivery was held as older than the one before. */
  readonly wasOlder: boolean
  /** Creates of this plan, and how many of them bring back what we took off in the last 45 days. */
  readonly creates: number
  readonly back: number
  /** Deletes of this plan, and how many of them take away what was new in the last 45 days. */
  readonly deletes: number
  readonly young: number
  /** What would become of the site if all that is not approved were carried out, the confirmed part too. */
  readonly outlook: { readonly leaving: number; readonly changed: number; readonly arriving: number }
  /** Listings of ours that the chatbot's list lacks. */
  readonly missing: number
  /** Listings with this feed's mark under MLSNumbers that it never wrote. */
  readonly strange: number
  /** The service is called with other keys than when its list was like ours. */
  readonly otherKeys: boolean
  /** Listings that were edited on the service, sent again, and edited once more. */
  readonly editedAgain: number
}

/** What a rule measured, for its message and for programs that read the report. */
export type Numbers = Readonly<Record<string, number | string>>

export interface Rule<N extends Numbers = Numbers> {
  readonly name: RuleName
  /** The setting below `limits` that governs it; null: constants alone do. */
  readonly setting: keyof Limits | null
  readonly ends: Ends
  /** What ends it, if nothing but that and a person does, as a clause. */
  readonly waitsFor?: string
  /** The numbers of each accident that it finds; of facts, one for each kind. */
  trips(seen: Seen, limits: Limits): readonly N[]
  /** The sentence with these numbers; what is held and until when is said behind it (`endingOf`). */
  message(numbers: N): string
  /** Why a change is held, as a clause. */
  label(numbers: N): string
  /**
   * Whether it holds this action back. `pair`: with what it is about the same home. A list of fields: of an update these
   * alone, and the rest goes on.
   */
  holds(action: Action, pair: Pair | null, numbers: N): boolean | readonly FieldName[]
}

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

const rule = <N extends Numbers>(written: Rule<N>): Rule => written

function tooManyLeave(seen: Seen, limits: Limits) {
  const { leaving, ours, isFirstLoad, isMirror, isEmpty } = seen
  // A file with nothing in it may mean that the last listing was sold, or an accident: the feed has to say it again.
  const most = isEmpty ? 0 : allowed(seen, limits)
  const isAsleep = isFirstLoad && !isMirror && !isEmpty
  return !isAsleep && leaving > most ? [{ leaving, ours, allowed: most }] : []
}

const leaving = rule({
  name: 'leaving',
  setting: 'share',
  ends: 'confirmed',
  trips: tooManyLeave,
  message: ({ leaving: gone, ours, allowed: most }) =>
    `${gone} of ${ours} listings would leave the site; up to ${most} may in 24 hours (limits.share)`,
  label: () => 'too many listings would leave',
  holds: ({ kind }, pair) => kind === 'delete' && pair !== 'renumbered',
})

/** Gone without a word of the feed's, from an address that is not known. */
const isNameless = ({ cause, home }: Extract<Action, { kind: 'delete' }>): boolean =>
  cause === 'absent' && home === null

const renumbered = rule({
  name: 'leaving',
  setting: 'share',
  ends: 'confirmed',
  trips(seen, limits) {
    const most = allowed(seen, limits)
    const { renumbered: homes, ours, isFirstLoad } = seen
    return !isFirstLoad && homes > most ? [{ renumbered: homes, ours, allowed: most }] : []
  },
  message: ({ renumbered: homes, ours }) => `${homes} of ${ours} homes came under other MLSNumbers`,
  label: () => 'too many homes came under other MLSNumbers',
  // What has no address pairs with none and may be one of them all the same: as its create waits, so does its delete, or the
  // home would be on the site twice, or not at all.
  holds: (action, pair) =>
    action.kind === 'create' || (action.kind === 'delete' && (pair !== null || isNameless(action))),
})

const arriving = rule({
  name: 'arriving',
  setting: 'growth',
  ends: 'confirmed',
  trips(seen, limits) {
    const { arriving: come, ours, isFirstLoad } = seen
    const isReplaced = tooManyLeave(seen, limits).length > 0
    const most = Math.min(allowedNew(seen, limits), isReplaced ? ours - seen.leaving : Infinity)
    return !isFirstLoad && come > most ? [{ arriving: come, ours, allowed: most }] : []
  },
  message: ({ arriving: come, ours, allowed: most }) =>
    `${come} new listings beside ${ours}; up to ${most} may come in 24 hours (limits.growth)`,
  label: () => 'too many listings are new',
  holds: (action, pair) =>
    action.kind === 'create' && action.cause === 'new' && !action.isBack && pair !== 'renumbered',
})

/** Of a listing that was there before, or was edited on the service, the feed says nothing new. */
export const isNews = ({ cause, broken }: Update, kind: FactKind): boolean =>
  cause === 'changed' || cause === 'mapping' || broken.includes(kind)

const changing = rule({
  name: 'facts',
  setting: 'share',
  ends: 'confirmed',
  trips(seen, limits) {
    if (seen.isFirstLoad) return []
    return factKinds.flatMap((kind) => {
      const most = allowed(seen, limits, facts[kind].isSeldom)
      const { [kind]: listings } = seen.changing
      const example = seen.examples[kind] ?? ''
      return listings > most ? [{ kind, listings, ours: seen.ours, allowed: most, example }] : []
    })
  },
  message({ kind, listings, ours, allowed: most, example }) {
    const { subject, predicate } = facts[kind]
    const such = example === '' ? '' : ` (${example}, …)`
    return `${subject} of ${listings} of ${ours} listings would ${predicate}${such}; up to ${most} may in 24 hours (limits.share)`
  },
  label: ({ kind }) => `too many listings would change ${facts[kind].plural}`,
  holds(action, _, { kind }) {
    if (action.kind !== 'update') return false
    return isNews(action, kind) && fieldsOfFact(kind, action.fields)
  },
})

const older = rule<Numbers>({
  name: 'older',
  setting: null,
  ends: 'never',
  waitsFor: 'a newer one comes',
  trips(seen) {
    const { isFirstLoad, creates, back, deletes, young, wasOlder } = seen
    if (isFirstLoad) return []
    if (seen.older !== null) return [{ ...seen.older }]
    // A database that was set back goes on from there: what is new in it makes it no newer.
    const isMost = wasOlder || (back >= creates * shareBack && young >= deletes * shareBack)
    return isMost && Math.min(back, young) >= leastBack ? [{ back, young }] : []
  },
  message: ({ written, last, back, young }) =>
    written === undefined
      ? `this delivery is older than the last: it brings back ${back} listings that had gone and takes away ${young} new ones`
      : `this delivery is older than the last: it was written on ${written}, and the last one on ${last}`,
  label: () => 'the delivery is older than the last',
  holds: () => true,
})

const unrecognisable = rule({
  name: 'unrecognisable',
  setting: null,
  ends: 'never',
  waitsFor: 'the feed is back',
  trips(seen, limits) {
    const { ours, outlook } = seen
    if (ours < leastOffice) return []
    const stay = Math.max(0, ours - outlook.leaving - outlook.changed)
    const after = ours - outlook.leaving + outlook.arriving
    // A few new listings drown nothing, however small the office is.
    const isDrowned = !seen.isFirstLoad && outlook.arriving > allowedNew(seen, limits) && stay < after * shareStaying
    return stay < ours * shareStaying || isDrowned ? [{ stay, ours, after }] : []
  },
  message: ({ stay, ours, after }) =>
    `after this delivery ${stay} of ${Math.max(ours, after)} listings would stay as they are`,
  label: () => 'too little would stay as it is',
  holds: () => true,
})

interface OnChatbot extends Numbers {
  missing: number
  strange: number
  editedAgain: number
  ours: number
  allowed: number
  keys: 'as before' | 'other'
}

const isRespelled = ({ missing, strange }: Pick<OnChatbot, 'missing' | 'strange'>): boolean =>
  missing > 0 && strange > 0

/** What the chatbot shows is not the feed's word, and is asked separately. */
const chatbot = rule<OnChatbot>({
  name: 'chatbot',
  setting: 'share',
  ends: 'listed again',
  trips(seen, limits) {
    const { missing, strange, editedAgain, ours, otherKeys } = seen
    const all = ours + missing
    const numbers = {
      missing,
      strange,
      editedAgain,
      ours: all,
      allowed: allowed({ ...seen, ours: all }, limits),
      keys: otherKeys ? ('other' as const) : ('as before' as const),
    }
    // What is missing here and strange there is one listing, which the service spells its own way: one is enough.
    const isOdd = isRespelled(numbers) || missing > numbers.allowed || editedAgain > allowed(seen, limits, true)
    return isOdd ? [numbers] : []
  },
  message(numbers) {
    const { missing, strange, editedAgain, ours, allowed: most } = numbers
    if (isRespelled(numbers))
      return `${missing} of ${ours} listings are missing from the chatbot's list, and ${strange} are there under MLSNumbers that this feed never wrote`
    if (missing > most)
      return `${missing} of ${ours} listings are missing from the chatbot's list; up to ${most} may be (limits.share)`
    return `${editedAgain} of ${ours} listings were edited on the chatbot again after they had been sent again; another program seems to write them`
  },
  label: () => "the chatbot's list is in doubt",
  holds(action, pair, numbers) {
    if (isRespelled(numbers) || numbers.missing > numbers.allowed) {
      // Its home may be on the site still, under the number that the list lacks.
      if (pair === 'missing') return true
      // Under other keys it may be somebody else's chatbot: nothing is put there.
      if (action.kind === 'create') return action.cause === 'gone-from-service' || numbers.keys === 'other'
      // What is forgotten on the word of this list would be created beside a listing that is there, if it came again.
      if (action.kind === 'forget') return action.cause !== 'other-feed'
      return action.kind === 'delete' && action.cause === 'absent' && action.snapshot === null
    }
    return action.kind === 'update' && action.again
  },
})

/** In the order in which people are told. */
export const rules: readonly Rule[] = [older, unrecognisable, leaving, renumbered, arriving, changing, chatbot]

/** An accident: what a rule found. */
export interface Trip extends Pick<Rule, 'setting' | 'ends' | 'waitsFor'> {
  readonly rule: RuleName
  readonly numbers: Numbers
  readonly sentence: string
  readonly label: string
  holds(action: Action, pair: Pair | null): boolean | readonly FieldName[]
}

/** What the rules find, `from` others in a test. */
export function tripsOf(seen: Seen, limits: Limits, from: readonly Rule[] = rules): Trip[] {
  return from.flatMap((tripped) =>
    tripped.trips(seen, limits).map((numbers) => ({
      ...tripped,
      rule: tripped.name,
      numbers,
      sentence: tripped.message(numbers),
      label: tripped.label(numbers),
      holds: (action: Action, pair: Pair | null) => tripped.holds(action, pair, numbers),
    })),
  )
}
