/** Weighs a plan as it goes by: what the rules measure, without what was approved or confirmed. */
import { valueInWords } from '../../core/text.ts'
import type { Action, Remembered, Update } from '../change.ts'
import type { Counted, HeldPart, HoldRecord } from './hold.ts'
import { factKinds, fieldsOfFact, zeros } from './facts.ts'
import type { FactKind } from './facts.ts'
import { recordOf } from './hold.ts'
import type { Seen, Trip } from './rules.ts'

/** By what earlier runs let a change go. Times in milliseconds. */
export interface Policy {
  readonly now: number
  /** How long every delivery has to say the same; null: for ever. */
  readonly confirm: number | null
  /** Whether this delivery and the list are whole: else they confirm nothing. */
  readonly isWhole: boolean
  /** The service is called with other keys than when its list was like ours. */
  readonly otherKeys: boolean
  /** What a part of an action wants, as `contentOf` has it. */
  contentOf(action: Action, part: HeldPart): string
}

/** A run by the clock begins a little earlier than the one before, now and then. */
const slack = 5 * 60_000
/** Another complete list says the same so much later. */
const listAgainAfter = 3_600_000

export type Standing = 'new' | 'waiting' | 'confirmed' | 'approved' | 'refused'

/** How a part of an action stands by what was held and decided before: the very same hold, not one like it. */
export function standingOf(
  { holds }: Remembered,
  action: Action,
  part: HeldPart,
  policy: Policy,
): { standing: Standing; record: HoldRecord | null } {
  const record = holds.length === 0 ? null : recordOf(holds, part, () => policy.contentOf(action, part))
  if (record === null) return { standing: 'new', record }
  return { standing: record.decision ?? (isConfirmed(record, policy) ? 'confirmed' : 'waiting'), record }
}

function isConfirmed({ clock, ends }: HoldRecord, { now, confirm, isWhole, otherKeys }: Policy): boolean {
  // A hold that only a person ended in the last run keeps the clock of the rule that held it before, or beside.
  if (clock === null || !isWhole) return false
  if (ends === 'listed again') return !otherKeys && now - clock >= listAgainAfter
  return confirm !== null && now - clock >= confirm - slack
}

/** The part under which a trip holds an action back, or a kind of fact of it. */
export function partOf({ kind }: Pick<Action, 'kind'>, trip: Pick<Trip, 'rule' | 'numbers'>): HeldPart {
  return trip.rule === 'facts' ? `update ${trip.numbers['kind'] as FactKind}` : kind
}

/** Whether a standing lets a part go, as far as rules ask that let go by themselves. */
export const isFree = (standing: Standing): boolean => standing === 'approved' || standing === 'confirmed'

const noSums = () => ({
  leaving: 0,
  renumbered: 0,
  arriving: 0,
  creates: 0,
  back: 0,
  deletes: 0,
  young: 0,
  missing: 0,
  editedAgain: 0,
})

export class Scales {
  readonly #policy: Policy
  readonly #sums = noSums()
  readonly #changing = zeros()
  readonly #examples: Partial<Record<FactKind, string>> = {}
  readonly #outlook = { leaving: 0, changed: 0, arriving: 0 }
  /**
   * Signs that the list may lack rows: listings of ours that it has not. Approved ones too, as an approval is no reason to
   * trust the list; and those that it shows twice, as when somebody makes one anew while pages are read.
   */
  doubts = 0

  constructor(policy: Policy) {
    this.#policy = policy
  }

  /** A delete that waits for the end of its grace: the site is without its listing all the same, as far as the feed goes. */
  addLeavingLater({ counted }: Remembered, by: 1 | -1): void {
    if (!counted.includes('delete')) this.#outlook.leaving += by
  }

  add(action: Action, remembered: Remembered): void {
    if (action.kind === 'forget') this.doubts++
    if (action.kind === 'create' && action.cause === 'gone-from-service') this.doubts++
    this.#weigh(action, remembered, 1)
  }

  /** The action was added, and turned out to be one of a delete and a create of the same home. */
  setRenumbered(action: Action, remembered: Remembered): void {
    this.#weigh(action, remembered, -1)
    if (action.kind !== 'delete') return
    const { standing } = this.#standing(remembered, action, 'delete')
    if (!isFree(standing) && !remembered.counted.includes('renumber')) this.#sums.renumbered++
  }

  #weigh(action: Action, remembered: Remembered, by: 1 | -1): void {
    if (action.kind === 'delete') this.#weighDelete(action, remembered, by)
    else if (action.kind === 'create') this.#weighCreate(action, remembered, by)
    else if (action.kind === 'update') this.#weighUpdate(action, remembered)
    else if (action.kind === 'forget' && action.cause !== 'other-feed') this.#sums.missing += by
  }

  #weighDelete(action: Extract<Action, { kind: 'delete' }>, remembered: Remembered, by: 1 | -1): void {
    const { standing, record } = this.#standing(remembered, action, 'delete')
    if (standing === 'approved') return
    this.#sums.deletes += by
    if (action.isYoung) this.#sums.young += by
    if (remembered.counted.includes('delete')) return
    this.#outlook.leaving += by
    if (standing !== 'confirmed' || record?.ends === 'listed again') this.#sums.leaving += by
  }

  #weighCreate(action: Extract<Action, { kind: 'create' }>, remembered: Remembered, by: 1 | -1): void {
    const { standing, record } = this.#standing(remembered, action, 'create')
    if (action.cause === 'gone-from-service') {
      if (!isFree(standing)) this.#sums.missing += by
      return
    }
    if (standing === 'approved') return
    this.#sums.creates += by
    if (action.isBack && !remembered.wasElsewhere) this.#sums.back += by
    // What comes back is not new: it neither drowns the site nor counts.
    if (action.isBack || remembered.counted.includes('create')) return
    this.#outlook.arriving += by
    if (standing !== 'confirmed' || record?.ends === 'listed again') this.#sums.arriving += by
  }

  #weighUpdate(action: Update, remembered: Remembered): void {
    if (action.again && !isFree(this.#standing(remembered, action, 'update').standing)) this.#sums.editedAgain++
    const wasChanged = factKinds.some((kind) => remembered.counted.includes(kind))
    let isChanged = false
    for (const kind of action.broken) {
      const { standing } = this.#standing(remembered, action, `update ${kind}`)
      if (standing === 'approved') continue
      isChanged = true
      if (standing === 'confirmed' || remembered.counted.includes(kind)) continue
      this.#changing[kind]++
      this.#examples[kind] ??= exampleOf(kind, action)
    }
    if (isChanged && !wasChanged) this.#outlook.changed++
  }

  #standing(remembered: Remembered, action: Action, part: HeldPart) {
    return standingOf(remembered, action, part, this.#policy)
  }

  /** `before`: how many listings were changed within 24 hours, by what of them; `changed`: any fact of them. */
  seen(
    about: Omit<Seen, keyof ReturnType<typeof noSums> | 'changing' | 'examples' | 'outlook'>,
    before: Readonly<Record<Counted | 'changed', number>>,
  ): Seen {
    const changing = zeros()
    for (const kind of factKinds) changing[kind] = before[kind] + this.#changing[kind]
    const { leaving, renumbered, arriving } = this.#sums
    return {
      ...about,
      ...this.#sums,
      leaving: before.delete + leaving,
      renumbered: before.renumber + renumbered,
      arriving: before.create + arriving,
      changing,
      examples: this.#examples,
      outlook: {
        leaving: before.delete + this.#outlook.leaving,
        changed: before.changed + this.#outlook.changed,
        arriving: before.create + this.#outlook.arriving,
      },
    }
  }
}

function exampleOf(kind: FactKind, { fields, mlsNumber }: Update): string {
  const [field] = fieldsOfFact(kind, fields)
  const change = fields.find((candidate) => candidate.field === field)
  if (change === undefined || Array.isArray(change.from) || Array.isArray(change.to)) return mlsNumber
  return `${valueInWords(change.from)} → ${valueInWords(change.to)} in ${mlsNumber}`
}
