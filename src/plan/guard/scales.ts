/** Adds up what the rules measure in a plan whose homes are paired, and tells how each change stands by earlier holds. */
import type { FieldChange } from '../../core/compare-listings.ts'
import type { Listing } from '../../core/listing.ts'
import { valueInWords } from '../../core/text.ts'
import { hasPassed } from '../../core/turn.ts'
import { countsOf } from '../change.ts'
import type { Action, Create, Hold, Planned, Update } from '../change.ts'
import { facts, isFact } from './facts.ts'
import type { FactKind } from './facts.ts'
import { countedAs, noTally } from './hold.ts'
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
  /** `contentOf` of hold.ts for a part of an action; `noted` itself if an earlier version noted the same in its own way. */
  contentOf(action: Action, part: HeldPart, noted?: string | null): string
}

/** How much later than the first another complete list must show the same, in milliseconds. */
const listAgainAfter = 3_600_000
const day = 86_400_000

/** How a part of an action stands by its earlier hold (`record`) and what people decided; `new`: none had the same content. */
export type Standing =
  | { readonly is: 'new'; readonly record: null }
  | { readonly is: 'waiting' | 'confirmed' | 'approved' | 'refused'; readonly record: HoldRecord }

export function standingOf(remembered: Remembered, action: Action, part: HeldPart, policy: Policy): Standing {
  // Whoever approved an update whole approved each fact in it.
  const whole = part.startsWith('update ') ? standingOf(remembered, action, 'update', policy) : null
  if (whole?.is === 'approved') return whole
  const record = remembered.holds.find((held) => held.part === part)
  const noted = record?.content ?? null
  if (record === undefined || (noted !== null && noted !== policy.contentOf(action, part, noted)))
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

const sum = (tally: Tally, other: Tally): Tally =>
  Object.fromEntries(Object.entries(tally).map(([what, count]) => [what, count + other[what as Counted]])) as Tally

const noSums = () => ({ leavingLater: 0, creates: 0, back: 0, deletes: 0, young: 0, missing: 0, editedAgain: 0 })

/** Takes the changes of a plan one by one (`add`) and gives the numbers that the rules ask for (`sums`). */
export class Scales {
  readonly #policy: Policy
  readonly #sums = noSums()
  /** Without what was approved, or confirmed by the feed. */
  readonly #counts = noTally()
  /** Without what was approved: what the delivery says itself, and what earlier deltas said. */
  readonly #own = noTally()
  readonly #earlier = noTally()
  readonly #examples: Partial<Record<FactKind, string>> = {}
  readonly #confirmed: Partial<Record<FactKind, string>> = {}
  /** Signs that the list may lack rows: ours that it lacks (approved or not, as that makes it no better), or shows twice. */
  doubts = 0

  constructor(policy: Policy) {
    this.#policy = policy
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
  #addLeavingLater({ cause, isConflict, isYoung }: Hold, { counted, absence }: Remembered): void {
    const isLater = cause === 'grace' || cause === 'unreadable' || (cause === 'unproven' && !isConflict)
    if (!isLater) return
    this.#own.gone++
    if (counted.includes('delete')) return
    this.#own.delete++
    this.#sums.deletes++
    if (isYoung === true) this.#sums.young++
    if (absence === null || this.#policy.now - absence.since < day) this.#sums.leavingLater++
  }

  /** Adds holds of which this run can't tell what is wanted. They count on, or other changes would go in their place. */
  addStanding(holds: readonly Pick<HoldRecord, 'part' | 'clock'>[]): void {
    if (holds.some(({ part }) => part.startsWith('update'))) this.#own.changed++
    for (const { part, clock } of holds) {
      const what = countedAs(part)
      if (what === null) continue
      this.#own[what]++
      if (what === 'delete') this.#own.gone++
      if (!isConfirmed(clock, 'confirmed', this.#policy)) this.#counts[what]++
    }
  }

  /** Adds an action to each number, unless the rule that asks for the number has let go of it. */
  #weigh(action: Action, remembered: Remembered, pair: Pair | null): void {
    const { kind, cause } = action
    const { counted, wasElsewhere } = remembered
    if (kind === 'forget' || cause === 'gone-from-service') this.doubts++
    const isOpen = (part: HeldPart, ends: Ends): boolean =>
      !isLetGo(standingOf(remembered, action, part, this.#policy), ends, this.#policy)
    const add = (sum: keyof ReturnType<typeof noSums>, isOne: boolean, ends: Ends): void => {
      if (isOne && isOpen(kind, ends)) this.#sums[sum]++
    }
    if (kind === 'forget' && cause !== 'other-feed') this.#sums.missing++
    add('missing', cause === 'gone-from-service', 'listed again')
    add('editedAgain', kind === 'update' && action.again, 'listed again')
    // Only what the delivery says itself tells whether it is older.
    const isOwn = this.#policy.saysItself(action.mlsNumber)
    const tellsAge = isOwn && pair !== 'renumbered'
    add('deletes', tellsAge && kind === 'delete', 'never')
    add('young', tellsAge && kind === 'delete' && action.isYoung, 'never')
    add('creates', tellsAge && cause === 'new', 'never')
    add('back', tellsAge && cause === 'new' && action.isBack && !wasElsewhere, 'never')
    const outlook = isOwn ? this.#own : this.#earlier
    const all = countsOf(action, pair).filter((what) => isOpen(partOf(action, what, pair), 'never'))
    if (all.some(isFact) && !counted.some(isFact)) outlook.changed++
    for (const what of all) {
      if (what === 'delete') outlook.gone++
      if (counted.includes(what)) continue
      outlook[what]++
      const isNew = isOpen(partOf(action, what, pair), 'confirmed')
      if (isNew) this.#counts[what]++
      const examples = isNew ? this.#examples : this.#confirmed
      if ('fields' in action && isFact(what)) examples[what] ??= exampleOf(what, action)
    }
  }

  /** The numbers for the rules. `before`: what was carried out within 24 hours. */
  sums(before: Tally) {
    const [counts, own, earlier] = [sum(before, this.#counts), sum(before, this.#own), sum(before, this.#earlier)]
    const examples = { ...this.#confirmed, ...this.#examples }
    return { ...this.#sums, counts, outlook: sum(own, this.#earlier), own, earlier, examples }
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
