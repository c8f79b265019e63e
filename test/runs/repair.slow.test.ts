/** MLSNumbers that the service shows more than once: `repair` takes the surplus off, and never the last copy. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import type { Repaired, RepairPlan } from '../../src/run/repair.ts'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import { dearer, homes, zillowFeed } from '../support/homes.ts'
import { startFeedServer } from './feed-server.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import { until } from '../support/until.ts'

const all = homes(1, 10)
const [a, b, c, d] = all.map((home) => home.mlsNumber)
const north = { volatile: { refresh: '365d' }, limits: { share: 50 } }
/** What a probe found out of a service whose Delete takes the IDs of its list. */
const listIds = { profile: { nativeId: 'list-id' } }
const hour = 3_600_000
const settle = 16 * 60_000

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north }, service: listIds })
})
afterEach(() => world.end())

async function loaded(): Promise<void> {
  world.deliver(zillowFeed(all))
  expect(await world.run()).toMatchObject({ result: 'ok' })
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 10 } })
  world.calls()
}

/** Creates once more what is there, through the service's own door, with what the caller wants otherwise. */
async function createAgain(mlsNumber: string, patch: Record<string, unknown> = {}): Promise<void> {
  const body = { SerialNumber: chatbot, ...world.listing(mlsNumber), ...patch }
  const response = await fetch(`${world.standIn.url}/chat/Chatbot/RealEstateCreate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'test-secret-key' },
    body: JSON.stringify(body),
  })
  expect(await response.json()).toMatchObject({ Success: true })
}

const idsOf = (mlsNumber: string): number[] =>
  world.standIn.listings(chatbot).flatMap((row) => (row.listing.MLSNumber === mlsNumber ? [row.id] : []))

/** One repair in this process, on the world's clock. */
async function repaired(agree: (plan: RepairPlan) => Promise<boolean> = async () => true): Promise<Repaired> {
  const app = openApp(world.context, { logLevel: 'error' })
  try {
    return await app.repair(app.config.feeds[0], agree)
  } finally {
    await app.close()
  }
}

/** Nothing was deleted, and every MLSNumber that was named is said to be left, with the reason. */
async function nothingDone(why: string): Promise<void> {
  world.calls()
  const before = world.standIn.listings(chatbot)
  const { duplicates, error } = await repaired()
  expect(error).toBeNull()
  expect(duplicates.map(({ problem }) => problem)).toEqual(duplicates.map(() => expect.stringContaining(why) as string))
  expect(duplicates.length).toBeGreaterThan(0)
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  expect(world.standIn.listings(chatbot)).toEqual(before)
}

async function inSync(): Promise<void> {
  expect(await world.run()).toMatchObject({ result: 'ok' })
  world.calls()
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 10 } })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  expect(world.listings()).toHaveLength(10)
}

test('surplus copies go by their ID, one at a time; each is looked up, and sync has nothing left to do', async () => {
  await loaded()
  await createAgain(a)
  await createAgain(a)
  await createAgain(b)
  expect(await world.run()).toMatchObject({ result: 'partial', counts: { hold: 2, delete: 0 } })
  const [kept, ...surplus] = idsOf(a)
  const [keptToo] = idsOf(b)
  world.calls()
  const { duplicates, error } = await repaired()
  expect(error).toBeNull()
  expect(duplicates.find(({ mlsNumber }) => mlsNumber === a)).toMatchObject({
    copies: 3,
    way: { by: 'ID', stays: { id: kept, why: 'it shows what was sent last' }, surplus },
    problem: null,
    outcomes: surplus.map((id) => ({ keyType: 'NativeId', key: String(id), result: 'done', error: null })),
  })
  expect([idsOf(a), idsOf(b)]).toEqual([[kept], [keptToo]])
  const deletes = world.standIn.requests.filter(({ operation }) => operation === 'Delete')
  expect(deletes.map(({ body }) => body)).toEqual(
    duplicates.flatMap(({ way }) =>
      way?.by === 'ID'
        ? way.surplus.map((id) => ({ SerialNumber: chatbot, Keys: [String(id)], KeyType: 'NativeId' }))
        : [],
    ),
  )
  expect(deletes).toHaveLength(3)
  await inSync()
})

test('nothing twice: nothing is asked, nothing is written', async () => {
  await loaded()
  const asked = async (): Promise<boolean> => Promise.reject(new Error('asked for nothing'))
  expect(await repaired(asked)).toMatchObject({ duplicates: [], refused: false, error: null })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
})

test('the copy that shows what was sent last stays, whichever is the older one', async () => {
  await loaded()
  const sent = { ...world.listing(a) }
  world.standIn.remove(chatbot, a)
  await createAgain(b, { ...sent, SalePrice: 1 })
  await createAgain(b, sent)
  const [stale, right] = idsOf(a)
  expect(await repaired()).toMatchObject({
    duplicates: [{ mlsNumber: a, way: { stays: { id: right }, surplus: [stale] } }],
  })
  expect(idsOf(a)).toEqual([right])
  await inSync()
})

test('without memory of what was sent, the lowest ID stays and sync puts it right', async () => {
  await loaded()
  world.standIn.edit(chatbot, a, { SalePrice: 1 })
  await createAgain(a, { SalePrice: 2 })
  world.loseStore()
  const [kept] = idsOf(a)
  expect(await repaired()).toMatchObject({
    duplicates: [{ way: { stays: { id: kept, why: 'it has the lowest ID' } } }],
  })
  expect(idsOf(a)).toEqual([kept])
  await inSync()
})

test('who says no has nothing done', async () => {
  await loaded()
  await createAgain(a)
  const plans: RepairPlan[] = []
  const answer = await repaired(async (plan) => plans.push(plan) === 0)
  expect(answer).toMatchObject({ refused: true, error: null })
  expect(plans).toMatchObject([{ deletes: 1, allowed: 5, duplicates: [{ mlsNumber: a, copies: 2 }] }])
  expect(world.calls()).toMatchObject({ Delete: 0 })
  expect(idsOf(a)).toHaveLength(2)
})

describe('what is not ours to delete', () => {
  test.each([
    ['without any mark', [], "no feed's mark"],
    ["with another feed's mark", [{ Key: 'ListingSyncFeed', value: 'south' }], 'the mark of feed south'],
  ])('a copy %s stays, and so does ours', async (_, ExtensionColumn, why) => {
    await loaded()
    await createAgain(a, { ExtensionColumn })
    await nothingDone(why)
  })

  test("a listing that is another feed's, or nobody's, is no case at all", async () => {
    world.standIn.seed(
      chatbot,
      [1, 2].map(() => ({ MLSNumber: 'HAND-1' })),
    )
    await loaded()
    expect(await repaired()).toMatchObject({ duplicates: [] })
  })

  test('without marks only a copy that shows the very same goes', async () => {
    world.configure({ north: { ...north, ownership: 'snapshot' } }, listIds)
    await loaded()
    await createAgain(a)
    const [kept] = idsOf(a)
    expect(await repaired()).toMatchObject({ duplicates: [{ way: { stays: { id: kept } }, problem: null }] })
    expect(idsOf(a)).toEqual([kept])
    await createAgain(b, { SalePrice: 5 })
    world.calls()
    await nothingDone('nothing says whose they are')
  })
})

describe('what can not be trusted', () => {
  test('an incomplete list: nothing is repaired, with the reasons', async () => {
    await loaded()
    await createAgain(a)
    world.standIn.changeProfile({ maxPageSize: 5 })
    world.standIn.addFault({ operations: ['List'], page: 2, fault: { kind: 'status', status: 500 } })
    const { error, duplicates } = await repaired()
    expect(error).toContain("the service's list is incomplete, so nothing is repaired: Page 2 could not be read")
    expect(duplicates).toEqual([])
    expect(world.calls()).toMatchObject({ Delete: 0 })
  })

  test.each([['short-count'], ['refuse-all']] as const)(
    'IDs that Delete does not take (%s): said in words, and no second one is tried',
    async (deleteWithoutMatch) => {
      world.standIn.changeProfile({ createdIdentifier: 'guid', deleteWithoutMatch })
      await loaded()
      for (const text of [a, b, c]) await createAgain(text)
      const { error, duplicates } = await repaired()
      expect(error).toContain('Its Delete does not take the IDs of its list: set service.profile.nativeId to unknown')
      expect(duplicates[0].outcomes).toMatchObject([{ result: 'failed' }])
      expect(world.calls()).toMatchObject({ Delete: 1 })
      expect(world.listings()).toHaveLength(13)
    },
  )

  test("IDs that are another listing's identifiers: it stops at the first", async () => {
    world.standIn.changeProfile({ createdIdentifier: 'next-id' })
    await loaded()
    for (const text of [a, b, c]) await createAgain(text)
    const { error } = await repaired()
    expect(error).toContain('answered "1 deleted" and still shows copy')
    expect(error).toContain('look whether another listing is missing')
    expect(world.calls()).toMatchObject({ Delete: 1 })
    expect(world.listings()).toHaveLength(12)
  })

  test('a list that lags a little behind is asked again', async () => {
    await loaded()
    await createAgain(a)
    const [kept] = idsOf(a)
    world.standIn.changeProfile({ listLag: 2 })
    expect(await repaired()).toMatchObject({ error: null, duplicates: [{ outcomes: [{ result: 'done' }] }] })
    expect(idsOf(a)).toEqual([kept])
  })

  test('an answer that is lost: the look-up tells what became of the copy', async () => {
    await loaded()
    await createAgain(a)
    const reset = { kind: 'reset', when: 'after-carrying-out' } as const
    world.standIn.addFault({ operations: ['Delete'], times: 1, fault: reset })
    world.standIn.changeProfile({ deleteWithoutMatch: 'refuse-all' })
    expect(await repaired()).toMatchObject({ error: null, duplicates: [{ outcomes: [{ result: 'done' }] }] })
    expect(idsOf(a)).toHaveLength(1)
    await inSync()
  })

  test('a call without any answer may still land: nothing else of that MLSNumber goes until that is over', async () => {
    await loaded()
    await createAgain(a)
    await createAgain(a)
    const [kept] = idsOf(a)
    world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'late', requests: 1000 } })
    expect(await repaired()).toMatchObject({ duplicates: [{ outcomes: [{ result: 'unknown' }] }] })
    world.standIn.clearFaults()
    world.calls()
    await nothingDone('may still land')
    world.standIn.landLateCalls()
    await nothingDone('may still land')
    world.clock.advance(settle)
    expect(await repaired()).toMatchObject({ error: null, duplicates: [{ outcomes: [{ result: 'done' }] }] })
    expect(idsOf(a)).toEqual([kept])
    await inSync()
  })
})

describe('limits.share', () => {
  test('is not exceeded by repairs, nor by a repair and a sync together', async () => {
    world.configure({ north: { ...north, limits: { share: 20 } } }, listIds)
    await loaded()
    for (const text of [a, b, c, d]) await createAgain(text)
    const { duplicates } = await repaired()
    expect(duplicates.flatMap(({ outcomes }) => outcomes.map(({ result }) => result))).toEqual([
      'done',
      'done',
      'done',
      'left',
    ])
    expect(world.listings()).toHaveLength(11)
    const again = await repaired()
    expect(again.duplicates).toMatchObject([{ outcomes: [{ result: 'left' }] }])
    expect(again.duplicates[0].outcomes[0].error).toContain('limits.share allows no more deletes')

    world.deliver(zillowFeed(all.slice(1)))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { delete: 0 } })
    expect(report.notes.join()).toContain(
      '4 of 13 listings would leave the site; up to 3 may in 24 hours (limits.share)',
    )
    world.deliver(zillowFeed(all))
    world.clock.advance(25 * hour)
    expect(await repaired()).toMatchObject({ error: null, duplicates: [{ outcomes: [{ result: 'done' }] }] })
    await inSync()
  })
})

describe('the command', () => {
  test('asks for --yes where nobody can be asked, and does nothing', async () => {
    await loaded()
    await createAgain(a)
    world.calls()
    const asked = await world.executed('repair', 'north')
    expect(asked.status).toBe(64)
    expect(asked.stderr).toContain('--yes')
    expect(asked.stdout).toContain(`${a}, 2 copies: ${idsOf(a)[0]} stays`)
    expect(world.calls()).toMatchObject({ Delete: 0 })
  })

  test('--yes repairs and says so; once more there is nothing to do', async () => {
    await loaded()
    await createAgain(a)
    const done = await world.executed('repair', 'north', '--yes')
    expect(done).toMatchObject({ status: 0, stderr: '' })
    expect(done.stdout).toMatch(/\nnorth: 1 of 1 MLSNumber repaired\n {2}\S+: delete by NativeId \d+: done\n$/)
    const again = await world.executed('repair', 'north')
    expect(again).toEqual({
      status: 0,
      stdout: 'north: nothing of this feed is on the service more than once\n',
      stderr: '',
    })
  })

  test('--format json is one document; what could not be repaired ends with 4, a service that fails with 1', async () => {
    await loaded()
    await createAgain(a)
    await createAgain(b, { ExtensionColumn: [] })
    const partly = await world.executed('repair', 'north', '--yes', '--format', 'json')
    expect(partly).toMatchObject({ status: 4, stderr: '' })
    expect(JSON.parse(partly.stdout)).toMatchObject({
      version: 1,
      feed: 'north',
      result: 'partial',
      deleted: 1,
      created: 0,
      planned: 1,
      allowed: null,
    })
    world.standIn.addFault({ fault: { kind: 'credentials' } })
    const failed = await world.executed('repair', 'north', '--yes', '--format', 'json')
    expect(failed.status).toBe(1)
    expect(JSON.parse(failed.stdout)).toMatchObject({ result: 'failed', deleted: 0 })
    expect(failed.stderr).toContain('refused the keys')
    const repaired = await world.executed('repair', 'north', '--yes')
    expect(repaired).toMatchObject({ status: 1, stdout: '', stderr: failed.stderr })
    expect((await world.executed('repair', 'nirth')).status).toBe(64)
  })

  test('what it did not come to, as the service failed before, does not count as repaired', async () => {
    await loaded()
    for (const text of [a, b, c]) await createAgain(text)
    world.standIn.addFault({ operations: ['Delete'], nth: 2, fault: { kind: 'credentials' } })
    const { status, stdout } = await world.executed('repair', 'north', '--yes')
    expect({ status, stdout }).toEqual({
      status: 1,
      stdout: expect.stringContaining('north: 1 of 3 MLSNumbers repaired'),
    })
  })

  test('--format json tells what limits.share allows of what is planned, as the text does', async () => {
    world.configure({ north: { ...north, limits: { share: 20 } } }, listIds)
    await loaded()
    for (const text of [a, b, c, d]) await createAgain(text)
    const { stdout } = await world.executed('repair', 'north', '--yes', '--format', 'json')
    expect(JSON.parse(stdout)).toMatchObject({ deleted: 3, planned: 4, allowed: 3 })
    // Nobody is asked about no delete at all.
    const again = await world.executed('repair', 'north')
    expect(again).toMatchObject({ status: 4, stderr: '' })
    expect(again.stdout).toContain('  limits.share allows 0 of this 1 delete within 24 hours\n')
    expect(again.stdout).toMatch(/: left: limits\.share allows no more deletes within 24 hours: repair again later\n$/)
  })
})

test('told to stop in the middle, it stops between two copies', async () => {
  await loaded()
  for (const text of [a, b, c]) await createAgain(text)
  const stopping = repaired(async () => {
    world.standIn.addFault({ operations: ['Delete'], nth: 2, fault: { kind: 'hang' } })
    void until(() => world.standIn.counts.Delete >= 2).then(() => world.stop.abort())
    return true
  })
  const { error, duplicates } = await stopping
  expect(error).toBe('stopped by a signal')
  expect(duplicates.flatMap(({ outcomes }) => outcomes.map(({ result }) => result))).toEqual(['done', 'unknown'])
  expect(world.listings()).toHaveLength(12)
  world.stop = new AbortController()
  world.standIn.clearFaults()
  world.clock.advance(settle)
  expect(await repaired()).toMatchObject({ error: null })
  await inSync()
})

describe('where the IDs of the list are not known to be what Delete takes', () => {
  beforeEach(() => {
    world.configure({ north })
    world.standIn.changeProfile({ createdIdentifier: 'guid' })
  })
  afterEach(() => {
    const ids = new Set(
      world.standIn.requests.map(({ body }) => JSON.stringify(body)).filter((body) => body?.includes('"NativeId"')),
    )
    for (const { id } of world.standIn.listings(chatbot))
      expect(
        [...ids].filter((body) => body.includes(`["${id}"]`)),
        'an ID of the list went out as NativeId',
      ).toEqual([])
  })
  const deletes = () => world.standIn.requests.flatMap(({ operation, body }) => (operation === 'Delete' ? [body] : []))

  test.each(['guid', 'next-id'] as const)('one of two goes by what Create answered (%s)', async (createdIdentifier) => {
    world.standIn.changeProfile({ createdIdentifier })
    await loaded()
    const [{ identifier }] = world.standIn.listings(chatbot).filter(({ listing }) => listing.MLSNumber === a)
    await createAgain(a)
    const [, other] = idsOf(a)
    world.calls()
    expect(await repaired()).toMatchObject({
      error: null,
      duplicates: [
        {
          way: { by: 'identifier', identifier },
          outcomes: [{ call: 'delete', keyType: 'NativeId', key: identifier, result: 'done', error: null }],
        },
      ],
    })
    expect(deletes()).toEqual([{ SerialNumber: chatbot, Keys: [identifier], KeyType: 'NativeId' }])
    expect(idsOf(a)).toEqual([other])
    await inSync()
    // It was used up.
    await createAgain(a)
    expect(await repaired()).toMatchObject({ error: null, duplicates: [{ way: { by: 'anew', creates: true } }] })
    await inSync()
  })

  test.each(['short-count', 'refuse-all'] as const)(
    'what Create answered is of a listing that is gone (%s): said, and by MLSNumber the next time',
    async (deleteWithoutMatch) => {
      world.standIn.changeProfile({ deleteWithoutMatch })
      await loaded()
      const sent = { ...world.listing(a) }
      world.standIn.remove(chatbot, a)
      for (let copy = 0; copy < 2; copy++) await createAgain(b, sent)
      const { error, duplicates } = await repaired()
      expect(error).toContain('run listing-sync repair north again, which deletes by MLSNumber')
      expect(duplicates).toMatchObject([{ outcomes: [{ result: 'failed' }] }])
      expect(idsOf(a)).toHaveLength(2)
      world.clock.advance(settle)
      expect(await repaired()).toMatchObject({ error: null, duplicates: [{ way: { by: 'anew' } }] })
      await inSync()
    },
  )

  test('what a look-up found in the place of a create is not what Create answered once: by MLSNumber at once', async () => {
    world.standIn.changeProfile({ order: 'id' })
    await loaded()
    const sent = { ...world.listing(a) }
    world.standIn.remove(chatbot, a)
    await createAgain(b, sent)
    world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'hide', shown: 9 } })
    expect(await world.run()).toMatchObject({
      result: 'ok',
      changes: [{ kind: 'create', cause: 'gone-from-service', mlsNumber: a }],
    })
    expect(world.calls()).toMatchObject({ Create: 1, Update: 1 })
    await createAgain(a)
    expect(await repaired()).toMatchObject({ error: null, duplicates: [{ way: { by: 'anew', creates: true } }] })
    expect(idsOf(a)).toHaveLength(1)
    await inSync()
  })

  test('three copies go by their MLSNumber, and the listing is created once, as it was sent last', async () => {
    await loaded()
    const before = world.listing(a)
    await createAgain(a, { SalePrice: 1, RentPrice: 1 })
    await createAgain(a)
    world.calls()
    const { error, duplicates } = await repaired()
    expect(error).toBeNull()
    expect(duplicates).toMatchObject([
      {
        mlsNumber: a,
        copies: 3,
        way: { by: 'anew', creates: true },
        outcomes: [
          { call: 'delete', keyType: 'MLSNumber', key: a, result: 'done', error: null },
          { call: 'create', keyType: 'MLSNumber', key: a, result: 'done', error: null },
        ],
      },
    ])
    expect(deletes()).toEqual([{ SerialNumber: chatbot, Keys: [a], KeyType: 'MLSNumber' }])
    expect(world.calls()).toMatchObject({ Create: 1, Update: 0, Delete: 1 })
    const withoutMark = (listing: unknown): unknown =>
      JSON.parse(JSON.stringify(listing).replaceAll(/north\/[\da-f]{8}\.\d+/g, 'north'))
    expect(withoutMark(world.listing(a))).toEqual(withoutMark(before))
    await inSync()
    // Create's answer is known from now on.
    await createAgain(a)
    expect(await repaired()).toMatchObject({ duplicates: [{ way: { by: 'identifier' } }] })
  })

  test('a service that takes one copy for each Delete keeps the last one: nothing is created', async () => {
    world.standIn.changeProfile({ doubles: 'first' })
    await loaded()
    for (let copy = 0; copy < 2; copy++) await createAgain(a)
    world.calls()
    expect(await repaired()).toMatchObject({
      error: null,
      duplicates: [{ outcomes: [{ call: 'delete', result: 'done' }] }],
    })
    expect(world.calls()).toMatchObject({ Create: 0, Delete: 2 })
    await inSync()
    // What Create answered may be of a copy that is gone.
    await createAgain(a)
    expect(await repaired()).toMatchObject({ error: null, duplicates: [{ way: { by: 'anew' } }] })
    await inSync()
  })

  test('with a list that lags, the listing is there once in the end', async () => {
    await loaded()
    for (let copy = 0; copy < 2; copy++) await createAgain(a)
    world.standIn.changeProfile({ listLag: 2 })
    expect(await repaired()).toMatchObject({ error: null })
    world.clock.advance(settle)
    await inSync()
  })

  test('the store was lost: the next sync creates it, as nobody else knows what', async () => {
    await loaded()
    await createAgain(a)
    world.loseStore()
    const done = await world.executed('repair', 'north', '--yes')
    expect(done.status).toBe(4)
    expect(done.stdout).toContain(
      `${a}, 2 copies: no single one can be named: all would go by their MLSNumber, and the next sync creates it`,
    )
    expect(done.stdout).toContain('create: left: what was sent is not known: the next sync creates it from the feed')
    expect(idsOf(a)).toEqual([])
    await world.run()
    world.clock.advance(settle)
    await world.run()
    await inSync()
  })

  test('stays within limits.share, and says so', async () => {
    world.configure({ north: { ...north, limits: { share: 20 } } })
    await loaded()
    for (const text of [a, b, c, d]) for (let copy = 0; copy < 2; copy++) await createAgain(text)
    world.calls()
    const { duplicates } = await repaired()
    expect(duplicates.map(({ outcomes }) => outcomes[0].result)).toEqual(['done', 'done', 'done', 'left'])
    expect(duplicates[3].outcomes[0].error).toContain('limits.share allows no more deletes within 24 hours')
    expect(world.calls()).toMatchObject({ Create: 3, Delete: 3 })
    expect(idsOf(d)).toHaveLength(3)
    world.clock.advance(25 * hour)
    expect(await repaired()).toMatchObject({
      error: null,
      duplicates: [{ outcomes: [{ result: 'done' }, { result: 'done' }] }],
    })
    await inSync()
  })

  test('what is not ours stays, and what became not ours since it was asked about', async () => {
    await loaded()
    for (let copy = 0; copy < 2; copy++) await createAgain(a, { ExtensionColumn: [] })
    await nothingDone("no feed's mark")
    for (let copy = 0; copy < 2; copy++) await createAgain(b)
    const { duplicates } = await repaired(async () => {
      world.standIn.edit(chatbot, b, { ExtensionColumn: [] })
      return true
    })
    expect(duplicates.find(({ mlsNumber }) => mlsNumber === b)).toMatchObject({
      outcomes: [{ result: 'left', error: expect.stringContaining("no feed's mark") as string }],
    })
    expect(idsOf(b)).toHaveLength(3)
  })

  test.each([
    ['list-id', 1],
    ['unknown', 2],
  ] as const)('nor where other copies are there than were asked about (%s)', async (nativeId, copies) => {
    world.configure({ north }, { profile: { nativeId } })
    await loaded()
    for (let copy = 0; copy < copies; copy++) await createAgain(b)
    const { duplicates } = await repaired(async () => {
      await createAgain(b)
      return true
    })
    expect(duplicates).toMatchObject([
      { mlsNumber: b, outcomes: [{ result: 'left', error: 'other copies are there than before: run repair again' }] },
    ])
    expect(idsOf(b)).toHaveLength(copies + 2)
  })

  test('a delta feed says nothing again, so nothing is taken off that might not come back', async () => {
    world.configure({ north: { ...north, delivery: 'delta' } })
    await loaded()
    for (let copy = 0; copy < 2; copy++) await createAgain(a)
    await nothingDone('or run listing-sync probe, which learns')
  })

  test('a Delete without an answer: no create, and a sync after `settle` puts it right', async () => {
    await loaded()
    for (let copy = 0; copy < 2; copy++) await createAgain(a)
    world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'late', requests: 1000 } })
    expect(await repaired()).toMatchObject({ duplicates: [{ outcomes: [{ call: 'delete', result: 'unknown' }] }] })
    world.standIn.clearFaults()
    world.standIn.landLateCalls()
    expect(idsOf(a)).toEqual([])
    await world.run()
    world.clock.advance(settle)
    await world.run()
    await inSync()
  })

  test('a Delete that got its answer at the second attempt: the first may still land, so a sync creates it after that', async () => {
    await loaded()
    for (let copy = 0; copy < 2; copy++) await createAgain(a)
    world.standIn.addFault({ operations: ['Delete'], times: 1, fault: { kind: 'late', requests: 1000 } })
    const error = expect.stringContaining('an attempt to delete it may still land: the next sync creates it') as string
    const outcomes = [
      { call: 'delete', result: 'done' },
      { call: 'create', result: 'left', error },
    ]
    expect(await repaired()).toMatchObject({ duplicates: [{ outcomes }] })
    world.standIn.clearFaults()
    world.standIn.landLateCalls()
    expect(idsOf(a)).toEqual([])
    world.clock.advance(settle)
    await world.run()
    await inSync()
  })

  test.each<[string, FaultRuleInput['fault'], number]>([
    ['refused', { kind: 'refuse' }, 0],
    ['lost', { kind: 'reset', when: 'after-reading' }, settle],
    ['lost, and carried out', { kind: 'reset', when: 'after-carrying-out' }, 0],
    ['refused with the keys', { kind: 'credentials' }, 0],
  ])('a Create that is %s: the next sync creates it, of a source that has not changed, too', async (_, fault, wait) => {
    const server = await startFeedServer()
    try {
      server.give(zillowFeed(all))
      world.configure({ north: { ...north, source: `${server.url}/north.xml` } })
      await world.run()
      await world.run()
      expect(await world.run()).toMatchObject({ result: 'ok' })
      expect(server.statuses.at(-1)).toBe(304)
      for (let copy = 0; copy < 2; copy++) await createAgain(a)
      world.standIn.addFault({ operations: ['Create'], fault })
      const { duplicates } = await repaired()
      const outcomes = [
        { result: 'done' },
        { call: 'create', error: expect.stringContaining('the next sync') as string },
      ]
      expect(duplicates).toMatchObject([{ outcomes }])
      world.standIn.clearFaults()
      world.clock.advance(wait)
      await world.run()
      expect(idsOf(a)).toHaveLength(1)
      await inSync()
    } finally {
      await server.close()
    }
  })

  test('a Create that is refused, and no list is complete any more: created all the same', async () => {
    world.configure({ north }, { profile: { pageSize: 5 } })
    await loaded()
    for (let copy = 0; copy < 2; copy++) await createAgain(a)
    world.standIn.addFault({ operations: ['Create'], fault: { kind: 'refuse' } })
    await repaired()
    world.standIn.clearFaults()
    world.standIn.addFault({ operations: ['List'], page: 3, fault: { kind: 'status', status: 500 } })
    expect(await world.run()).toMatchObject({
      remote: { complete: false },
      changes: [{ kind: 'create', mlsNumber: a }],
    })
    expect(idsOf(a)).toHaveLength(1)
    world.standIn.clearFaults()
    await inSync()
  })
})

test.each(['list-id', 'unknown'])(
  'a delete that surely had no effect counts for nothing (IDs: %s)',
  async (nativeId) => {
    world.configure({ north }, { profile: { nativeId }, attempts: 2 })
    await loaded()
    for (let copy = 0; copy < 2; copy++) await createAgain(a)
    const allowed: number[] = []
    const agree = async (plan: RepairPlan): Promise<boolean> => allowed.push(plan.allowed) > 0
    for (const fault of [{ kind: 'status', status: 429 }, { kind: 'refuse' }] as const) {
      world.standIn.addFault({ operations: ['Delete'], fault })
      expect(await repaired(agree)).toMatchObject({ duplicates: [{ outcomes: [{ result: 'failed' }] }] })
      world.standIn.clearFaults()
    }
    expect(await repaired(agree)).toMatchObject({ error: null })
    await createAgain(b)
    await repaired(agree)
    expect(allowed).toEqual([5, 5, 5, 4])
  },
)

test('what a repair created is of this store: nothing that a delta left to do waits as if a backup had been put back', async () => {
  const delta = { north: { ...north, delivery: 'delta' } }
  world.configure(delta)
  await loaded()
  await createAgain(a, { SalePrice: 1, RentPrice: 1 })
  await createAgain(a)
  world.standIn.addFault({ operations: ['Update'], fault: { kind: 'status', status: 503 } })
  world.deliver(zillowFeed([dearer(all[1])]))
  await world.run()
  world.standIn.clearFaults()
  world.clock.advance(settle)
  // As of a feed whose files say themselves whether they are deltas: of others a repair creates nothing.
  world.configure({ north })
  expect(await repaired()).toMatchObject({ error: null, duplicates: [{ way: { by: 'anew', creates: true } }] })
  world.configure(delta)
  world.clock.advance(settle)
  world.deliver(zillowFeed([dearer(all[2])]))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 2 }, holds: [] })
})
