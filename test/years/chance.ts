/** Chance that is seeded: equal seeds give equal offices, whatever else is played. */
import { seeded } from '../support/random.ts'

/** One seed from several (FNV-1a). */
export function seedOf(...words: readonly (string | number)[]): number {
  let hash = 0x811c9dc5
  for (const letter of words.join('|')) hash = Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193)
  return hash >>> 0
}

/** The same number in [0, 1) for the same words. */
export const unit = (...words: readonly (string | number)[]): number => seeded(seedOf(...words))()

export class Chance {
  readonly unit: () => number

  constructor(seed: number) {
    this.unit = seeded(seed)
  }

  happens(share: number): boolean {
    return this.unit() < share
  }

  between(least: number, most: number): number {
    return least + this.unit() * (most - least)
  }

  whole(least: number, most: number): number {
    return Math.floor(this.between(least, most + 1))
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.unit() * items.length)]
  }

  /** How often something happens that happens `mean` times on average (Knuth; for large means in parts). */
  times(mean: number): number {
    let count = 0
    for (let left = mean; left > 0; left -= 20) {
      const limit = Math.exp(-Math.min(left, 20))
      for (let product = this.unit(); product > limit; product *= this.unit()) count++
    }
    return count
  }
}
