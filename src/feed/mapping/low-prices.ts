/** Notices prices that no home has: `207.000` is 207 in a feed whose preset says that a point stands before decimals. */
import type { Listing } from '../../core/listing.ts'
import { many, shorten } from '../../core/text.ts'

/** In any currency; a rent is one of a month. */
const [leastPrice, leastRent] = [1000, 10]
/** A single one may be a mistake of its own, or a parking space. */
const leastListings = 3

export class LowPrices {
  #all = 0
  #low = 0
  #first = ''

  look({ SaleType, SalePrice, RentPrice, MLSNumber }: Listing): void {
    const [price, least] = SaleType === 'for_sale' ? [SalePrice, leastPrice] : [RentPrice, leastRent]
    if (price === undefined) return
    this.#all++
    if (price >= least) return
    this.#low++
    if (this.#low === 1) this.#first = `${price} for ${shorten(MLSNumber, 40)}`
  }

  /** A sentence for the report, if most prices are so. */
  notes(): string[] {
    if (this.#low < leastListings || this.#low * 2 <= this.#all) return []
    return [
      `${this.#low} of ${many(this.#all, 'price')} are too low for a home, such as ${this.#first}: if the feed writes thousands otherwise than its preset says (207.000 for 207,000), set numbers`,
    ]
  }
}
