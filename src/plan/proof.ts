import type { DeliverySummary, RemoteSummary } from '../core/listing.ts'
import type { Remembered } from './guard/hold.ts'
import type { HomeHash } from '../core/home-hash.ts'

/** A record whose MLSNumber can't be read. */
export interface Keyless {
  /** Tells it from others in later deliveries: its address, else its bytes. */
  readonly identity: string
  readonly home: HomeHash
  /** When it was first delivered, in milliseconds. */
  readonly since: number
  /** When a run first noted all that was absent beside it; null: none has yet. */
  readonly notedAt: number | null
}

export type DeliveryMode = 'full' | 'delta' | 'kept'

/** What a run knows of its two sides; only whole ones can prove that a listing is gone. */
export interface Sides {
  readonly now: number
  readonly delivery: Pick<DeliverySummary, 'complete' | 'reasons'>
  /**
   * `delta`: absence means nothing. `kept`: all that is kept of a live source, of which only a walk over its keys proves what is
   * gone, and this run made none.
   */
  readonly mode: DeliveryMode
  /** Backfill never deletes. */
  readonly deletes: boolean
  /** Whether the delivery ends like the one before, where its end can't be proven; null: that is not asked for. */
  readonly agrees: boolean | null
  readonly keyless: readonly Keyless[]
  readonly remote: Pick<RemoteSummary, 'complete' | 'reasons'>
  /** What this run looked up on the service in place of its list; null: it read the list. */
  readonly lookUps: LookUps | null
}

export interface LookUps {
  /** MLSNumbers that were looked up. Each was found as the snapshot has it, or else the list would have been read. */
  readonly keys: ReadonlySet<string>
  /** When the list was last read, in milliseconds. */
  readonly listedAt: number
}

/** Whether this run looked for an MLSNumber on the service, by its list or by a look-up: what an earlier run was shown is no look. */
export function isLookedFor({ lookUps }: Pick<Sides, 'lookUps'>, mlsNumber: string): boolean {
  return lookUps === null || lookUps.keys.has(mlsNumber)
}

/** A listing of ours that the feed does not hold. */
export interface Gone {
  readonly mlsNumber: string
  /** The feed itself says that it is gone. */
  readonly isStated: boolean
  /** Any record of its MLSNumber was delivered, readable or not. */
  readonly isDelivered: boolean
  /** The service shows it. */
  readonly isShown: boolean
  readonly home: HomeHash
  /** The snapshot row that is its own; null: only its mark on the service makes the listing ours. */
  readonly snapshot: number | null
  readonly remembered: Pick<Remembered, 'absence' | 'holds'>
}

interface NoProof {
  readonly cause: 'unproven' | 'unreadable'
  /** What is missing, as a clause. */
  readonly why: string
  /** The next delivery may prove it by itself; else somebody has to act. */
  readonly until?: 'time' | undefined
}

/** Whether it is worth noting what is absent from a delivery: another one may say the same. */
export function tellsAbsence({ delivery, agrees }: Pick<Sides, 'delivery' | 'agrees'>): boolean {
  return delivery.complete || agrees === false
}

/**
 * That the listing of one MLSNumber is gone: the feed says so, or lacks it; and this run looked for it by a complete list or a
 * look-up. The feed lacks it where the delivery is full and whole, this one was not in it, and no record whose MLSNumber can't be
 * read may be it; where nothing shows that the delivery was not cut, the one before ended like it and lacked the listing, too.
 * `of` alone makes one, and no delete can be written down without one.
 */
export class AbsenceProof {
  // Private, so that an object that only looks like a proof is none.
  readonly #gone: Gone

  private constructor(gone: Gone) {
    this.#gone = gone
  }

  get gone(): Gone {
    return this.#gone
  }

  static of(sides: Sides, gone: Gone): AbsenceProof | NoProof {
    if (!sides.deletes) return none('a backfill deletes nothing: the next sync decides', 'time')
    // What a list lacks that is not whole may be there, and only what the feed itself says needs no more than what is shown.
    if (!sides.remote.complete && !(gone.isStated && gone.isShown))
      return none(`the service's list is incomplete: ${sides.remote.reasons[0]}`)
    const lacking = gone.isStated ? null : lackingToAbsence(sides, gone)
    if (lacking !== null) return lacking
    return isLookedFor(sides, gone.mlsNumber)
      ? new AbsenceProof(gone)
      : none('nobody looked for it on the service in this run')
  }
}

const none = (why: string, until?: 'time'): NoProof => ({ cause: 'unproven', why, until })

/** What is missing for a proof that the feed lacks a listing; null: nothing. */
function lackingToAbsence({ now, delivery, mode, agrees, keyless }: Sides, gone: Gone): NoProof | null {
  const { absence, holds } = gone.remembered
  if (gone.isDelivered) return none('it was delivered')
  if (mode === 'delta') return none('a delta says nothing of what is not in it')
  if (mode === 'kept') return none('only a walk over all keys of the source tells what is gone, and this run made none')
  if (!delivery.complete) return none(`the delivery is incomplete: ${delivery.reasons[0]}`)
  if (agrees !== null && absence === null)
    return none("only from one delivery, whose end can't be proven: it goes when the next one says the same", 'time')
  const isApproved = holds.some(({ part, decision }) => part === 'delete' && decision === 'approved')
  if (!isApproved && keyless.some((record) => mayBe(record, gone, now)))
    return { cause: 'unreadable', why: 'a record came without a readable MLSNumber when it went, and may be it' }
  return null
}

/** Whether a record may be a listing: it came in the delivery in which that went absent, and no address speaks against it. */
function mayBe({ home, since, notedAt }: Keyless, gone: Gone, now: number): boolean {
  const absentSince = gone.remembered.absence?.since ?? now
  // Since when it is absent is not known where no row of the snapshot is its own, or the clock was set back.
  const isKnown = gone.snapshot !== null && absentSince <= now
  // A run that ended while it noted what is absent left the rest to the next one.
  const wentThen = !isKnown || (absentSince >= since && (notedAt === null || absentSince <= notedAt))
  return wentThen && (home === null || gone.home === null || home === gone.home)
}
