/** A live source (RESO Web API) in whole runs: load, changes, a walk of all keys, and what must never be deleted. */
import { afterEach, expect, test } from 'vitest'
import type { ProfileName } from '../../src/stand-in/reso/profiles.ts'
import { addHomes, startReso } from '../../src/stand-in/reso/server.ts'
import type { ResoFault } from '../../src/stand-in/reso/world.ts'
import { RunWorld } from '../support/run-world.ts'

const day = 86_400_000
const secret = 'the-secret-of-the-client-5512'
const token = 'the-token-of-the-feed-8841'

let world: RunWorld
let reso: Awaited<ReturnType<typeof startReso>>
let fault: (() => ResoFault | null) | null = null
afterEach(async () => {
  fault = null
  await reso.close()
  await world.end()
})

async function started(vendor: ProfileName, homes = 30, feed: Record<string, unknown> = {}): Promise<void> {
  world = await RunWorld.start()
  const { clock } = world
  reso = await startReso({
    vendor,
    token,
    client: { id: 'client', secret },
    now: () => clock.now(),
    fault: () => fault?.() ?? null,
  })
  addHomes(reso.world, homes)
  const auth =
    reso.tokenUrl === null ? { token } : { clientId: 'client', clientSecret: secret, tokenUrl: reso.tokenUrl }
  const filter = vendor === 'mlsgrid' ? { filter: "OriginatingSystemName eq 'actris'" } : { expand: ['Media'] }
  world.configure({ north: { preset: 'reso-web-api', source: { reso: reso.root, vendor, auth, ...filter }, ...feed } })
}

const vendors: ProfileName[] = ['mlsgrid', 'bridge', 'trestle', 'spark', 'crea', 'utah', 'generic']

test.each(vendors)('%s: load, changes, a walk that finds what is gone, and nothing left to do', async (vendor) => {
  await started(vendor)
  const first = await world.run('sync')
  expect(first).toMatchObject({ result: 'ok', error: null, counts: { create: 30, reject: 0 } })
  expect(world.listings()).toHaveLength(30)

  const keys = [...reso.world.records.keys()]
  world.clock.advance(60_000)
  reso.world.put(keys[0], { ListPrice: 1_234_000 })
  for (const key of keys.slice(1, 3)) reso.world.remove(key)
  // The second walk is the first one whose absences count.
  const second = await world.run('sync')
  expect(second).toMatchObject({ result: 'ok', counts: { update: 1, delete: 2 } })
  expect(world.listings()).toHaveLength(28)

  world.clock.advance(15 * 60_000)
  const third = await world.run('sync')
  expect(third).toMatchObject({ result: 'ok', counts: { create: 0, update: 0, delete: 0, unchanged: 28 } })
  expect(JSON.stringify([first, second, third])).not.toContain(secret)
})

test('a failure between the pages of a walk deletes nothing, and the next walk does', async () => {
  await started('generic', 120)
  await world.run('sync')
  await world.run('sync')
  for (const key of [...reso.world.records.keys()].slice(0, 2)) reso.world.remove(key)
  world.clock.advance(day + 1)
  let page = 0
  // Changes, the count, and the first page of keys arrive.
  fault = () => (++page > 4 ? { kind: 'html' } : null)
  const cut = await world.run('sync')
  expect(cut).toMatchObject({ error: null, counts: { delete: 0 }, delivery: { complete: false } })
  expect(cut.delivery.reasons.join()).toContain('answers with a page of HTML')
  fault = null
  expect(await world.run('sync')).toMatchObject({ result: 'ok', counts: { delete: 2 } })
})

test('a licence that shrinks is held by the guard, and another scope deletes nothing before its walk is accepted', async () => {
  await started('generic', 40)
  await world.run('sync')
  await world.run('sync')
  reso.world.licence = ({ City }) => City === 'Millbrook'
  world.clock.advance(day + 1)
  const held = await world.run('sync')
  expect(held).toMatchObject({ result: 'held', counts: { delete: 0 } })
  expect(world.listings()).toHaveLength(40)
})

test('a dry run asks the source and writes nothing', async () => {
  await started('trestle')
  const diff = await world.run('diff')
  expect(diff).toMatchObject({ result: 'changes', counts: { create: 30 } })
  expect(await world.run('sync')).toMatchObject({ counts: { create: 30 } })
})

test('pictures of MLS Grid are not passed on, and its mark is not shown', async () => {
  await started('mlsgrid', 3)
  await world.run('sync')
  for (const listing of world.listings()) {
    expect(listing).not.toHaveProperty('Images')
    expect(listing.MLSNumber).toMatch(/^147\d{4}$/)
  }
})

test('pictures are in the order of their numbers', async () => {
  await started('trestle', 1)
  await world.run('sync')
  const [{ Images }] = world.listings()
  expect(Images).toEqual([1, 2, 10].map((order) => `https://images.example.com/1/${order}.jpg`))
})

test('what may not be shown is not, a lease is for rent by its type alone, and a re-listed home replaces the old one', async () => {
  await started('generic', 6)
  const [hidden, noStreet, lease, old] = reso.world.records.keys()
  reso.world.put(hidden, { InternetEntireListingDisplayYN: false })
  reso.world.put(noStreet, { InternetAddressDisplayYN: false })
  // A price like a rent's says nothing, nor does one like a sale's.
  reso.world.put(lease, { PropertyType: 'Residential Lease', ListPrice: 250_000 })
  const before = { ...reso.world.records.get(old)!, PropertyType: 'Residential', ListPrice: 750 }
  reso.world.put(old, before)
  await world.run('sync')
  const numberOf = (key: string): string => String(reso.world.records.get(key)?.ListingId)
  const listing = (number: string) => world.listings().find(({ MLSNumber }) => MLSNumber === number)
  expect(listing(numberOf(hidden))).toBeUndefined()
  expect(listing(numberOf(noStreet))).toBeDefined()
  for (const field of ['Address', 'Latitude', 'Longitude'])
    expect(listing(numberOf(noStreet))).not.toHaveProperty(field)
  expect(listing(numberOf(lease))).toMatchObject({ SaleType: 'for_rent', RentPrice: 250_000 })
  expect(listing(numberOf(old))).toMatchObject({ SaleType: 'for_sale', SalePrice: 750 })

  const gone = numberOf(old)
  world.clock.advance(60_000)
  reso.world.remove(old)
  reso.world.put('7999999', { ...before, ListingId: '1999999' })
  await world.run('sync')
  expect(listing(gone)).toBeUndefined()
  expect(listing('1999999')).toMatchObject({ SalePrice: 750 })
})
