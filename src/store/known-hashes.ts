import type { KnownHashes } from './store.ts'

interface HashTable extends KnownHashes {
  add(rows: readonly KnownRow[]): void
}

/** A hash with the id of a snapshot row. `parts`: how many rows must have the hash for a record with it to be known. */
export type KnownRow = [hash: string, parts: number, id: number, ...more: string[]]

const nothing: readonly number[] = []

/** Numbers of a slot: the two halves of a hash, and the row's id. */
const width = 3
/** If at least so many rows have one hash, the record is parsed each time. */
const tooMany = 255

/**
 * Hashes of a feed's snapshot in flat arrays, 19 bytes a listing. To ask SQLite for each of a million records would cost more than
 * all else that an unchanged feed needs. 64 bits of each hash are kept. What is compared lies side by side, as each jump in memory
 * makes the processor wait. Rows beyond `count`, as others may write while they are read, are left out: they are looked at each time.
 */
export function knownHashes(count: number): HashTable {
  const slots = Math.ceil(Math.max(8, count * 1.45))
  const table = new Uint32Array(slots * width)
  /** For each slot, how many rows must have its hash. */
  const needed = new Uint8Array(slots)
  let low = 0
  let high = 0

  const mix = (hash: string): void => {
    low = 0x9e3779b9
    high = 0x85ebca6b
    for (let i = 0; i < hash.length; i++) {
      const unit = hash.charCodeAt(i)
      low = Math.imul(low ^ unit, 0x01000193)
      high = Math.imul(high ^ unit, 0x5bd1e995)
    }
    low = (low ^ (high >>> 15)) >>> 0
    high >>>= 0
  }

  const firstSlot = (): number => Math.floor((low * slots) / 2 ** 32)
  const after = (slot: number): number => (slot + 1 === slots ? 0 : slot + 1)

  let left = count
  return {
    add(rows) {
      for (const [hash, parts, id] of rows) {
        if (left-- <= 0) return
        mix(hash)
        let slot = firstSlot()
        while (table[slot * width + 2] !== 0) slot = after(slot)
        const at = slot * width
        table[at] = low
        table[at + 1] = high
        table[at + 2] = id
        needed[slot] = Math.min(parts, tooMany)
      }
    },
    find(hash) {
      mix(hash)
      let found: number[] | null = null
      let wanted = 0
      for (let slot = firstSlot(); ; slot = after(slot)) {
        const at = slot * width
        const id = table[at + 2]
        // After `end` there is none.
        if (id === 0 || id === undefined) break
        if (table[at] !== low || table[at + 1] !== high) continue
        if (found === null) found = [id]
        else found.push(id)
        wanted = needed[slot]
      }
      // A record that gave three listings of which two are left must be parsed again.
      return found !== null && wanted === found.length && wanted < tooMany ? found : nothing
    },
    end() {
      table.buffer.transfer(0)
    },
  }
}
