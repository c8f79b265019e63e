/** Defects that the simulation found, each told as the shortest history that shows it. */
import { describe, expect, test } from 'vitest'
import { Choices } from './choices.ts'
import { listingOf } from './feed.ts'
import type { Delivery, Entry } from './feed.ts'
import { Program } from './program.ts'
import type { Row } from './service.ts'
import { calmed, drawSwarm, feedName } from './world.ts'
import type { Swarm } from './world.ts'
import { hour, minute } from './time.ts'

const entry = (key: string, price = 100): Entry => ({ key, price, text: null, fee: null })

function delivers(...entries: Entry[]): Delivery {
  const lines = entries.map((entry) => `${JSON.stringify({ ...entry, state: 'listing' })}\n`)
  return {
    bytes: Buffer.from(`BEGIN\n${lines.join('')}END\n`),
    records: entries.length,
    listings: new Map(entries.map((entry) => [entry.key, entry])),
    holds: new Set(entries.map(({ key }) => key)),
    unreadable: new Set(),
    saidGone: new Set(),
    repeated: new Set(),
    whole: true,
  }
}

/** A world in which nothing goes wrong by itself; `wrong` says what does. */
function world(wrong: Partial<Swarm['service']> = {}, rest: Partial<Swarm> = {}): Program {
  const choices = new Choices(1)
  const plain = { ownership: 'tag', drift: 'overwrite', grace: 1, rate: Infinity } as const
  const calm: Swarm = { ...calmed(drawSwarm(choices)), ...plain, ...rest }
  const service = { ...calm.service, lookUp: 'exact', order: 'id', pageSize: 100, maxKeys: 50 } as const
  return new Program(choices, { ...calm, service: { ...service, ...wrong } }, null)
}

/** From now on nothing goes wrong. */
function mend(program: Program): void {
  program.become(calmed(program.swarm))
}

function prices(program: Program): [string, number | undefined][] {
  return program.service.rows.map(({ listing }) => [listing.MLSNumber, listing.SalePrice])
}

const others = [entry('B'), entry('C'), entry('D')]

describe('found by simulation', () => {
  test('an update that was lost and never carried out is sent again, not adopted (seed 81)', async () => {
    const program = world()
    await program.run(delivers(entry('A', 1)))
    await program.run(delivers(entry('A', 1)))
    await program.store.ledger.begin('SN-1', feedName, 'update', [{ key: 'A', counts: [] }], program.time.now)
    await program.run(delivers(entry('A', 2)))
    expect(prices(program)).toEqual([['A', 2]])
    expect(program.checker.violation).toBeNull()
  })

  test('a create that is settled is looked up, as the list may hide it (seed 79)', async () => {
    const program = world()
    await program.run(delivers(...others))
    program.service.add(listingOf(entry('A'), 1), 'us')
    await program.store.ledger.begin('SN-1', feedName, 'create', [{ key: 'A', counts: [] }], program.time.now)
    program.time.pass(hour)
    program.service.hide(['A'])
    await program.run(delivers(entry('A'), ...others))
    expect(program.service.living('A')).toHaveLength(1)
    expect(program.checker.violation).toBeNull()
  })

  test('a list that lacks some of ours makes every create be looked up (seed 1)', async () => {
    const program = world()
    await program.run(delivers(...others))
    const south = { ExtensionColumn: [{ Key: 'ListingSyncFeed', value: 'south' }] }
    program.service.add({ ...listingOf(entry('A'), 1), ...south }, 'south')
    program.service.hide(['A', 'B'])
    await program.run(delivers(entry('A'), ...others))
    expect(program.service.living('A')).toHaveLength(1)
    expect(program.checker.violation).toBeNull()
  })

  test("what was held as another feed's is looked up when the list lacks it (seeds 5018, 4008373)", async () => {
    const program = world()
    await program.run(delivers(...others))
    const south = { ExtensionColumn: [{ Key: 'ListingSyncFeed', value: 'south' }] }
    program.service.add({ ...listingOf(entry('A'), 1), ...south }, 'south')
    expect((await program.run(delivers(entry('A'), ...others)))?.counts.hold).toBe(1)
    program.service.hide(['A'])
    await program.run(delivers(entry('A'), ...others))
    expect(program.service.living('A')).toHaveLength(1)
    expect(program.checker.violation).toBeNull()
  })

  test("a look-up that finds another feed's listing leaves it alone (seed 149)", async () => {
    const program = world()
    await program.run(delivers(...others))
    const south = { ExtensionColumn: [{ Key: 'ListingSyncFeed', value: 'south' }] }
    program.service.add({ ...listingOf(entry('A', 7), 1), ...south }, 'south')
    program.service.hide(['A', 'B'])
    const report = await program.run(delivers(entry('A', 8), ...others))
    expect(prices(program)).toContainEqual(['A', 7])
    const outcome = [...report!.changes()].find(({ mlsNumber }) => mlsNumber === 'A')?.outcome
    expect(outcome).toEqual({ result: 'failed', error: 'feed south of this chatbot has it' })
  })

  test('a lost store is noticed although its first run failed (seed 290)', async () => {
    const program = world()
    await program.run(delivers(...others))
    await program.loseStore()
    program.become({ ...program.swarm, service: { ...program.swarm.service, credentials: 1 } })
    expect((await program.run(delivers(entry('A'), ...others)))?.result).toBe('failed')
    mend(program)
    program.time.pass(5 * minute)
    const report = await program.run(delivers(entry('A'), ...others))
    expect([...report!.changes()].find(({ mlsNumber }) => mlsNumber === 'A')).toMatchObject({ cause: 'lost-store' })
  })

  test('a listing is not forgotten while a create of it may still land (seed 391)', async () => {
    const program = world({}, { ownership: 'snapshot' })
    await program.run(delivers(entry('A'), ...others))
    program.service.rows = program.service.rows.filter(({ listing }) => listing.MLSNumber !== 'A')
    await program.store.ledger.begin('SN-1', feedName, 'create', [{ key: 'A', counts: [] }], program.time.now)
    program.time.pass(minute)
    await program.run(delivers(...others))
    program.service.add(listingOf(entry('A'), 1), 'us')
    program.time.pass(hour)
    await program.run(delivers(...others))
    expect(program.service.living('A')).toHaveLength(0)
    expect(program.checker.violation).toBeNull()
  })

  test.each([
    ['delete', 'seed 720'],
    ['update', 'seed 5009'],
  ] as const)(
    'a crash in the %s that follows a create without answer leaves the listing ours (%s)',
    async (kind, _seed) => {
      const program = world({}, { ownership: 'snapshot' })
      await program.run(delivers(...others))
      program.service.add(listingOf(entry('A'), 1), 'us')
      await program.store.ledger.begin('SN-1', feedName, 'create', [{ key: 'A', counts: [] }], program.time.now)
      await program.store.ledger.begin('SN-1', feedName, kind, [{ key: 'A', counts: [] }], program.time.now)
      program.checker.begin(delivers(entry('A')), program.swarm, false)
      await program.run(delivers(...others))
      expect(program.service.living('A')).toHaveLength(0)
      expect(program.checker.violation).toBeNull()
    },
  )

  test('an update in place of a create is done only when it shows (seed 20034)', async () => {
    const program = world({ spelling: 'as-sent' })
    await program.run(delivers(entry('A', 1), ...others))
    program.service.hide(['A'])
    program.become({ ...program.swarm, service: { ...program.swarm.service, updatesLost: 1 } })
    const report = await program.run(delivers(entry('A', 2), ...others))
    expect([...report!.changes()][0]).toMatchObject({ kind: 'create', outcome: { result: 'unknown' } })
    expect(program.checker.violation).toBeNull()
  })

  test('an update that lands after a newer one is not taken for the spelling of the service (seed 519)', async () => {
    const program = world()
    await program.run(delivers(entry('A', 1), ...others))
    await program.run(delivers(entry('A', 1), ...others))
    await program.store.ledger.begin('SN-1', feedName, 'update', [{ key: 'A', counts: [] }], program.time.now)
    program.time.pass(minute)
    await program.run(delivers(entry('A', 3), ...others))
    expect(prices(program)).toContainEqual(['A', 3])
    program.time.pass(minute)
    for (const { listing } of program.service.living('A')) listing.SalePrice = 2
    program.time.pass(20 * minute)
    await program.run(delivers(entry('A', 3), ...others))
    expect(prices(program)).toContainEqual(['A', 3])
  })

  test('an approval to create again what is gone does not make the list trusted (seed 200971)', async () => {
    const program = world()
    const lost = ['E', 'F', 'G', 'H'].map((key) => entry(key))
    await program.run(delivers(...others, ...lost))
    program.service.add(listingOf(entry('A'), 1), 'us')
    program.service.hide(['E', 'F', 'G', 'H'])
    expect((await program.run(delivers(...others, ...lost)))?.result).toBe('held')
    await program.approve()
    program.service.hide(['A', 'E', 'F', 'G', 'H'])
    await program.run(delivers(entry('A'), ...others, ...lost))
    expect(program.service.living('A')).toHaveLength(1)
    expect(program.checker.violation).toBeNull()
  })

  test('what an incomplete list shows of nobody is looked up before it is updated, as a copy may be unseen (seed 205837)', async () => {
    const program = world({ pageSize: 5, virtualCount: 'total' })
    const south = { ExtensionColumn: [{ Key: 'ListingSyncFeed', value: 'south' }] }
    program.service.add(listingOf(entry('A', 5), 1), 'person')
    for (const key of ['E', 'F', 'G', 'H']) program.service.add(listingOf(entry(key), 1), 'person')
    program.service.add({ ...listingOf(entry('A', 7), 1), ...south }, 'south')
    program.service.refusePages(2)
    await program.run(delivers(entry('A', 8), ...others))
    expect(prices(program).filter(([key]) => key === 'A')).toEqual([
      ['A', 5],
      ['A', 7],
    ])
    expect(program.checker.violation).toBeNull()
  })

  test("a row without our mark in the place of ours is no spelling of the service's (seed 204923)", async () => {
    const program = world()
    await program.run(delivers(...others))
    await program.run(delivers(entry('A', 1), entry('E', 1), entry('F', 1), ...others))
    program.service.rows = program.service.rows.filter(({ listing }) => !['A', 'E'].includes(listing.MLSNumber))
    for (const key of ['A', 'E']) program.service.add(listingOf(entry(key, 5), 1), 'person')
    await program.run(delivers(entry('A', 1), entry('E', 1), entry('F', 1), ...others))
    expect(prices(program)).toContainEqual(['A', 1])
    expect(prices(program)).toContainEqual(['E', 1])
    expect(program.checker.violation).toBeNull()
  })

  test('nor is one that comes back after our own write was edited, however long ago that was (seed 4223)', async () => {
    const program = world()
    const all = delivers(entry('A', 1), entry('E', 1), entry('F', 1), ...others)
    await program.run(all)
    const edited = (by: (row: Row) => void): void => program.service.living('A').forEach(by)
    edited((row) => (row.listing = { ...row.listing, SalePrice: 5 }))
    await program.run(all)
    edited((row) => (row.listing = { ...listingOf(entry('A', 6), 1) }))
    program.time.pass(25 * hour)
    await program.run(all)
    expect(prices(program)).toContainEqual(['A', 1])
    expect(program.checker.violation).toBeNull()
  })

  test('what a lost store knew is looked up for a day: one list may hide it once more', async () => {
    const program = world()
    const all = delivers(entry('A'), ...others)
    for (const _ of [1, 2]) await program.run(all)
    await program.loseStore()
    program.service.hide(['A'])
    await program.run(delivers(...others))
    program.time.pass(hour)
    program.service.hide(['A'])
    await program.run(all)
    expect(program.service.living('A')).toHaveLength(1)
    expect(program.checker.violation).toBeNull()
  })

  test('and until a run was good, however long that takes (seed 4191)', async () => {
    const program = world()
    const all = delivers(entry('A'), ...others)
    for (const _ of [1, 2]) await program.run(all)
    await program.loseStore()
    await program.run(all, { diesAt: 12 })
    program.time.pass(49 * hour)
    program.service.hide(['A'])
    await program.run(all)
    expect(program.service.living('A')).toHaveLength(1)
    expect(program.checker.violation).toBeNull()
  })

  test('a call without answer may land as long after its end as after its beginning', async () => {
    const program = world()
    program.service.loseNext('create', 9 * minute)
    await program.run(delivers(entry('A')))
    const [call] = program.service.underWay
    for await (const [row] of program.store.snapshot.rows('SN-1')) {
      expect(row).toMatchObject({ key: 'A', flight: 'create' })
      expect(row.flightAt).toBeGreaterThan(call.at)
    }
    expect.assertions(2)
  })

  test('what is adopted while an update of it may still land is not taken for known', async () => {
    const program = world()
    await program.run(delivers(entry('A', 1), ...others))
    program.service.loseNext('update', 9 * minute)
    await program.run(delivers(entry('A', 2), ...others))
    await program.store.ledger.begin('SN-1', feedName, 'update', [{ key: 'A', counts: [] }], program.time.now)
    const report = await program.run(delivers(entry('A', 2), ...others))
    expect([...report!.changes()]).toMatchObject([{ kind: 'adopt', cause: 'settle' }])
    program.time.pass(20 * minute)
    expect(program.service.underWay.size).toBe(0)
    expect(program.checker.violation).toBeNull()
  })

  test('an adoption uses its approval up (seed 549)', async () => {
    const program = world()
    await program.run(delivers(...others, entry('E')))
    program.service.add(listingOf(entry('X'), 1), 'person')
    const strangers = delivers(entry('X'), entry('Y'), entry('Z'), entry('V'))
    expect((await program.run(strangers))?.result).toBe('held')
    await program.approve()
    await program.run(strangers)
    expect(await program.store.holds.held(feedName, program.time.now)).toEqual([])
    expect(program.checker.violation).toBeNull()
  })

  test.each([
    ['by us', 'seed 20349'],
    ['by a person', ''],
  ])(
    'what is deleted %s and comes back while an update of it may still land is not taken for known (%s)',
    async (who, _seed) => {
      const program = world({}, { ownership: 'snapshot' })
      await program.run(delivers(entry('A', 1), ...others))
      program.service.loseNext('update', 9 * minute)
      await program.run(delivers(entry('A', 2), ...others))
      program.time.pass(minute)
      if (who !== 'by us')
        program.service.rows = program.service.rows.filter(({ listing }) => listing.MLSNumber !== 'A')
      await program.run(delivers(...others))
      program.time.pass(minute)
      await program.run(delivers(entry('A', 3), ...others))
      program.time.pass(20 * minute)
      await program.run(delivers(entry('A', 3), ...others))
      expect(prices(program)).toContainEqual(['A', 3])
      expect(program.checker.violation).toBeNull()
    },
  )

  test('a late update of what has changed since leaves no field behind (seed 394)', async () => {
    const program = world({ clear: 'empty' })
    const described = { ...entry('A', 1), text: 'of the update that lands late' }
    await program.run(delivers(entry('A', 1), ...others))
    program.service.loseNext('update', 9 * minute)
    await program.run(delivers(described, ...others))
    program.time.pass(minute)
    await program.run(delivers(entry('A', 2), ...others))
    program.time.pass(hour)
    await program.run(delivers(entry('A', 3), ...others))
    expect(program.service.living('A')[0].listing).toMatchObject({ SalePrice: 3, Description: '' })
    expect(program.checker.violation).toBeNull()
  })

  test("a person's field goes with the next change of the listing, where drift is overwritten", async () => {
    const program = world({ clear: 'empty' })
    for (const _ of [1, 2]) await program.run(delivers(entry('A', 1), ...others))
    for (const { listing } of program.service.living('A')) listing.Description = 'by hand'
    await program.run(delivers(entry('A', 2), ...others))
    expect(program.service.living('A')[0].listing).toMatchObject({ SalePrice: 2, Description: '' })
  })

  test('an update refused after one without answer leaves open what the service has (seed 1356)', async () => {
    const program = world({ clear: 'empty', spelling: 'as-sent' })
    await program.run(delivers(entry('A', 1), ...others))
    await program.run(delivers(entry('A', 1), ...others))
    await program.store.ledger.begin('SN-1', feedName, 'update', [{ key: 'A', counts: [] }], program.time.now)
    for (const { listing } of program.service.living('A')) listing.Description = 'by the update without answer'
    program.become({ ...program.swarm, service: { ...program.swarm.service, refusal: 1 } })
    await program.run(delivers(entry('A', 1), ...others))
    mend(program)
    program.time.pass(25 * hour)
    await program.run(delivers(entry('A', 2), ...others))
    expect(prices(program)).toContainEqual(['A', 2])
    expect(program.service.living('A')[0].listing.Description).toBe('')
  })

  test('a batch of deletes refused after an attempt without answer keeps its marks (seed 34)', async () => {
    const program = world({ maxKeys: 1 })
    await program.run(delivers(entry('A'), ...others))
    await program.run(delivers(entry('A'), ...others))
    program.service.loseNext('delete', 9 * minute)
    await program.run(delivers(entry('C'), entry('D')))
    program.time.pass(minute)
    await program.run(delivers(entry('A', 2), entry('B'), entry('C'), entry('D')))
    program.time.pass(20 * minute)
    await program.run(delivers(entry('A', 2), entry('B'), entry('C'), entry('D')))
    expect(prices(program)).toContainEqual(['A', 2])
    expect(program.checker.violation).toBeNull()
  })

  test('a listing is forgotten only when a look-up lacks it too (seed 313)', async () => {
    const program = world()
    await program.run(delivers(entry('A'), ...others))
    program.service.hide(['A'])
    await program.run(delivers(...others))
    program.service.hide(['A'])
    await program.run(delivers(entry('A'), ...others))
    expect(program.service.living('A')).toHaveLength(1)
    expect(program.checker.violation).toBeNull()
  })
})
