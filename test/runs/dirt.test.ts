/** Whole runs over HTTP with feeds that are odd in a way that must not hurt. */
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/sqlite.ts'
import { resoRow, resoTable, zillowDocument, zillowHome } from '../support/delivery.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

let world: RunWorld
afterEach(() => world.end())

/** MLSNumbers that a URL, a path, a list of keys, a template or a number's reader would spoil. */
const odd = [
  'A/12/7',
  'A/12',
  '../../admin',
  'A 12  b',
  '00012',
  '12',
  '1e5',
  '#12?a=1&b=%20',
  'a,b;c|d',
  `"quoted" 'x'`,
  '<b>&</b>',
  'Tom & Jerry;',
  'Ñandú-7',
  'Nan\u0303du\u0301-7',
  'ñANDÚ-8',
  '東京-7',
  '🏠 7',
  '\u202Eabc',
  '__proto__',
  '${x}',
  'y'.repeat(300),
]
const escaped = (value: string): string => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const quoted = (value: string): string => `"${value.replaceAll('"', '""')}"`

describe.each([
  {
    preset: 'zillow',
    file: 'north.xml',
    feed: (homes: readonly string[], price: string) =>
      zillowDocument(...homes.map((number) => zillowHome(escaped(number), { 'ListingDetails/Price': price }))),
  },
  {
    preset: 'reso-csv',
    file: 'north.csv',
    feed: (homes: readonly string[], price: string) =>
      resoTable(...homes.map((number) => resoRow(quoted(number), { ListPrice: price }))),
  },
])('with $preset', ({ preset, file, feed }) => {
  test('odd MLSNumbers are created, found unchanged, updated and deleted to the letter', async () => {
    const limits = 'off'
    world = await RunWorld.start({ feeds: { north: { preset, source: `./${file}`, delivery: 'full', limits } } })
    const long = 'z'.repeat(501)
    const numbers = () => world.listings().map((item) => String(item['MLSNumber']))

    world.deliver(feed([...odd, long], '250000'), file)
    const created = await world.run()
    expect(created).toMatchObject({
      counts: { create: odd.length, reject: 1 },
      applied: { outcomes: { done: odd.length } },
    })
    expect(created.rejects).toEqual([
      {
        at: expect.any(String),
        mlsNumber: null,
        problems: [expect.stringMatching(/^MLSNumber: 'z{200}' needs 1 to 500/)],
      },
    ])
    expect(numbers().toSorted()).toEqual(odd.toSorted())

    world.calls()
    world.deliver(feed(odd, '250000'), file)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: odd.length }, changes: [] })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })

    world.deliver(feed(odd, '260000'), file)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: odd.length } })
    expect(world.listings().map((item) => item['SalePrice'])).toEqual(odd.map(() => 260_000))

    // Escaped once too often, as some exports are: it is the same listing.
    const twice = odd.map((number) => (number === 'Tom & Jerry;' ? 'Tom &amp;amp; Jerry;' : number))
    world.deliver(feed(twice, '260000'), file)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: odd.length } })

    const kept = odd.filter((_, index) => index % 3 === 0)
    world.deliver(feed(kept, '260000'), file)
    const deleted = await world.run()
    expect(deleted).toMatchObject({
      result: 'ok',
      counts: { delete: odd.length - kept.length, unchanged: kept.length },
    })
    expect(numbers().toSorted()).toEqual(kept.toSorted())

    world.calls()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: kept.length }, changes: [] })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  })

  test('text that was encoded twice is a note; repair mends what was sent, and the note is gone', async () => {
    const feedOptions = { preset, source: `./${file}`, delivery: 'full' }
    world = await RunWorld.start({ feeds: { north: feedOptions } })
    const city = preset === 'zillow' ? 'BasicDetails/Description' : 'PublicRemarks'
    const records = ['CafÃ© next door', 'Café next door', 'Plain'].map((text, index) =>
      preset === 'zillow' ? zillowHome(`M${index}`, { [city]: text }) : resoRow(`M${index}`, { [city]: text }),
    )
    world.deliver(preset === 'zillow' ? zillowDocument(...records) : resoTable(...records), file)
    const note = expect.stringContaining(
      '1 new or changed record holds text that was encoded twice (MLSNumber M0: "CafÃ©" for "Café")',
    )
    expect((await world.run('diff')).notes).toEqual([note])
    expect((await world.run()).notes).toEqual([note])
    expect(world.listing('M0')).toMatchObject({ Description: 'CafÃ© next door' })
    // Its bytes are known by now: nobody looks at them again.
    expect((await world.run()).notes).toEqual([])

    world.configure({ north: { ...feedOptions, repair: 'double-utf8' } })
    const mended = await world.run()
    expect(mended).toMatchObject({ result: 'ok', counts: { update: 1, unchanged: 2 } })
    expect(mended.notes.filter((text) => text.includes('encoded twice'))).toEqual([])
    expect(world.listing('M0')).toMatchObject({ Description: 'Café next door' })
    expect(world.listing('M1')).toMatchObject({ Description: 'Café next door' })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 3 }, notes: [] })
  })
})

test('values of one field that are left out for different reasons are told apart', async () => {
  world = await RunWorld.start()
  const prices = ['300,000 - 350,000', 'make an offer', 'Auction', '250000']
  world.deliver(
    zillowDocument(...prices.map((price, index) => zillowHome(`M${index}`, { 'ListingDetails/Price': price }))),
  )
  const why = "as it can't be read:"
  expect((await world.run()).notes).toEqual([
    expect.stringMatching(`^SalePrice was left out of 1 listing, ${why} is a range.*"300,000 - 350,000"\\)$`),
    expect.stringMatching(`^SalePrice was left out of 2 listings, ${why} is text in place.*"make an offer"\\)$`),
  ])
})

describe('thousands that the feed writes otherwise than its preset says', () => {
  const low = ' too low for a home, such as 207 for M0: if the feed writes thousands otherwise'
  const priced = (...prices: string[]): string =>
    zillowDocument(...prices.map((price, index) => zillowHome(`M${index}`, { 'ListingDetails/Price': price })))

  test('are told, by inspect and by the run, until the configuration says how it writes them', async () => {
    world = await RunWorld.start()
    world.deliver(priced('207.000', '214.500', '350.000'))
    expect((await world.executed('inspect', join(world.folder, 'north.xml'))).stdout.replaceAll(/\s+/g, ' ')).toContain(
      low,
    )
    expect((await world.run()).notes).toEqual([expect.stringContaining(low)])
    world.configure({
      north: { fields: { SalePrice: { from: 'ListingDetails/Price', numbers: { decimal: ',', group: '.' } } } },
    })
    expect((await world.run('diff')).notes.join()).not.toContain('too low')
  })

  test('are told of rents, too', async () => {
    world = await RunWorld.start()
    world.deliver(priced('1.200', '1.450', '950', '1.300').replaceAll('<Status>Active', '<Status>For Rent'))
    expect((await world.run()).notes).toEqual([expect.stringMatching(/^3 of 4 prices are too low .* 1\.2 for M0/)])
  })

  test.each([
    ['a few', ['207.000', '214.500', '350000', '420000']],
    ['rents', ['207', '214.50', '350.00'], 'For Rent'],
  ])('are not told of %s', async (_, prices, status = 'Active') => {
    world = await RunWorld.start()
    world.deliver(priced(...prices).replaceAll('<Status>Active', `<Status>${status}`))
    expect((await world.run()).notes).toEqual([])
  })
})

test('the note is in the reports that people read, whatever the feed has in it', async () => {
  world = await RunWorld.start()
  const hostile = zillowHome('M&#27;[2J1', { 'BasicDetails/Description': 'CafÃ©&lt;b&gt;&#x202E;x' })
  world.deliver(zillowDocument(hostile, zillowHome('M2', { 'BasicDetails/Description': 'CafÃ©&lt;i&gt;&#x202E;x' })))
  for (const form of ['text', 'markdown', 'html']) {
    const { stdout, stderr } = await world.executed('diff', '--format', form)
    expect(stdout + stderr).toMatch(/encoded twice/)
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
    if (form === 'html') expect(stdout).not.toMatch(/<[bi]>/)
  }
})

describe('a file that says that it is UTF-8, and is not', () => {
  const all = homes(1, 12)
  /** Bytes of windows-1252 in these places. */
  const spoilt = (feed: string, ...places: string[]): Buffer =>
    Buffer.from(
      places.reduce((text, place) => text.replaceAll(place, `\u00ef${place.slice(1)}`), feed),
      'latin1',
    )
  const [{ mlsNumber, city }] = all
  const numbers = (): string[] => world.numbers()

  test('names the homes that it spoils: no delete waits for them, and approving all that is held deletes none', async () => {
    world = await RunWorld.start({ feeds: { north: {} } })
    world.deliver(zillowFeed(all))
    await world.run()
    const before = numbers()
    world.deliver(spoilt(zillowFeed(all), city))
    const report = await world.run()
    const rejected = report.rejects.map((reject) => reject.mlsNumber)
    expect(rejected.length).toBeGreaterThan(0)
    expect(rejected).toEqual(all.flatMap((home) => (home.city === city ? home.mlsNumber : [])))
    expect(report.rejects[0].problems.join()).toContain('set "encoding: windows-1252"')
    expect(report.notes.join()).not.toContain('without MLSNumber')
    await world.executed('approve', 'north', '--yes')
    await world.run()
    expect(numbers()).toEqual(before)
  })

  test('of a number that it spoils nothing can be told', async () => {
    world = await RunWorld.start({ feeds: { north: {} } })
    world.deliver(spoilt(zillowFeed(all), mlsNumber))
    expect((await world.run()).rejects).toMatchObject([{ mlsNumber: null }])
  })
})

/** As where the number of the office is read as that of the listing. What is told and kept must not grow with their square. */
test.each(['full', 'delta'])(
  'records that have all one MLSNumber (%s) are held, and few of them told and kept',
  async (delivery) => {
    world = await RunWorld.start({ feeds: { north: { delivery } } })
    world.deliver(zillowFeed(homes(1, 4)))
    await world.run()
    const [office] = homes(99, 99)
    const wrong = Array.from({ length: 300 }, (_, i) => ({ ...office, price: office.price + i }))
    world.deliver(zillowFeed([...homes(1, 4), ...wrong]))
    const { counts, changes, delivery: read } = await world.run()
    expect([counts.hold, read.duplicates]).toEqual([300, 0])
    const reasons = changes.filter(({ kind }) => kind === 'hold').map(({ why }) => why)
    expect(new Set(reasons).size).toBe(1)
    expect(reasons[0]).toMatch(
      /^several records .* and differ \(record 5, [^)]*record 9, byte \d+ and 295 more\): correct/,
    )
    const store = openStore(join(world.folder, 'store.db'))
    const pending = (await store.deliveries.pendingOf('north', [office.mlsNumber])).get(office.mlsNumber)
    expect(pending?.delivered.length).toBe(delivery === 'delta' ? 20 : undefined)
    await store.close()
    // What was kept is held again until the feed says which is right.
    world.deliver(zillowFeed(homes(1, 4)))
    expect((await world.run()).counts.hold).toBe(delivery === 'delta' ? 20 : 0)
    world.deliver(zillowFeed([...homes(1, 4), office]))
    expect((await world.run()).counts).toMatchObject({ hold: 0, create: 1 })
    expect(world.numbers()).toHaveLength(5)
  },
)
