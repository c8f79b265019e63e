/** The client's other operations, against the stand-in and test servers. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ListingServiceClient, RequestError, ServiceError, UserError } from '../../src/index.ts'
import type { ChatbotSettings, ListingInput } from '../../src/index.ts'
import { startStandIn } from '../../src/stand-in/stand-in.ts'
import type { StandIn } from '../../src/stand-in/stand-in.ts'
import { ManualClock } from './clock.ts'
import { keepLog, startServer, success, testKeys, testListing } from './server.ts'

const SerialNumber = 'SN-1'

let standIn: StandIn
let client: ListingServiceClient
beforeEach(async () => {
  standIn = await startStandIn({ keys: { secret: testKeys.secretKey } })
  client = new ListingServiceClient({ baseUrl: standIn.url, ...testKeys, rate: Infinity })
})
afterEach(async () => {
  await client.close()
  await standIn.close()
})

async function problemsOf(call: Promise<unknown>): Promise<string[]> {
  const error = await call.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(RequestError)
  return (error as RequestError).problems
}

describe('listings, by each kind of key', () => {
  test('create, update, list and delete', async () => {
    const listing = testListing()
    const id = await client.create({ SerialNumber, ...listing })
    await client.create({ SerialNumber, ...testListing({ MLSNumber: 'A-18', SaleType: 'for_rent', City: 'Oxford' }) })
    const keys = [
      { KeyType: 'NativeId', Key: id },
      { KeyType: 'MLSNumber', Key: 'A-17' },
      { KeyType: 'URL', Key: listing.Url },
    ] as const
    for (const [i, key] of keys.slice(0, 2).entries())
      expect(await client.update({ SerialNumber, ...listing, SalePrice: i + 1, ...key })).toBe(1)
    const { List, VirtualCount } = await client.list({ SerialNumber, MLSNumber: 'A-17' })
    expect(List).toHaveLength(1)
    expect(Number(List[0].SalePrice)).toBe(2)
    expect(VirtualCount).toBeGreaterThan(0)
    expect((await client.list({ SerialNumber, CityName: 'Oxford' })).List.map((item) => item.MLSNumber)).toEqual([
      'A-18',
    ])
    expect((await client.list({ SerialNumber, SaleType: 'for_rent' })).List).toHaveLength(1)
    const pages = [1, 2, 3].map((PageNumber) => client.list({ SerialNumber, PageNumber, PageSize: 1 }))
    expect((await Promise.all(pages)).map((page) => page.List.length)).toEqual([1, 1, 0])
    expect(await client.delete({ SerialNumber, KeyType: 'MLSNumber', Keys: ['A-18'] })).toBe(1)
    expect(await client.update({ SerialNumber, ...listing, Url: 'https://homes.example/other', ...keys[2] })).toBe(1)
    expect(await client.delete({ SerialNumber, KeyType: 'URL', Keys: ['https://homes.example/other'] })).toBe(1)
    expect(standIn.listings(SerialNumber)).toEqual([])
  })

  test('what the document forbids is not sent, with everything wrong in it at once', async () => {
    const { Bedrooms: _, ...listing } = testListing()
    const wrong = { SerialNumber, ...listing, Status: 'active', SalePrice: '5', MLSNumbr: 'x', Images: ['a', 1] }
    expect(await problemsOf(client.create(wrong as never))).toEqual([
      'MLSNumbr: unknown field; did you mean MLSNumber?',
      'Status: takes Active or PreOnMarket or Sold, not "active"',
      'Bedrooms: is missing',
      'Images: takes a list of addresses, not ["a",1]',
      'SalePrice: takes a number, not "5"',
    ])
    const key = { Key: 'A', KeyType: 'MlsNumber' as 'URL' }
    expect(await problemsOf(client.update({ SerialNumber, ...testListing(), ...key }))).toEqual([
      'KeyType: takes NativeId or MLSNumber or URL, not "MlsNumber"',
    ])
    expect(await problemsOf(client.delete({ SerialNumber, KeyType: 'URL', Keys: 'A' as never }))).toEqual([
      'Keys: takes a list of texts, not "A"',
    ])
    expect(await problemsOf(client.list({ SerialNumber, PageSize: 1.5 }))).toEqual([
      'PageSize: takes a whole number, not 1.5',
    ])
    expect(standIn.requests).toEqual([])
  })

  test('what means nothing is not sent', async () => {
    const empty = { SerialNumber: ' ', ...testListing({ MLSNumber: '', Url: '' }) }
    const problems = ['SerialNumber', 'Url', 'MLSNumber'].map((name) => `${name}: must not be empty`)
    expect(await problemsOf(client.create(empty))).toEqual(problems)
    expect(await problemsOf(client.update({ ...empty, Key: '', KeyType: 'URL' }))).toEqual([
      ...problems,
      'Key: must not be empty',
    ])
    expect(await problemsOf(client.list({ SerialNumber, MLSNumber: '' }))).toEqual(['MLSNumber: must not be empty'])
    const keys = (Keys: string[]) => problemsOf(client.delete({ SerialNumber, Keys, KeyType: 'MLSNumber' }))
    expect(await keys([])).toEqual(['Keys: must not be empty'])
    expect(await keys(['A-1', ''])).toEqual(['Keys: has an empty entry, number 2'])
    expect(await problemsOf(client.edit({ serialNumber: '' }))).toEqual(['serialNumber: must not be empty'])
    expect(standIn.requests).toEqual([])
  })

  test('an optional field may be sent empty, which clears it', async () => {
    const listing = testListing({
      Tours: '3D',
      SpaceType: 'Room',
      Description: 'Bright',
      Images: ['https://i.example/1'],
    })
    await client.create({ SerialNumber, ...listing })
    const cleared: ListingInput = { ...listing, Tours: '', SpaceType: '', Description: '', Images: [] }
    await client.update({ SerialNumber, ...cleared, Key: 'A-17', KeyType: 'MLSNumber' })
    const [{ Tours, SpaceType, Description, Images }] = standIn.listings(SerialNumber).map((row) => row.listing)
    expect([Tours, SpaceType, Description, Images]).toEqual([undefined, undefined, undefined, undefined])
  })

  test('a call may have a time of its own', async () => {
    standIn.addFault({ fault: { kind: 'hang' } })
    const patient = new ListingServiceClient({ baseUrl: standIn.url, ...testKeys, attempts: 1 })
    await expect(patient.list({ SerialNumber }, { timeout: 20 })).rejects.toMatchObject({
      message: expect.stringContaining('The call took longer than 0.02 s'),
      operation: 'List',
      retryable: true,
    })
    await patient.close()
    for (const timeout of [0, -1, Number.NaN, Infinity])
      await expect(client.list({ SerialNumber }, { timeout })).rejects.toThrow(
        `timeout must be milliseconds, from 1 to 2147483647, not ${timeout}`,
      )
  })

  test('all listings, each once, whatever the size of a page', async () => {
    const numbers = Array.from({ length: 7 }, (_, index) => `A-${index}`)
    for (const MLSNumber of numbers) await client.create({ SerialNumber, ...testListing({ MLSNumber }) })
    for (const PageSize of [1, 3, 7, 100]) {
      const found: string[] = []
      for await (const { MLSNumber } of client.listAll({ SerialNumber, PageSize })) found.push(MLSNumber)
      expect(found.sort()).toEqual(numbers)
    }
    standIn.addFault({ operations: ['List'], page: 2, fault: { kind: 'status', status: 404 } })
    const few = new ListingServiceClient({ baseUrl: standIn.url, ...testKeys, rate: Infinity, attempts: 1 })
    const first = few.listAll({ SerialNumber, PageSize: 3 }).next()
    await expect(first).rejects.toThrow(/The list is incomplete: Page 2 was refused after a full one/)
    await few.close()
  })

  test('a Create whose answer was lost is not sent again, and the error says so', async () => {
    standIn.addFault({ operations: ['Create'], fault: { kind: 'reset', when: 'after-reading' } })
    const error = await client.create({ SerialNumber, ...testListing() }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ effect: 'unknown', message: expect.stringContaining('look it up first') })
    expect(standIn.counts.Create).toBe(1)
  })
})

describe('Edit', () => {
  const settings: Required<ChatbotSettings> = {
    Name: 'Cedar',
    Model: 'model-1',
    SystemMessage: 'Answer from the listings. {"json": {listings}}',
    Temperature: 1,
    TimeZone: 'America/Chicago',
    AnswerSuffix: '',
    ChatProfilePicture: '17',
    ChatIcon: '18',
    ChatBubbleAlign: 2,
    ChatBubbleColor: 'rgb(0,120,255)',
    ChatbotPopupOnce: true,
    ChatbotPrivacyPolicyDescription: 'a',
    ChatbotPrivacyPolicyName: 'b',
    ChatbotPrivacyPolicyUrl: 'https://homes.example/privacy',
    EnablePushToTalk: false,
    EnableUploadImage: true,
    FacebookUrl: 'https://facebook.example/a',
    InstagramUrl: 'https://instagram.example/a',
    RemoveChatLogOnBrowserClose: false,
    SuggestedMessage: 'What is new?',
    TalkToHumanEmail: 'agent@homes.example',
    TalkToHumanResponseMessage: 'One moment',
    UserInputPlaceholder: 'Ask',
    UserMessageColor: 'rgb(255,255,255)',
    WelcomeMessage: 'Hello',
    WhatsappUrl: 'https://wa.example/1',
    VerifyDomain: true,
    Domains: 'homes.example',
    RateLimitCount: 20,
    RateLimitMessage: 'Slowly',
    RateLimitTime: 60,
    CustomDomain: 'chat.homes.example',
    EmailForDailyChatLogs: 'logs@homes.example',
    EmailForDailyLeads: 'leads@homes.example',
    AIResponseLanguage: 'English',
    MessageLimit: -1,
  }

  test('sends every field of the table', async () => {
    await client.edit({ serialNumber: SerialNumber, ...settings })
    expect(standIn.settings(SerialNumber)).toMatchObject(settings)
  })

  test('what the document forbids is not sent', async () => {
    const wrong = {
      serialNumber: SerialNumber,
      WelcomMessage: 'x',
      Name: 5,
      Temperature: 0.5,
      VerifyDomain: 'yes',
      ChatBubbleColor: '#0078FF',
      UserMessageColor: 'rgb(0,0,256)',
      AIResponseLanguage: 'en-US',
    }
    expect((await problemsOf(client.edit(wrong as never))).toSorted()).toEqual([
      'AIResponseLanguage: takes the full name of a language, such as English',
      'ChatBubbleColor: takes rgb(r,g,b): write rgb(0,120,255)',
      'Name: takes text; put it in quotes, exactly as it is spelled',
      'Temperature: takes a whole number',
      'UserMessageColor: takes 0 to 255 for each part, not "rgb(0,0,256)"',
      'VerifyDomain: takes true or false',
      'WelcomMessage: unknown key; did you mean "WelcomeMessage"?',
    ])
    expect(await problemsOf(client.edit({} as never))).toEqual(['serialNumber: takes text'])
    expect(await problemsOf(client.edit({ serialNumber: 'A', ChatBubbleColor: 'rgb(1, 2, 3)' }))).toEqual([
      'ChatBubbleColor: takes rgb(r,g,b), spelled exactly so: write rgb(1,2,3)',
    ])
    expect(await problemsOf(client.edit({ serialNumber: 'A', ChatBubbleColor: 'blue' }))).toEqual([
      'ChatBubbleColor: takes a colour as rgb(r,g,b), such as rgb(0,120,212)',
    ])
    expect(standIn.requests).toEqual([])
  })

  test('is sent again where its answer was lost; another number than 1 is no success', async () => {
    const server = await startServer((_, number) => (number === 1 ? 'reset' : { body: success(number === 2 ? 1 : 0) }))
    const { log, lines } = keepLog()
    const clock = new ManualClock(20_000)
    const other = new ListingServiceClient({
      baseUrl: server.baseUrl,
      timeout: 1_000_000,
      runtime: { clock, log, random: () => 0.5 },
    })
    await other.edit({ serialNumber: 'A', Name: 'B' })
    expect(server.seen.map(({ body }) => body)).toEqual([1, 2].map(() => ({ serialNumber: 'A', Name: 'B' })))
    expect(lines.join()).toContain('trying again')
    const refused = await other.edit({ serialNumber: 'A', Name: 'B' }).catch((thrown: unknown) => thrown)
    expect(refused).toBeInstanceOf(ServiceError)
    expect(refused).toMatchObject({ kind: 'refused', effect: 'none' })
    await other.close()
    await server.close()
  })
})

test('a client goes on after failures: each call is tried for itself', async () => {
  for (let i = 0; i < 3; i++) {
    const wrongKey = new ListingServiceClient({ baseUrl: standIn.url, secretKey: 'wrong', rate: Infinity })
    await expect(wrongKey.list({ SerialNumber })).rejects.toMatchObject({ kind: 'credentials' })
    await expect(wrongKey.list({ SerialNumber })).rejects.toMatchObject({ kind: 'credentials' })
    await wrongKey.close()
  }
  expect(standIn.counts.List).toBe(6)
})

test('a call by itself is tried as often as it may be, however many failures that are in a row', async () => {
  standIn.addFault({ fault: { kind: 'status', status: 503 } })
  const runtime = { clock: new ManualClock(20_000), random: () => 0.5 }
  const other = new ListingServiceClient({ baseUrl: standIn.url, timeout: 1_000_000, attempts: 12, runtime })
  await expect(other.list({ SerialNumber })).rejects.toMatchObject({ kind: 'transient', code: 503 })
  expect(standIn.counts.List).toBe(12)
  await other.close()
})

test('options that are undefined mean their default; numbers that mean nothing are refused, all at once', async () => {
  const options = { baseUrl: standIn.url, rate: undefined, timeout: undefined, secretKey: testKeys.secretKey }
  const other = new ListingServiceClient(options)
  expect(await other.list({ SerialNumber })).toEqual({ List: [], VirtualCount: 0 })
  await other.close()
  const wrong = { rate: 0, concurrency: -1, timeout: Number.NaN, attempts: 1.5, patience: -1, maxAnswerBytes: 0 }
  const problems = [
    'rate must be calls a second, above 0 (Infinity: no limit), not 0',
    'concurrency must be a whole number of calls, from 1, not -1',
    'attempts must be a whole number of attempts, from 1, not 1.5',
    'maxAnswerBytes must be a whole number of bytes, from 1, not 0',
    'patience must be milliseconds, from 0, not -1',
    'timeout must be milliseconds, from 1 to 2147483647, not NaN',
  ]
  const opened = () => new ListingServiceClient({ baseUrl: standIn.url, ...wrong })
  expect(opened).toThrow(UserError)
  expect(opened).toThrow(problems.join('; '))
})

test('an address or a key that can not be used is refused at once', () => {
  expect(() => new ListingServiceClient({ baseUrl: 'listings.example.com' })).toThrow(UserError)
  expect(() => new ListingServiceClient({ baseUrl: standIn.url, secretKey: 'a\nb' })).toThrow(UserError)
})

describe('bound to a chatbot', () => {
  test('each operation reaches that chatbot alone', async () => {
    standIn.seed('SN-2', [{ MLSNumber: 'A-17', City: 'Oxford' }])
    const bound = client.forChatbot(SerialNumber)
    const id = await bound.create(testListing())
    expect(await bound.update({ ...testListing({ SalePrice: 5 }), Key: 'A-17', KeyType: 'MLSNumber' })).toBe(1)
    expect((await bound.list()).VirtualCount).toBe(1)
    const all: string[] = []
    for await (const { SalePrice } of bound.listAll()) all.push(SalePrice)
    expect(all).toEqual(['5.00'])
    await bound.edit({ WelcomeMessage: 'Good day' })
    expect(standIn.settings(SerialNumber)).toEqual({ WelcomeMessage: 'Good day' })
    expect(await bound.delete({ Keys: [id], KeyType: 'NativeId' })).toBe(1)
    expect(standIn.listings(SerialNumber)).toEqual([])
    expect(standIn.listings('SN-2')).toHaveLength(1)
  })

  test('asks in a session, in one piece and streamed', async () => {
    standIn.seed(SerialNumber, [{ MLSNumber: 'A-17', City: 'Oxford' }])
    const bound = client.forChatbot(SerialNumber)
    const { content } = await bound.ask({ sessionID: 1, content: 'Hello' })
    let last: object = {}
    for await (const part of bound.askStreaming({ sessionID: 1, content: 'Hello' })) last = part
    expect(last).toMatchObject({ Answer: content })
  })

  test('no number, or another one in a body: nothing is sent', async () => {
    expect(() => client.forChatbot(' ')).toThrow('serialNumber: takes text that is not empty')
    expect(() => client.forChatbot(7 as never)).toThrow(RequestError)
    const bound = client.forChatbot(SerialNumber)
    const other = { SerialNumber: 'SN-2' }
    const calls = {
      Create: () => bound.create({ ...testListing(), ...other }),
      Update: () => bound.update({ ...testListing(), ...other, Key: 'A-17', KeyType: 'MLSNumber' } as never),
      List: () => bound.list(other as never),
      Delete: () => bound.delete({ Keys: ['A-17'], KeyType: 'MLSNumber', ...other } as never),
    }
    for (const [operation, call] of Object.entries(calls))
      await expect(call()).rejects.toThrow(`${operation}: SerialNumber: is that of forChatbot; leave it out`)
    await expect(bound.listAll(other as never).next()).rejects.toThrow(RequestError)
    await expect(bound.edit({ serialNumber: 'SN-2' } as never)).rejects.toThrow(RequestError)
    expect(standIn.requests).toEqual([])
  })

  test('a call has a signal and a time of its own', async () => {
    standIn.addFault({ fault: { kind: 'hang' } })
    const bound = client.forChatbot(SerialNumber)
    const stop = new AbortController()
    const waiting = bound.list({}, { signal: stop.signal })
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'ServiceError', operation: 'List', kind: 'stopped' })
    const create = bound.create(testListing(), { timeout: 20 })
    await expect(create).rejects.toMatchObject({ operation: 'Create', effect: 'unknown', retryable: false, code: null })
    await expect(bound.list({}, { timeout: Number.NaN })).rejects.toThrow('timeout must be milliseconds')
  })
})
