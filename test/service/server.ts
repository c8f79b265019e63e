import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Listing } from '../../src/core/listing.ts'
import type { Log } from '../../src/core/machine.ts'
import { Endpoint, ServiceClient } from '../../src/service/client.ts'
import { Limiter } from '../../src/core/limiter.ts'
import type { Chatbot } from '../../src/service/service.ts'
import type { ServiceSettings } from '../../src/service/settings.ts'
import { ManualClock } from './clock.ts'

/** A request as the server saw it. */
export interface Seen {
  path: string
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
}

/** The reaction to a request: an answer, nothing, or a closed connection, perhaps after a cut body. */
export type Reply =
  | { status?: number; headers?: Record<string, string>; body: string | Buffer | object }
  | 'silence'
  | 'reset'
  | { cut: string }

export interface TestServer {
  baseUrl: string
  seen: Seen[]
  /** Resolves after so many requests. */
  received(count: number): Promise<void>
  close(): Promise<void>
}

/** A real HTTP server on loopback that answers as `reply` says. */
export async function startServer(reply: (seen: Seen, number: number) => Reply): Promise<TestServer> {
  const seen: Seen[] = []
  const server = createServer((request, response) => void answer(request, response))
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = { path: request.url!, headers: request.headers, body: JSON.parse(await text(request)) }
    seen.push(call)
    server.emit('seen')
    const answer = reply(call, seen.length)
    if (answer === 'reset') request.socket.destroy()
    else if (answer !== 'silence' && 'cut' in answer)
      response.writeHead(200, { 'content-length': 1000 }).write(answer.cut, () => request.socket.destroy())
    else if (answer !== 'silence') {
      const isRaw = typeof answer.body === 'string' || Buffer.isBuffer(answer.body)
      response.writeHead(answer.status ?? 200, answer.headers).end(isRaw ? answer.body : JSON.stringify(answer.body))
    }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${portOf(server)}/api/`,
    seen,
    async received(count) {
      while (seen.length < count) await once(server, 'seen')
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export function portOf(server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server does not listen on a port')
  return address.port
}

export const success = (data: unknown) => ({ Data: data, Version: '1.0.0', Success: true, Code: 200, Message: '' })
export const refusal = (code: number, message: string) => ({
  Data: null,
  Version: '1.0.0',
  Success: false,
  Code: code,
  Message: message,
})

/** A log that keeps its lines as text. */
export function keepLog(): { log: Log; lines: string[] } {
  const lines: string[] = []
  const keep = (...args: unknown[]) => void lines.push(JSON.stringify(args))
  return { lines, log: { debug: keep, info: keep, warn: keep, error: keep } }
}

export interface TestWorld {
  server: TestServer
  client: ServiceClient
  limiter: Limiter
  /** The client for one run over this chatbot. */
  chatbot(this: void, serialNumber: string, run?: Partial<Parameters<ServiceClient['chatbot']>[1]>): Chatbot
  clock: ManualClock
  lines: string[]
}

export const testKeys = { secretKey: 'secret-Zq71', sessionKey: 'session-Kp93' }

/** Settings without a rate limit, whose waits take no time on a jumping clock. */
export function testSettings(baseUrl: string, settings: Partial<ServiceSettings> = {}): ServiceSettings {
  return {
    baseUrl,
    ...testKeys,
    ca: null,
    maxAnswerBytes: 32 * 1024 * 1024,
    timeout: 1_000_000,
    concurrency: 4,
    rate: Infinity,
    profile: { pageSize: 100, deleteBatch: 50, virtualCount: 'unknown', clear: 'empty', nativeId: 'unknown' },
    patience: 60_000,
    attempts: 4,
    backoff: { base: 500, max: 10_000 },
    ...settings,
  }
}

/** The client for one run over a chatbot, without a mark. */
export function chatbotOf(
  client: ServiceClient,
  { profile }: Pick<ServiceSettings, 'profile'>,
  serialNumber: string,
  run: Partial<Parameters<ServiceClient['chatbot']>[1]> = {},
): Chatbot {
  return client.chatbot(serialNumber, { profile, volatile: new Set(['DaysOnMarket']), mark: null, ...run })
}

/** A server, and a client that calls it. */
export async function startWorld(
  reply: (seen: Seen, number: number) => Reply,
  differing: Partial<ServiceSettings> = {},
): Promise<TestWorld> {
  const server = await startServer(reply)
  const clock = new ManualClock(20_000)
  const { log, lines } = keepLog()
  const settings = testSettings(server.baseUrl, differing)
  const limiter = new Limiter(clock, settings.rate)
  const endpoint = new Endpoint(settings, clock, undefined, limiter)
  const client = new ServiceClient(settings, { clock, random: () => 0.5, log }, endpoint)
  return {
    server,
    client,
    limiter,
    chatbot: (serialNumber, run) => chatbotOf(client, settings, serialNumber, run),
    clock,
    lines,
  }
}

export async function stopWorld({ server, client }: TestWorld): Promise<void> {
  await client.close()
  await server.close()
}

/** A listing with every required field and a few others. */
export function testListing(overrides: Partial<Listing> = {}): Listing {
  return {
    SaleType: 'for_sale',
    Status: 'Active',
    CurrencySymbol: '$',
    PropertyType: 'House',
    Bedrooms: 3,
    Bathrooms: 2.5,
    Url: 'https://homes.example/17',
    MLSNumber: 'A-17',
    YearBuilt: 1987,
    DaysOnMarket: 12,
    LotArea: 7405,
    BuildingArea: 1850,
    AreaUnit: 'Square Feet',
    ParkingSpots: 2,
    Images: ['https://img.example/1.jpg', 'https://img.example/2.jpg'],
    Description: 'Bright & quiet',
    SalePrice: 349900,
    ...overrides,
  }
}

/** The listing as a service may show it. */
export function testItem(id: number, overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    ID: id,
    PropertyType: 'House',
    SaleType: 'For Sale',
    Status: 'Active',
    Images: '["https://img.example/1.jpg","https://img.example/2.jpg"]',
    CurrencySymbol: '$',
    Price: '349,900',
    State: '',
    City: '',
    Address: '',
    ZIP: '',
    LATITUDE: 0,
    LONGITUDE: 0,
    Area: '1,850 sqft',
    Bathrooms: '2.5',
    Bedrooms: '3',
    Url: 'https://homes.example/17',
    Tours: '',
    YearBuilt: '1987',
    MLSNumber: `A-${id}`,
    DaysOnMarket: '12',
    LotArea: '7405.00',
    BuildingArea: '1850.00',
    ParkingSpots: '2',
    Description: 'Bright &amp; quiet',
    ExtensionColumn: '',
    RentPrice: '',
    SpaceType: '',
    DepositFee: '',
    SalePrice: '349900.00',
    UnitAreaPrice: '',
    EstimatePrice: '',
    HOAMonth: '',
    ...overrides,
  }
}
