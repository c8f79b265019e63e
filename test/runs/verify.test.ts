/** `verify` after syncs and as a command, against the stand-in: what is asked, what it costs, what it never changes. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { daemonCommand } from '../../src/commands/daemon.ts'
import type { Verdict, Verification } from '../../src/verify/verification.ts'
import { home, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ standIn: { sessions: { 7: 'SN-1' } } })
})
afterEach(() => world.end())

/** Homes at different addresses, for sale. */
function homeOf(number: number, changes: Partial<Home> = {}): Home {
  const base = { rental: false, status: 'Active', unit: '', price: 200_000 + number * 1111 }
  return { ...home(number), ...base, street: `${100 + number} Verify Street`, ...changes }
}
const numbers = (from: number, to: number): Home[] => Array.from({ length: to - from + 1 }, (_, i) => homeOf(from + i))

function verifying(changes: object = {}, service: object = {}): void {
  world.configure({ north: { verify: { session: 7, ...changes } } }, service)
}

function asked(): string[] {
  const questions = world.standIn.requests.filter(({ operation }) => operation === 'ClientAsk')
  return questions.map(({ body }) => (body as { content: string }).content)
}

const verdicts = ({ listings }: Verification): Record<string, Verdict> =>
  Object.fromEntries(listings.map(({ mlsNumber, verdict }) => [mlsNumber, verdict]))

describe('after a sync', () => {
  test('without it nothing is asked, and the report has no such key', async () => {
    world.deliver(zillowFeed(numbers(1, 4)))
    expect(await world.run()).not.toHaveProperty('verification')
    const json = await world.executed('sync', '--format', 'json')
    expect(JSON.parse(json.stdout)).not.toHaveProperty('verify')
    expect(asked()).toEqual([])
  })

  test('asks about a few of what it created, updated and deleted, the same few for the same plan', async () => {
    verifying()
    world.deliver(zillowFeed(numbers(1, 20)))
    const first = await world.run()
    expect(first.verification).toMatchObject({ asked: 3, agreed: 3, disagreed: 0, unanswered: 0, stopped: null })
    expect(first.verification!.tokens).toBeGreaterThan(0)
    const questions = asked()
    expect(questions).toHaveLength(3)

    const dearer = numbers(5, 20).map((each) =>
      each.mlsNumber === homeOf(9).mlsNumber ? homeOf(9, { price: 777_000 }) : each,
    )
    world.deliver(zillowFeed([...dearer, homeOf(21)]))
    world.standIn.resetCounts()
    const second = await world.run()
    const { listings } = second.verification!
    expect(listings.map(({ expected }) => expected)).toEqual(['listed', 'listed', 'gone', 'gone'])
    expect(listings[0]).toMatchObject({
      mlsNumber: homeOf(9).mlsNumber,
      verdict: 'agrees',
      price: { verdict: 'agrees', wanted: '$777,000' },
      status: { verdict: 'agrees', wanted: 'Active' },
    })
    expect(listings[1].mlsNumber).toBe(homeOf(21).mlsNumber)
    expect(listings[2].question).toContain('Verify Street')
    expect(Object.values(verdicts(second.verification!))).toEqual(['agrees', 'agrees', 'agrees', 'agrees'])

    const third = await world.run()
    expect(third.verification).toMatchObject({ asked: 0, listings: [], stopped: null })

    await world.end()
    world = await RunWorld.start({ standIn: { sessions: { 7: 'SN-1' } } })
    verifying()
    world.deliver(zillowFeed(numbers(1, 20)))
    await world.run()
    expect(asked()).toEqual(questions)
  })

  test('a chatbot that still answers from before disagrees; the run is what it was', async () => {
    verifying({ sample: 10 })
    world.deliver(zillowFeed(numbers(1, 6)))
    await world.run()
    world.standIn.changeProfile({ answerLag: 1000 })
    world.deliver(
      zillowFeed([homeOf(1, { price: 999_000 }), homeOf(2, { status: 'Sold' }), ...numbers(4, 6), homeOf(7)]),
    )
    const run = await world.run()
    expect(run).toMatchObject({ result: 'ok', error: null, counts: { update: 2, create: 1, delete: 1 } })
    expect(verdicts(run.verification!)).toEqual({
      [homeOf(1).mlsNumber]: 'disagrees',
      [homeOf(2).mlsNumber]: 'disagrees',
      [homeOf(3).mlsNumber]: 'disagrees',
      [homeOf(7).mlsNumber]: 'no answer',
    })
    expect(run.verification).toMatchObject({ agreed: 0, disagreed: 3, unanswered: 1 })
    const gone = run.verification!.listings.find(({ expected }) => expected === 'gone')
    expect(gone).toMatchObject({ mlsNumber: homeOf(3).mlsNumber, status: { said: ['203333', 'Active'] } })

    world.deliver(zillowFeed([homeOf(1, { price: 888_000 }), homeOf(2, { status: 'Sold' }), ...numbers(4, 7)]))
    const child = await world.executed('sync')
    expect(child.status).toBe(0)
    expect(child.stdout).toContain(`${homeOf(1).mlsNumber}  disagrees: price $888,000, the chatbot says `)
  })

  test('a home that is on offer again under another number may be offered', async () => {
    verifying()
    world.deliver(zillowFeed([...numbers(1, 3), homeOf(4)]))
    await world.run()
    world.deliver(zillowFeed([...numbers(1, 3), { ...homeOf(4), mlsNumber: 'R-4000' }]))
    const run = await world.run()
    expect(run.counts).toMatchObject({ create: 1, delete: 1 })
    expect(verdicts(run.verification!)).toEqual({ 'R-4000': 'agrees' })
  })

  test('what an answer says wrong is told, and hostile words stay words', async () => {
    verifying({ sample: 1, question: 'Qué cuesta {MLSNumber}?' })
    world.standIn.addFault({
      operations: ['ClientAsk'],
      fault: { kind: 'say', content: 'PRICE=$1; STATUS=Active\n\u001b[31m test-secret-key <img>' },
    })
    world.deliver(zillowFeed([homeOf(1)]))
    const child = await world.executed('sync')
    expect(child.status).toBe(0)
    expect(asked()).toEqual([`Qué cuesta ${homeOf(1).mlsNumber}?`])
    expect(child.stdout).toContain('disagrees: price $201,111, the chatbot says $1')
    expect(child.stdout).not.toContain('\u001b[31m')
    expect(child.stdout).not.toContain('test-secret-key')
    world.deliver(zillowFeed([homeOf(2)]))
    const json = await world.executed('sync', '--format', 'json')
    expect(json.stdout).not.toContain('test-secret-key')
    expect((JSON.parse(json.stdout) as { verify: Verification }).verify).toMatchObject({ asked: 2, disagreed: 2 })
  })

  test('what the chatbot puts behind every answer says nothing of the listing', async () => {
    const settings = { AnswerSuffix: ' Homes from $99,000, all sold fast!' }
    world.configure({ north: { settings, verify: { session: 7, sample: 1 } } })
    world.standIn.addFault({ operations: ['ClientAsk'], fault: { kind: 'say', content: 'PRICE=$5; STATUS=Active' } })
    world.deliver(zillowFeed([homeOf(1)]))
    const { listings } = (await world.run()).verification!
    expect(listings[0]).toMatchObject({
      answer: `PRICE=$5; STATUS=Active${settings.AnswerSuffix}`,
      price: { verdict: 'disagrees', said: ['$5'] },
      status: { verdict: 'agrees' },
    })
  })

  test.each([
    ['refused', 'refused'],
    ['answered with its message', 'answered'],
  ] as const)('a message limit, %s, ends the asking at once', async (_, tooManyMessages) => {
    world.standIn.changeProfile({ tooManyMessages })
    const settings = { RateLimitCount: 2, RateLimitTime: 60, RateLimitMessage: 'One moment, please.' }
    world.configure({ north: { settings, verify: { session: 7, sample: 5 } } })
    world.deliver(zillowFeed(numbers(1, 8)))
    const run = await world.run()
    expect(run).toMatchObject({ result: 'ok', verification: { asked: 3, agreed: 2, disagreed: 0, unanswered: 3 } })
    expect(run.verification!.stopped).toContain('One moment, please.')
    expect(asked()).toHaveLength(3)
  })

  test.each([
    ['429', { kind: 'status', status: 429, retryAfter: 1 }, 1],
    ['the monthly limit', { kind: 'refuse', message: 'The monthly message limit is reached' }, 1],
    ['no such session', { kind: 'refuse', message: 'There is no chat session 7' }, 1],
    ['keys that are no good', { kind: 'credentials' }, 1],
    ['answers that are lost', { kind: 'reset', when: 'after-carrying-out' }, 2],
    ['a chatbot that says nothing', { kind: 'hang' }, 2],
    ['a page in place of an answer', { kind: 'body', form: 'html' }, 2],
  ] as const)('%s: no message is sent twice, and the run is what it was', async (_, fault, most) => {
    verifying({ sample: 5 }, { timeout: '3s' })
    world.standIn.addFault({ operations: ['ClientAsk'], fault })
    world.deliver(zillowFeed(numbers(1, 8)))
    const run = await world.run()
    expect(run).toMatchObject({ result: 'ok', error: null, applied: { outcomes: { done: 8, failed: 0 } } })
    expect(run.verification).toMatchObject({ asked: most, agreed: 0, disagreed: 0, unanswered: 5, tokens: 0 })
    expect(run.verification!.stopped).not.toBeNull()
    expect(new Set(asked()).size).toBe(asked().length)
    expect(asked()).toHaveLength(most)
  })

  test('one lost answer is no reason to stop', async () => {
    verifying({ sample: 3 })
    const fault = { kind: 'reset', when: 'after-carrying-out' } as const
    world.standIn.addFault({ operations: ['ClientAsk'], nth: 2, fault })
    world.deliver(zillowFeed(numbers(1, 8)))
    expect((await world.run()).verification).toMatchObject({ asked: 3, agreed: 2, unanswered: 1, stopped: null })
  })

  test('a run that failed, a backfill and a dry run ask nothing', async () => {
    verifying()
    world.deliver(zillowFeed(numbers(1, 3)))
    await world.run('diff')
    expect(await world.run('backfill')).not.toHaveProperty('verification')
    world.deliver('<Listings>')
    world.standIn.addFault({ operations: ['List'], fault: { kind: 'credentials' } })
    expect(await world.run()).toMatchObject({ result: 'failed', verification: { asked: 0 } })
    expect(asked()).toEqual([])
  })

  test('the daemon logs one line of it', async () => {
    world.configure({ north: { schedule: '0 0 1 1 *', verify: { session: 7 } } })
    world.deliver(zillowFeed(numbers(1, 3)))
    let log = ''
    const ended = daemonCommand({ ...world.context, writeLog: (line) => (log += line) })
    await until(() => log.includes('the chatbot was asked'))
    world.stop.abort()
    expect(await ended).toBe(0)
    const lines = log.split('\n').filter((line) => line.includes('chatbot was asked'))
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0])).toMatchObject({ feed: 'north', asked: 3, agreed: 3 })
  })
})

describe('as a command', () => {
  const verify = (...words: string[]) => world.executed('verify', '--feed', 'north', ...words)

  beforeEach(async () => {
    world.deliver(zillowFeed(numbers(1, 5)))
    await world.run()
    world.calls()
  })

  test('0 where all agree: the latest, those that are named, and one that was deleted', async () => {
    const all = await verify('--session', '7')
    expect(all).toMatchObject({ status: 0, stderr: '' })
    expect(all.stdout).toMatch(/^north → chatbot SN-1, session 7: 3 agree, of 3 listings; 3 questions, \d+ tokens\n/)
    expect(all.stdout.match(/ {6}asked {5}What is the current price/g)).toHaveLength(3)
    expect(all.stdout.match(/ {6}answered {2}"1 listing fits: /g)).toHaveLength(3)
    world.deliver(zillowFeed(numbers(2, 5)))
    await world.run()
    const named = await verify('--session', '7', '--format', 'json', homeOf(4).mlsNumber, homeOf(1).mlsNumber)
    const parsed = JSON.parse(named.stdout) as Verification
    expect(named.status).toBe(0)
    expect(parsed).toMatchObject({ version: 1, feed: 'north', chatbot: 'SN-1', session: 7, asked: 2, agreed: 2 })
    expect(parsed.listings.map(({ expected }) => expected)).toEqual(['listed', 'gone'])
    const latest = await verify('--session', '7', '--sample', '1')
    expect(latest.stdout).toContain(
      `${homeOf(1).mlsNumber}  agrees: no listing of this number is synced, and none is offered`,
    )
    expect(world.calls()).toMatchObject({ ClientAsk: 7, Create: 0, Update: 0, Edit: 0 })
  })

  test('it only looks: a feed of another name is not handed over, and no store is made', async () => {
    world.configure({ oslo: { formerly: ['north'] } })
    const before = world.storeBytes()
    expect(await world.executed('verify', '--feed', 'oslo', '--session', '7')).toMatchObject({ status: 0, stderr: '' })
    expect(world.storeBytes()).toEqual(before)
    world.loseStore()
    expect(await world.executed('verify', '--feed', 'oslo', '--session', '7')).toMatchObject({ status: 1 })
    expect(world.storeBytes()).toEqual({})
  })

  test('4 where one does not, with both values', async () => {
    world.standIn.edit('SN-1', homeOf(2).mlsNumber, { SalePrice: 5, Status: 'Sold' })
    const wrong = await verify('--session', '7', homeOf(2).mlsNumber, homeOf(3).mlsNumber)
    expect(wrong.status).toBe(4)
    expect(wrong.stdout).toContain('1 agrees, 1 disagrees, of 2 listings')
    expect(wrong.stdout).toContain(
      'disagrees: price $202,222, the chatbot says 5; status Active, the chatbot says Sold',
    )
    world.standIn.remove('SN-1', homeOf(3).mlsNumber)
    const none = await verify('--session', '7', homeOf(3).mlsNumber)
    expect(none).toMatchObject({ status: 4, stdout: expect.stringContaining('no answer: the chatbot had no answer') })
    world.standIn.addFault({ operations: ['ClientAsk'], fault: { kind: 'say', content: 'It depends.' } })
    expect((await verify('--session', '7', homeOf(2).mlsNumber)).stdout).toContain(
      ': 1 without a clear answer, of 1 listing;',
    )
  })

  test('1 where nothing could be asked, 64 for wrong words', async () => {
    const session = await verify('--session', '8')
    expect(session).toMatchObject({ status: 1, stdout: expect.stringContaining('There is no chat session 8') })
    expect(world.calls().ClientAsk).toBe(1)
    expect(await verify()).toMatchObject({ status: 64, stderr: expect.stringContaining('--session N') })
    expect(await verify('--session', 'x')).toMatchObject({ status: 64 })
    expect(await verify('--session', '7', '--sample', '0')).toMatchObject({ status: 64 })
    world.configure({ north: {}, south: { verify: { session: 7 } } })
    const empty = await world.executed('verify', '--feed', 'south')
    expect(empty).toMatchObject({ status: 1, stderr: expect.stringContaining('run sync first') })
  })
})
