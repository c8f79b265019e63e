/** Seeded randomness for tests and benches (mulberry32): the same seed gives the same run everywhere. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export function pick<T>(random: () => number, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)]
}

const given = process.env['TEST_SEED']

/** The seed that a random test begins with: `TEST_SEED`, which `npm run test:all` draws and prints, else the test's fixed one. */
export function testSeed(fixed = 20_261_121): number {
  return given === undefined ? fixed : Number(given)
}

/** How many histories the simulation plays; other random tests take their size from it. `npm run test:all` sets 2000. */
export const HISTORIES = Number(process.env['HISTORIES'] ?? 120)
