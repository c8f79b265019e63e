/**
 * Three workers, 40 chatbots and 60 feeds on one database, while workers are killed, frozen for longer than their leases and
 * started, the database is restarted and its connections are cut: in the end every chatbot is as its feeds say.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { ownerKey } from '../../src/core/listing.ts'
import type { ExtensionEntry } from '../../src/core/listing.ts'
import { readMark } from '../../src/core/mark.ts'
import { mostWithin } from '../contract/limiter.ts'
import { dearer, home } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { noPostgres } from '../support/postgres.ts'
import { pick, seeded, testSeed } from '../support/random.ts'
import { ScaleWorld } from './world.ts'

/** A call goes out at most two seconds after its mark, and the last quarter of a lease has to be longer than that. */
const leaseTime = 12_000
const rate = 30
const chatbots = 40
const events = 14

let world: ScaleWorld
afterEach(() => world.end())

/** Real milliseconds: ends what will never happen. */
const longest = 240_000

/** Waits for what asks the database or the service; both may be away for a moment. */
async function until(happened: () => Promise<boolean>): Promise<void> {
  const began = performance.now()
  while (!(await happened().catch(() => false))) {
    if (performance.now() - began > longest) throw new Error(`it did not happen within ${longest / 1000} s`)
    await delay(500)
  }
}

test.skipIf(noPostgres !== null || process.env['SHIFT_DAYS'] !== undefined)(
  'whatever becomes of workers and database, every chatbot is as its feeds say, once, by one run at a time, within the rate',
  async () => {
    const seed = testSeed()
    console.log(`seed ${seed} (TEST_SEED)`)
    const random = seeded(seed)
    const feeds = new Map(Array.from({ length: 60 }, (_, n) => [`feed-${n}`, `SN-${n % chatbots}`]))
    world = await ScaleWorld.start({ feeds, rate, leaseTime, schedule: '*/15 * * * * *' })
    const held = new Map(
      Array.from(feeds.keys(), (name, n) => [name, [1, 2, 3, 4].map((number) => home(n * 100 + number))]),
    )
    const deliver = (name: string): void => world.deliver(name, held.get(name)!)
    /** One home is dearer, and one comes or goes. */
    const change = (name: string): void => {
      const homes = held.get(name)!.map((home, index) => (index === 0 ? dearer(home) : home))
      const number = [...feeds.keys()].indexOf(name) * 100 + 50 + Math.floor(random() * 40)
      if (homes.length > 4) homes.pop()
      else if (!homes.some(({ mlsNumber }) => mlsNumber === home(number).mlsNumber)) homes.push(home(number))
      held.set(name, homes)
      deliver(name)
    }
    for (const name of feeds.keys()) deliver(name)
    for (let worker = 0; worker < 3; worker++) world.startWorker(6)

    const done: Record<string, number> = {}
    const happenings: Record<string, () => unknown> = {
      kill: () => pick(random, [...world.workers])?.kill('SIGKILL'),
      freeze: async () => {
        const child = pick(random, [...world.workers])
        child?.kill('SIGSTOP')
        await delay(1.8 * leaseTime)
        child?.kill('SIGCONT')
      },
      start: () => (world.workers.size < 4 ? world.startWorker(6) : null),
      restart: async () => {
        await world.server.stop()
        await delay(random() * 1500)
        await world.server.start()
      },
      cut: () =>
        world.server.ask(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listing-sync'",
        ),
    }
    // Each at least twice, in some order.
    const order = Array.from({ length: events }, (_, n) => Object.keys(happenings)[n % 5])
      .map((what) => ({ what, at: random() }))
      .sort((a, b) => a.at - b.at)
    const frozen: unknown[] = []
    await delay(4000)
    for (const { what } of order) {
      for (let changes = 0; changes < 5; changes++) change(pick(random, [...feeds.keys()]))
      const happening = happenings[what]()
      if (what === 'freeze') frozen.push(happening)
      else await happening
      done[what] = (done[what] ?? 0) + 1
      await delay(1000 + random() * 3500)
      if (world.workers.size === 0) world.startWorker(6)
    }
    await Promise.all(frozen)
    while (world.workers.size < 3) world.startWorker(6)

    const expected = new Map<string, Home[]>()
    for (const [name, chatbot] of feeds) expected.set(chatbot, [...(expected.get(chatbot) ?? []), ...held.get(name)!])
    const isEqual = async (chatbot: string): Promise<boolean> => {
      const shown = (await world.listings(chatbot)).sort()
      const wanted = expected.get(chatbot)!.map(({ mlsNumber, price }) => `${mlsNumber} ${price}`)
      return shown.join() === wanted.sort().join()
    }
    await until(async () => (await Promise.all(Array.from(expected.keys(), isEqual))).every(Boolean))
    // And stays so: a late call of a run that lost its chatbot would show.
    await delay(2 * leaseTime)
    for (const chatbot of expected.keys()) expect([chatbot, await isEqual(chatbot)]).toEqual([chatbot, true])

    expect(new Set(await world.stopWorkers())).toEqual(new Set([0]))
    const calls = await world.calls()
    const logs = world.logs()
    const most = mostWithin(
      1000,
      calls.map(({ at }) => at),
    )
    console.log(
      `${JSON.stringify(done)}; ${calls.length} calls, most in a second ${most} of ${rate};`,
      `${logs.filter(({ msg }) => msg === 'run finished').length} runs finished, ${logs.filter(({ msg }) => msg === 'run failed').length} failed,`,
      `${logs.filter(({ msg }) => msg.includes('not heard of')).length} taken over`,
    )
    expect(logs.filter(({ msg }) => msg.includes('defect'))).toEqual([])
    // No run writes to a chatbot once a later one has.
    const latest = new Map<string, number>()
    const late = calls.filter(({ body }) => {
      const { SerialNumber, ExtensionColumn = [] } = body as {
        SerialNumber: string
        ExtensionColumn?: ExtensionEntry[]
      }
      const mark = ExtensionColumn.find(({ Key }) => Key === ownerKey)?.value
      const run = mark === undefined ? 0 : readMark(mark).stamp!.run
      const before = latest.get(SerialNumber) ?? 0
      latest.set(SerialNumber, Math.max(before, run))
      return run > 0 && run < before
    })
    expect(late).toEqual([])
    expect(latest.size).toBe(chatbots)
    expect(Math.min(...latest.values())).toBeGreaterThan(0)
    // Every feed has a run that waits, and none is left under way.
    const waiting = await world.ask('SELECT key FROM graphile_worker.jobs WHERE locked_at IS NULL ORDER BY key')
    expect(waiting.map(({ key }) => key)).toEqual(['*', ...feeds.keys()].sort())
    expect(await world.ask('SELECT feed FROM under_way')).toEqual([])
    expect(await world.ask('SELECT name FROM feed WHERE last_success IS NULL')).toEqual([])
    expect((await world.command('diff')).status).toBe(0)
    // On a busy machine calls reach the service unevenly: of one second the limiter's own tests tell.
    expect(
      mostWithin(
        5000,
        calls.map(({ at }) => at),
      ),
    ).toBeLessThanOrEqual(5 * rate + 1)
  },
)
