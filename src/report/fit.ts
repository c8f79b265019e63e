/** Fits rows of several sections into a limit: small sections whole, and the same amount of each large one. */

export interface Fitted {
  rows: string[]
  /** How many rows there were. */
  count: number
}

/** `most`: the size of all rows together, by `sizeOf`. Never holds more than twice that. */
export class Fit<Key> {
  readonly #most: number
  readonly #sizeOf: (row: string) => number
  readonly #sections = new Map<Key, Fitted & { size: number; isCut: boolean }>()
  #total = 0

  constructor(most: number, sizeOf: (row: string) => number) {
    this.#most = Math.max(0, most)
    this.#sizeOf = sizeOf
  }

  /** Adds a row. It is made only if there may be room for it. */
  add(key: Key, make: () => string): void {
    const section = this.#sections.get(key) ?? { rows: [], count: 0, size: 0, isCut: false }
    this.#sections.set(key, section)
    section.count++
    if (section.isCut) return
    const row = make()
    const size = this.#sizeOf(row)
    section.rows.push(row)
    section.size += size
    this.#total += size
    if (this.#total > 2 * this.#most) this.#cut(this.#most)
  }

  /** The rows that fit, by section. `reserved`: room that something else needs. */
  fitted(reserved = 0): ReadonlyMap<Key, Fitted> {
    this.#cut(Math.max(0, this.#most - reserved))
    return this.#sections
  }

  #cut(most: number): void {
    let left = most
    const bySize = [...this.#sections.values()].toSorted((a, b) => a.size - b.size)
    for (const [at, section] of bySize.entries()) {
      const share = left / (bySize.length - at)
      while (section.size > share) {
        const size = this.#sizeOf(section.rows.pop()!)
        section.size -= size
        this.#total -= size
        section.isCut = true
      }
      left -= section.size
    }
  }
}
