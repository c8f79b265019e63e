import type { Delivered, MovingListing } from '../../core/listing.ts'
import type { FormatName, RecordFields, FormatOptions } from '../format/format.ts'

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
  format: FormatName
  formatOptions: Pick<
    FormatOptions,
    'record' | 'counter' | 'header' | 'written' | 'delimiter' | 'quote' | 'requiredHeaders' | 'columns'
  >
  /** Whether text that was encoded twice is mended before it is read (`repair: double-utf8`). */
  mendsText?: boolean
  /**
   * Never throws: what is wrong becomes a reject with every problem. `known` completes records that tell only what
   * changed; without it they are rejects, too.
   */
  normalise(record: RecordFields, at: string, moment: Moment, known?: KnownListing): Delivered[]
}
