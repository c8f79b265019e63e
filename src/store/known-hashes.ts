import type { KnownHashes } from './store.ts'

/** A row of the snapshot by a hash; `parts`: how many rows have to have it for it to be known. */
export type KnownRow = [hash: string, parts: number, id: number]

const nothing: readonly number[] = []

/**
 * Hashes of a feed's snapshot in four flat arrays, 26 bytes a listing at most: asking SQLite for each of a million
 * records costs more than all else that an unchanged feed needs. Of a hash 64 bits are kept.
 */
export function knownHashes(count: number, rows: Iterable<KnownRow>): KnownHashes {
  const slots = 2 ** Math.ceil(Math.log2(Math.max(8, count * 1.5)))
  const mask = slots - 1
  const lows = new Uint32Array(slots)
  const highs = new Uint32Array(slots)
  const ids = new Uint32Array(slots)
  const parts = new Uint16Array(slots)
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

  for (const [hash, needed, id] of rows) {
    mix(hash)
    let slot = low & mask
    while (ids[slot] !== 0) slot = (slot + 1) & mask
    lows[slot] = low
    highs[slot] = high
    ids[slot] = id
    parts[slot] = Math.min(needed, 0xffff)
  }

  return {
    find(hash) {
      mix(hash)
      let found: number[] | null = null
      let wanted = 0
      for (let slot = low & mask; ids[slot] !== 0; slot = (slot + 1) & mask) {
        if (lows[slot] !== low || highs[slot] !== high) continue
        if (found === null) found = [ids[slot]]
        else found.push(ids[slot])
        wanted = parts[slot]
      }
      // A record that gave three listings of which two are left must be parsed again.
      return found !== null && wanted === found.length ? found : nothing
    },
  }
}
