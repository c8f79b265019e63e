/** Where `mix` leaves its hash, 64 bits as two halves: a bigint for each key would cost more than all else done with it. */
const halves = new Uint32Array(2)

/** Mixes a key into two 32-bit numbers that know nothing of each other, low and high, in `halves`. */
function mix(key: string): void {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  halves[0] = low
  halves[1] = high
}

/** A share from 0 up to, but not including, 1 that the key decides. */
export function keyShare(key: string): number {
  mix(key)
  return halves[1] / 2 ** 32
}

/**
 * Collects 64-bit hashes of MLSNumbers, small enough to remember a million keys of a delivery. `sorted()` gives them for a
 * binary search.
 */
export class KeyHashes {
  #halves = new Uint32Array(2048)
  #length = 0

  add(key: string): void {
    if (this.#length === this.#halves.length) {
      const larger = new Uint32Array(this.#halves.length * 2)
      larger.set(this.#halves)
      this.#halves = larger
    }
    mix(key)
    this.#halves[this.#length++] = halves[0]
    this.#halves[this.#length++] = halves[1]
  }

  sorted(): BigUint64Array {
    return new BigUint64Array(this.#halves.buffer.slice(0, this.#length * 4)).sort()
  }
}

/** How many of `some` are in `others`; both sorted. */
export function sharedKeys(some: BigUint64Array, others: BigUint64Array): number {
  let shared = 0
  let other = 0
  for (const hash of some) {
    while (other < others.length && others[other] < hash) other++
    if (other < others.length && others[other] === hash) shared++
  }
  return shared
}
