/** The words of the guard: what of a change is held, counted and decided, and what is remembered from run to run. */
import { contentHash, shortHash } from '../../core/hash.ts'
import type { FieldName, Listing } from '../../core/listing.ts'
import { cosmetic, facts, isFact } from './facts.ts'
import type { FactKind } from './facts.ts'

/** What the guard counts of a listing. What is carried out counts for 24 hours. */
export type Counted = 'delete' | 'renumber' | 'create' | FactKind

/**
 * How many listings have, or would have, each kind of change. For what stays of the site each counts once: `gone`: it is not there,
 * or would leave; `changed`: it is, with a fact of any kind changed.
 */
export type Tally = Record<Counted | 'changed' | 'gone', number>

const countsOfFacts = { price: 0, class: 0, status: 0, place: 0, size: 0, emptied: 0, garbled: 0 }
export const noTally = (): Tally => ({ delete: 0, renumber: 0, create: 0, changed: 0, gone: 0, ...countsOfFacts })

/**
 * What ends a hold by itself. `confirmed`: every delivery says the same for `limits.confirm`. `listed again`: another complete
 * list of the chatbot, at least an hour later, shows the same. `never`: nothing does, and a person has to look.
 */
export type Ends = 'confirmed' | 'listed again' | 'never'

export const ruleNames = ['leaving', 'arriving', 'facts', 'older', 'unrecognisable', 'chatbot'] as const
export type RuleName = (typeof ruleNames)[number]

/** The rules that ask a person. While one of them holds a listing, no time lets anything of it go, whatever other rules hold it. */
export const askingRules: ReadonlySet<string> = new Set<RuleName>(['older', 'unrecognisable'])

/** What ends the holds of a rule. */
export const endsOf = (rule: RuleName): Ends =>
  rule === 'chatbot' ? 'listed again' : askingRules.has(rule) ? 'never' : 'confirmed'

/** What can be held of a change: the whole action, or one kind of fact of an update. */
export type HeldPart = 'create' | 'update' | 'delete' | 'adopt' | 'forget' | `update ${FactKind}`

/** The kind of fact that a held part of an update is of; null: it is a whole action. */
export function factOf(part: HeldPart): FactKind | null {
  const [, what = ''] = part.split(' ')
  return isFact(what) ? what : null
}

/** Whether a hold of this part can be of an accident with this kind of fact, or with none: the whole action can be of any. */
export const isPartOf = (part: HeldPart, fact: FactKind | undefined): boolean =>
  fact === undefined || part === `update ${fact}` || !part.startsWith('update ')

export interface PartHeld {
  readonly part: HeldPart
  /** `contentOf` the part: while this is the same, it is the same hold. */
  readonly content: string
  /** The rules that hold it; none: it stays held without a rule, as when it was refused or waits for a record without MLSNumber. */
  readonly rules: readonly RuleName[]
  readonly ends: Ends
}

/** What the guard decided about an action. */
export interface Weighed {
  readonly heldParts: readonly PartHeld[]
  /** The kinds it counts as once carried out; null: those that `countsOf` gives. */
  readonly counts: readonly Counted[] | null
  /** Parts that earlier runs held and that go now, as they were approved or confirmed. */
  readonly released: readonly HeldPart[]
}

export const unweighed: Weighed = { heldParts: [], counts: null, released: [] }

/** A home comes under another MLSNumber: one listing is deleted, a new one created. `missing`: the list lacks one of them, or both. */
export type Pair = 'renumbered' | 'missing'

export type Decision = 'approved' | 'refused'

/** A hold of earlier runs, as the store has it. */
export interface HoldRecord {
  readonly part: HeldPart
  /** `contentOf` what is held; null: any content, as of an older store, or of a refusal under another configuration. */
  readonly content: string | null
  /** When it was first held, in milliseconds. */
  readonly since: number
  readonly ends: Ends
  /** When a rule that lets go by itself first held it, in milliseconds; null: none has yet. */
  readonly clock: number | null
  /** A rule held it last; else it only waited for a record without MLSNumber. */
  readonly isOfRule: boolean
  /** What a person decided; null: nothing yet, or the approval has expired. */
  readonly decision: Decision | null
}

/** How many complete deliveries in a row lacked a listing of ours, and since when. */
export interface Absence {
  runs: number
  /** When it was first absent, in milliseconds. */
  since: number
}

/** What is remembered of one MLSNumber of a feed beside its snapshot row. Times in milliseconds. */
export interface Remembered {
  absence: Absence | null
  /** When this feed took the listing off last; null: not in the last 45 days. */
  leftAt: number | null
  /** How often it deleted the listing in that time, if more than once. */
  deletes?: number
  /** The changes of it that the guard still counts: those carried out within 24 hours. */
  counted: readonly Counted[]
  /** Since when anything of it is held, by the guard or otherwise; null: nothing is. */
  heldSince: number | null
  /** Another feed of the chatbot had it in the last run. */
  wasElsewhere?: true
  /** The holds of it that can be approved. */
  holds: readonly HoldRecord[]
}

export const isDeleteApproved = ({ holds }: Pick<Remembered, 'holds'>): boolean =>
  holds.some(({ part, decision }) => part === 'delete' && decision === 'approved')

export const nothingRemembered: Remembered = { absence: null, leftAt: null, counted: [], heldSince: null, holds: [] }

/**
 * Hash of what a held part wants, but for fields that may change meanwhile. While it is the same, so is the hold. `broken`: the facts
 * that would change beyond belief. Of a whole action those stand behind the hash that cosmetic fields alone may say, as where photos are
 * gone: whoever approved the same with its photos did not approve that.
 */
export function contentOf(
  part: HeldPart,
  listing: Listing | null,
  volatile: ReadonlySet<FieldName>,
  broken: readonly FactKind[] = [],
): string {
  // A delete or a forget wants nothing.
  if (listing === null) return ''
  const kind = factOf(part)
  if (kind === null) {
    const unseen = broken.filter((brokenFact) => facts[brokenFact].gist !== undefined)
    return `${contentHash(listing, new Set([...volatile, ...cosmetic]))}:${unseen.join()}`
  }
  const fact = facts[kind]
  const telling = fact.fields.filter((name) => !volatile.has(name) && !cosmetic.has(name))
  return shortHash(JSON.stringify([...telling.map((name) => listing[name] ?? null), fact.gist?.(listing)]))
}

/** `content` in the ways of versions before 30 November 2026. What they held, and what was decided about it, goes on. */
export function contentsBefore(part: HeldPart, listing: Listing | null, content: string): readonly string[] {
  const [hash, unseen] = content.split(':')
  if (unseen !== undefined) return [hash]
  const kind = factOf(part)
  if (listing === null || kind === null) return []
  const values = facts[kind].fields
    .filter((name) => kind !== 'size' || name !== 'AreaUnit')
    .map((name) => listing[name] ?? null)
  // For some hours a size was noted as it is now, but without its unit.
  return [values, ...(kind === 'size' ? [[...values, null]] : [])].map((some) => shortHash(JSON.stringify(some)))
}
