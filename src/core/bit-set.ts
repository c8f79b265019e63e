/** A set of whole numbers from 0 as bits: a million that lie close together need an eighth of a megabyte. */
export class BitSet {
  #bits = new Uint8Array(1024)

  /** Returns whether the number is new. */
  add(number: number): boolean {
    const index = number >>> 3
    if (index >= this.#bits.length) {
      const larger = new Uint8Array(Math.max(index + 1, this.#bits.length * 2))
      larger.set(this.#bits)
      this.#bits = larger
    }
    const isNew = !this.has(number)
    this.#bits[index] |= 1 << (number & 7)
    return isNew
  }

  /** Returns whether the number was there. */
  delete(number: number): boolean {
    const wasThere = this.has(number)
    if (wasThere) this.#bits[number >>> 3] &= ~(1 << (number & 7))
    return wasThere
  }

  has(number: number): boolean {
    return ((this.#bits[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0
  }
}
