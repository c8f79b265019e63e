import { expect, test } from 'vitest'
import { shortHash } from '../../src/core/hash.ts'
import { knownHashes as hashTable } from '../../src/store/known-hashes.ts'
import type { KnownRow } from '../../src/store/known-hashes.ts'
import type { KnownHashes } from '../../src/store/store.ts'

function knownHashes(count: number, pages: readonly (readonly KnownRow[])[]): KnownHashes {
  const known = hashTable(count)
  for (const page of pages) known.add(page)
  return known
}

const rowsOf = (hash: string, listings: number, rows: number, from: number): KnownRow[] =>
  Array.from({ length: rows }, (_, at) => [hash, listings, from + at])

test.each([1, 2, 7, 1000, 40_000])('of %i rows each is found by its hash, and no other is', (count) => {
  const rows = Array.from({ length: count }, (_, at): KnownRow => [shortHash(`record ${at}`), 1, at + 1])
  const known = knownHashes(count, [rows.slice(0, 500), rows.slice(500)])
  for (const [hash, , id] of rows) expect(known.find(hash)).toEqual([id])
  for (let at = 0; at < count; at++) expect(known.find(shortHash(`another ${at}`))).toEqual([])
})

test.each([
  ['all of them are there', 3, 3, true],
  ['one is gone', 3, 2, false],
  ['254 listings', 254, 254, true],
  ['more than a slot counts, of which some are gone', 300, 255, false],
])('a record of several listings is known while %s: %i of them, %i rows', (_, listings, rows, isKnown) => {
  const several = rowsOf(shortHash('several'), listings, rows, 1)
  const others = rowsOf(shortHash('other'), 1, 1, 1000)
  const known = knownHashes(rows + 1, [several, others])
  expect(known.find(shortHash('several')).toSorted((a, b) => a - b)).toEqual(
    isKnown ? several.map(([, , id]) => id) : [],
  )
  expect(known.find(shortHash('other'))).toEqual([1000])
})

test('rows beyond those that were counted are left out', () => {
  const rows = Array.from({ length: 40 }, (_, at): KnownRow => [shortHash(`record ${at}`), 1, at + 1])
  const known = knownHashes(20, [rows.slice(0, 15), rows.slice(15)])
  expect(rows.map(([hash]) => known.find(hash).length)).toEqual(rows.map((_, at) => (at < 20 ? 1 : 0)))
})

test('it gives its memory back as it ends, and finds nothing from then on', () => {
  const used = (): number => process.memoryUsage().arrayBuffers
  const hash = shortHash('record')
  const known = knownHashes(100_000, [rowsOf(hash, 1, 1, 1)])
  const before = used()
  expect(known.find(hash)).toEqual([1])
  known.end()
  expect(before - used()).toBeGreaterThan(1_000_000)
  expect(known.find(hash)).toEqual([])
  expect(known.find(shortHash('another'))).toEqual([])
})
