/** The library's errors and options as tables: every operation with everything that may end it, every option with every wrong value. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createService, ServiceError, UserError } from '../../src/index.ts'
import type { CallOptions, ChatbotClient, ListingServiceClient } from '../../src/index.ts'
import { startStandIn } from '../../src/stand-in/stand-in.ts'
import type { StandIn } from '../../src/stand-in/stand-in.ts'
import { until } from '../support/until.ts'
import { startServer, success, testListing } from './server.ts'

let standIn: StandIn
let client: ListingServiceClient
beforeEach(async () => {
  standIn = await startStandIn()
  standIn.seed('SN-1', [{ MLSNumber: 'A' }])
  client = createService({ baseUrl: standIn.url, rate: Infinity, attempts: 1, secretKey: 'any' })
})
afterEach(async () => {
  await client.close()
  await standIn.close()
})

const question = { sessionID: 1, content: 'Hello' }

async function all(pieces: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of pieces);
}

type Call = (bound: ChatbotClient, options: CallOptions) => Promise<unknown>
const operations: [method: string, operation: string, isRepeatable: boolean, call: Call][] = [
  ['edit', 'Edit', true, (bound, options) => bound.edit({ Name: 'Ada' }, options)],
  ['ask', 'ClientAsk', false, (bound, options) => bound.ask(question, options)],
  ['askStreaming', 'ClientAsk', false, (bound, options) => all(bound.askStreaming(question, options))],
  ['create', 'Create', false, (bound, options) => bound.create(testListing(), options)],
  [
    'update',
    'Update',
    true,
    (bound, options) => bound.update({ ...testListing(), Key: 'A', KeyType: 'MLSNumber' }, options),
  ],
  ['list', 'List', true, (bound, options) => bound.list({}, options)],
  ['listAll', 'List', true, (bound, options) => all(bound.listAll({}, options))],
  ['delete', 'Delete', true, (bound, options) => bound.delete({ Keys: ['A'], KeyType: 'MLSNumber' }, options)],
]

test.each(operations)('%s: whatever ends it is an error of ours', async (_, operation, isRepeatable, call) => {
  const bound = client.forChatbot('SN-1')
  const failed = (options: CallOptions = {}): Promise<unknown> =>
    call(bound, options).then(
      () => null,
      (error: unknown) => error,
    )
  expect(await failed({ signal: undefined, timeout: undefined })).toBeNull()
  const gone = await failed({ signal: AbortSignal.abort() })
  expect(gone).toBeInstanceOf(ServiceError)
  expect(gone).toMatchObject({ operation, kind: 'stopped', effect: 'none', code: null, retryable: false })
  for (const timeout of [0, -1, Number.NaN, Infinity, '5'])
    expect(String(await failed({ timeout: timeout as number }))).toContain('timeout must be milliseconds, from 1')
  standIn.addFault({ fault: { kind: 'refuse', code: 422, message: 'No' } })
  expect(await failed()).toMatchObject({ operation, kind: 'refused', code: 422, retryable: false })
  standIn.clearFaults()
  standIn.addFault({ times: 1, fault: { kind: 'status', status: 503 } })
  expect(await failed()).toMatchObject({ operation, kind: 'transient', code: 503 })
  standIn.addFault({ times: 1, fault: { kind: 'credentials' } })
  expect(await failed()).toMatchObject({ operation, kind: 'credentials', code: 401, retryable: false })
  standIn.addFault({ fault: { kind: 'hang' } })
  const late = await failed({ timeout: 20 })
  expect(late).toBeInstanceOf(ServiceError)
  expect(late).toMatchObject({ operation, kind: 'transient', code: null, retryable: isRepeatable })
  const stop = new AbortController()
  standIn.resetCounts()
  const waiting = failed({ signal: stop.signal })
  await until(() => Object.values(standIn.counts).some((count) => count > 0))
  stop.abort()
  expect(await waiting).toMatchObject({ operation, kind: 'stopped', retryable: false })
})

test('what is only found out after the answer has its operation, too', async () => {
  let body: unknown
  const server = await startServer(() => ({ body: success(body) }))
  const other = createService({ baseUrl: server.baseUrl, rate: Infinity, attempts: 1 })
  const bound = other.forChatbot('SN-1')
  body = 2
  await expect(bound.edit({ Name: 'Ada' })).rejects.toMatchObject({ operation: 'Edit', kind: 'refused', code: 200 })
  body = { VirtualCount: 7 }
  const lacking = { operation: 'List', kind: 'transient', code: 200, retryable: true }
  await expect(bound.list()).rejects.toMatchObject(lacking)
  await expect(all(bound.listAll())).rejects.toMatchObject(lacking)
  await other.close()
  await server.close()
  standIn.addFault({ fault: { kind: 'cut-stream', pieces: 2 } })
  const cut = {
    name: 'BrokenAnswerError',
    operation: 'ClientAsk',
    retryable: false,
    received: expect.stringMatching(/./),
  }
  await expect(all(client.askStreaming(question))).rejects.toMatchObject(cut)
})

const numbers = ['rate', 'concurrency', 'timeout', 'attempts', 'maxAnswerBytes', 'chat.first', 'chat.idle']
const times = ['patience', 'backoff.base', 'backoff.max']

test.each([...numbers, ...times])('%s: undefined is the default, what means nothing is said', (name) => {
  const [first, inner] = name.split('.')
  const made = (value: unknown) =>
    createService({ baseUrl: 'http://127.0.0.1:1', [first]: inner === undefined ? value : { [inner]: value } })
  expect(made(undefined)).toBeDefined()
  for (const value of [-1, Number.NaN, null, '5', ...(numbers.includes(name) ? [0] : [])]) {
    expect(() => made(value), String(value)).toThrow(UserError)
    expect(() => made(value)).toThrow(new RegExp(`^${name} must be .*, not ${String(value)}$`))
  }
})

test('a key that is no text is said, and not quoted', () => {
  for (const name of ['secretKey', 'sessionKey'])
    expect(() => createService({ baseUrl: 'http://127.0.0.1:1', [name]: 4711 })).toThrow(
      new UserError(`${name} must be text`),
    )
})
