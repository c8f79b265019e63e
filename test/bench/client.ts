/**
 * P8: processor time a call of our client beside a bare undici Pool, the same bodies to the same server, in turns. The
 * server is a process of its own, so that its time is not counted.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Pool } from 'undici'
import type { Listing } from '../../src/core/listing.ts'
import { listingBody } from '../../src/service/chatbot.ts'
import { ServiceClient } from '../../src/service/client.ts'
import { createOperation } from '../../src/service/operations.ts'
import { figure, median } from './measure.ts'

const parallel = 8
const callsARound = Number(process.argv[3])
const rounds = Number(process.argv[4])
const server = `
  const body = JSON.stringify({ Data: '4711', Version: '1.0.0', Success: true, Code: 200, Message: '' })
  require('node:http').createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(body))
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`

const profile = {
  pageSize: 100,
  deleteBatch: 50,
  virtualCount: 'unknown',
  clear: 'empty',
  nativeId: 'unknown',
} as const
const child = spawn(process.execPath, ['-e', server], { stdio: ['ignore', 'pipe', 'inherit'] })
const [port] = (await once(createInterface(child.stdout), 'line')) as [string]
const origin = `http://127.0.0.1:${port}`

const silent = (): void => undefined
const runtime = {
  clock: { now: () => Date.now(), sleep: () => new Promise<void>(silent) },
  random: () => 0.5,
  log: { debug: silent, info: silent, warn: silent, error: silent },
}
const client = new ServiceClient(
  {
    baseUrl: origin,
    secretKey: 'bench',
    sessionKey: null,
    ca: null,
    maxAnswerBytes: 32 * 1024 * 1024,
    concurrency: parallel,
    rate: Infinity,
    timeout: 30_000,
    attempts: 1,
    backoff: { base: 500, max: 30_000 },
    patience: 300_000,
  },
  runtime,
)
const chatbot = client.chatbot('BENCH', { profile, volatile: new Set(), mark: 'bench' })
const pool = new Pool(origin, { connections: parallel, pipelining: 1 })
const headers = { 'content-type': 'application/json', authorization: 'bench' }

/** A listing whose body is about 3 kB. */
function listing(number: number): Listing {
  return {
    MLSNumber: `B-${number}`,
    SaleType: 'for_sale',
    Status: 'Active',
    CurrencySymbol: '$',
    PropertyType: 'Residential',
    Bedrooms: 3,
    Bathrooms: 2,
    Url: `https://homes.example/${number}`,
    YearBuilt: 1987,
    DaysOnMarket: 12,
    LotArea: 9000,
    BuildingArea: 1800,
    AreaUnit: 'Square Feet',
    ParkingSpots: 2,
    SalePrice: 250_000 + number,
    Description: 'Brick ranch close to trails, schools & the river. '.repeat(16),
    Images: Array.from(
      { length: 25 },
      (_, photo) => `https://photos.example/large/listing-${number}/photo-${photo}.jpg`,
    ),
  }
}

const ours = (number: number): Promise<unknown> => chatbot.create(listing(number), silent)
const bodyOf = (number: number): string =>
  JSON.stringify({ SerialNumber: 'BENCH', ...listingBody(listing(number), 'bench', [], profile.clear) })

async function bare(number: number): Promise<unknown> {
  const request = { path: createOperation.path, method: 'POST', headers, body: bodyOf(number) } as const
  const response = await pool.request(request)
  return response.body.json()
}

/** Microseconds of processor time a call. */
async function processorTime(call: (number: number) => Promise<unknown>): Promise<number> {
  let next = 0
  const start = process.cpuUsage()
  const caller = async (): Promise<void> => {
    while (next < callsARound) await call(next++)
  }
  await Promise.all(Array.from({ length: parallel }, caller))
  const { user, system } = process.cpuUsage(start)
  return (user + system) / callsARound
}

const times: { ours: number[]; bare: number[] } = { ours: [], bare: [] }
for (let round = 0; round < rounds; round++) {
  times.bare.push(await processorTime(bare))
  times.ours.push(await processorTime(ours))
}
const title = `a call, body of ${bodyOf(0).length} bytes, ${parallel} in parallel`
figure('P8', `${title}: the client`, median(times.ours), 'µs')
figure('P8', `${title}: client / bare undici Pool.request`, median(times.ours) / median(times.bare), '×', { most: 1.3 })
await client.close()
await pool.destroy()
child.kill()
