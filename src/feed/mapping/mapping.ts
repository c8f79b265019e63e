import type { Delivered, MovingListing, Place } from '../../core/listing.ts'
import type { FormatOptions, RecordFields } from '../format/format.ts'
import type { Join } from './join.ts'

/** When a record is normalised. `today` is YYYY-MM-DD in the feed's time zone. */
export interface Moment {
  now: number
  today: string
  timezone: string
}

/** The last confirmed listing of this feed with an MLSNumber, or null. */
export type KnownListing = (mlsNumber: string) => MovingListing | null

/** A preset with a feed's options, compiled. */
export interface Mapping {
  /** Changes whenever the same bytes could become another listing: preset, fields, defaults, where, code. */
  version: string
  delivery: 'full' | 'delta'
  /** What the document's header says about that; else `delivery` counts. */
  deliveryOf?(says: Readonly<Record<string, string>>): 'full' | 'delta'
  /** Forms of dates in its documents. */
  dates?: readonly string[]
  /** A key of `formats`, and the options of its reader. */
  format: string
  formatOptions: FormatOptions
  /** Second tables whose rows stand beside the records (`join`). */
  joins?: readonly Join[]
  /** Whether it reads a column of a table, for `ReadOptions.reads`; left out: its records are no rows. */
  reads?: (column: string) => boolean
  /** Whether text that was encoded twice is repaired before it is read (`repair: double-utf8`). */
  mendsText?: boolean
  /**
   * MLSNumbers whose listings `normalise` requests from `known` for a partial record; left out: it never does. It may repair
   * text in the record, so the record is parsed again for `normalise`.
   */
  asksFor?(record: RecordFields, moment: Moment): string[]
  /**
   * Never throws: a wrong record becomes a reject with every problem. `known` completes partial records, which are rejects
   * without it.
   */
  normalise(record: RecordFields, at: string, moment: Moment, known?: KnownListing): Delivered[]
  /** Where a record's home is, as far as it says. A record without MLSNumber is recognised by it. */
  placeOf(record: RecordFields, moment: Moment): Place
}
