/**
 * What a converter is. A converter's factory is given its rule once and returns the function that reads a record;
 * everything that can be worked out beforehand is.
 */
import type { z } from 'zod'
import type { ExtensionEntry, FieldRule, Listing, Moving } from '../../../core/listing.ts'
import type { RecordNode } from '../../format/format.ts'
import type { Moment } from '../mapping.ts'
import type { Select } from '../path.ts'
import type { converterKeys, Numbers, Rule, Statuses } from '../rule-keys.ts'

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

/** What a factory may ask for while it is being built. `Own` are the converter's own keys. */
export interface Building<Own extends object = object> {
  rule: Rule & Own
  /** The field that the value is for; null for an ExtensionColumn entry. */
  field: FieldRule | null
  /** How the preset, or the feed, writes numbers and dates. */
  preset: { numbers: Numbers; dates: readonly string[] }
  statuses: Statuses
  /** Compiles a path of this rule, relative to its `each`. Throws `PathError`. */
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

/** One way to read a value: a file of this folder, and a line in `converters.ts`. */
export interface Converter<Own extends object = object> {
  /** What it yields; a field takes only its own type. */
  yields: FieldRule['type']
  /**
   * Which of the keys that converters share it takes, beside those of every rule. With `split` and `nth` its text is one of
   * several in a longer one; with `each` it goes through the nodes itself.
   */
  takes: readonly ('each' | keyof typeof converterKeys)[]
  /** Keys that it alone takes, as they are written. A rule may lack any of them; `build` says which it needs. */
  keys?: Readonly<Record<string, z.ZodType>> & {
    readonly [Key in keyof Own]-?: z.ZodType<Exclude<Own[Key], undefined>>
  }
  /** The paths that these keys hold, to tell which fields of a feed are read. */
  paths?(rule: Rule & Own): readonly string[]
  /** It reads all that is below `from`, too. */
  readsBelow?: true
  /** Whether `from` must be there. */
  needsFrom: boolean
  /** Throws `RuleError` or `PathError` for a rule that can't work. */
  build(building: Building<Own>): Read
}

/** A rule that can't work; its message says what is wrong with it. */
export class RuleError extends Error {
  override name = 'RuleError'
}
