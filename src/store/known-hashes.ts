import type { KnownHashes } from './store.ts'

/** A row of the snapshot by a hash; `parts`: how many rows have to have it for it to be known. */
export type KnownRow = [hash: string, parts: number, id: number, ...more: string[]]

const nothing: readonly number[] = []

/** Numbers of a slot: the two halves of a hash, the row's id, and how many rows have to have it. */
const width = 4

/**
 * Hashes of a feed's snapshot in one flat array, 48 bytes a listing at most: asking SQLite for each of a million
 * records costs more than all else that an unchanged feed needs. Of a hash 64 bits are kept. What belongs together lies side by
 * side, as the processor waits for each place in memory that it has to go to.
 */
export function knownHashes(count: number, pages: Iterable<readonly KnownRow[]>): KnownHashes {
  const slots = 2 ** Math.ceil(Math.log2(Math.max(8, count * 1.5)))
  const mask = slots - 1
  const table = new Uint32Array(slots * width)
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

  for (const page of pages)
    for (const [hash, needed, id] of page) {
      mix(hash)
      let slot = low & mask
      while (table[slot * width + 2] !== 0) slot = (slot + 1) & mask
      const at = slot * width
      table[at] = low
      table[at + 1] = high
      table[at + 2] = id
      table[at + 3] = needed
    }

  return {
    find(hash) {
      mix(hash)
      let found: number[] | null = null
      let wanted = 0
      for (let slot = low & mask; ; slot = (slot + 1) & mask) {
        const at = slot * width
        const id = table[at + 2]
        if (id === 0) break
        if (table[at] !== low || table[at + 1] !== high) continue
        if (found === null) found = [id]
        else found.push(id)
        wanted = table[at + 3]
      }
      // A record that gave three listings of which two are left must be parsed again.
      return found !== null && wanted === found.length ? found : nothing
    },
  }
}
