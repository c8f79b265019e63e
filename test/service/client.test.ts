import { afterEach, expect, test } from 'vitest'
import { ownerKey } from '../../src/core/listing.ts'
import { ServiceClient } from '../../src/service/client.ts'
import type { Send } from '../../src/service/send.ts'
import { endpointOver } from '../support/endpoint.ts'
import { ManualClock } from './clock.ts'
import { chatbotOf, keepLog, startWorld, stopWorld, success, testKeys, testListing, testSettings } from './server.ts'
import type { TestWorld } from './server.ts'

let world: TestWorld
afterEach(() => stopWorld(world))
const nothing = () => {}

test('a create carries the chatbot, every field in order, and the ownership mark', async () => {
  world = await startWorld(() => ({ body: success('id-1') }))
  const listing = testListing({
    ExtensionColumn: [
      { Key: 'Agent', value: 'Ann' },
      { Key: ownerKey, value: 'forged by the feed' },
    ],
  })
  const writer = world.chatbot('SN-1', { mark: 'north' })
  await writer.create(listing, nothing)
  const other = world.chatbot('SN-1')
  await other.create(testListing(), nothing)
  const [marked, unmarked] = world.server.seen
  expect(marked.path).toBe('/api/chat/Chatbot/RealEstateCreate')
  expect(marked.body).toEqual({
    ...listing,
    SerialNumber: 'SN-1',
    ExtensionColumn: [
      { Key: 'Agent', value: 'Ann' },
      { Key: ownerKey, value: 'north' },
    ],
  })
  expect(Object.keys(marked.body).slice(0, 3)).toEqual(['SerialNumber', 'SaleType', 'Status'])
  expect(unmarked.body).toEqual({ ...testListing(), SerialNumber: 'SN-1' })
  expect([writer.calls.create, other.calls.create]).toEqual([1, 1])
})

test('once it is told, the mark says which store writes, and in which run', async () => {
  world = await startWorld(() => ({ body: success('id-1') }))
  const writer = world.chatbot('SN-1', { mark: 'north' })
  const other = world.chatbot('SN-1')
  for (const chatbot of [writer, other]) chatbot.sign({ store: '1f3a9c02', run: 57 })
  for (const chatbot of [writer, other]) await chatbot.create(testListing(), nothing)
  const [marked, unmarked] = world.server.seen.map(({ body }) => body)
  expect(marked.ExtensionColumn).toEqual([{ Key: ownerKey, value: 'north/1f3a9c02.57' }])
  expect(unmarked).not.toHaveProperty('ExtensionColumn')
})

test('an update names its listing by MLSNumber and clears fields in the way of the profile', async () => {
  const clear = ['City', 'Images', 'ExtensionColumn', 'SalePrice', 'Description'] as const
  const { Images: _, SalePrice: __, ...listing } = testListing()
  const key = { SerialNumber: 'SN-1', Key: 'A-17', KeyType: 'MLSNumber' }
  const mark = [{ Key: ownerKey, value: 'north' }]

  world = await startWorld(() => ({ body: success(1) }))
  await world.chatbot('SN-1').update(listing, clear, nothing)
  await world.chatbot('SN-1', { mark: 'north' }).update(listing, clear, nothing)
  const [plain, marked] = world.server.seen.map(({ body }) => body)
  expect(world.server.seen[0].path).toBe('/api/chat/Chatbot/RealEstateUpdate')
  expect(plain).toEqual({ ...listing, ...key, City: '', Images: [], ExtensionColumn: [] })
  expect(marked).toEqual({ ...listing, ...key, City: '', Images: [], ExtensionColumn: mark })
  await stopWorld(world)

  world = await startWorld(() => ({ body: success(1) }), {
    profile: { pageSize: 100, deleteBatch: 50, virtualCount: 'unknown', clear: 'omit', nativeId: 'unknown' },
  })
  await world.chatbot('SN-1').update(listing, clear, nothing)
  expect(world.server.seen[0].body).toEqual({ ...listing, ...key })
})

test('a delete names its listings by MLSNumber', async () => {
  world = await startWorld(() => ({ body: success({ SuccessCount: 1 }) }))
  const answer = await world.chatbot('SN-1').delete(['A-1', 'A-2'], nothing)
  expect(answer).toEqual({ value: 1, unsettled: false })
  expect(world.server.seen[0]).toMatchObject({
    path: '/api/chat/Chatbot/RealEstateDelete',
    body: { SerialNumber: 'SN-1', Keys: ['A-1', 'A-2'], KeyType: 'MLSNumber' },
  })
})

test.for([
  [testKeys.secretKey, null],
  [null, testKeys.sessionKey],
  [testKeys.secretKey, testKeys.sessionKey],
])('every call carries each key that is configured (%s, %s), as it is', async ([secretKey, sessionKey]) => {
  world = await startWorld(() => ({ body: success({ List: [], VirtualCount: 0, SuccessCount: 1 }) }), {
    secretKey,
    sessionKey,
  })
  const writer = world.chatbot('SN-1')
  await writer.lookUp('A-1')
  await writer.delete(['A-1'], nothing)
  for (const { headers } of world.server.seen) {
    expect(headers['content-type']).toBe('application/json')
    expect(headers.authorization ?? null).toBe(secretKey)
    expect(headers['chatrobot-sessionkey'] ?? null).toBe(sessionKey)
  }
})

test('a key with a line break is a mistake of the configuration, named without the key', async () => {
  world = await startWorld(() => 'silence')
  const begin = () => startWorld(() => 'silence', { secretKey: 'secret\n' })
  await expect(begin()).rejects.toThrow(/authorization header/)
  await expect(begin()).rejects.not.toThrow(/secret\n/)
})

test('another version is warned of once a run', async () => {
  world = await startWorld(() => ({ body: { ...success(1), Version: '2.0.0' } }))
  for (let run = 1; run <= 2; run++) {
    const writer = world.chatbot('SN-1')
    await writer.update(testListing(), [], nothing)
    await writer.update(testListing(), [], nothing)
    expect(world.lines).toHaveLength(run)
  }
  expect(world.lines[0]).toContain('2.0.0')
})

test('chatbots share the rate', async () => {
  world = await startWorld(() => 'silence')
  const clock = new ManualClock()
  const times: number[] = []
  const settings = testSettings('http://listings.example', { rate: 10, timeout: 30_000 })
  const send: Send = async ({ path, headers, timeout }) => {
    expect([path, headers.authorization, timeout]).toEqual([
      '/chat/Chatbot/RealEstateUpdate',
      testKeys.secretKey,
      30_000,
    ])
    times.push(clock.now())
    return { status: 200, headers: {}, body: JSON.stringify(success(1)) }
  }
  const runtime = { clock, random: () => 0.5, log: keepLog().log }
  const client = new ServiceClient(settings, runtime, endpointOver(send, settings, clock))
  const writers = ['SN-1', 'SN-2'].map((serialNumber) => chatbotOf(client, settings, serialNumber))
  const calls = Array.from({ length: 40 }, (_, i) => writers[i % 2].update(testListing(), [], nothing))
  await clock.advance(1999)
  expect(times).toHaveLength(20)
  await clock.advance(2000)
  await Promise.all(calls)
  await client.close()
})
