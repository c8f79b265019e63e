/** The IDs of list items seen in one walk: whole numbers in a flat table, eight bytes each, as a walk may show a million. */
export class IdSet {
  #slots = new Uint32Array(1024)
  #size = 0
  /** IDs that are no whole numbers from 1 to 2³² − 1; the interface says integer. */
  readonly #others = new Set<number | string>()

  /** Whether the ID was not there before. */
  add(id: number | string): boolean {
    if (typeof id !== 'number' || id < 1 || id > 0xffffffff || !Number.isInteger(id)) {
      const { size } = this.#others
      return this.#others.add(id).size > size
    }
    if (this.#size * 2 >= this.#slots.length) this.#grow()
    const slot = this.#slotOf(id)
    if (this.#slots[slot] === id) return false
    this.#slots[slot] = id
    this.#size++
    return true
  }

  #slotOf(id: number): number {
    const mask = this.#slots.length - 1
    let slot = Math.imul(id, 0x9e3779b1) & mask
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== id) slot = (slot + 1) & mask
    return slot
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Uint32Array(before.length * 2)
    for (const id of before) if (id !== 0) this.#slots[this.#slotOf(id)] = id
  }
}
