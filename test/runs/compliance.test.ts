/** What an MLS's rules let be shown, and numbers that two boards share, over whole runs. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { home, resoHeader, resoRow, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

const homes = (from: number, to: number, seed = 1): Home[] =>
  Array.from({ length: to - from + 1 }, (_, i) => home(from + i, seed))
const keys = (feed: readonly Home[], prefix = ''): string[] => feed.map((home) => prefix + home.mlsNumber).toSorted()

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
})
afterEach(() => world.end())

const numbers = (): string[] => world.numbers()

async function nothingLeft(...feeds: string[]): Promise<void> {
  world.calls()
  for (const feed of feeds) expect(await world.run('sync', feed)).toMatchObject({ result: 'ok' })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
}

describe('display opt-outs', () => {
  const all = homes(1, 12)
  const reso = { preset: 'reso-csv', source: './north.csv', volatile: { refresh: '365d' } }
  /** RESO rows with the two flags behind them; a home that has none of its own may be shown wholly. */
  const deliver = (flags: Record<string, string> = {}): void => {
    const rows = all.map((home) => resoRow(home).replace('\n', `,${flags[home.mlsNumber] ?? 'Y,Y'}\n`))
    const header = resoHeader().replace('\n', ',InternetEntireListingDisplayYN,InternetAddressDisplayYN\n')
    world.deliver(header + rows.join(''), 'north.csv')
  }

  test('take a listing off the service, or its street and coordinates, and back on', async () => {
    await world.end()
    world = await RunWorld.start({ standIn: { profile: { omitted: 'cleared' } }, feeds: { north: reso } })
    deliver()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 12 } })
    await nothingLeft('north')

    const [off, hidden] = [all[3].mlsNumber, all[5].mlsNumber]
    deliver({ [off]: 'N,Y', [hidden]: 'Y,N' })
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', counts: { delete: 1, update: 1 }, delivery: { removals: 1 } })
    const deleted = report.changes.find((change) => change.kind === 'delete')
    expect(deleted).toMatchObject({ mlsNumber: off, cause: 'feed-says-so' })
    expect(deleted?.why).toContain('the feed says not to display it (InternetEntireListingDisplayYN)')
    expect(numbers()).toEqual(keys(all.filter((home) => home.mlsNumber !== off)))
    const shown = JSON.stringify(world.listing(hidden))
    expect(shown).not.toContain(all[5].street)
    expect(shown).not.toContain(String(all[5].latitude))
    await nothingLeft('north')

    deliver()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, update: 1 } })
    expect(world.listing(hidden)).toMatchObject({ Address: all[5].street, Latitude: all[5].latitude })
    expect(numbers()).toEqual(keys(all))
  })

  test('that the service does not heed wholly, as it keeps numbers that are left out, are reported (S4)', async () => {
    world.configure({ north: reso })
    deliver()
    await world.run()
    await world.run()
    deliver({ [all[5].mlsNumber]: 'Y,N' })
    const { notes } = await world.run()
    expect(world.listing(all[5].mlsNumber)).not.toHaveProperty('Address')
    expect(notes.join('\n')).toContain('Latitude was cleared in 1 listing, but the service still shows it')
  })

  test('that a feed is told of later take effect on records that are as they were', async () => {
    world.configure({ north: reso })
    const soon = all.map((home, index) => (index < 2 ? { ...home, rental: false, status: 'Coming Soon' } : home))
    const rows = soon.map((home) => resoRow(home).replace('\n', `,${home === soon[4] ? 'No' : ''}\n`))
    world.deliver(resoHeader().replace('\n', ',SyndicateYN\n') + rows.join(''), 'north.csv')
    await world.run()
    expect(world.listing(soon[0].mlsNumber)).toMatchObject({ Status: 'PreOnMarket' })

    const removeWhen = [{ flag: { from: 'SyndicateYN', is: false }, why: 'its owner does not want it passed on' }]
    world.configure({ north: { ...reso, comingSoon: 'hide', removeWhen } })
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', counts: { delete: 3, unchanged: 9 } })
    expect(numbers()).toEqual(keys(soon.filter((_, index) => ![0, 1, 4].includes(index))))
    await nothingLeft('north')
  })
})

describe('images that may not be passed on', () => {
  test('are left out and counted where records are read, and no longer where they are skipped', async () => {
    const all = homes(1, 3)
    world.configure({ north: { imagesNotFrom: ['homes.example'] } })
    world.deliver(zillowFeed(all))
    const images = all.reduce((sum, home) => sum + home.photos, 0)
    const left = (count: number, of: string): string =>
      `imagesNotFrom: ${count} images of ${of} left out (homes.example ${count})`
    expect((await world.run('diff')).notes).toContain(left(images, '3 listings'))
    expect((await world.run()).notes).toContain(left(images, '3 listings'))
    for (const listing of world.listings()) expect(JSON.stringify(listing)).not.toContain('photos.homes.example')

    const dearer = [{ ...all[0], price: all[0].price + 100 }, ...all.slice(1)]
    world.deliver(zillowFeed(dearer))
    expect((await world.run()).notes).toContain(
      `${left(all[0].photos, '1 listing')}; 2 records that are as in the last run were not read and not counted`,
    )
    expect((await world.run()).notes.join()).not.toContain('imagesNotFrom')
  })
})

describe('two boards whose numbers collide in one chatbot', () => {
  const [northern, southern] = [homes(1, 12, 1), homes(1, 12, 2)]
  const url = { fields: { Url: { template: 'https://board.example/{ListingDetails/MlsId}' } } }
  const both = (south: object): void => {
    world.configure({ north: { volatile: { refresh: '365d' } }, south: { volatile: { refresh: '365d' }, ...south } })
    world.deliver(zillowFeed(northern), 'north.xml')
    world.deliver(zillowFeed(southern), 'south.xml')
  }

  test('without a prefix the second one holds, and touches nothing of the first', async () => {
    both({})
    await world.run('sync', 'north')
    const report = await world.run('sync', 'south')
    expect(report).toMatchObject({ counts: { hold: 12, create: 0, update: 0, delete: 0 } })
    expect(report.changes[0]).toMatchObject({ cause: 'other-feed' })
  })

  test('with one each feed has its own listings, to create, to update and to take off', async () => {
    both({ mlsPrefix: 'SOUTH-', ...url })
    expect(await world.run('sync', 'north')).toMatchObject({ result: 'ok', counts: { create: 12 } })
    expect(await world.run('sync', 'south')).toMatchObject({ result: 'ok', counts: { create: 12 } })
    expect(numbers()).toEqual([...keys(northern), ...keys(southern, 'SOUTH-')].toSorted())
    const [first, second, third] = southern
    expect(world.listing(`SOUTH-${first.mlsNumber}`)).toMatchObject({ Url: `https://board.example/${first.mlsNumber}` })
    await nothingLeft('north', 'south', 'north')

    const dearer = { ...second, price: second.price + 100 }
    const withdrawn = { ...third, status: 'Withdrawn' }
    world.deliver(zillowFeed([dearer, withdrawn, ...southern.slice(3)]), 'south.xml')
    const report = await world.run('sync', 'south')
    expect(report).toMatchObject({ result: 'ok', counts: { create: 0, update: 1, delete: 2 } })
    expect(report.changes.map((change) => change.mlsNumber).toSorted()).toEqual(keys([first, second, third], 'SOUTH-'))
    expect(numbers()).toEqual(
      [...keys(northern), ...keys(southern.slice(3), 'SOUTH-'), `SOUTH-${second.mlsNumber}`].toSorted(),
    )
    await nothingLeft('north', 'south')
  })

  test('a prefix given to a feed that runs already is held as a delivery of other numbers', async () => {
    both({ chatbot: 'SN-2' })
    await world.run('sync', 'south')
    both({ chatbot: 'SN-2', mlsPrefix: 'SOUTH-' })
    const report = await world.run('sync', 'south')
    expect(report).toMatchObject({ result: 'held', counts: { delete: 0 } })
    expect(report.changes.filter((change) => change.held === 'delete')).toHaveLength(12)
  })
})
