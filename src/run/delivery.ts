import type { DeliverySummary, FieldName } from '../core/listing.ts'
import type { Refreshed } from '../feed/api/source.ts'
import type { Written } from '../feed/format/format.ts'
import type { Validators } from '../feed/transport/transport.ts'
import type { DeliveryMode, Keyless } from '../plan/proof.ts'
import type { Read } from './files.ts'
import type { olderThan } from './written.ts'

/** What one delivery says, in figures; its listings and rejects are in the workspace. */
export interface Delivery {
  summary: DeliverySummary
  /** Its records without a readable MLSNumber. */
  keyless: readonly Keyless[]
  /** What absence means in it: as the document says, else the mapping; for a live source, as its walk proves. */
  mode: DeliveryMode
  /** How far a live source was read, for the store; null: the source is not live. */
  source: Pick<Refreshed, 'accepted' | 'carriedOut'> | null
  /** Fields from tables beside it (`join`) that are missing or not whole: they stay as they were. */
  lacking: readonly FieldName[]
  /** The last position of its own records: those behind it are what earlier deltas said; null: there are none of these. */
  own: number | null
  /** MLSNumbers of which it has only what was said before the store was put back from a backup. */
  outdated: ReadonlySet<string>
  /** If its end can't be proven: whether it ends like the one before; null: it can. */
  agrees: boolean | null
  /** The MLSNumber of its last record; '': it holds none; null: its format has an end mark. */
  lastKey: string | null
  /** Whether records name a time at which their listings come or go, so that an unchanged source gives other listings then. */
  endsLater: boolean
  /** When it says that it was written. */
  written: Written | null
  /** If it was written before the last one: when each was, as people read it; null: nothing says that it is older. */
  older: ReturnType<typeof olderThan>
  /** Its files, if a pattern chose them, and up to which time they were read whole. */
  besides: Read | null
  /** Deltas beside the first one, which are not read. */
  passedBy: number
  /** What the source can be asked with next time, whether it has changed. */
  validators: Validators
  /** What a person should know of the records that were read, as sentences. */
  notes: string[]
}
