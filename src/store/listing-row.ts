/** Rows of `listing` and `payload`, in a file and on PostgreSQL. */
import type { MovingListing } from '../core/listing.ts'

/** The columns of a `SnapshotRow`. Quoted, as PostgreSQL makes other names lower case. */
export const rowColumns = `id, key, feed, owned, content, raw, parts, mapping, home, born_at AS "bornAt", sent_at AS "sentAt",
  baseline, moves_at AS "movesAt", suspect_until AS "suspectUntil", undone, put_right_at AS "putRightAt", ignored, identifier,
  flight, flight_at AS "flightAt", missed_at AS "missedAt", refused_content AS "refusedContent",
  refused_mapping AS "refusedMapping", refused_at AS "refusedAt", refused_message AS "refusedMessage"`

/** The condition of `settledSince` (`RowInBrief`) on columns that both kinds of store have. */
export const settled =
  'content IS NOT NULL AND baseline IS NOT NULL AND moves_at IS NULL AND undone = 0 AND flight IS NULL'

/** What was sent, as `payload` has it. */
export interface Payload {
  listing: string
  moving: string
}

/** What was sent, read. */
export const parsed = ({ listing, moving }: Payload): MovingListing => ({
  listing: JSON.parse(listing),
  moving: JSON.parse(moving),
})
