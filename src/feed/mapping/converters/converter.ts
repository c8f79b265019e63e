/**
 * What a converter is. A converter's factory is given its rule once and returns the function that reads a record;
 * everything that can be worked out beforehand is.
 */
import type { ExtensionEntry, FieldRule, Listing, Moving } from '../../../core/listing.ts'
import type { RecordNode } from '../../format/format.ts'
import type { Moment } from '../mapping.ts'
import type { Select } from '../path.ts'
import type { Rule, Statuses } from '../schema.ts'

/** A value that is there and can't be read: as found, and what would be accepted. */
export class Unreadable {
  readonly value: string
  readonly problem: string
  constructor(value: string, problem: string) {
    this.value = value
    this.problem = problem
  }
}

/** The listing being made of one record. */
export interface Making {
  listing: Partial<Listing>
  moving: Moving
  moment: Moment
  /** Entries that fall off while other fields are read: a property type in the source's word, a tour's address. */
  kept: ExtensionEntry[]
  /** Set when the record says that its listing is to be taken off. */
  removal: string | null
  /** Set when the record names a time ahead after which its listing is to be taken off. */
  endsLater?: true
  /** Whether street and coordinates may not be shown. */
  hidden: boolean
  /** Is told of a word that no rule maps; absent but where somebody asks (`inspect`). */
  unmapped?: Unmapped
}

/** A field, or a column of ExtensionColumn, and the word of the feed that its rule knows nothing of. */
export type Unmapped = (field: string, word: string) => void

/** What a converter can yield; ExtensionColumn is put together of these. */
export type Value = string | number | string[]

/** Reads one value; undefined where the record says nothing. */
export type Read = (node: RecordNode, making: Making) => Value | Unreadable | undefined

/** What a factory may ask for while it is being built. */
export interface Building {
  rule: Rule
  /** The field that the value is for; null for an ExtensionColumn entry. */
  field: FieldRule | null
  preset: { numbers: Separators; dates: readonly string[] }
  statuses: Statuses
  /** Compiles a path of this rule, relative to its `each`. Throws `RuleError`. */
  select: (path: string) => Select
  /** The paths of `from`, at least one. */
  from: readonly Select[]
  /** The first text of `from` that says something. */
  text: (node: RecordNode) => string | undefined
  /** Compiles one path or several that name the same thing; gives the first text that says something, else ''. */
  firstOf: (paths: string | string[]) => (node: RecordNode) => string
  /** Builds a rule inside this one. */
  inner: (rule: Rule) => Read
}

/** How a preset writes numbers (vocab §8): decided once, never by looking at a value. */
export interface Separators {
  decimal: '.' | ','
  group: string
}

export interface Converter {
  /** What it yields; a field takes only its own type. */
  yields: FieldRule['type']
  /** Keys of the rule that mean something to it, beside those that every rule may have. */
  takes: readonly (keyof Rule)[]
  /** Whether `from` must be there. */
  needsFrom: boolean
  build: (building: Building) => Read
}

/** A rule that can't work; its message says what is wrong with it. */
export class RuleError extends Error {
  override name = 'RuleError'
}
