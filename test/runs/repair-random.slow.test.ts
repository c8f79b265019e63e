/** Repairs over random worlds and faults: a copy that is not ours never goes, nor does the last one that is. */
import { expect, test } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import { home, zillowFeed } from '../support/homes.ts'
import { pick, seeded, testSeed } from '../support/random.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'

const homes = Array.from({ length: 8 }, (_, i) => home(i + 1))
const numbers = homes.map((home) => home.mlsNumber)
const feeds = { north: { volatile: { refresh: '365d' }, limits: 'off' } }
const faults: FaultRuleInput['fault'][] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503, carriedOut: true },
  { kind: 'reset', when: 'before-reading' },
  { kind: 'reset', when: 'after-carrying-out' },
  { kind: 'late', requests: 20 },
  { kind: 'body', form: 'cut-json' },
  { kind: 'pretend' },
  { kind: 'refuse' },
]

test.each(Array.from({ length: 10 }, (_, index) => testSeed(1) + index))('seed %i', async (seed) => {
  const random = seeded(seed)
  const world = await RunWorld.start({ feeds, service: { profile: { nativeId: 'list-id' } } })
  try {
    world.deliver(zillowFeed(homes))
    await world.run()
    await world.run()
    const foreign = new Set<number>()
    for (let i = 0; i < 8; i++) {
      const { MLSNumber, ...listing } = world.listing(pick(random, numbers))! as unknown as StandInListing
      const owned = random() < 0.7
      const patch = { ...(random() < 0.3 && { SalePrice: i }), ...(!owned && { ExtensionColumn: [] }) }
      const [row] = world.standIn.seed(chatbot, [{ ...listing, ...patch, MLSNumber }])
      if (!owned) foreign.add(row.id)
    }
    const there = (): Map<number, string> =>
      new Map(world.standIn.listings(chatbot).map(({ id, listing }) => [id, listing.MLSNumber]))
    const contested = new Set([...foreign].map((id) => there().get(id)))
    const held = (): void => {
      const ids = there()
      const left = [...ids].filter(([id]) => !foreign.has(id)).map(([, mlsNumber]) => mlsNumber)
      expect(new Set(left), `seed ${seed}: every MLSNumber has a copy of ours`).toEqual(new Set(numbers))
      for (const id of foreign) expect(ids.has(id), `seed ${seed}: copy ${id} is not ours`).toBe(true)
    }
    const repair = async (): Promise<void> => {
      const app = openApp(world.context, { logLevel: 'error' })
      try {
        await app.repair(app.config.feeds[0], async () => true)
      } finally {
        await app.close()
      }
      held()
    }

    for (let round = 0; round < 4; round++) {
      world.standIn.addFault({
        operations: ['Delete'],
        probability: 0.5,
        seed: seed + round,
        fault: pick(random, faults),
      })
      await repair()
      world.clock.advance(pick(random, [0, 60_000, 16 * 60_000]))
      if (random() < 0.3) {
        await world.run()
        held()
      }
    }
    world.standIn.clearFaults()
    world.standIn.landLateCalls()
    held()
    world.clock.advance(16 * 60_000)
    await repair()
    const ids = [...there().values()]
    for (const mlsNumber of numbers.filter((text) => !contested.has(text)))
      expect(
        ids.filter((text) => text === mlsNumber),
        `seed ${seed}: ${mlsNumber}`,
      ).toHaveLength(1)
  } finally {
    await world.end()
  }
})
