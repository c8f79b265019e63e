/** Runs take time that grows with their listings and no faster, also where the listings have in common what tells others apart. */
import { expect, test } from 'vitest'
import { openWorkspace } from '../../src/workspace/sqlite.ts'
import { createOf, deleteOf, nothing, wholeSides } from '../support/changes.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { excess, sizes } from './growth.ts'

const day = 86_400_000

/** Loads the first of these feeds and plays a night with each of the others. */
async function played(...feeds: readonly Home[][]): Promise<RunWorld> {
  const world = await RunWorld.start()
  for (const feed of feeds) {
    world.deliver(zillowFeed(feed))
    await world.run()
    world.clock.advance(day)
  }
  return world
}

test('the flats of one house without numbers of their own, which all come under other MLSNumbers', async () => {
  const flats = (count: number, prefix = ''): Home[] =>
    homes(1, count).map((home) => ({
      ...home,
      street: '1 Main Street',
      unit: '',
      city: 'Dike',
      mlsNumber: prefix + home.mlsNumber,
    }))
  const task = async (count: number): Promise<void> => {
    const other = flats(count, 'X')
    const world = await played(flats(count), other, other)
    await world.approve()
    await world.run()
    expect(world.numbers()).toEqual(other.map(({ mlsNumber }) => mlsNumber))
    await world.end()
  }
  expect(await excess(task, sizes(100))).toBeNull()
})

test('records that have all one MLSNumber', async () => {
  const task = async (count: number): Promise<void> => {
    const wrong = homes(1, count).map((home) => ({ ...home, mlsNumber: 'OFFICE' }))
    const world = await played(homes(1, 2), [...homes(1, 2), ...wrong])
    expect(world.numbers()).toHaveLength(2)
    await world.end()
  }
  expect(await excess(task, sizes(500))).toBeNull()
})

test.each([
  ['homes', (i: number) => [`h${i}`, `h${i}`], (count: number) => count, sizes(5000, 4)],
  ['flats of one house', () => ['h', 'h'], () => 0, sizes(500)],
  [
    'homes whose addresses changed while they wait and',
    (i: number) => [`h${i}`, `k${i}`],
    (count: number) => count,
    sizes(5000, 4),
  ],
])('%s that all come under other MLSNumbers', async (_, addresses, pairs, of) => {
  const held = { part: 'delete', since: 0, ends: 'confirmed', clock: 0, isOfRule: true, decision: null } as const
  const task = (count: number): void => {
    const workspace = openWorkspace()
    const changes = Array.from({ length: count }, (_, i) => {
      const [before, now] = addresses(i)
      const remembered = { ...nothing, heldSince: 0, holds: [{ ...held, content: `B${i}` }] }
      return [
        { change: deleteOf(`A${i}`, { home: before }), remembered },
        { change: createOf(`B${i}`, { home: now }), remembered: nothing },
      ]
    })
    workspace.addChanges(changes.flat(), wholeSides)
    expect(Array.from(workspace.pairs(null))).toHaveLength(pairs(count))
    workspace.close()
  }
  expect(await excess(task, of)).toBeNull()
})
