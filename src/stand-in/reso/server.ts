/** A RESO Web API on this machine: `ResoWorld` behind HTTP, and sample homes for it. */
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import { seededRandom } from '../random.ts'
import { ResoWorld } from './world.ts'
import type { ResoOptions } from './world.ts'

/** Starts the API on 127.0.0.1; port 0: any that is free. */
export async function startReso({ port = 0, ...options }: ResoOptions & { port?: number }) {
  const world = new ResoWorld(options)
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
      )
      const answer = world.answer({ method: request.method ?? 'GET', url: request.url ?? '/', headers, body })
      const isPacked = (headers['accept-encoding'] ?? '').includes('gzip')
      const bytes = isPacked ? gzipSync(answer.body) : Buffer.from(answer.body)
      const packed = isPacked ? { 'content-encoding': 'gzip' } : {}
      response.writeHead(answer.status, { ...answer.headers, ...packed, 'content-length': bytes.length })
      if (answer.cutAt === undefined) response.end(bytes)
      else
        response.write(bytes.subarray(0, Math.floor((answer.cutAt / answer.body.length) * bytes.length)), () =>
          response.destroy(),
        )
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  world.root = `${origin}/odata`
  return {
    world,
    root: world.root,
    tokenUrl: world.profile.token === null ? null : `${origin}${world.profile.token.path}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const part of request) chunks.push(part as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

const streets = ['Oak Street', 'Mill Lane', 'Harbor Drive', 'Prairie Avenue', 'Juniper Court', 'Cedar Road']
const cities = ['Cedar Valley', 'Millbrook', 'Harbor Point']

const hour = 3_600_000

/** Adds so many invented homes, the same for the same seed; the last one changed an hour ago, each before it an hour earlier. */
export function addHomes(world: ResoWorld, count: number, seed = 1): void {
  const random = seededRandom(seed)
  const upTo = (most: number): number => Math.floor(random() * most)
  for (let n = 1; n <= count; n++) {
    const { mark } = world.profile
    const isLease = upTo(8) === 0
    const fields = {
      ListingId: `${mark}${1_475_000 + n}`,
      OriginatingSystemName: 'actris',
      PropertyType: isLease ? 'Residential Lease' : 'Residential',
      PropertySubType: upTo(4) === 0 ? 'Condominium' : 'Single Family Residence',
      StandardStatus: ['Active', 'Active', 'Active', 'Active Under Contract', 'Coming Soon'][upTo(5)],
      ListPrice: isLease ? 1500 + 50 * upTo(40) : 250_000 + 1000 * upTo(600),
      BedroomsTotal: 1 + upTo(5),
      BathroomsFull: 1 + upTo(3),
      BathroomsHalf: upTo(2),
      LivingArea: 800 + upTo(3000),
      LivingAreaUnits: 'Square Feet',
      LotSizeAcres: (1 + upTo(90)) / 100,
      YearBuilt: 1950 + upTo(75),
      DaysOnMarket: upTo(120),
      ParkingTotal: upTo(4),
      GarageSpaces: 0,
      UnparsedAddress: `${100 + n} ${streets[upTo(streets.length)]}`,
      City: cities[upTo(cities.length)],
      StateOrProvince: 'TX',
      Country: 'US',
      PostalCode: String(78_600 + upTo(99)),
      Latitude: 30 + random(),
      Longitude: -98 + random(),
      PublicRemarks: 'A home that was made up, with a porch and a view of the creek.',
      ListingURL: `https://homes.example.com/${1_475_000 + n}`,
      ListOfficeName: 'Prairie & Pine Realty',
      Heating: ['Central', 'Natural Gas'],
      Appliances: [],
      Furnished: null,
      Media: [10, 2, 1].map((order) => ({
        MediaKey: `${n}-${order}`,
        MediaCategory: 'Photo',
        Order: String(order),
        MediaURL: `https://images.example.com/${n}/${order}.jpg`,
      })),
    }
    world.put(`${mark}${7_000_000 + n}`, fields, { ago: (count + 1 - n) * hour })
  }
}
