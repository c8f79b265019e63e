/**
 * What a converter is: it is built once from its rule, works out everything it can, and returns a function that reads
 * records.
 */
import type { z } from 'zod'
import type { ExtensionEntry, FieldRule, Listing, Moving, Problem } from '../../../core/listing.ts'
import type { RecordNode } from '../../format/format.ts'
import type { Moment } from '../mapping.ts'
import type { Select } from '../path.ts'
import type { converterKeys, Numbers, Rule, Statuses } from '../rule-keys.ts'

/** A value that can't be read, as found, and what would be accepted. */
export class Unreadable {
  readonly value: string
  readonly problem: string
  /** Whether it says that there is no value to show, as words in place of a price: the listing goes without. */
  readonly isNone: boolean
  constructor(value: string, problem: string, isNone = false) {
    this.value = value
    this.problem = problem
    this.isNone = isNone
  }
}

/** The value is cut at 200 characters. */
export function problemOf(field: string, { value, problem }: Unreadable): Problem {
  return { field, value: value.slice(0, 200).toWellFormed(), problem }
}

/** The listing being made of one record. */
export interface Making {
  listing: Partial<Listing>
  moving: Moving
  moment: Moment
  /** Entries found while other fields are read: the original word of a property type, the address of a tour. */
  kept: ExtensionEntry[]
  /** Why the listing is removed; null: it is not. */
  removal: string | null
  /** The record names a later time at which its listing is removed. */
  endsLater?: true
  /** Whether street and coordinates must be hidden. */
  hidden: boolean
  /** What can't be read and is left out, as the listing does without. */
  unread: Problem[]
  /** Images that are names of files, and have no `imageBase`. */
  imageFiles?: number
  /** Called for words that no rule maps, for `inspect`. */
  unmapped?: Unmapped
}

/** `field`: a listing field or a column of ExtensionColumn. */
export type Unmapped = (field: string, word: string) => void

export type Value = string | number | string[]

/** Reads one value; undefined: the record has none. */
export type Read = (node: RecordNode, making: Making) => Value | Unreadable | undefined

/** What a converter is built from. `Own`: its own keys. */
export interface Building<Own extends object = object> {
  rule: Rule & Own
  /** The field that the value is for; null for an ExtensionColumn entry. */
  field: FieldRule | null
  /** The number and date forms of the feed, else of the preset. */
  preset: { numbers: Numbers; dates: readonly string[]; imageBase?: string | undefined }
  statuses: Statuses
  /** Compiles a path of this rule, relative to its `each`. Throws `PathError`. */
  select: (path: string) => Select
  /** The paths of `from`, at least one. */
  from: readonly Select[]
  /** Whether a text means absent, by the vocabulary or the rule. */
  isMissing: (text: string) => boolean
  /** Every text of `from` with a value. */
  texts: (node: RecordNode) => string[]
  /** The first of them. */
  text: (node: RecordNode) => string | undefined
  /** Compiles alternative paths; yields the first text with a value, else ''. */
  firstOf: (paths: string | string[]) => (node: RecordNode) => string
  /** Builds a rule inside this one. */
  inner: (rule: Rule) => Read
}

/** One way to read a value: a file of this folder, and a line in `converters.ts`. */
export interface Converter<Own extends object = object> {
  /** What it yields; a field takes only its own type. */
  yields: FieldRule['type']
  /**
   * The shared keys that apply to it, besides those of every rule. With `split` and `nth` it reads one part of a text; with
   * `each` it walks the nodes itself.
   */
  takes: readonly ('each' | keyof ReturnType<typeof converterKeys>)[]
  /** Its own keys, all optional here; `build` checks which it needs. */
  keys?: Readonly<Record<string, z.ZodType>> & {
    readonly [Key in keyof Own]-?: z.ZodType<Exclude<Own[Key], undefined>>
  }
  /** The paths in these keys, to find out which fields of a feed are read. */
  paths?(rule: Rule & Own): readonly string[]
  /** It also reads everything below `from`. */
  readsBelow?: true
  /** Whether `from` is required. */
  needsFrom: boolean
  /** Throws `RuleError` or `PathError` for a rule that can't work. */
  build(building: Building<Own>): Read
}

/** An invalid rule. */
export class RuleError extends Error {
  override name = 'RuleError'
}
