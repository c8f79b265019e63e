import { afterEach, describe, expect, test } from 'vitest'
import { ServiceClient } from '../../src/service/client.ts'
import { openConnections } from '../../src/service/send.ts'
import { ManualClock } from './clock.ts'
import {
  chatbotOf,
  keepLog,
  refusal,
  startServer,
  startWorld,
  stopWorld,
  success,
  testKeys,
  testListing,
  testSettings,
} from './server.ts'
import type { Reply, TestWorld } from './server.ts'

const worlds: TestWorld[] = []
async function begin(...args: Parameters<typeof startWorld>): Promise<TestWorld> {
  const world = await startWorld(...args)
  worlds.push(world)
  return world
}
afterEach(async () => {
  for (const world of worlds.splice(0)) await stopWorld(world)
})

/** Gives the replies in turn, the last one forever. */
const inTurn =
  (...replies: Reply[]) =>
  (_: unknown, number: number) =>
    replies[Math.min(number, replies.length) - 1]
const busy: Reply = { status: 503, body: '' }
const tooMany: Reply = { status: 429, body: '' }
const nothing = () => {}

describe('retries', () => {
  test('an update is sent again until it succeeds, marked before each attempt, and says that it is unsettled', async () => {
    const { chatbot, server, clock } = await begin(inTurn('reset', tooMany, { body: success(1) }))
    const marks: number[] = []
    const writer = chatbot('SN')
    const answer = await writer.update(testListing(), [], () => void marks.push(server.seen.length))
    expect(answer).toEqual({ value: 1, unsettled: true })
    expect(marks).toEqual([0, 1, 2])
    expect(writer.calls).toEqual({ create: 0, update: 3, delete: 0, list: 0 })
    // Full jitter with a random number of one half, beside the deadline's own sleeps.
    expect(clock.sleeps.filter((sleep) => sleep < 100_000)).toEqual([250, 500])
  })

  test('a first attempt that surely had no effect leaves nothing unsettled', async () => {
    const { chatbot } = await begin(inTurn(tooMany, tooMany, { body: success('id') }))
    const answer = await chatbot('SN').create(testListing(), nothing)
    expect(answer).toEqual({ value: 'id', unsettled: false })
  })

  test.for<Reply>([busy, 'reset', { body: '<html>' }])('a create is never sent again after %j', async (reply) => {
    const { chatbot, server } = await begin(inTurn(tooMany, reply, { body: success('id') }))
    const create = chatbot('SN').create(testListing(), nothing)
    await expect(create).rejects.toMatchObject({ kind: 'transient', effect: 'unknown' })
    expect(server.seen).toHaveLength(2)
  })

  test('attempts are limited, and the error covers all of them', async () => {
    const { chatbot, server } = await begin(inTurn('reset', tooMany))
    const update = chatbot('SN').update(testListing(), [], nothing)
    await expect(update).rejects.toMatchObject({ kind: 'transient', effect: 'unknown', code: 429 })
    expect(server.seen).toHaveLength(4)
  })

  test('a refusal after a lost answer keeps the doubt', async () => {
    const { chatbot } = await begin(inTurn('reset', { body: refusal(400, 'no such city') }))
    const update = chatbot('SN').update(testListing(), [], nothing)
    await expect(update).rejects.toMatchObject({ kind: 'refused', effect: 'unknown', message: 'no such city' })
  })

  test('an error of beforeSend goes through, and its slot is free again', async () => {
    const { chatbot, server } = await begin(() => ({ body: success(1) }), { concurrency: 1 })
    const writer = chatbot('SN')
    const fail = () => {
      throw new Error('disc full')
    }
    await expect(writer.delete(['A-1'], fail)).rejects.toThrow('disc full')
    await expect(writer.update(testListing(), [], nothing)).resolves.toEqual({ value: 1, unsettled: false })
    expect(server.seen).toHaveLength(1)
  })

  test('goes out once its mark is written, and not at all where a stop comes meanwhile', async () => {
    const { chatbot, server, limiter } = await begin(() => ({ body: success(1) }))
    const stop = new AbortController()
    const writer = chatbot('SN', { stop: stop.signal })
    for (const stopped of [false, true]) {
      const written = Promise.withResolvers<void>()
      const marked = Promise.withResolvers<void>()
      const before = server.seen.length
      const update = writer.update(testListing(), [], () => {
        marked.resolve()
        return written.promise
      })
      await marked.promise
      await chatbot('SN').update(testListing({ MLSNumber: 'A-18' }), [], nothing)
      expect(server.seen.slice(before).map(({ body }) => body.MLSNumber)).toEqual(['A-18'])
      if (stopped) stop.abort()
      written.resolve()
      if (stopped) await expect(update).rejects.toMatchObject({ kind: 'stopped', effect: 'none' })
      else await expect(update).resolves.toEqual({ value: 1, unsettled: false })
      expect(server.seen.length).toBe(before + (stopped ? 1 : 2))
    }
    expect(writer.calls.update).toBe(1)
    expect(limiter.running).toBe(0)
  })
})

describe('Retry-After', () => {
  test('makes every call wait, in place of the back-off, and slows the rate', async () => {
    const times: number[] = []
    const replies = inTurn({ status: 429, headers: { 'retry-after': '7' }, body: '' }, { body: success(1) })
    const { chatbot, limiter, clock } = await begin(
      (seen, number) => {
        times.push(clock.now() - started)
        return replies(seen, number)
      },
      { rate: 100 },
    )
    const started = clock.now()
    await chatbot('SN').update(testListing(), [], nothing)
    await chatbot('SN-2').update(testListing(), [], nothing)
    expect(times).toEqual([0, 7000, expect.any(Number)])
    expect(times[2]).toBeGreaterThanOrEqual(7000)
    expect(limiter.rate).toBe(50)
  })

  test('a wait beyond our patience stops the run', async () => {
    const { chatbot, server } = await begin(() => ({ status: 503, headers: { 'retry-after': '3600' }, body: '' }))
    const writer = chatbot('SN')
    const update = () => writer.update(testListing(), [], nothing)
    await expect(update()).rejects.toMatchObject({ kind: 'stopped', effect: 'unknown', message: /3600 s/ })
    await expect(update()).rejects.toMatchObject({ kind: 'stopped', effect: 'none' })
    expect(server.seen).toHaveLength(1)
  })

  test('and later ones call only when it is over; what asks for years is asked again after an hour', async () => {
    let answer: Reply = { status: 429, headers: { 'retry-after': '999999999' }, body: '' }
    const { chatbot, server, clock } = await begin(() => answer)
    const update = () => chatbot('SN').update(testListing(), [], nothing)
    await expect(update()).rejects.toMatchObject({ kind: 'stopped' })
    answer = { body: success(1) }
    await clock.advance(1_800_000)
    await expect(update()).rejects.toMatchObject({ kind: 'stopped', effect: 'none', message: /another 1800 s/ })
    expect(server.seen).toHaveLength(1)
    await clock.advance(1_800_000)
    expect(await update()).toMatchObject({ value: 1 })
  })
})

describe('the breaker', () => {
  test('ten failures in a row stop that call and every later one', async () => {
    const { chatbot, server } = await begin(() => busy)
    const writer = chatbot('SN')
    const errors: unknown[] = []
    for (let i = 0; i < 6; i++) {
      await writer.update(testListing(), [], nothing).catch((error: unknown) => errors.push(error))
    }
    expect(server.seen).toHaveLength(10)
    const transient = { kind: 'transient', effect: 'unknown' }
    const later = { kind: 'stopped', effect: 'none' }
    expect(errors).toMatchObject([transient, transient, { kind: 'stopped', effect: 'unknown' }, later, later, later])
    expect(errors[2]).toMatchObject({ message: expect.stringMatching(/10 calls in a row failed/) })
  })

  test.for<[string, Reply]>([
    ['403', { status: 403, body: '' }],
    ['503', busy],
    ['503 with a Retry-After of an hour', { status: 503, headers: { 'retry-after': '3600' }, body: '' }],
    ['a reset', 'reset'],
  ])('a chatbot that answers %s stops no other', async ([, reply]) => {
    const { chatbot } = await begin(({ body }) => (body.SerialNumber === 'SN-1' ? reply : { body: success(1) }))
    const [failing, right] = [chatbot('SN-1'), chatbot('SN-2')]
    const update = (writer: typeof failing) => writer.update(testListing(), [], nothing)
    const waiting = Array.from({ length: 12 }, () => update(failing))
    const others = Array.from({ length: 12 }, () => update(right))
    const ended = await Promise.allSettled(waiting)
    for (const { status } of ended) expect(status).toBe('rejected')
    for (const other of others) await expect(other).resolves.toMatchObject({ value: 1 })
    await expect(update(failing)).rejects.toMatchObject({ effect: 'none' })
    await expect(update(right)).resolves.toMatchObject({ value: 1 })
  })

  test.for([refusal(400, 'no'), success(1)])('an answer between failures begins the count anew: %j', async (body) => {
    const { chatbot, server } = await begin((_, number) => (number % 5 === 0 ? { body } : busy), { attempts: 1 })
    const writer = chatbot('SN')
    for (let i = 0; i < 25; i++) await writer.update(testListing(), [], nothing).catch(() => {})
    expect(server.seen).toHaveLength(25)
  })

  test('refused keys stop every call but those under way; the waiting ones are refused here', async () => {
    const { chatbot, server } = await begin(() => ({ status: 401, body: '' }), { concurrency: 3 })
    const writer = chatbot('SN')
    const calls = Array.from({ length: 20 }, () => writer.update(testListing(), [], nothing))
    const errors = (await Promise.allSettled(calls)).map((result) => result.status === 'rejected' && result.reason)
    for (const error of errors) expect(error).toMatchObject({ kind: 'credentials', effect: 'none' })
    expect(server.seen.length).toBeLessThanOrEqual(3)
  })

  test('refused keys end the waiting of others at once', async () => {
    const { chatbot, server } = await begin(() => ({ status: 401, body: '' }), { rate: 0.01 })
    const writer = chatbot('SN')
    const calls = [1, 2].map(() => writer.update(testListing(), [], nothing))
    for (const call of calls) await expect(call).rejects.toMatchObject({ kind: 'credentials' })
    expect(server.seen).toHaveLength(1)
  })

  test('a client made after the stop belongs to a new run and may try again', async () => {
    const { chatbot, server } = await begin(inTurn({ status: 403, body: '' }, { body: success(1) }))
    const first = chatbot('SN')
    await expect(first.update(testListing(), [], nothing)).rejects.toMatchObject({ kind: 'credentials' })
    const second = chatbot('SN')
    await expect(second.update(testListing(), [], nothing)).resolves.toMatchObject({ value: 1 })
    await expect(first.update(testListing(), [], nothing)).rejects.toMatchObject({ kind: 'credentials' })
    expect(server.seen).toHaveLength(2)
  })
})

describe('ends from our side', () => {
  test('a call without an answer ends at its timeout, with an unknown effect', async () => {
    const server = await startServer(() => 'silence')
    const clock = new ManualClock()
    const pool = openConnections({ baseUrl: server.baseUrl, ca: null, maxAnswerBytes: 2 ** 25 }, clock)
    const request = { path: '/x', headers: {}, body: '{}', signal: undefined }
    const early = pool.send({ ...request, timeout: 30_000 })
    await server.received(1)
    await clock.advance(10_000)
    const late = pool.send({ ...request, timeout: 30_000 })
    await server.received(2)
    const ends: string[] = []
    const note = (name: string) => (error: unknown) => {
      ends.push(name)
      expect(error).toMatchObject({ kind: 'transient', effect: 'unknown', message: /30 s/ })
    }
    const both = [early.catch(note('early')), late.catch(note('late'))]
    await clock.advance(19_999)
    expect(ends).toEqual([])
    await clock.advance(1)
    expect(ends).toEqual(['early'])
    await clock.advance(10_000)
    await Promise.all(both)
    expect(ends).toEqual(['early', 'late'])
    await pool.close()
    await server.close()
  })

  test('what is ended before it could be written is never written', async () => {
    const server = await startServer(({ body }) => (body.number === 3 ? { body: success(1) } : 'silence'))
    const pool = openConnections({ baseUrl: server.baseUrl, ca: null, maxAnswerBytes: 2 ** 25 }, new ManualClock())
    const written: number[] = []
    const begin = (number: number, signal?: AbortSignal) => {
      const sent = () => void written.push(number)
      return pool.send({ path: '/x', headers: {}, body: JSON.stringify({ number }), timeout: 1000, signal, sent })
    }
    const stops = [new AbortController(), new AbortController()]
    const sent = begin(1, stops[0].signal)
    await server.received(1)
    const connecting = begin(2, stops[1].signal)
    stops[1].abort()
    await expect(connecting).rejects.toMatchObject({ kind: 'transient', effect: 'none' })
    stops[0].abort()
    await expect(sent).rejects.toMatchObject({ kind: 'transient', effect: 'unknown' })
    await expect(begin(3)).resolves.toMatchObject({ status: 200 })
    expect(server.seen.map(({ body }) => body.number)).toEqual([1, 3])
    expect(written).toEqual([1, 3])
    await pool.close()
    await server.close()
  })

  test('what a process was frozen over while it connected is never written', async () => {
    const server = await startServer(({ body }) => (body.number === 2 ? { body: success(1) } : 'silence'))
    const clock = new ManualClock()
    const pool = openConnections({ baseUrl: server.baseUrl, ca: null, maxAnswerBytes: 2 ** 25 }, clock)
    const send = (number: number) =>
      pool.send({ path: '/x', headers: {}, body: JSON.stringify({ number }), timeout: 120_000, signal: undefined })
    const late = send(1)
    clock.skip(60_000)
    await expect(late).rejects.toMatchObject({ kind: 'transient', effect: 'none', message: /longer than 10 s/ })
    await expect(send(2)).resolves.toMatchObject({ status: 200 })
    expect(server.seen.map(({ body }) => body.number)).toEqual([2])
    await pool.close()
    await server.close()
  })

  test('the signal ends a call under way as unknown and a waiting one as having no effect', async () => {
    const { chatbot, limiter, server } = await begin(() => 'silence', { concurrency: 1 })
    const stop = new AbortController()
    const [writer, other] = [chatbot('SN', { signal: stop.signal }), chatbot('SN-2')]
    const sent = writer.update(testListing(), [], nothing)
    const waiting = writer.update(testListing(), [], nothing)
    await server.received(1)
    stop.abort()
    await expect(sent).rejects.toMatchObject({ kind: 'stopped', effect: 'unknown' })
    await expect(waiting).rejects.toMatchObject({ kind: 'stopped', effect: 'none' })
    await expect(writer.lookUp('A-1')).rejects.toMatchObject({ kind: 'stopped', effect: 'none' })
    expect(server.seen).toHaveLength(1)
    expect(limiter).toMatchObject({ running: 0, waiting: 0 })
    // It says nothing about the service, so other calls go on.
    void other.lookUp('A-1').catch(() => {})
    await server.received(2)
  })

  test('told to stop, what waits goes out no more, and a call under way is let through', async () => {
    const { chatbot, limiter, server, clock } = await begin(
      (_, number) =>
        number === 1 ? { status: 429, headers: { 'retry-after': '50' }, body: '' } : { body: success(1) },
      { concurrency: 2 },
    )
    const stop = new AbortController()
    const writer = chatbot('SN', { stop: stop.signal })
    const paused = expect(writer.update(testListing(), [], nothing)).rejects.toMatchObject({ kind: 'stopped' })
    await server.received(1)
    while (limiter.waiting === 0) await new Promise(setImmediate)
    stop.abort()
    await paused
    await expect(writer.lookUp('A-1')).rejects.toMatchObject({ kind: 'stopped', effect: 'none' })
    expect(server.seen).toHaveLength(1)
    await clock.advance(50_000)
    const other = new AbortController()
    const under = chatbot('SN', { stop: other.signal }).update(testListing(), [], nothing)
    await server.received(2)
    other.abort()
    await expect(under).resolves.toEqual({ value: 1, unsettled: false })
  })

  test('the signal ends a back-off', async () => {
    const server = await startServer(() => busy)
    const clock = new ManualClock()
    const settings = testSettings(server.baseUrl, { concurrency: 1 })
    const client = new ServiceClient(settings, { clock, random: () => 0.5, log: keepLog().log })
    const stop = new AbortController()
    const update = chatbotOf(client, settings, 'SN', { signal: stop.signal }).update(testListing(), [], () => {})
    const ended = expect(update).rejects.toMatchObject({ kind: 'stopped', effect: 'unknown' })
    await server.received(1)
    while (!clock.sleeps.includes(250)) await new Promise(setImmediate)
    stop.abort()
    await ended
    await client.close()
    await server.close()
  })
})

test('no key shows up in errors or in the log', async () => {
  const { chatbot, lines } = await begin(
    inTurn({ body: refusal(500, `bad ${testKeys.secretKey}`) }, { body: refusal(400, `bad ${testKeys.sessionKey}`) }),
  )
  const update = chatbot('SN').update(testListing(), [], nothing)
  await expect(update).rejects.toMatchObject({ message: 'bad ***' })
  expect(lines.join()).toContain('bad ***')
  expect(lines.join()).not.toMatch(/Zq71|Kp93/)
})
