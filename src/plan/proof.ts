import type { DeliverySummary, RemoteSummary } from '../core/listing.ts'
import { isDeleteApproved } from './guard/hold.ts'
import type { Remembered } from './guard/hold.ts'
import type { HomeHash } from '../core/home-hash.ts'

/** A record whose MLSNumber can't be read. */
export interface Keyless {
  /** Recognises it in later deliveries: its address, else its bytes. */
  readonly identity: string
  readonly home: HomeHash
  /** When it was first delivered, in milliseconds. */
  readonly since: number
  /** When a run first noted all absences of the delivery it came in; null: none has yet. */
  readonly notedAt: number | null
}

export type DeliveryMode = 'full' | 'delta' | 'kept'

/** What a run knows of delivery and list. Only whole ones can prove that a listing is gone. */
export interface Sides {
  readonly now: number
  readonly delivery: Pick<DeliverySummary, 'complete' | 'reasons'>
  /** Only in a `full` delivery does absence mean anything. `kept`: all that is kept of a live source whose keys this run did not walk. */
  readonly mode: DeliveryMode
  /** Whether this run may delete: a backfill never does. */
  readonly deletes: boolean
  /** Whether a delivery whose end can't be proven ends like the one before; null: its end is proven. */
  readonly agrees: boolean | null
  readonly keyless: readonly Keyless[]
  readonly remote: Pick<RemoteSummary, 'complete' | 'reasons'>
  /** What this run looked up on the service instead of reading the list; null: it read the list. */
  readonly lookUps: LookUps | null
}

export interface LookUps {
  /** MLSNumbers that were looked up. Each was found as the snapshot has it, or else the list would have been read. */
  readonly keys: ReadonlySet<string>
  /** When the list was last read, in milliseconds. */
  readonly listedAt: number
}

/** Whether this run looked for an MLSNumber on the service, by the list or by a look-up. A look of an earlier run does not count. */
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
  readonly isShown: boolean
  readonly home: HomeHash
  /** Its snapshot row; null: only its mark on the service makes the listing ours. */
  readonly snapshot: number | null
  readonly remembered: Pick<Remembered, 'absence' | 'holds'>
}

interface NoProof {
  readonly cause: 'unproven' | 'unreadable'
  /** What is missing for a proof, as a clause. */
  readonly why: string
  /** Somebody has to act; else a later run may prove it by itself. */
  readonly isConflict: boolean
}

/** Whether absences from a delivery are worth noting: it is complete, or the next one may end like it and prove them. */
export function tellsAbsence({ delivery, agrees }: Pick<Sides, 'delivery' | 'agrees'>): boolean {
  return delivery.complete || agrees === false
}

/**
 * Proof that the listing of one MLSNumber is gone. Two things are needed: the feed says that it is gone, or lacks it; and this run
 * looked for it, by a complete list or a look-up. The feed lacks it if the delivery is full and whole, the listing is not in it, and
 * no record without a readable MLSNumber may be it. If the delivery's end can't be proven, the one before must have ended like it
 * and lacked the listing, too. `of` alone makes a proof, and no delete can be made without one.
 */
export class AbsenceProof {
  // Private: an object that only has the same shape is no proof.
  readonly #gone: Gone

  private constructor(gone: Gone) {
    this.#gone = gone
  }

  get gone(): Gone {
    return this.#gone
  }

  static of(sides: Sides, gone: Gone): AbsenceProof | NoProof {
    if (!sides.deletes) return none('a backfill deletes nothing: the next sync decides', false)
    // An incomplete list proves no absence. If the feed itself says that it is gone, it is enough that the list shows it.
    if (!sides.remote.complete && !(gone.isStated && gone.isShown))
      return none(`the service's list is incomplete: ${sides.remote.reasons[0]}`)
    const lacking = gone.isStated ? null : lackingToAbsence(sides, gone)
    if (lacking !== null) return lacking
    return isLookedFor(sides, gone.mlsNumber)
      ? new AbsenceProof(gone)
      : none('nobody looked for it on the service in this run')
  }
}

const none = (why: string, isConflict = true): NoProof => ({ cause: 'unproven', why, isConflict })

/** What is missing for a proof that the feed lacks a listing; null: nothing is. */
function lackingToAbsence({ now, delivery, mode, agrees, keyless }: Sides, gone: Gone): NoProof | null {
  const { absence } = gone.remembered
  if (gone.isDelivered) return none('it was delivered')
  if (mode === 'delta') return none('a delta says nothing of what is not in it')
  if (mode === 'kept') return none('only a walk over all keys of the source tells what is gone, and this run made none')
  if (!delivery.complete) return none(`the delivery is incomplete: ${delivery.reasons[0]}`)
  if (agrees !== null && absence === null)
    return none("only from one delivery, whose end can't be proven: it goes when the next one says the same", false)
  if (!isDeleteApproved(gone.remembered) && keyless.some((record) => mayBe(record, gone, now)))
    return { ...none('a record came without a readable MLSNumber, and may be it'), cause: 'unreadable' }
  return null
}

/**
 * Whether a record may be this listing: it first came when the listing went absent, and their addresses don't differ; or it came
 * later, and they are the same.
 */
function mayBe({ home, since, notedAt }: Keyless, gone: Gone, now: number): boolean {
  const absentSince = gone.remembered.absence?.since ?? now
  // Without a snapshot row, or after the clock was set back, it is not known since when it is absent.
  const isKnown = gone.snapshot !== null && absentSince <= now
  // A listing that waits for its grace, or for the guard, may be back in it.
  if (isKnown && absentSince < since) return home !== null && home === gone.home
  // If a run ended while it noted absences, the next run noted the rest with a later time.
  const wentThen = !isKnown || notedAt === null || absentSince <= notedAt
  return wentThen && (home === null || gone.home === null || home === gone.home)
}
