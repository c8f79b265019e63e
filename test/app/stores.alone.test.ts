/** The map of stores: every one keeps the contract, and another needs its file and its line only. */
import { expect, test } from 'vitest'
import { stores } from '../../src/app/adapters.ts'
import { openStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { storeContract } from '../contract/store.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

const kept = new Map<string, Store>()

/** A store that outlasts the runs of this process under its address, and is gone with it: as its file would export it. */
function open(address: string): Store {
  const store = kept.get(address) ?? openStore(':memory:')
  kept.set(address, store)
  return { ...store, close: () => Promise.resolve() }
}

stores.toy = { open, openReader: open }
// Those on a server have it in store/postgres.slow.test.ts.
for (const [name, kind] of Object.entries(stores).filter(([scheme]) => !scheme.startsWith('postgres')))
  storeContract(`${name} by the map`, () => kind.open(name === 'file' ? ':memory:' : `${name}://${kept.size}`, {}))

test('a store of its own, by its line in the map alone, is what the runs of a configuration remember in', async () => {
  const world = await RunWorld.start({ feeds: { north: {} } })
  try {
    world.configure({ north: {} }, {}, 'toy://here')
    world.deliver(zillowFeed(homes(1, 5)))
    expect((await world.run()).counts).toMatchObject({ create: 5 })
    expect((await world.run()).counts).toMatchObject({ create: 0, unchanged: 5 })
    expect(await kept.get('toy://here')!.snapshot.count('SN-1', 'north')).toBe(5)
    world.configure({ north: {} }, {}, 'none://here')
    const { status, stdout, stderr } = await world.executed('sync')
    expect([status, stdout + stderr]).toEqual([78, expect.stringContaining('there is no none store')])
  } finally {
    await world.end()
  }
})
