/** What is held, counted and decided of a change, and remembered from run to run. */
import { contentHash, shortHash } from '../../core/hash.ts'
import type { FieldName, Listing } from '../../core/listing.ts'
import { cosmetic, facts, isFact } from './facts.ts'
import type { FactKind } from './facts.ts'

/** What the guard counts of a listing for 24 hours after it was carried out. */
export type Counted = 'delete' | 'renumber' | 'create' | FactKind

/** Of how many listings what was, or would be, changed. */
export type Tally = Record<Counted | 'changed', number>

const countsOfFacts = { price: 0, class: 0, status: 0, place: 0, size: 0, emptied: 0, garbled: 0 }
export const noTally = (): Tally => ({ delete: 0, renumber: 0, create: 0, changed: 0, ...countsOfFacts })

/**
 * What ends a hold by itself: every delivery says the same for `limits.confirm`; another complete list of the chatbot, an
 * hour later or more, says the same; nothing does, and a person has to look.
 */
export type Ends = 'confirmed' | 'listed again' | 'never'

export const ruleNames = ['leaving', 'arriving', 'facts', 'older', 'unrecognisable', 'chatbot'] as const
export type RuleName = (typeof ruleNames)[number]

/** What these hold has no clock: a person, or another delivery, ends it, whatever else holds it beside them. */
export const asking: ReadonlySet<string> = new Set<RuleName>(['older', 'unrecognisable'])

/** What can be held of a change: an action whole, or one kind of fact of an update. */
export type HeldPart = 'create' | 'update' | 'delete' | 'adopt' | 'forget' | `update ${FactKind}`

/** As what such a part counts; null: as nothing by itself. */
export function countedAs(part: HeldPart): 'delete' | 'create' | FactKind | null {
  if (part === 'delete' || part === 'create') return part
  return (part.split(' ') as [string, FactKind?])[1] ?? null
}

/** A part that is held now. */
export interface PartHeld {
  readonly part: HeldPart
  /** `contentOf` it: while this is the same, it is the same hold. */
  readonly content: string
  /** The rules of the guard that hold it; none: it waits for a record without MLSNumber. */
  readonly rules: readonly RuleName[]
  readonly ends: Ends
}

/** What the guard made of an action that it weighed. */
export interface Weighed {
  /** What it holds of it: all, or of an update some. */
  readonly parts: readonly PartHeld[]
  /** As what it counts once it is carried out; null: as what `countsOf` has of it. */
  readonly counts: readonly Counted[] | null
  /** What earlier runs held of it, and was approved or confirmed since. */
  readonly released: readonly HeldPart[]
}

export const unweighed: Weighed = { parts: [], counts: null, released: [] }

/**
 * An action is one of two of the same home under different MLSNumbers, one that leaves and one that comes: a delete and a
 * create of what is new; or such two of which the service's list lacks one, or both.
 */
export type Pair = 'renumbered' | 'missing'

export type Decision = 'approved' | 'refused'

export interface HoldRecord {
  readonly part: HeldPart
  /** `contentOf` what is held; null: whatever it is, as of an older store, or refused under another configuration. */
  readonly content: string | null
  /** When it was first held, in milliseconds. */
  readonly since: number
  readonly ends: Ends
  /** When a rule first held it that lets go by itself, in milliseconds; null: none did. */
  readonly clock: number | null
  /** A rule held it last, and not only a record without MLSNumber that may be it. */
  readonly isOfRule: boolean
  /** What a person decided; null: nothing yet, or the approval is over. */
  readonly decision: Decision | null
}

/** How often and since when a listing of ours was absent from complete deliveries, one after another. */
export interface Absence {
  runs: number
  /** When it was first absent, in milliseconds. */
  since: number
}

/** What is remembered of one MLSNumber of a feed beside its row. Times in milliseconds. */
export interface Remembered {
  absence: Absence | null
  /** When this feed took the listing off last, in the last 45 days. */
  leftAt: number | null
  /** What was changed of it within 24 hours, as the guard counts it. */
  counted: readonly Counted[]
  /** Since when anything of it is held, whoever holds it; null: nothing is. */
  heldSince: number | null
  /** Another feed of the chatbot had it in the last run. */
  wasElsewhere?: true
  /** What earlier runs held of it that can be approved. */
  holds: readonly HoldRecord[]
}

export const nothingRemembered: Remembered = { absence: null, leftAt: null, counted: [], heldSince: null, holds: [] }

/**
 * A hash of what a held change wants, without what moves by itself and what no visitor relies on: while the feed says the
 * same, it is the same hold. `listing` null: a delete or a forget, which wants nothing.
 */
export function contentOf(part: HeldPart, listing: Listing | null, volatile: ReadonlySet<FieldName>): string {
  if (listing === null) return ''
  const kind = countedAs(part)
  if (kind === null || !isFact(kind)) return contentHash(listing, new Set([...volatile, ...cosmetic]))
  const fact = facts[kind]
  const telling = fact.fields.filter((name) => !volatile.has(name) && !cosmetic.has(name))
  return shortHash(JSON.stringify([...telling.map((name) => listing[name] ?? null), fact.gist?.(listing)]))
}
