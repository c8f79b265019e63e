import type { Delivered } from '../core/listing.ts'
import type { Sample } from './findings.ts'
import { lacksFactsOnly } from './tally.ts'

const shown = 3
/** Records looked at: a feed of sales only has no rental to wait for. */
const lookedAt = 2000

/**
 * The records that show best how a feed is mapped: a whole one for sale, a whole one for rent, more whole ones, and only
 * where there are too few of them, others.
 */
export class Samples {
  #sale: Sample[] = []
  #rent: Sample[] = []
  #others: Sample[] = []

  #looked = 0

  /** Whether a record of this kind could still be one of those shown. Asked once for each. */
  wants(delivered: Delivered): boolean {
    if (++this.#looked > lookedAt) return false
    if (delivered.kind === 'listing' || (delivered.kind === 'reject' && lacksFactsOnly(delivered.problems)))
      return this.#sale.length < shown || this.#rent.length < shown
    return this.#others.length < shown
  }

  /** `filledUp`: the same record where the facts that it lacks are given; null: it can't be made whole by that. */
  add(delivered: Delivered, filledUp: Delivered | null): void {
    const whole = delivered.kind === 'listing' ? delivered : filledUp?.kind === 'listing' ? filledUp : null
    const sample = sampleOf(delivered, whole)
    if (whole === null) {
      if (this.#others.length < shown) this.#others.push(sample)
      return
    }
    const list = whole.listing.SaleType === 'for_rent' ? this.#rent : this.#sale
    if (list.length < shown) list.push(sample)
  }

  list(): Sample[] {
    const [sale, rent] = [this.#sale, this.#rent]
    return [...sale.slice(0, 1), ...rent.slice(0, 1), ...sale.slice(1), ...rent.slice(1), ...this.#others].slice(
      0,
      shown,
    )
  }
}

function sampleOf(delivered: Delivered, whole: Extract<Delivered, { kind: 'listing' }> | null): Sample {
  const problems = delivered.kind === 'reject' ? delivered.problems : []
  const missing = whole === null ? [] : problems.map(({ field }) => field)
  const listing =
    whole === null
      ? null
      : Object.fromEntries(Object.entries(whole.listing).filter(([name]) => !missing.includes(name)))
  return {
    at: delivered.at,
    kind: delivered.kind,
    mlsNumber: delivered.kind === 'listing' ? delivered.listing.MLSNumber : delivered.mlsNumber,
    listing,
    missing,
    why: delivered.kind === 'removal' || delivered.kind === 'filtered' ? delivered.why : null,
    problems,
  }
}
