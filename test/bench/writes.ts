/** Creates that the store allows a second, on this disk: each is marked in flight, durably, and confirmed; calls cost nothing. */
import { join } from 'node:path'
import { statSync } from 'node:fs'
import type * as Sqlite from '../../src/store/sqlite.ts'
import type { Confirmation } from '../../src/store/store.ts'
import { seeded } from '../support/random.ts'
import { expected, figure, inFolder, median } from './measure.ts'
import { load } from './world.ts'

const [, , , size, rounds] = process.argv
const creates = Number(size)
const { openStore } = (await load('store-sqlite')) as typeof Sqlite
/** Invented words, so that no two texts are alike: what is repeated would weigh less than it does in life. */
const random = seeded(20261125)
const syllables = 'ba ce di fo gu la me ni po ru sa te vi xo zu kra sple tro glin mont'.split(' ')
const pick = <Item>(all: readonly Item[]): Item => all[Math.floor(random() * all.length)]
const vocabulary = Array.from({ length: 1500 }, () =>
  Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(syllables)).join(''),
)
const text = (words: number): string => Array.from({ length: words }, () => pick(vocabulary)).join(' ')
const hex = (): string => Math.floor(random() * 2 ** 40).toString(16)

/** About 2.5 kB of JSON. */
const listing = (key: string) => ({
  SaleType: 'for_sale',
  Status: 'Active',
  Address: text(3),
  City: pick(vocabulary),
  SalePrice: Math.floor(random() * 1e6),
  Latitude: random() * 90,
  Longitude: random() * -180,
  Description: text(150),
  Images: Array.from({ length: 25 }, (_, photo) => `https://photos.example/large/${key}/${hex()}-${photo}.jpg`),
})

for (const parallel of [8, 64]) {
  const persecond: number[] = []
  let bytes = 0
  for (let round = 0; round < Number(rounds); round++) {
    await inFolder(async (folder) => {
      const file = join(folder, 'store.db')
      const store = openStore(file)
      let next = 0
      const caller = async (): Promise<void> => {
        while (next < creates) {
          const key = `B-${next++}`
          await store.ledger.begin('BENCH', 'bench', 'create', [{ key, counts: [] }], Date.now())
          await store.snapshot.confirm('BENCH', [confirmed(key)])
        }
      }
      const began = performance.now()
      await Promise.all(Array.from({ length: parallel }, caller))
      persecond.push((creates * 1000) / (performance.now() - began))
      expected('listings in the store', await store.snapshot.count('BENCH', 'bench'), creates)
      await store.close()
      bytes = statSync(file).size / creates
    })
  }
  figure(
    'writes',
    `creates a second by the store, ${parallel} at once, synchronous=FULL`,
    median(persecond),
    '/s',
    // Eight at once wait for the disk twice each: what that allows is the disk's.
    parallel === 64 ? { least: 2000 } : null,
  )
  if (parallel === 8) figure('store', 'bytes of the store a listing of 2.5 kB', bytes, 'bytes', { most: 1500 })
}

function confirmed(key: string): Confirmation {
  return {
    key,
    feed: 'bench',
    sent: { listing: { ...listing(key), MLSNumber: key } as Confirmation['sent']['listing'], moving: {} },
    content: 'content',
    record: { raw: key, parts: 1 },
    mapping: 'one',
    home: null,
    bornAt: null,
    movesAt: null,
    at: Date.now(),
    suspectUntil: null,
    isPutRight: false,
    baseline: null,
    ignored: false,
    identifier: key,
  }
}
