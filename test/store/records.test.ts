/** Records of live sources: each keeper of them keeps the contract, and feeds of one store know nothing of each other. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { KeptRecord, SourceProgress } from '../../src/core/records.ts'
import { dryMirror, mirror } from '../../src/run/mirror.ts'
import { openStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { keptOf, mirrorContract, progressOf } from '../contract/mirror.ts'
import { freshFolder } from './folder.ts'

const feed = { name: 'north' }

async function filled(store: Store, held: readonly KeptRecord[], progress: SourceProgress | null): Promise<Store> {
  // What is another feed's is never seen.
  await store.records.keep('south', [keptOf('a', 'of the south'), keptOf('z', 'of the south')], progressOf('south'))
  if (progress !== null || held.length > 0) await store.records.keep('north', held, progress ?? progressOf(null))
  return store
}

mirrorContract('in a file', async (held, progress) => {
  const store = await filled(openStore(join(freshFolder(), 'store.db')), held, progress)
  return { mirror: mirror(feed, store), close: () => store.close() }
})
mirrorContract('in memory', async (held, progress) => {
  const store = await filled(openStore(':memory:'), held, progress)
  return { mirror: mirror(feed, store), close: () => store.close() }
})
mirrorContract('over a store that is not written', async (held, progress) => {
  const store = await filled(openStore(':memory:'), held, progress)
  return { mirror: dryMirror(feed, store), close: () => store.close() }
})

test('what a dry run keeps is not in the store', async () => {
  const store = await filled(openStore(':memory:'), [keptOf('a')], progressOf('1'))
  const dry = dryMirror(feed, store)
  await dry.keep([keptOf('a', 'later'), keptOf('b')], progressOf('2'))
  await dry.begin(progressOf('3'))
  expect(await store.records.progress('north')).toEqual(progressOf('1'))
  expect(await store.records.stamps('north', ['a', 'b'])).toEqual(new Map([['a', keptOf('a').stamp]]))
  await store.close()
})

test('a page is kept with its progress, or neither is', async () => {
  const store = await filled(openStore(':memory:'), [keptOf('a')], progressOf('1'))
  const broken = { ...keptOf('c'), body: null as unknown as Buffer }
  await expect(store.records.keep('north', [keptOf('b'), broken], progressOf('2'))).rejects.toThrow()
  expect(await store.records.progress('north')).toEqual(progressOf('1'))
  expect(await store.records.stamps('north', ['a', 'b'])).toEqual(new Map([['a', keptOf('a').stamp]]))
  expect(await store.records.stamps('south', ['a', 'z'])).toEqual(
    new Map([
      ['a', 'of the south'],
      ['z', 'of the south'],
    ]),
  )
  await store.close()
})

test('what is kept is there after the store was closed', async () => {
  const file = join(freshFolder(), 'store.db')
  const first = await filled(openStore(file), [keptOf('a')], progressOf('1'))
  await first.close()
  const second = openStore(file)
  expect(await second.records.progress('north')).toEqual(progressOf('1'))
  expect(await second.records.stamps('north', ['a'])).toEqual(new Map([['a', keptOf('a').stamp]]))
  await second.close()
})
