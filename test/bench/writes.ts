/** Creates that the store allows a second, on this disk: each is marked in flight, durably, and confirmed; calls cost nothing. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { statSync } from 'node:fs'
import type * as Sqlite from '../../src/store/sqlite.ts'
import type { Confirmation } from '../../src/store/store.ts'
import { expected, figure, inFolder, median } from './measure.ts'
import { built } from './world.ts'

const [, , , size, rounds] = process.argv
const creates = Number(size)
const { openStore } = (await import(pathToFileURL(join(built, 'dist/store/sqlite.js')).href)) as typeof Sqlite
const listing = {
  SaleType: 'for_sale',
  Status: 'Active',
  Description: 'Brick ranch close to trails, schools & the river. '.repeat(16),
  Images: Array.from({ length: 25 }, (_, photo) => `https://photos.example/large/listing/photo-${photo}.jpg`),
}

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
  if (parallel === 8) figure('store', 'bytes of the store a listing of 3 kB', bytes, 'bytes')
}

function confirmed(key: string): Confirmation {
  return {
    key,
    feed: 'bench',
    sent: { listing: { MLSNumber: key, ...listing } as Confirmation['sent']['listing'], moving: {} },
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
