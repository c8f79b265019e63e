/** Weighs a plan, in which homes are paired: what the rules measure, without what was approved or confirmed. */
import { valueInWords } from '../../core/text.ts'
import { countsOf } from '../change.ts'
import type { Action, Create, Hold, Planned, Update } from '../change.ts'
import { facts, isFact } from './facts.ts'
import type { FactKind } from './facts.ts'
import { countedAs, noTally } from './hold.ts'
import type { Counted, Ends, HeldPart, HoldRecord, Pair, Remembered, Tally } from './hold.ts'

/** By what earlier runs let a change go. Times in milliseconds. */
export interface Policy {
  readonly now: number
  /**
   * How long every delivery has to say the same, and what goes by itself stays held though no rule asks for it now. null: nothing goes
   * by itself, or the guard is off; then only what was refused stays so.
   */
  readonly confirm: number | null
  /** This delivery and the list are whole: else they confirm nothing. */
  readonly isWhole: boolean
  /** This run can't tell whether the feed still says what is held: all of it stays so, though no rule asks for it now. */
  readonly endsNone: boolean
  /**
   * Whether another complete list lets go of what the last one showed: neither where the service is called with other keys than
   * when its list was like ours, nor where a person decides of all that is held.
   */
  readonly isListedAgain: boolean
  /** Kinds of hold of which the feed is right again: what is left of them need not wait for its time. */
  readonly healed: ReadonlySet<HeldPart>
  /** Whether the delivery itself says something of this MLSNumber; else it is what earlier deltas said, planned again with it. */
  readonly saysItself: (mlsNumber: string) => boolean
  /** What a part of an action wants, as `contentOf` has it. */
  contentOf(action: Action, part: HeldPart): string
}

/** A run by the clock begins a little earlier than the one before, now and then. */
export const slack = 5 * 60_000
/** Another complete list says the same so much later. */
const listAgainAfter = 3_600_000
const day = 86_400_000

/** How a part of an action stands by what was held and decided before. */
export interface Standing {
  readonly is: 'new' | 'waiting' | 'confirmed' | 'approved' | 'refused'
  /** Of the very same hold, not of one like it. */
  readonly record: HoldRecord | null
}

export function standingOf(remembered: Remembered, action: Action, part: HeldPart, policy: Policy): Standing {
  // Who let an update go as a whole let go of each fact of it.
  const whole = part.startsWith('update ') ? standingOf(remembered, action, 'update', policy) : null
  if (whole?.is === 'approved') return whole
  const record = remembered.holds.find((held) => held.part === part)
  if (record === undefined || (record.content !== null && record.content !== policy.contentOf(action, part)))
    return { is: 'new', record: null }
  return {
    is: record.decision ?? (isConfirmed(saidSince(record), record.ends, policy) ? 'confirmed' : 'waiting'),
    record,
  }
}

/** What a person alone was asked about has been said as long; what a record without MLSNumber kept, nobody was asked about. */
const saidSince = ({ clock, since, ends, isOfRule }: HoldRecord): number | null =>
  clock ?? (ends === 'never' && isOfRule ? since : null)

/** `since`: when deliveries, or lists, began to say the same. */
function isConfirmed(since: number | null, ends: Ends, { now, confirm, isWhole, isListedAgain }: Policy): boolean {
  if (since === null || !isWhole) return false
  if (ends === 'listed again') return isListedAgain && now - since >= listAgainAfter
  return confirm !== null && now - since >= confirm - slack
}

/** Whether a part is let go of, as far as a rule is concerned whose holds end so. */
export function isLetGo({ is, record }: Standing, ends: Ends, { isListedAgain }: Policy): boolean {
  // Another list of the chatbot says nothing of the feed, and the feed nothing of the list.
  const isOfOther = ends === 'confirmed' ? record?.ends === 'listed again' : record?.clock === null || !isListedAgain
  return is === 'approved' || (is === 'confirmed' && ends !== 'never' && !isOfOther)
}

/** The part of an action that counts as this. A home that comes under another number goes whole, or not at all. */
export const partOf = ({ kind }: Action, what: Counted, pair: Pair | null): HeldPart =>
  isFact(what) && pair !== 'renumbered' ? `update ${what}` : kind

const sum = (one: Tally, other: Tally): Tally =>
  Object.fromEntries(Object.entries(one).map(([what, count]) => [what, count + other[what as Counted]])) as Tally

const noSums = () => ({ leavingLater: 0, creates: 0, back: 0, deletes: 0, young: 0, missing: 0, editedAgain: 0 })

/** `pair`: what a change is about the same home. */
export type Weighable = Planned & { readonly pair: Pair | null }

export class Scales {
  readonly #policy: Policy
  readonly #sums = noSums()
  readonly #counts = noTally()
  /** What would be changed in all: what the delivery says itself, and what earlier deltas said. */
  readonly #own = noTally()
  readonly #earlier = noTally()
  readonly #examples: Partial<Record<FactKind, string>> = {}
  /**
   * Signs that the list may lack rows: listings of ours that it has not. Approved ones too, as an approval is no reason to
   * trust the list; and those that it shows twice, as when somebody makes one anew while pages are read.
   */
  doubts = 0

  constructor(policy: Policy) {
    this.#policy = policy
  }

  /** A change as it is planned; `pair`: with what it is about the same home. */
  add({ change, remembered, pair }: Weighable): void {
    if (change.kind !== 'hold') this.#weigh(change, remembered, pair)
    else if (change.cause === 'twice-shown') this.doubts++
    else if (pair !== 'renumbered') this.#addLeavingLater(change, remembered)
  }

  /**
   * A delete that waits: for the end of its grace, for another delivery, or for a record without MLSNumber. The site is without its
   * listing all the same, as far as the feed goes; as it waits, others need not wait for it. What a backfill leaves stays.
   */
  #addLeavingLater({ cause, until, isYoung }: Hold, { counted, absence }: Remembered): void {
    const isLater = cause === 'grace' || cause === 'unreadable' || (cause === 'unproven' && until === 'time')
    if (!isLater || this.#policy.endsNone || counted.includes('delete')) return
    this.#own.delete++
    this.#sums.deletes++
    if (isYoung === true) this.#sums.young++
    if (absence === null || this.#policy.now - absence.since < day) this.#sums.leavingLater++
  }

  /** What is held of a listing counts on where this run can't change it: nothing else is let go for that. */
  addStanding(holds: readonly Pick<HoldRecord, 'part' | 'clock'>[]): void {
    if (holds.some(({ part }) => part.startsWith('update'))) this.#own.changed++
    for (const { part, clock } of holds) {
      const what = countedAs(part)
      if (what === null) continue
      this.#own[what]++
      if (!isConfirmed(clock, 'confirmed', this.#policy)) this.#counts[what]++
    }
  }

  /** Each number leaves out what is let go of as far as its rule is concerned. */
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
    // Whether a delivery is older is told by what it says itself.
    const isOwn = this.#policy.saysItself(action.mlsNumber)
    const isOfOne = isOwn && pair !== 'renumbered'
    add('deletes', isOfOne && kind === 'delete', 'never')
    add('young', isOfOne && kind === 'delete' && action.isYoung, 'never')
    add('creates', isOfOne && cause === 'new', 'never')
    add('back', isOfOne && cause === 'new' && action.isBack && !wasElsewhere, 'never')
    const outlook = isOwn ? this.#own : this.#earlier
    const all = countsOf(action, pair).filter((what) => isOpen(partOf(action, what, pair), 'never'))
    if (all.some(isFact) && !counted.some(isFact)) outlook.changed++
    for (const what of all) {
      if (counted.includes(what)) continue
      outlook[what]++
      if (!isOpen(partOf(action, what, pair), 'confirmed')) continue
      this.#counts[what]++
      if ('fields' in action && isFact(what)) this.#examples[what] ??= exampleOf(what, action)
    }
  }

  /** `before`: what was changed within 24 hours. */
  sums(before: Tally) {
    const [counts, own, earlier] = [sum(before, this.#counts), sum(before, this.#own), sum(before, this.#earlier)]
    return { ...this.#sums, counts, outlook: sum(own, this.#earlier), own, earlier, examples: this.#examples }
  }
}

function exampleOf(kind: FactKind, { fields, mlsNumber }: Create | Update): string {
  const change = fields.find(({ field }) => facts[kind].fields.includes(field))
  if (change === undefined || Array.isArray(change.from) || Array.isArray(change.to)) return mlsNumber
  const { field, from, to } = change
  return `${valueInWords(field, from)} → ${valueInWords(field, to)} in ${mlsNumber}`
}
