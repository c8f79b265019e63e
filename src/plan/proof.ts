import type { DeliverySummary, RemoteSummary } from '../core/listing.ts'

/** What a run knows of its two sides; only whole ones can prove that a listing is gone. */
export interface Sides {
  readonly delivery: Pick<DeliverySummary, 'complete' | 'reasons'>
  /** `delta`: absence means nothing. */
  readonly mode: 'full' | 'delta'
  /** Records whose MLSNumber could not be read: any absent listing may be one of them. */
  readonly unreadable: number
  readonly remote: Pick<RemoteSummary, 'complete' | 'reasons'>
}

export interface NoProof {
  readonly cause: 'unproven' | 'unreadable'
  /** What is missing, as a clause. */
  readonly why: string
}

/**
 * That the listing of one MLSNumber is gone from the feed: the delivery is full and whole, every MLSNumber in it could be
 * read, this one was not in it, and the service's list is complete. `of` alone makes one, and no change by absence can be
 * written down without one.
 */
export class AbsenceProof {
  // `isOne` asks for it: an object that only looks like a proof has none.
  // oxlint-disable-next-line no-unused-private-class-members
  readonly #made = true
  readonly mlsNumber: string

  private constructor(mlsNumber: string) {
    this.mlsNumber = mlsNumber
  }

  static isOne(it: object): it is AbsenceProof {
    return #made in it
  }

  /** `isDelivered`: any record of this MLSNumber was delivered, readable or not. */
  static of(
    { delivery, mode, unreadable, remote }: Sides,
    mlsNumber: string,
    isDelivered: boolean,
  ): AbsenceProof | NoProof {
    if (isDelivered) return { cause: 'unproven', why: 'it was delivered' }
    if (mode === 'delta') return { cause: 'unproven', why: 'a delta says nothing of what is not in it' }
    if (!delivery.complete) return { cause: 'unproven', why: `the delivery is incomplete: ${delivery.reasons[0]}` }
    if (unreadable > 0)
      return { cause: 'unreadable', why: `${unreadable} delivered without a readable MLSNumber may be this one` }
    if (!remote.complete) return { cause: 'unproven', why: `the service's list is incomplete: ${remote.reasons[0]}` }
    return new AbsenceProof(mlsNumber)
  }
}
