/** A 64-bit hash of an MLSNumber (two independent 32-bit mixes): small enough to remember a million keys of a delivery. */
export function keyHash(key: string): bigint {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
}

/** Collects key hashes without an object per key; `sorted()` gives them for a binary search. */
export class KeyHashes {
  #hashes = new BigUint64Array(1024)
  #length = 0

  add(key: string): void {
    if (this.#length === this.#hashes.length) {
      const larger = new BigUint64Array(this.#hashes.length * 2)
      larger.set(this.#hashes)
      this.#hashes = larger
    }
    this.#hashes[this.#length++] = keyHash(key)
  }

  sorted(): BigUint64Array {
    return this.#hashes.slice(0, this.#length).sort()
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
