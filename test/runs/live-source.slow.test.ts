/** A live source (RESO Web API) in whole runs: load, changes, a walk of all keys, and what must never be deleted. */
import { afterEach, expect, test } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import type { ProfileName } from '../../src/stand-in/reso/profiles.ts'
import { addHomes, startReso } from '../../src/stand-in/reso/server.ts'
import type { ResoFault } from '../../src/stand-in/reso/world.ts'
import { RunWorld } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'

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

/** The same, after its first load and the walk that follows. */
async function loaded(...of: Parameters<typeof started>): Promise<void> {
  await started(...of)
  for (const _run of [1, 2]) await world.run('sync')
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

const failures: [ResoFault, RegExp][] = [
  [{ kind: 'html' }, /answers with a page of HTML/],
  [{ kind: 'cut', share: 0.5 }, /gave no whole answer/],
]
test.each(failures)(
  '%j between the pages of a walk deletes nothing, and the next walk does',
  async (wrong, sentence) => {
    await loaded('generic', 120)
    for (const key of [...reso.world.records.keys()].slice(0, 2)) reso.world.remove(key)
    world.clock.advance(day + 1)
    let page = 0
    // Changes, the count, and the first page of keys arrive.
    fault = () => (++page > 4 ? wrong : null)
    const cut = await world.run('sync')
    expect(cut).toMatchObject({ error: null, counts: { delete: 0 }, delivery: { complete: false } })
    expect(cut.delivery.reasons.join()).toMatch(sentence)
    fault = null
    expect(await world.run('sync')).toMatchObject({ result: 'ok', counts: { delete: 2 } })
  },
)

test('status says why a run was partial, though nothing is held for it', async () => {
  await loaded('generic', 20)
  reso.world.options.countOff = 5
  world.clock.advance(day + 1)
  expect(await world.run('sync')).toMatchObject({ result: 'partial', counts: { hold: 0 } })
  expect((await world.executed('status')).stdout).toContain(
    'The last delivery was not complete: the walk of all keys proves nothing: 20 keys came, and the source counts 25',
  )
})

test('a licence that shrinks is held by the guard, and another scope deletes nothing before its walk is accepted', async () => {
  await loaded('generic', 40)
  reso.world.licence = ({ City }) => City === 'Millbrook'
  world.clock.advance(day + 1)
  const held = await world.run('sync')
  expect(held).toMatchObject({ result: 'held', counts: { delete: 0 } })
  expect(world.listings()).toHaveLength(40)
  // Until the next walk nothing tells of what is held: each run says that it is.
  world.clock.advance(day / 2)
  const between = await world.run('sync')
  expect(between).toMatchObject({ result: 'held', counts: { delete: 0, hold: 0 } })
  expect(between.notes).toContainEqual(expect.stringContaining(`${held.counts.hold} held by earlier runs stay held`))
  reso.world.licence = () => true
  world.clock.advance(day / 2)
  const back = await world.run('sync')
  expect(back).toMatchObject({ result: 'ok', counts: { unchanged: 40, hold: 0 } })
  expect(back.notes.join()).not.toContain('stay held')
})

test('between two walks a run says what waits for a record without MLSNumber, as the walk did, and how it goes', async () => {
  await loaded('generic', 10, { fields: { MLSNumber: 'ListingId' } })
  const [key] = reso.world.records.keys()
  const home = reso.world.records.get(key)!
  reso.world.remove(key)
  reso.world.put('7999999', { ...home, ListingId: '' })
  world.clock.advance(day + 1)
  const waits = expect.stringMatching(
    /^1 delete waits, as a record without MLSNumber may be this listing: .* now: listing-sync approve north$/,
  )
  const between = { result: 'partial', counts: { delete: 0, hold: 0 }, notes: expect.arrayContaining([waits]) }
  expect(await world.run('sync')).toMatchObject({ ...between, counts: { delete: 0, hold: 1 } })
  world.clock.advance(day / 4)
  expect(await world.run('sync')).toMatchObject(between)
  const { status, stdout } = await world.executed('sync', 'north')
  expect({ status, says: stdout.includes('1 delete waits, as a record') }).toEqual({ status: 4, says: true })
  await world.approve()
  expect(await world.run('sync')).toMatchObject({ counts: { delete: 1 } })
  expect((await world.run('sync')).notes).not.toContainEqual(waits)
})

test('another filter is loaded anew: nothing goes before a walk of it that the guard let pass', async () => {
  await loaded('generic', 40)
  const keys = [...reso.world.records.keys()]
  const filtered = (filter: string): void =>
    world.configure({
      north: {
        preset: 'reso-web-api',
        source: {
          reso: reso.root,
          vendor: 'generic',
          auth: { clientId: 'client', clientSecret: secret, tokenUrl: reso.tokenUrl },
          filter,
          expand: ['Media'],
        },
      },
    })
  // A load that ends early, a first walk, and a walk that the guard stops.
  filtered("City eq 'Millbrook'")
  fault = () => ({ kind: 'html' })
  expect(await world.run('sync')).toMatchObject({ result: 'failed', counts: { delete: 0 } })
  fault = null
  expect(await world.run('sync')).toMatchObject({ error: null, counts: { delete: 0 } })
  const held = await world.run('sync')
  expect(held).toMatchObject({ result: 'held', counts: { delete: 0 } })
  expect(world.listings()).toHaveLength(40)
  // One that is narrower by two records.
  for (const key of keys.slice(0, 2)) reso.world.put(key, { MlsStatus: 'elsewhere' })
  filtered("MlsStatus ne 'elsewhere'")
  world.clock.advance(60_000)
  const first = await world.run('sync')
  expect(first).toMatchObject({ error: null, counts: { delete: 0 } })
  expect(first.notes.join()).toContain('is loaded anew, and nothing is deleted for being absent')
  expect(await world.run('sync')).toMatchObject({ counts: { delete: 2 } })
  expect(world.listings()).toHaveLength(38)
})

test('a walk over all keys has the list of the service read, too: only marks may show what is gone', async () => {
  await started('generic', 30, { observe: '7d' })
  const daemon = openApp(world.context, { logLevel: 'error' })
  try {
    const lookedUp = async (after: number): Promise<number | null | undefined> => {
      world.clock.advance(after)
      return (await world.run('sync', 'north', daemon)).observed?.lookedUp
    }
    for (const _ of ['the load', 'a walk', 'what is left']) await lookedUp(60_000)
    expect(await lookedUp(60_000)).toBe(0)
    expect(await lookedUp(day + 1)).toBeNull()
    expect(await lookedUp(60_000)).toBe(0)
  } finally {
    await daemon.close()
  }
})

test('homes that come under new keys and numbers, as an MLS that moved has them, are held', async () => {
  await loaded('generic', 40)
  const homes = new Map(reso.world.records)
  for (const [key, home] of homes) {
    reso.world.remove(key)
    reso.world.put(`N${key}`, { ...home, ListingId: `N${String(home.ListingId)}`, OriginatingSystemName: 'actris2' })
  }
  world.clock.advance(day + 1)
  const moved = await world.run('sync')
  expect(moved).toMatchObject({ result: 'held', counts: { delete: 0 } })
  const held = await world.run('sync')
  expect(held).toMatchObject({ result: 'held', counts: { delete: 0 } })
  for (const number of [1_475_001, 1_475_040])
    expect(world.listings().map(({ MLSNumber }) => MLSNumber)).toContain(String(number))
})

test.each(['the same keys', 'new keys'])(
  'no home is there twice if half of them get other numbers under %s',
  async (keys) => {
    await loaded('generic', 40)
    for (const [key, home] of [...reso.world.records].slice(0, 20)) {
      if (keys === 'new keys') reso.world.remove(key)
      const to = keys === 'new keys' ? `N${key}` : key
      reso.world.put(to, { ...home, ListingKey: to, ListingId: `N${String(home.ListingId)}` })
    }
    // Long before the next walk is due.
    world.clock.advance(day / 2)
    const moved = await world.run('sync')
    expect(moved).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 40 } })
    expect(moved.notes.join()).toContain('20 of 40 homes came under other MLSNumbers')
    // Each walk is half a day off the hours at which the holds began.
    world.clock.advance(day)
    expect(await world.run('sync')).toMatchObject({ result: 'held', counts: { create: 0 } })
    world.clock.advance(0.9 * day)
    expect(await world.run('sync')).toMatchObject({ result: 'held', counts: { create: 0 } })
    world.clock.advance(0.9 * day)
    expect(await world.run('sync')).toMatchObject({ result: 'held', counts: { create: 0 } })
    world.clock.advance(0.2 * day)
    expect(await world.run('sync')).toMatchObject({ result: 'ok', counts: { create: 20, delete: 20 } })
    expect(world.listings()).toHaveLength(40)
  },
)

/** A run a quarter of an hour later. */
async function quarterLater(): Promise<ReadReport> {
  world.clock.advance(day / 96)
  return world.run('sync')
}

test('what a home is under another key counts with the next run, which walks, and two that stay make no walk due again', async () => {
  await loaded('generic', 40)
  const [[key, home], [, other]] = reso.world.records
  reso.world.remove(key)
  reso.world.put(`N${key}`, { ...home, ListPrice: 600_000 })
  expect(await quarterLater()).toMatchObject({ result: 'partial', counts: { hold: 2 } })
  expect(await quarterLater()).toMatchObject({ result: 'ok', counts: { update: 1, unchanged: 39 } })
  expect(world.listing(String(home.ListingId))).toMatchObject({ SalePrice: 600_000 })
  // Two records of one number that the source has.
  reso.world.put('other', { ...other, ListPrice: 700_000 })
  const walks = async (): Promise<number> => {
    reso.world.asked.length = 0
    expect(await quarterLater()).toMatchObject({ result: 'partial' })
    return reso.world.asked.filter((url) => url.includes('$select')).length
  }
  expect(await walks()).toBe(0)
  expect(await walks()).toBeGreaterThan(0)
  expect(await walks()).toBe(0)
})

test.each(['the same key', 'a new key'])(
  'a home that is listed anew with %s and another number is there twice until the next run alone',
  async (under) => {
    await loaded('generic', 40)
    const [[key, home]] = reso.world.records
    if (under === 'a new key') reso.world.remove(key)
    reso.world.put(under === 'a new key' ? `N${key}` : key, { ...home, ListingId: '1999999' })
    expect(await quarterLater()).toMatchObject({ result: 'ok', counts: { create: 1, delete: 0 } })
    expect(await quarterLater()).toMatchObject({ result: 'ok', counts: { delete: 1, unchanged: 40 } })
    expect(world.listings()).toHaveLength(40)
  },
)

test('of a very large source the old number waits for the walk of the day', async () => {
  await loaded('generic', 40)
  const app = openApp(world.context)
  const { records } = app.store()
  await records.keep('north', [], { ...(await records.progress('north'))!, walkedKeys: 20_001 })
  await app.close()
  const [[key, home]] = reso.world.records
  reso.world.put(key, { ...home, ListingId: '1999999' })
  expect(await quarterLater()).toMatchObject({ counts: { create: 1 } })
  expect(await quarterLater()).toMatchObject({ counts: { delete: 0 } })
  world.clock.advance(day)
  expect(await world.run('sync')).toMatchObject({ counts: { delete: 1 } })
})

test('a renumbered home that is held and edited before the next walk is not there twice', async () => {
  await loaded('generic', 20)
  const moved = [...reso.world.records].slice(0, 8)
  for (const [key, home] of moved) {
    reso.world.remove(key)
    reso.world.put(`N${key}`, { ...home, ListingKey: `N${key}`, ListingId: `N${String(home.ListingId)}` })
  }
  world.clock.advance(day)
  expect(await world.run('sync')).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 16 } })
  reso.world.put(`N${moved[0][0]}`, { ListPrice: 777_000 })
  world.clock.advance(day / 24)
  const between = await world.run('sync')
  expect(between).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 8 } })
  expect(between.changes.find(({ mlsNumber }) => mlsNumber === `N${String(moved[0][1].ListingId)}`)?.why).toContain(
    'its home has another MLSNumber, too',
  )
  world.clock.advance(3 * day)
  expect(await world.run('sync')).toMatchObject({ result: 'ok', counts: { create: 8, delete: 8 } })
  expect(world.listings()).toHaveLength(20)
})

test('refused creates, whose time is long over, make no walk due while deletes wait for theirs', async () => {
  await loaded('generic', 40, { limits: { growth: 10 } })
  const known = [...reso.world.records]
  for (const [key, home] of known.slice(0, 30)) {
    const number = `N${String(home.ListingId)}`
    reso.world.put(`N${key}`, {
      ...home,
      ListingKey: `N${key}`,
      ListingId: number,
      UnparsedAddress: `${number} New Street`,
    })
  }
  expect(await world.run('sync')).toMatchObject({ result: 'held', counts: { create: 0 } })
  expect(await world.executed('approve', 'north', '--refuse', '--yes')).toMatchObject({ status: 0 })
  world.clock.advance(4 * day)
  await world.run('sync')
  for (const [key] of known.slice(20)) reso.world.remove(key)
  world.clock.advance(day)
  expect((await world.run('sync')).notes.join()).toContain('would leave')
  world.clock.advance(day / 100)
  expect((await world.run('sync')).notes.join()).toContain('held by earlier runs stay held')
})

test.each(['backfill', 'list that is not whole'])(
  'what a walk tells is gone goes with the next sync after a %s',
  async (run) => {
    await started('generic', 30)
    world.standIn.changeProfile({ maxPageSize: 10 })
    await world.run('sync')
    await world.run('sync')
    reso.world.remove([...reso.world.records.keys()].at(-1)!)
    world.clock.advance(day)
    if (run !== 'backfill')
      world.standIn.addFault({ operations: ['List'], page: 2, fault: { kind: 'status', status: 500 } })
    expect(await world.run(run === 'backfill' ? 'backfill' : 'sync')).toMatchObject({ counts: { delete: 0 } })
    world.standIn.clearFaults()
    world.clock.advance(day / 4)
    expect(await world.run('sync')).toMatchObject({ result: 'ok', counts: { delete: 1, unchanged: 29 } })
  },
)

test('each night all keys are walked, however exactly a day apart the nights begin', async () => {
  await loaded('generic', 40)
  for (const [night, key] of [...reso.world.records.keys()].slice(0, 3).entries()) {
    world.clock.advance(day - 60_000)
    reso.world.remove(key)
    expect(await world.run('sync')).toMatchObject({ result: 'ok', counts: { delete: 1, unchanged: 39 - night } })
  }
})

test('squeezed words are those of the standard, and a word that nobody knows is a reject', async () => {
  await started('trestle', 12)
  const [lease, odd] = reso.world.records.keys()
  reso.world.put(lease, { PropertyType: 'Residential Lease', StandardStatus: 'Active Under Contract' })
  reso.world.put(odd, { PropertyType: 'Timeshare' })
  const report = await world.run('sync')
  expect(report).toMatchObject({ counts: { create: 11, reject: 1 } })
  const lets = world.listings().find(({ MLSNumber }) => MLSNumber === reso.world.records.get(lease)!.ListingId)
  expect(lets).toMatchObject({ SaleType: 'for_rent', Status: 'Active' })
})

/** How a timestamp comes to be older than the one that is kept. */
const wentBack: [string, (before: string, now: number) => [wrong: string, right: string]][] = [
  ['was in the future by mistake', (_, now) => ['2027-06-01T00:00:00Z', new Date(now).toISOString()]],
  [
    'is that of before, as the source was restored from its backup',
    (before, now) => [new Date(now).toISOString(), before],
  ],
]
test.each(wentBack)('what a record says counts, though its timestamp %s', async (_, stamps) => {
  await loaded('generic', 20)
  world.clock.advance(day)
  const [key, other] = reso.world.records.keys()
  const { ListingId, ModificationTimestamp, ...home } = reso.world.records.get(key)!
  const [wrong, right] = stamps(String(ModificationTimestamp), world.clock.now())
  const says = (ListPrice: number, stamp: string): void => {
    reso.world.records.set(key, { ...home, ListingId, ListPrice, ModificationTimestamp: stamp })
  }
  const price = (): unknown => world.listing(String(ListingId))?.SalePrice
  says(500_000, wrong)
  await world.run('sync')
  expect(price()).toBe(500_000)
  says(450_000, right)
  reso.world.put(other, { ListPrice: 1_234_000 })
  world.clock.advance(day)
  expect(await world.run('sync')).toMatchObject({ result: 'ok', counts: { update: 2 } })
  expect(price()).toBe(450_000)
  reso.world.put(key, { StandardStatus: 'Withdrawn' })
  expect(await quarterLater()).toMatchObject({ result: 'ok', counts: { delete: 1 } })
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
