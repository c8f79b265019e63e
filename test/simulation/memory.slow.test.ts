/** Invariant 9: what a run holds at once does not grow with the number of listings. */
import { expect, test } from 'vitest'
import type { Census } from './census.ts'
import { Choices } from './choices.ts'
import type { Delivery, Entry } from './feed.ts'
import { Program } from './program.ts'
import { calmed, drawSwarm } from './world.ts'

/** What a first run, a run over changes and an unchanged run of so many listings hold at most. */
async function held(listings: number): Promise<Pick<Census, 'mostInOneGo' | 'mostUnderWay'>> {
  const choices = new Choices(1)
  const calm = calmed(drawSwarm(choices))
  const service = { ...calm.service, lookUp: 'exact', order: 'id', pageSize: 100, maxKeys: 50 } as const
  const program = new Program(choices, { ...calm, ownership: 'tag', grace: 1, rate: Infinity, service }, null)
  program.mostRows = listings
  for (const price of [1, 2, 2]) await program.run(delivers(listings, price))
  expect(program.checker.violation).toBeNull()
  const { mostInOneGo, mostUnderWay } = program.census
  return { mostInOneGo, mostUnderWay }
}

function delivers(listings: number, price: number): Delivery {
  const entries: Entry[] = Array.from({ length: listings }, (_, index) => ({
    key: `K${String(index).padStart(5, '0')}`,
    price: index % 3 === 0 ? price : 1,
    text: null,
    fee: null,
  }))
  const lines = entries.map((entry) => `${JSON.stringify({ ...entry, state: 'listing' })}\n`)
  return {
    bytes: Buffer.from(`BEGIN\n${lines.join('')}END\n`),
    records: listings,
    listings: new Map(entries.map((entry) => [entry.key, entry])),
    holds: new Set(entries.map(({ key }) => key)),
    unreadable: new Set(),
    saidGone: new Set(),
    repeated: new Set(),
    whole: true,
  }
}

test('twice the listings are no more rows in memory at once', async () => {
  const few = await held(1050)
  expect(few.mostInOneGo).toBeGreaterThan(100)
  expect(few.mostUnderWay).toBeGreaterThan(1)
  expect(await held(2100)).toEqual(few)
})
