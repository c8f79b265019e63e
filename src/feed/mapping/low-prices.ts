/** Notices sale prices that no home has: `207.000` is 207 in a feed whose preset says that a point stands before decimals. */
import type { Listing } from '../../core/listing.ts'
import { many, shorten } from '../../core/text.ts'

/** In any currency. */
const leastPrice = 1000
/** A single one may be a mistake of its own, or a parking space. */
const leastListings = 3

export class LowPrices {
  #sales = 0
  #low = 0
  #first = ''

  look({ SaleType, SalePrice, MLSNumber }: Listing): void {
    if (SaleType !== 'for_sale' || SalePrice === undefined) return
    this.#sales++
    if (SalePrice >= leastPrice) return
    this.#low++
    if (this.#low === 1) this.#first = `${SalePrice} for ${shorten(MLSNumber, 40)}`
  }

  /** A sentence for the report, if most prices are so. */
  notes(): string[] {
    if (this.#low < leastListings || this.#low * 2 <= this.#sales) return []
    return [
      `${this.#low} of ${many(this.#sales, 'sale price')} are less than ${leastPrice}, such as ${this.#first}: if the feed writes thousands otherwise than its preset says (207.000 for 207,000), set numbers`,
    ]
  }
}
