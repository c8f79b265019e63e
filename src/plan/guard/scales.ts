/** Adds up what the rules measure in a plan whose homes are paired, and tells how each change stands by earlier holds. */
import type { FieldChange } from '../../core/compare-listings.ts'
import type { Listing } from '../../core/listing.ts'
import { valueInWords } from '../../core/text.ts'
import { hasPassed } from '../../core/turn.ts'
import { countsOf } from '../change.ts'
import type { Action, Create, Hold, Planned, Update } from '../change.ts'
import { facts, isFact } from './facts.ts'
import type { FactKind } from './facts.ts'
import { factOf, isDeleteApproved } from './hold.ts'
import type { Counted, Ends, HeldPart, HoldRecord, Pair, Remembered, Tally } from './hold.ts'

/** What decides whether a change that earlier runs held goes now. Times in milliseconds. */
export interface Policy {
  readonly now: number
  /**
   * How long every delivery has to say the same before a hold goes by itself (Infinity: it never does). Until then the hold stays,
   * even if no rule trips any more. null: the guard is off, and only what was refused stays held.
   */
  readonly confirm: number | null
  /** This run read a whole delivery and a whole list. Otherwise it confirms nothing. */
  readonly isWhole: boolean
  /** This run can't tell whether the feed still says what is held, so all holds stay, even if no rule trips. */
  readonly endsNone: boolean
  /** Whether another complete list ends holds of the rule `chatbot`: not under changed keys, nor under `confirm: never`. */
  readonly isListedAgain: boolean
  /** Parts in which the feed is right again (`healedOf` in run/guard.ts): what is left of them need not wait for its time. */
  readonly healed: ReadonlySet<HeldPart>
  /** Whether this delivery itself says something of an MLSNumber. If not, earlier deltas did, and that is planned again. */
  readonly saysItself: (mlsNumber: string) => boolean
  /** What a hold of a part is of; what its earlier hold noted (`record`) if that is of the same. */
  contentOf(action: Action, part: HeldPart, record?: HoldRecord): string
}

/** How much later than the first another complete list must show the same, in milliseconds. */
const listAgainAfter = 3_600_000
const day = 86_400_000

/** How a part of an action stands by its earlier hold (`record`) and what people decided; `new`: none had the same content. */
export type Standing =
  | { readonly is: 'new'; readonly record: null }
  | { readonly is: 'waiting' | 'confirmed' | 'approved' | 'refused'; readonly record: HoldRecord }

export function standingOf(remembered: Remembered, action: Action, part: HeldPart, policy: Policy): Standing {
  // Whoever approved an update whole, or the create of what vanished since, approved each fact in it.
  const wholes = part.startsWith('update ') ? new Set<HeldPart>(['update', action.kind]) : []
  for (const whole of wholes) {
    const stands = standingOf(remembered, action, whole, policy)
    // Versions before the five rules gave an update that they held whole a clock: each fact in it has waited since.
    const isOlder = stands.is !== 'refused' && stands.record?.part === 'update' && stands.record.ends === 'confirmed'
    if (stands.is === 'approved' || isOlder) return stands
  }
  const record = remembered.holds.find((held) => held.part === part)
  const noted = record?.content ?? null
  if (record === undefined || (noted !== null && noted !== policy.contentOf(action, part, record)))
    return { is: 'new', record: null }
  const { decision, clock, since, ends, isOfRule } = record
  // A hold that only asked has no clock: the feed has said it since its start.
  const saidSince = clock ?? (ends === 'never' && isOfRule ? since : null)
  return { is: decision ?? (isConfirmed(saidSince, ends, policy) ? 'confirmed' : 'waiting'), record }
}

/** Whether this run confirms what deliveries, or lists, have said since then; null: nobody knows since when. */
function isConfirmed(since: number | null, ends: Ends, { now, confirm, isWhole, isListedAgain }: Policy): boolean {
  if (since === null || !isWhole) return false
  if (ends === 'listed again') return isListedAgain && now - since >= listAgainAfter
  return confirm !== null && hasPassed(since, confirm, now)
}

/** Whether a part is free of a rule whose holds end by `ends`: a person approved it, or what ends such holds has confirmed it. */
export function isLetGo({ is, record }: Standing, ends: Ends, { isListedAgain }: Policy): boolean {
  // A list of the chatbot confirms nothing that the feed says, and the feed nothing that a list shows.
  const isByOther = ends === 'confirmed' ? record?.ends === 'listed again' : record?.clock === null || !isListedAgain
  return is === 'approved' || (is === 'confirmed' && ends !== 'never' && !isByOther)
}

/** The part of an action that counts as `what`. A renumbered home goes whole or not at all, so there it is the action. */
export const partOf = ({ kind }: Action, what: Counted, pair: Pair | null): HeldPart =>
  isFact(what) && pair !== 'renumbered' ? `update ${what}` : kind

/** `carriedOut`: what was changed within 24 hours. What was approved or confirmed by the feed is in none, unless a line says otherwise. */
const figuresOf = (carriedOut: Tally) => ({
  /** Changes of the last 24 hours and of this plan. A renumbered home counts neither as leaving nor as new. */
  counts: { ...carriedOut },
  /** The same, with what the feed has confirmed and deletes that wait for something else than the guard. */
  outlook: { ...carriedOut },
  /** `outlook` in two: what this delivery says itself, and what earlier deltas said. Each includes the last 24 hours. */
  own: { ...carriedOut },
  earlier: { ...carriedOut },
  /** Creates of this plan, confirmed ones too; of them, those that bring back what we took off in the last 45 days. */
  creates: 0,
  back: 0,
  /** Deletes of this plan, confirmed and waiting ones too; of them, those of listings created in the last 45 days. */
  deletes: 0,
  young: 0,
  /** Of `back` and `young`, those that an earlier run held. */
  backBefore: 0,
  youngBefore: 0,
  /** Deletes that wait for something else than the guard, of listings that went absent within 24 hours. */
  leavingLater: 0,
  /** Listings of ours that the chatbot's list lacks. */
  missing: 0,
  /** Listings that were edited on the service, sent again, and edited once more. */
  editedAgain: 0,
  /** A change beyond belief, as people read it: "250,000 → 25,000,000 in M-1041". */
  examples: {} as Partial<Record<FactKind, string>>,
  /** The same, of what the feed has confirmed. */
  confirmedExamples: {} as Partial<Record<FactKind, string>>,
})

export type Figures = ReturnType<typeof figuresOf>

/** Takes the changes of a plan one by one (`add`) and gives the numbers that the rules ask for (`figures`). */
export class Scales {
  readonly #policy: Policy
  readonly figures: Figures
  /** Signs that the list may lack rows: ours that it lacks (approved or not, as that makes it no better), or shows twice. */
  doubts = 0

  constructor(policy: Policy, carriedOut: Tally) {
    this.#policy = policy
    this.figures = figuresOf(carriedOut)
  }

  add({ change, remembered, pair }: Planned & { readonly pair: Pair | null }): void {
    if (change.kind !== 'hold') this.#weigh(change, remembered, pair)
    else if (change.cause === 'twice-shown') this.doubts++
    else if (pair !== 'renumbered') this.#addLeavingLater(change, remembered)
  }

  /**
   * A delete that waits for the end of its grace, for another delivery, for the sync after a backfill or for a record without
   * MLSNumber. For `older`, `unrecognisable` and `arriving` its listing leaves; `leaving` need not hold others for what waits anyway.
   */
  #addLeavingLater({ cause, isConflict, isYoung }: Hold, remembered: Remembered): void {
    const { counted, absence } = remembered
    const isLater = cause === 'grace' || cause === 'unreadable' || (cause === 'unproven' && !isConflict)
    if (!isLater || isDeleteApproved(remembered)) return
    this.#foresee('gone', true)
    if (counted.includes('delete')) return
    this.#foresee('delete', true)
    this.figures.deletes++
    if (isYoung === true) this.#addAge('young', 'delete', remembered)
    if (absence === null || this.#policy.now - absence.since < day) this.figures.leavingLater++
  }

  /** Adds holds of which this run can't tell what is wanted. They count on, or other changes would go in their place. */
  addStanding(holds: readonly Pick<HoldRecord, 'part' | 'clock'>[]): void {
    if (holds.some(({ part }) => part.startsWith('update'))) this.#foresee('changed', true)
    for (const { part, clock } of holds) {
      const what = part === 'delete' || part === 'create' ? part : factOf(part)
      if (what === null) continue
      this.#foresee(what, true)
      if (what === 'delete') this.#foresee('gone', true)
      if (!isConfirmed(clock, 'confirmed', this.#policy)) this.figures.counts[what]++
    }
  }

  /** Adds to what would become of the site. `isOwn`: this delivery itself says so. */
  #foresee(what: keyof Tally, isOwn: boolean): void {
    const { outlook, own, earlier } = this.figures
    for (const tally of [outlook, isOwn ? own : earlier]) tally[what]++
  }

  /** Adds what hints at an older delivery. */
  #addAge(what: 'back' | 'young', part: HeldPart, { holds }: Remembered): void {
    this.figures[what]++
    if (holds.some((held) => held.part === part)) this.figures[`${what}Before`]++
  }

  /** Adds an action to each number, unless the rule that asks for the number has let go of it. */
  #weigh(action: Action, remembered: Remembered, pair: Pair | null): void {
    const { figures } = this
    const { kind, cause } = action
    const { counted, wasElsewhere } = remembered
    if (kind === 'forget' || cause === 'gone-from-service') this.doubts++
    const isOpen = (part: HeldPart, ends: Ends): boolean =>
      !isLetGo(standingOf(remembered, action, part, this.#policy), ends, this.#policy)
    if (kind === 'forget' && cause !== 'other-feed') figures.missing++
    const isMissing = cause === 'gone-from-service'
    if ((isMissing || (kind === 'update' && action.again)) && isOpen(kind, 'listed again'))
      figures[isMissing ? 'missing' : 'editedAgain']++
    // Only what the delivery says itself tells whether it is older.
    const isOwn = this.#policy.saysItself(action.mlsNumber)
    const tellsAge = isOwn && pair !== 'renumbered' && (kind === 'delete' || cause === 'new')
    if (tellsAge && isOpen(kind, 'never')) {
      if (kind === 'delete') figures.deletes++
      if (kind === 'delete' && action.isYoung) this.#addAge('young', kind, remembered)
      if (cause === 'new') figures.creates++
      if (cause === 'new' && action.isBack && !wasElsewhere) this.#addAge('back', kind, remembered)
    }
    // `carriedOut` leaves out what changed and is deleted now. This one stays, under its other number.
    if (kind === 'delete' && pair === 'renumbered' && counted.some(isFact)) this.#foresee('changed', isOwn)
    const all = countsOf(action, pair).filter((what) => isOpen(partOf(action, what, pair), 'never'))
    if (all.some(isFact) && !counted.some(isFact)) this.#foresee('changed', isOwn)
    for (const what of all) {
      if (what === 'delete') this.#foresee('gone', isOwn)
      if (counted.includes(what)) continue
      this.#foresee(what, isOwn)
      const isNew = isOpen(partOf(action, what, pair), 'confirmed')
      if (isNew) figures.counts[what]++
      const examples = isNew ? figures.examples : figures.confirmedExamples
      if ('fields' in action && isFact(what)) examples[what] ??= exampleOf(what, action)
    }
  }
}

/** A value that is beyond belief by itself, if there is one: an area may be so by its unit alone. No text stands for photos. */
function exampleOf(kind: FactKind, { fields, mlsNumber }: Create | Update): string {
  const alone = ({ field }: FieldChange, value: unknown) =>
    ({ PropertyType: '', Latitude: 0, Longitude: 0, [field]: value ?? undefined }) as Partial<Listing> as Listing
  const its = fields.filter(({ field }) => facts[kind].fields.includes(field))
  const isAlone = (fieldChange: FieldChange) =>
    facts[kind].isBroken(alone(fieldChange, fieldChange.from), alone(fieldChange, fieldChange.to))
  const change = its.find(isAlone) ?? its.findLast(({ field }) => field !== 'Description')
  if (change === undefined || Array.isArray(change.from) || Array.isArray(change.to)) return mlsNumber
  return `${valueInWords(change.field, change.from)} → ${valueInWords(change.field, change.to)} in ${mlsNumber}`
}
