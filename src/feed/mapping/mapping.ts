import type { Delivered, MovingListing } from '../../core/listing.ts'
import type { FormatOptions, RecordFields } from '../format/format.ts'

/** What moves: the instant and the day a record is normalised at. `today` is YYYY-MM-DD in the feed's time zone. */
export interface Moment {
  now: number
  today: string
  timezone: string
}

/** The listing of this feed that the service confirmed last under an MLSNumber; null where there is none. */
export type KnownListing = (mlsNumber: string) => MovingListing | null

/** A preset and the feed's own additions, ready to use. */
export interface Mapping {
  /** Changes whenever the same bytes could become another listing: preset, fields, defaults, where, code. */
  version: string
  delivery: 'full' | 'delta'
  /** The same where the document says it itself, in its header; `delivery` where it does not. */
  deliveryOf?(header: Readonly<Record<string, string>>): 'full' | 'delta'
  /** A key of `formats`, and what its reader is to know of the document. */
  format: string
  formatOptions: FormatOptions
  /** Whether text that was encoded twice is mended before it is read (`repair: double-utf8`). */
  mendsText?: boolean
  /**
   * MLSNumbers whose listings `normalise` asks `known` for, where the record tells only what changed; left out: it never
   * does. As text may be mended in it, the record is parsed anew for `normalise`.
   */
  asksFor?(record: RecordFields, moment: Moment): string[]
  /**
   * Never throws: what is wrong becomes a reject with every problem. `known` completes records that tell only what
   * changed; without it they are rejects, too.
   */
  normalise(record: RecordFields, at: string, moment: Moment, known?: KnownListing): Delivered[]
}
