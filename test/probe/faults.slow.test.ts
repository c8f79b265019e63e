/** Whatever fails, a probe cleans up or says what is left, and the next probe removes it. */
import { afterEach, expect, test } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import { probe, probedForms, resultOf } from '../../src/app/probe.ts'
import type { Probed } from '../../src/probe/report.ts'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import type { StandInProfileInput } from '../../src/stand-in/profile.ts'
import { home, zillowFeed } from '../support/homes.ts'
import { pick, seeded, testSeed } from '../support/random.ts'
import { chatbot } from '../support/run-world.ts'
import type { RunWorld } from '../support/run-world.ts'
import { keys, leftOf, others, othersOf, probed, probeWorld } from './world.ts'

let world: RunWorld
let before: string
afterEach(() => world.end())

/** Pages smaller than the list, so that every question has an answer. */
async function begin(profile: StandInProfileInput = {}): Promise<void> {
  ;({ world, before } = await probeWorld({ profile: { maxPageSize: 20, ...profile } }))
}

/** Left-over test listings are named, with what to do; no other listing was touched. */
function isHonest(found: Probed): void {
  expect(othersOf(world), 'other listings').toBe(before)
  const named = [...found.left.keys(), ...found.lost.keys()]
  expect(named).toEqual(expect.arrayContaining(leftOf(world)))
  if (named.length > 0) expect(resultOf(found)).toBe('failed')
  const text = probedForms.text(found)
  for (const mlsNumber of named) expect(text.replace(/\s+/g, ' ')).toContain(`MLSNumber ${mlsNumber} `)
}

/** Once the service works again and late calls have taken effect, the next probe removes everything and learns all. */
async function nextCleans(): Promise<Probed> {
  world.standIn.clearFaults()
  world.standIn.landLateCalls()
  const left = new Set(leftOf(world))
  const found = await probed(world, 99)
  expect(new Set(found.removed)).toEqual(left)
  expect(leftOf(world)).toEqual([])
  expect(othersOf(world)).toBe(before)
  expect(resultOf(found)).toBe('ok')
  return found
}

const every = (fault: FaultRuleInput['fault'], rule: Partial<FaultRuleInput> = {}): FaultRuleInput => ({
  ...rule,
  fault,
})

const cases: Record<string, FaultRuleInput> = {
  'the answer to the first Create is lost': every(
    { kind: 'reset', when: 'after-carrying-out' },
    { operations: ['Create'], nth: 1 },
  ),
  'no answer to a Create ever': every({ kind: 'hang', carriedOut: true }, { operations: ['Create'] }),
  'a Create that lands late': every({ kind: 'late', requests: 5000 }, { operations: ['Create'], nth: 1 }),
  'the second Create lands late': every({ kind: 'late', requests: 5000 }, { operations: ['Create'], nth: 3 }),
  'every Create fails': every({ kind: 'status', status: 500 }, { operations: ['Create'] }),
  'every Create is refused': every({ kind: 'refuse' }, { operations: ['Create'] }),
  'every Update fails': every({ kind: 'status', status: 502 }, { operations: ['Update'] }),
  'every Update is refused': every({ kind: 'refuse' }, { operations: ['Update'] }),
  'every Update pretends': every({ kind: 'pretend' }, { operations: ['Update'] }),
  'every Delete pretends': every({ kind: 'pretend' }, { operations: ['Delete'] }),
  'every Delete is refused': every({ kind: 'refuse' }, { operations: ['Delete'] }),
  'Delete does one key of each batch': every({ kind: 'partly', keys: 1 }),
  'List shows nothing': every({ kind: 'hide' }, { operations: ['List'] }),
  'List is down': every({ kind: 'status', status: 503 }, { operations: ['List'] }),
  'a web page in place of every answer': every({ kind: 'body', form: 'html' }),
  'a redirect': every({ kind: 'redirect', location: 'https://elsewhere.example/' }),
}

test.each(Object.entries(cases))('%s', async (_, rule) => {
  await begin()
  world.standIn.addFault(rule)
  const found = await probed(world)
  isHonest(found)
  expect(found.answers).toHaveLength(21)
  await nextCleans()
})

test.each([5, 20, 30, 45, 60, 80, 110])('credentials revoked, or the service down, from call %i on', async (nth) => {
  for (const fault of [{ kind: 'credentials' }, { kind: 'status', status: 503 }] as const) {
    await begin()
    let calls = 0
    const app = world.standIn
    const found = await probed(world, 1, () => {
      calls = Object.values(app.counts).reduce((sum, count) => sum + count, 0)
      if (calls >= nth) app.addFault({ fault })
    })
    isHonest(found)
    expect(found.error).not.toBe(null)
    await nextCleans()
    if (fault.kind === 'credentials') await world.end()
  }
})

test('a stop signal at any question leaves nothing', async () => {
  await begin()
  const titles: string[] = []
  await probed(world, 1, (title) => void titles.push(title))
  expect(titles.length).toBeGreaterThan(20)
  for (const [index, title] of titles.entries()) {
    const found = await probed(world, index, (asked) => {
      if (asked === title) world.stop.abort(new Error('stopped'))
    })
    expect([title, found.error]).toEqual([title, 'it was stopped by a signal'])
    expect(leftOf(world), title).toEqual([])
    isHonest(found)
    world.stop = new AbortController()
  }
})

const seed = testSeed()

test.each(Array.from({ length: 12 }, (_, index) => seed + index))('faults at random (TEST_SEED=%i)', async (drawn) => {
  await begin({ listLag: drawn % 3 })
  const random = seeded(drawn)
  const faults: FaultRuleInput['fault'][] = [
    { kind: 'status', status: 500, carriedOut: true },
    { kind: 'status', status: 429, retryAfter: 1 },
    { kind: 'reset', when: 'after-carrying-out' },
    { kind: 'reset', when: 'in-the-answer' },
    { kind: 'hang', carriedOut: true },
    { kind: 'body', form: 'cut-json' },
    { kind: 'late', requests: 7 },
    { kind: 'refuse' },
  ]
  for (let rule = 0; rule < 3; rule++)
    world.standIn.addFault({ probability: 0.05 + random() * 0.1, seed: drawn + rule, fault: pick(random, faults) })
  const found = await probed(world, drawn)
  // A call without an answer may take effect now.
  world.standIn.clearFaults()
  world.standIn.landLateCalls()
  isHonest(found)
  await nextCleans()
})

test('what only looks like a test listing is named and stays; what another feed left goes', async () => {
  await begin()
  const token = '00ff00ff00ff'
  const made = {
    MLSNumber: `listing-sync-probe-south-${token}-3`,
    Url: `https://listing-sync.invalid/probe/${token}/3/4`,
  }
  world.standIn.seed(chatbot, [made])
  const found = await probed(world)
  expect(found.removed).toEqual([made.MLSNumber])
  expect(found.notes.join()).toContain('listing-sync-probe-north-0123456789ab-2 has the name of a test listing')
  expect(othersOf(world)).toBe(before)
})

test.each(['tag', 'snapshot', 'mirror'] as const)(
  'a run passes over what a probe left (ownership: %s)',
  async (ownership) => {
    await begin()
    for (const { MLSNumber } of others) world.standIn.remove(chatbot, MLSNumber)
    const made = {
      MLSNumber: 'listing-sync-probe-north-00ff00ff00ff-2',
      Url: 'https://listing-sync.invalid/probe/00ff00ff00ff/2/4',
    }
    world.standIn.seed(chatbot, [made, made])
    world.configure({ north: { ownership } }, { secretKey: keys.secret })
    world.deliver(zillowFeed([home(1), home(2)]))
    expect(await world.run()).toMatchObject({
      result: 'ok',
      counts: { create: 2, delete: 0, hold: 0, adopt: 0 },
      notes: [],
    })
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [], notes: [] })
    expect(leftOf(world)).toHaveLength(2)
    expect((await probed(world)).removed).toEqual([made.MLSNumber])
    expect(leftOf(world)).toEqual([])
  },
)

test('what was created, never listed and not counted by its Delete may appear, and is named', async () => {
  await begin({ deleteWithoutMatch: 'refuse-all', listLag: 400 })
  // The row that Create made can't be found by its MLSNumber yet: an index that is behind.
  world.standIn.addFault({ operations: ['Create'], fault: { kind: 'pretend' } })
  const found = await probed(world)
  expect([...found.lost.keys()]).toHaveLength(1)
  expect(resultOf(found)).toBe('failed')
  isHonest(found)
})

test('a lost Update may land late too, where an Update creates what is not there', async () => {
  await begin({ updateWithoutMatch: 'created' })
  world.standIn.addFault({ operations: ['Update'], fault: { kind: 'late', requests: 5000 } })
  const found = await probed(world)
  expect(found.lost.size).toBeGreaterThan(0)
  world.standIn.clearFaults()
  world.standIn.landLateCalls()
  expect(leftOf(world).length).toBeGreaterThan(0)
  isHonest(found)
  await nextCleans()
})

test('nothing is created where it could not be looked up again', async () => {
  await begin({ mlsNumberFilter: 'ignored', maxPageSize: 4 })
  const found = await probed(world)
  expect(world.standIn.counts).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  expect(resultOf(found)).toBe('partial')
  expect(probedForms.text(found)).toContain('List does not filter by MLSNumber')
})

test('an ID that is the MLSNumber of another listing is never used as a key', async () => {
  await begin()
  // The IDs that the test listings will have.
  const twins = Array.from({ length: 20 }, (_, index) => ({ MLSNumber: String(1001 + others.length + 20 + index) }))
  world.standIn.seed(chatbot, twins)
  before = othersOf(world)
  const found = await probed(world)
  isHonest(found)
  const native = world.standIn.requests.filter(({ body }) => JSON.stringify(body).includes('"NativeId"'))
  expect(native).toEqual([])
  expect(found.answers.find(({ key }) => key === 'identifier')?.facts).toEqual({ identifierIsId: true })
  expect(probedForms.text(found).replace(/\s+/g, ' ')).toContain('which a service that ignores KeyType would use')
})

test('beside a run of the chatbot there is no probe', async () => {
  await begin()
  const app = openApp(world.context)
  const lease = await app.store().lease(chatbot, world.clock.now())
  const title = (): void => undefined
  await expect(probe(app, app.config.feeds[0], world.stop.signal, title)).rejects.toThrow(/already under way/)
  await lease.release()
  await app.close()
  expect(world.standIn.counts.List).toBe(0)
})

test('one key: the other is not asked about, and no secret is printed though the service echoes it', async () => {
  const echo = `the key ${keys.session} is not known`
  await begin({ refusals: { credentials: { message: echo, code: 403 }, invalid: { message: echo } } })
  world.configure({ north: {} }, { secretKey: undefined, sessionKey: keys.session })
  const found = await probed(world)
  expect(found.answers.find(({ key }) => key === 'keys')?.facts).toEqual({ session: 'all' })
  const printed = probedForms.text(found) + probedForms.json(found)
  expect(printed).toContain('is not known')
  expect(printed).not.toContain(keys.session)
  expect(JSON.parse(probedForms.json(found))).toMatchObject({ result: 'ok', left: [], mayAppear: [] })
})
