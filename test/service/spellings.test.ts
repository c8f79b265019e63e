/** Every operation × every answer that is off by a type or a letter case: understood, or an error that says what is wrong. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { BrokenAnswerError, ListingServiceClient, ServiceError } from '../../src/index.ts'
import type { ChatEnd, RealEstateListItem } from '../../src/index.ts'
import { started } from '../stand-in/caller.ts'
import { spellings } from '../support/spellings.ts'
import { refusal, startServer, success, testKeys, testListing } from './server.ts'

const SerialNumber = 'SN-1'
const at = { Key: 'A-17', KeyType: 'MLSNumber' } as const

function clientOf(baseUrl: string, options: Partial<ConstructorParameters<typeof ListingServiceClient>[0]> = {}) {
  const client = new ListingServiceClient({ baseUrl, ...testKeys, rate: Infinity, attempts: 1, ...options })
  onTestFinished(() => client.close())
  return client
}

describe.for(Object.entries(spellings))('%s', ([, profile]) => {
  const { tokens = 'number' } = profile.answers ?? {}

  test('Create, Update, List and Delete are understood', async () => {
    const standIn = await started({ profile })
    const client = clientOf(standIn.url)
    const none = await client.list({ SerialNumber })
    expect(none).toEqual({ List: [], VirtualCount: 0 })
    const id = await client.create({ SerialNumber, ...testListing({ Latitude: 42.5, Longitude: -92.4 }) })
    expect(id).toBe('1001')
    expect(await client.update({ SerialNumber, ...testListing({ SalePrice: 5 }), ...at })).toBe(1)
    const { List, VirtualCount } = await client.list({ SerialNumber, MLSNumber: 'A-17' })
    expect(VirtualCount).toBe(1)
    expect(List).toHaveLength(1)
    const [{ ID, MLSNumber, SalePrice, Url }] = List
    expect(String(ID)).toBe('1001')
    expect({ MLSNumber, SalePrice, Url }).toEqual({
      MLSNumber: 'A-17',
      SalePrice: '5.00',
      Url: testListing().Url,
    })
    expect((await client.list({ SerialNumber, PageNumber: 2 })).List).toEqual([])
    const all: RealEstateListItem[] = []
    for await (const item of client.listAll({ SerialNumber, PageSize: 1 })) all.push(item)
    expect(all.map((item) => item.MLSNumber)).toEqual(['A-17'])
    expect(await client.delete({ SerialNumber, Keys: [id], KeyType: 'NativeId' })).toBe(1)
    expect(standIn.listings(SerialNumber)).toEqual([])
  })

  test('Edit and ClientAsk are understood, in one piece and streamed', async () => {
    const standIn = await started({ profile, settings: { [SerialNumber]: { WelcomeMessage: 'Hello' } } } as never)
    const client = clientOf(standIn.url)
    await client.edit({ serialNumber: SerialNumber, WelcomeMessage: 'Good day' })
    const answer = await client.ask({ sessionID: 1, content: 'Hello' })
    expect(answer).toMatchObject({ content: 'Good day', noAnswer: false, messageid: expect.any(Number) })
    expect(answer.totalToken).toBe(tokens === 'number' ? 4 : null)
    let message = ''
    let end: ChatEnd | null = null
    for await (const part of client.askStreaming({ sessionID: 1, content: 'Hello' }))
      if ('content' in part) message += part.content
      else end = part
    expect(message).toBe('Good day')
    expect(end).toMatchObject({ Answer: 'Good day', QuestionID: expect.any(Number), AnswerID: expect.any(Number) })
    expect(end?.TotalToken).toBe(tokens === 'number' ? 4 : null)
  })
})

describe.for([['null', { List: null }] as const, ['missing', {}] as const])('%s in place of a list', ([, List]) => {
  test('is no empty list where VirtualCount says that there are listings', async () => {
    const server = await startServer(({ body }) => ({
      body: success(body.PageNumber === 2 ? { ...List, VirtualCount: 3 } : { List: [{ ID: 1 }], VirtualCount: 3 }),
    }))
    onTestFinished(() => server.close())
    const client = clientOf(server.baseUrl)
    const sentence =
      'The answer to List is not in its documented form: Data.List is missing, though VirtualCount says 3 listings'
    await expect(client.list({ SerialNumber, PageNumber: 2, PageSize: 1 })).rejects.toThrow(sentence)
    expect((await client.list({ SerialNumber, PageNumber: 2, PageSize: 3 })).List).toEqual([])
    const all = client.listAll({ SerialNumber, PageSize: 1 })
    await expect(all.next()).rejects.toThrow(`The list is incomplete: Page 2 could not be read: ${sentence}`)
  })
})

const calls: Record<string, (client: ListingServiceClient) => Promise<unknown>> = {
  Create: (client) => client.create({ SerialNumber, ...testListing() }),
  Update: (client) => client.update({ SerialNumber, ...testListing(), ...at }),
  List: (client) => client.list({ SerialNumber }),
  Delete: (client) => client.delete({ SerialNumber, Keys: ['A-17'], KeyType: 'MLSNumber' }),
  Edit: (client) => client.edit({ serialNumber: SerialNumber, Name: 'Cedar' }),
  ClientAsk: (client) => client.ask({ sessionID: 1, content: 'Hello' }),
}

const right: Record<string, unknown> = {
  Create: '1001',
  Update: 1,
  List: { List: [], VirtualCount: 0 },
  Delete: { SuccessCount: 1 },
  Edit: 1,
  ClientAsk: { messageid: 7, content: 'Hello', totalToken: 4, noAnswer: false },
}

/** For every operation: an envelope that can't be understood, and what the error says of it. */
const envelopes: [what: string, body: unknown, said: string][] = [
  ['a page for people', '<p>Welcome</p>', 'the answer has to be an object in JSON, and is "<p>Welcome</p>"'],
  ['nothing', '', 'the answer has to be an object in JSON, and is missing'],
  ['a list', [1], 'the answer has to be an object, and is [1]'],
  ['no Success', { Data: 1, Code: 200 }, 'Success has to be true or false, and is missing'],
  ['a number as Success', { Data: 1, Code: 200, Success: 1 }, 'Success has to be true or false, and is 1'],
  ['a word as Code', { Data: 1, Code: 'OK', Success: true }, 'Code has to be a whole number, and is "OK"'],
  [
    'a long one',
    { Data: 1, Code: 'x'.repeat(900), Success: true },
    `Code has to be a whole number, and is "${'x'.repeat(200)}…"`,
  ],
  [
    'our own key where it is cut',
    { Data: 1, Code: `${'x'.repeat(190)}${testKeys.secretKey}`, Success: true },
    `Code has to be a whole number, and is "${'x'.repeat(190)}***"`,
  ],
  ['our own key', { Data: 1, Code: testKeys.secretKey, Success: true }, 'Code has to be a whole number, and is "***"'],
]

/** For one operation: Data that can't be understood. */
const data: [operation: string, value: unknown, said: string][] = [
  ['Create', null, 'Data has to be an identifier, and is missing'],
  ['Create', ' ', 'Data has to be an identifier, and is ""'],
  ['Create', { Id: 7 }, 'Data has to be an identifier, and is {"Id":7}'],
  ['Create', 1.5, 'Data has to be an identifier, and is 1.5'],
  ['Update', true, 'Data has to be a whole number, and is true'],
  ['Update', '-1', 'Data has to be a whole number from 0, and is "-1"'],
  ['List', null, 'Data has to be an object, and is missing'],
  ['List', {}, 'Data.List has to be a list of listings, and is missing'],
  ['List', { List: 'none', VirtualCount: 0 }, 'Data.List has to be a list of listings, and is "none"'],
  ['List', { List: [{ ID: 1 }, null] }, 'Data.List[1] has to be a listing, and is null'],
  ['Delete', 1, 'Data has to be an object, and is 1'],
  ['Delete', { SuccessCount: 'all' }, 'Data.SuccessCount has to be a whole number, and is "all"'],
  ['Edit', 'done', 'Data has to be a whole number, and is "done"'],
  ['ClientAsk', 'Hello', 'Data has to be an object, and is "Hello"'],
  ['ClientAsk', { content: 7, noAnswer: false }, 'Data.content has to be text, and is 7'],
  ['ClientAsk', { content: 'a', noAnswer: 'maybe' }, 'Data.noAnswer has to be true or false, and is "maybe"'],
  ['ClientAsk', { content: 'a', totalToken: {} }, 'Data.totalToken has to be a whole number, and is {}'],
]

describe('what can not be understood names operation, member, what was expected and what came', () => {
  const cases = Object.keys(calls).flatMap((operation) => [
    ...envelopes.map(([what, body, sentence]) => [operation, what, body, sentence] as const),
    ...data
      .filter(([of]) => of === operation)
      .map(([, value, sentence]) => [operation, JSON.stringify(value), success(value), sentence] as const),
  ])

  test.for(cases)('%s: %s', async ([operation, , body, sentence]) => {
    const server = await startServer(() => ({ body: body as object }))
    onTestFinished(() => server.close())
    const error: unknown = await calls[operation](clientOf(server.baseUrl)).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ServiceError)
    const { message, kind, effect, retryable } = error as ServiceError
    expect(message).toContain(`The answer to ${operation} (HTTP 200) is not in its documented form: ${sentence}`)
    expect(message).not.toContain(testKeys.secretKey)
    expect(message.length).toBeLessThan(500)
    const isRepeatable = operation !== 'Create' && operation !== 'ClientAsk'
    expect({ kind, effect, retryable, operation: (error as ServiceError).operation }).toEqual({
      kind: 'transient',
      effect: 'unknown',
      retryable: isRepeatable,
      operation,
    })
  })

  test.for(Object.keys(calls))('%s: in HTTP 404 it is a refusal', async (operation) => {
    const server = await startServer(() => ({ status: 404, body: '<p>Not here</p>' }))
    onTestFinished(() => server.close())
    await expect(calls[operation](clientOf(server.baseUrl))).rejects.toMatchObject({
      kind: 'refused',
      code: 404,
      operation,
      retryable: false,
    })
  })

  test.for(Object.keys(calls))('%s: Message may be anything', async (operation) => {
    const answers = [success(right[operation]), refusal(422, 'No')]
    const bodies = answers.map((answer) => ({ ...answer, Message: { en: 'No', de: 'Nein' } }))
    const server = await startServer((_, number) => ({ body: bodies[number - 1] }))
    onTestFinished(() => server.close())
    const client = clientOf(server.baseUrl)
    await calls[operation](client)
    await expect(calls[operation](client)).rejects.toThrow('{"en":"No","de":"Nein"}')
  })

  test('the final object of a stream', async () => {
    const server = await startServer(() => ({ body: '{"content":"He"}\n{"Answer":"Hello","AnswerID":{}}\n' }))
    onTestFinished(() => server.close())
    const pieces = clientOf(server.baseUrl).askStreaming({ sessionID: 1, content: 'Hello' })
    await pieces.next()
    const error: unknown = await pieces.next().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(BrokenAnswerError)
    expect((error as BrokenAnswerError).message).toContain(
      'The answer to ClientAsk (HTTP 200) is not in its documented form: AnswerID has to be a whole number, and is {}',
    )
  })
})
