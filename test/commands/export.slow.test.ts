/** `export` and `backfill --from`, against the stand-in: what is saved comes back field by field, and nothing else is taken. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { savedFiles } from '../../src/config/saved.ts'
import { fieldRules, ownerKey } from '../../src/core/listing.ts'
import type { Listing } from '../../src/core/listing.ts'
import { resoHeader, resoRow } from '../../src/core/reso-row.ts'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import { dearer, homes, zillowFeed } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import { until } from '../support/until.ts'

let world: RunWorld
let out: string
beforeEach(async () => {
  world = await RunWorld.start()
  out = join(world.folder, 'saved')
  world.deliver(zillowFeed(homes(1, 12)))
})
afterEach(() => world.end())

const exported = (...words: string[]) => world.executed('export', '--feed', 'north', '--out', out, ...words)
const backfill = (...words: string[]) => world.executed('backfill', '--feed', 'north', '--from', out, ...words)

/** The listings as they lie in the service, by MLSNumber, without the mark, which names the run. */
function held(): Map<unknown, object> {
  return new Map(
    world.listings().map(({ ExtensionColumn = [], ...listing }) => {
      const own = (ExtensionColumn as { Key: string }[]).filter(({ Key }) => Key !== ownerKey)
      return [listing['MLSNumber'], { ...listing, ExtensionColumn: own }]
    }),
  )
}

/** The service loses every listing, and this machine its store. */
function loseAll(): void {
  for (const { MLSNumber } of world.listings()) world.standIn.remove(chatbot, String(MLSNumber))
  world.loseStore()
}

/** Every field of the interface filled, with what is hard to carry. */
const whole: StandInListing = {
  MLSNumber: 'X-1 & co',
  SaleType: 'for_rent',
  Status: 'PreOnMarket',
  CurrencySymbol: '€',
  PropertyType: 'Apartment, "top" floor',
  Bedrooms: 0,
  Bathrooms: 1.75,
  Url: 'https://homes.example.com/?a=1&b=2',
  YearBuilt: 1999,
  DaysOnMarket: 3,
  LotArea: 0,
  BuildingArea: 74.25,
  AreaUnit: 'Square Meters',
  ParkingSpots: 1,
  Images: ['https://p.example.com/1.jpg'],
  Tours: '3D',
  Description: 'Zwei Zimmer,\nBalkon "Süd" 🏡\\ &amp; mehr; 12345678901234567890',
  ExtensionColumn: [
    { Key: 'Pets', value: 'yes' },
    { Key: 'Empty', value: '' },
  ],
  Location: 'Am Park',
  Address: '=HYPERLINK("x")',
  City: 'Köln',
  State: 'NRW',
  ZIP: '05000',
  Latitude: 50.9375,
  Longitude: -6.9603,
  SalePrice: 1,
  UnitAreaPrice: 12.5,
  HOAMonth: 80,
  EstimatePrice: 2,
  RentPrice: 1234.56,
  SpaceType: 'Room',
  DepositFee: 2500,
}

describe('a round trip', () => {
  test('every listing comes back field by field, from a feed and from elsewhere; a second time nothing is sent', async () => {
    expect(fieldRules.filter(({ name }) => !(name in whole))).toEqual([])
    await world.run('backfill')
    const { Location: _, ...shown } = whole
    // Of somebody else: the store knows nothing of it, so its unit has to be said and its Location is lost.
    world.standIn.seed(chatbot, [shown])
    const before = held()
    expect(before.size).toBe(13)
    const saved = await exported('--area-unit', 'square-meters', '--format', 'json')
    expect(saved).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(saved.stdout)).toMatchObject({ feed: 'north', chatbot, folder: out, listings: 13, settings: 0 })
    loseAll()
    expect(held().size).toBe(0)

    expect(await backfill()).toMatchObject({ status: 0 })
    expect(held()).toEqual(before)
    expect([...held().values()].map((value) => (value as { AreaUnit: string }).AreaUnit).toSorted()).toEqual(
      ['Square Meters', ...Array.from({ length: 12 }, () => 'Square Feet')].toSorted(),
    )
    world.calls()
    expect(await backfill()).toMatchObject({ status: 0 })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  })

  test('what is there is adopted or put back, and nothing is deleted', async () => {
    await world.run('backfill')
    const before = held()
    await exported()
    world.loseStore()
    world.standIn.remove(chatbot, 'IA20000003')
    world.standIn.edit(chatbot, 'IA20000004', { SalePrice: 1 })
    world.standIn.seed(chatbot, [{ ...whole, MLSNumber: 'NEW' }])
    // A lost store waits before it creates, in case that an answer is on its way.
    await backfill()
    world.clock.advance(16 * 60_000)
    await backfill()
    const after = held()
    expect(after.get('NEW')).toMatchObject({ RentPrice: 1234.56 })
    after.delete('NEW')
    expect(after).toEqual(before)
    expect(world.calls()).toMatchObject({ Create: 13, Update: 1, Delete: 0 })
  })

  test('the next run of the feed goes on from it', async () => {
    await world.run('backfill')
    await exported()
    loseAll()
    await backfill()
    world.calls()
    world.deliver(zillowFeed([...homes(1, 11), dearer(homes(12, 12)[0])]))
    expect(await world.run()).toMatchObject({ result: 'ok' })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 1, Delete: 0 })
  })

  test('a saved listing says nothing of the others: what a delta said of them is still done', async () => {
    world.configure({ north: { delivery: 'delta' } })
    await world.run('backfill')
    await exported()
    const [first] = readFileSync(join(out, 'listings.jsonl'), 'utf8').split(/(?<=\n)/)
    const { MLSNumber } = JSON.parse(first) as { MLSNumber: string }
    const other = homes(1, 12).find(({ mlsNumber }) => mlsNumber !== MLSNumber)!
    world.deliver(zillowFeed([dearer(other)]))
    world.standIn.addFault({ operations: ['Update'], fault: { kind: 'status', status: 503 } })
    expect(await world.run()).toMatchObject({ result: 'partial' })
    world.standIn.clearFaults()
    // An export of one listing.
    for (const name of savedFiles) writeFileSync(join(out, name), first)
    const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as { files: object }
    const file = { bytes: Buffer.byteLength(first), sha256: createHash('sha256').update(first).digest('hex') }
    manifest.files = Object.fromEntries(savedFiles.map((name) => [name, file]))
    writeFileSync(join(out, 'manifest.json'), JSON.stringify(manifest))
    await backfill()
    expect(world.listing(other.mlsNumber)).toMatchObject({ SalePrice: other.price + 100 })
    expect(held().size).toBe(12)
  })

  test('settings that were applied are saved, and settings --file takes them', async () => {
    const file = join(world.folder, 'chatbot.yaml')
    const settings = {
      Name: 'Ada "A"',
      WelcomeMessage: 'Hi\nthere',
      MessageLimit: -1,
      VerifyDomain: false,
      SystemMessage: 'Say {{{listings}}} or {{0}}, not {',
    }
    writeFileSync(file, stringify(settings))
    await world.executed('settings', '--feed', 'north', '--file', file)
    expect((await exported()).stdout).toContain('0 listings and 5 settings')
    const saved: unknown = JSON.parse(readFileSync(join(out, 'settings.json'), 'utf8'))
    expect(saved).toEqual({ ...settings, SystemMessage: 'Say {{{listings}}} or {{0}}, not {' })
    const before = world.standIn.settings(chatbot)
    expect(before).toMatchObject({ SystemMessage: 'Say {{listings}} or {0}, not {' })
    world.loseStore()
    expect(await world.executed('settings', '--feed', 'north', '--file', join(out, 'settings.json'))).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('5 settings changed'),
    })
    expect(world.standIn.settings(chatbot)).toEqual(before)
    // Nothing to load is no load of nothing.
    expect(await backfill()).toMatchObject({ status: 1, stderr: expect.stringContaining('without listings') })
  })
})

describe('the files', () => {
  test('the CSV has the names of RESO, and a feed of it reads as the same homes', async () => {
    await world.run('backfill')
    const before = held()
    await exported()
    world.configure({
      north: { source: join(out, 'listings.csv'), preset: 'reso-csv', currency: 'USD', formerly: [] },
    })
    loseAll()
    const report = await world.run('backfill')
    expect(report.rejects).toEqual([])
    const names =
      'MLSNumber SaleType Status PropertyType Bedrooms Bathrooms Url YearBuilt DaysOnMarket LotArea BuildingArea AreaUnit ParkingSpots Description Address City State ZIP Latitude Longitude SalePrice RentPrice HOAMonth'
    const pick = (value: object | undefined) => names.split(' ').map((name) => (value as Record<string, unknown>)[name])
    for (const [key, value] of held()) expect(pick(value)).toEqual(pick(before.get(key)))
    expect(held().size).toBe(12)
  })

  test('a cell that would be a formula, quotes and lines', () => {
    const { MLSNumber, Address, Description, PropertyType, Longitude } = whole
    expect(resoHeader.endsWith('ExtensionColumn\r\n')).toBe(true)
    const row = resoRow({ MLSNumber, Address, Description, PropertyType, Longitude })
    expect(row).toContain(`"'=HYPERLINK(""x"")"`)
    expect(row).toContain('"Apartment, ""top"" floor"')
    expect(row).toContain(',-6.9603,')
    expect(resoRow(whole as Partial<Listing>)).toMatch(
      /^X-1 & co,Coming Soon,Residential Lease,"Apartment, ""top"" floor",1234.56,,€,/,
    )
    expect(row).toContain('"Zwei Zimmer,\nBalkon ""Süd""')
  })

  test('a secret of the configuration that the service shows is in none of them, and is named', async () => {
    await world.run('backfill')
    world.standIn.edit(chatbot, 'IA20000002', { Description: 'the key is test-secret-key!' })
    writeFileSync(join(world.folder, 's.yaml'), stringify({ Name: 'Ada', SystemMessage: 'never say test-secret-key' }))
    await world.executed('settings', '--feed', 'north', '--file', join(world.folder, 's.yaml'))
    const { status, stdout } = await exported()
    expect(status).toBe(4)
    expect(stdout).toContain('1 held a secret of the configuration, which was left out: IA20000002 (Description)')
    expect(stdout).toContain('SystemMessage')
    for (const name of readdirSync(out)) expect(readFileSync(join(out, name), 'utf8')).not.toContain('test-secret-key')
    expect(readdirSync(out).toSorted()).toEqual([...savedFiles, 'manifest.json'].toSorted())
    // All that the service shows: an ID and the derived members, too.
    expect(JSON.parse(readFileSync(join(out, 'shown.jsonl'), 'utf8').split('\n')[0])).toMatchObject({
      ID: expect.any(Number),
      Price: expect.any(String),
    })
  })
})

describe('what is no export', () => {
  const damages: [what: string, damage: () => void, problem: RegExp][] = [
    ['no folder', () => rmSync(out, { recursive: true }), /holds no manifest.json, which export writes last/],
    ['no manifest', () => rmSync(join(out, 'manifest.json')), /did not finish/],
    ['a foreign manifest', () => writeFileSync(join(out, 'manifest.json'), '{"name":"x"}'), /not as export writes it/],
    ['a manifest cut off', () => truncateSync(join(out, 'manifest.json'), 100), /not as export writes it/],
    [
      'a newer manifest',
      () => writeFileSync(join(out, 'manifest.json'), '{"kind":"listing-sync export","version":2}'),
      /of a newer listing-sync/,
    ],
    ['listings cut off', () => truncateSync(join(out, 'listings.jsonl'), 1000), /has 1000 bytes, and had \d+ when/],
    ['a listing more', () => appendFileSync(join(out, 'listings.jsonl'), '{}\n'), /bytes, and had/],
    [
      'a price changed',
      () => {
        const path = join(out, 'listings.jsonl')
        writeFileSync(path, readFileSync(path, 'utf8').replace(/"YearBuilt":1/, '"YearBuilt":2'))
      },
      /listings.jsonl was changed since it was exported/,
    ],
    ['no settings', () => rmSync(join(out, 'settings.json')), /settings.json can't be read/],
    [
      'a folder in place of a file',
      () => {
        rmSync(join(out, 'shown.jsonl'))
        mkdirSync(join(out, 'shown.jsonl'))
      },
      /shown.jsonl is no file/,
    ],
  ]

  test('each is refused with its file, and no call is made', async () => {
    await world.run('backfill')
    await exported()
    const good = join(world.folder, 'good')
    cpSync(out, good, { recursive: true })
    world.calls()
    for (const [what, damage, problem] of damages) {
      rmSync(out, { recursive: true, force: true })
      cpSync(good, out, { recursive: true })
      damage()
      const refused = await backfill()
      expect({ what, ...refused }).toMatchObject({ what, status: 1, stderr: expect.stringMatching(problem) })
      expect(world.calls(), what).toMatchObject({ Create: 0, List: 0 })
    }
  })

  test('a listing that lacks what the service requires is named by export and rejected by backfill; the others go', async () => {
    world.standIn.seed(chatbot, [
      { ...whole, MLSNumber: 'A' },
      { ...whole, MLSNumber: 'B', Status: 'Off' },
      { ...whole, MLSNumber: '' },
    ])
    const saved = await exported('--area-unit', 'square-meters')
    expect(saved).toMatchObject({
      status: 4,
      stdout: expect.stringContaining('backfill would reject it: B (Status)'),
    })
    expect(saved.stdout).toContain('1 without MLSNumber')
    loseAll()
    const filled = await backfill('--format', 'json')
    expect(filled.status).toBe(4)
    expect(filled.stdout).toContain('is missing; the service requires it')
    expect([...held().keys()]).toEqual(['A'])
  })
})

describe('no export is left', () => {
  test('where the folder holds something, or is a file', async () => {
    mkdirSync(out)
    writeFileSync(join(out, 'mine.txt'), 'mine')
    expect(await exported()).toMatchObject({ status: 1, stderr: expect.stringContaining('is not empty') })
    expect(readdirSync(out)).toEqual(['mine.txt'])
    rmSync(out, { recursive: true })
    writeFileSync(out, 'mine')
    expect(await exported()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('a part of its path is a file'),
    })
    rmSync(out)
    mkdirSync(out)
    expect(await exported()).toMatchObject({ status: 0 })
  })

  test('where AreaUnit is not known: the listings are named, and --area-unit mends it', async () => {
    await world.run('backfill')
    world.standIn.seed(chatbot, [whole])
    const { status, stderr } = await exported()
    expect(status).toBe(1)
    expect(stderr).toContain('AreaUnit of 1 listing is not known')
    expect(stderr).toContain('X-1 & co. Name it with --area-unit')
    expect(existsSync(out)).toBe(false)
    expect(await exported('--area-unit', 'square-meters')).toMatchObject({ status: 0 })
    expect(await exported('--area-unit', 'acres')).toMatchObject({ status: 64 })
  })

  test('where the list can not be read whole, or the service refuses', async () => {
    await world.run('backfill')
    world.standIn.changeProfile({ maxPageSize: 5 })
    world.standIn.addFault({ operations: ['List'], nth: 2, fault: { kind: 'credentials' } })
    expect(await exported()).toMatchObject({ status: 1, stderr: expect.stringContaining('nothing was exported') })
    expect(existsSync(out)).toBe(false)
  })

  test('where the list contradicts itself; a walk that was begun anew saves each listing once', async () => {
    world.deliver(zillowFeed(homes(1, 3)))
    await world.run('backfill')
    const ends = { whole: 0, again: 0, failed: 0 }
    for (let seed = 1; seed <= 12; seed++) {
      world.standIn.changeProfile({ order: 'shuffled', maxPageSize: 2, seed })
      world.standIn.resetCounts()
      const { status, stderr } = await exported()
      if (status === 1) {
        expect(stderr).toContain("the list can't be read whole, so nothing was exported: Page 2 shows")
        expect(existsSync(out)).toBe(false)
        ends.failed++
        continue
      }
      ends[world.standIn.counts.List > 3 ? 'again' : 'whole']++
      for (const name of ['listings.jsonl', 'shown.jsonl', 'listings.csv']) {
        const text = readFileSync(join(out, name), 'utf8')
        expect(text.match(/IA2000000\d\b/g)).toContain('IA20000003')
        expect(text.split('\n')).toHaveLength(name === 'listings.csv' ? 5 : 4)
      }
      rmSync(out, { recursive: true })
    }
    expect(ends.again).toBeGreaterThan(0)
    expect(ends.failed).toBeGreaterThan(0)
  })

  test('where Ctrl-C stops it in the middle', async () => {
    await world.run('backfill')
    world.standIn.addFault({ operations: ['List'], nth: 2, fault: { kind: 'hang' } })
    world.standIn.resetCounts()
    const stopped = await world.started(
      async (child) => {
        await until(() => world.standIn.counts.List >= 2)
        expect(readFileSync(join(out, 'listings.jsonl'), 'utf8').split('\n')).toHaveLength(13)
        expect(existsSync(join(out, 'manifest.json'))).toBe(false)
        child.kill('SIGINT')
      },
      'export',
      '--feed',
      'north',
      '--out',
      out,
    )
    expect(stopped).toMatchObject({ status: 1, stderr: expect.stringContaining('stopped by SIGINT') })
    expect(existsSync(out)).toBe(false)
  })
})

test('--from goes with one feed, and a wrong command line is said', async () => {
  world.configure({ north: {}, south: { chatbot: 'SN-2' } })
  expect(await world.executed('backfill', '--from', out)).toMatchObject({ status: 64 })
  expect(await world.executed('backfill', 'north', 'south', '--from', out)).toMatchObject({ status: 64 })
  expect(await world.executed('export', '--feed', 'north')).toMatchObject({ status: 64 })
  expect(await world.executed('export', '--feed', 'west', '--out', out)).toMatchObject({ status: 64 })
})
