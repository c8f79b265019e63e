/** `placeholders`: what a listing that is new is sent with, where its record lacks what the interface requires. No fact. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
})
afterEach(() => world.end())

const feed = {
  source: './lots.csv',
  preset: 'mls-csv',
  currency: 'USD',
  delivery: 'full',
  volatile: { refresh: '365d' },
  defaults: { SaleType: 'for_sale', DaysOnMarket: 0, ParkingSpots: 0, BuildingArea: 0 },
  placeholders: [{ when: { PropertyType: 'Land' }, Bedrooms: 0, Bathrooms: 0, YearBuilt: 0 }, { YearBuilt: 1000 }],
}
const header = 'MLS #,Status,Type,Price,Beds,Baths,Year Built,Acres,Address,City,URL'
interface Row {
  id: string
  type?: string
  price?: number
  beds?: string
  year?: string
}
const rowOf = ({ id, type = 'Land', price = 90_000, beds = '', year = '' }: Row): string =>
  `${id},Active,${type},${price},${beds},${beds},${year},2,${id} Elm St,Springfield,https://a.example/${id}`

const deliver = (...rows: Row[]): void => world.deliver(`${[header, ...rows.map(rowOf)].join('\n')}\n`, 'lots.csv')

const lot = { id: 'LOT-1' }
const house = { id: 'HOME-1', type: 'Single Family', beds: '3' }

describe('placeholders', () => {
  test('go out in a Create, each by kind of property, and are marked in every report', async () => {
    world.configure({ north: feed })
    // A home without a number of bedrooms stays rejected.
    deliver(lot, house, { ...house, id: 'HOME-2', beds: '' })
    const { stdout } = await world.executed('diff')
    expect(stdout).toContain('Bedrooms 0 (placeholder), Bathrooms 0 (placeholder), YearBuilt 0 (placeholder)')
    const json = JSON.parse((await world.executed('diff', '--format', 'json')).stdout) as {
      changes: { mlsNumber: string; fields: object[] }[]
    }
    const sent = json.changes.find(({ mlsNumber }) => mlsNumber === 'HOME-1')?.fields
    expect(sent).toContainEqual({ field: 'YearBuilt', from: null, to: 1000, placeholder: true })
    expect(sent).toContainEqual({ field: 'Bedrooms', from: null, to: 3 })
    expect(await world.run()).toMatchObject({ counts: { create: 2 }, delivery: { rejects: 1 } })
    expect(world.listing('LOT-1')).toMatchObject({ Bedrooms: 0, YearBuilt: 0 })
    expect(world.listing('HOME-1')).toMatchObject({ Bedrooms: 3, YearBuilt: 1000 })
    expect(await world.run()).toMatchObject({ counts: { create: 0, update: 0, adopt: 0 } })
  })

  test('also where an address is made of a field that has one', async () => {
    const fields = { Url: { template: 'https://a.example/{PropertyType}/{MLSNumber}' } }
    const configure = (more: object): void =>
      world.configure({ north: { ...feed, fields, placeholders: { YearBuilt: 1000, PropertyType: 'Other', ...more } } })
    deliver({ ...house, type: '' })
    configure({})
    const missing = expect.stringContaining('Url: is missing')
    expect((await world.run()).rejects).toMatchObject([{ problems: [missing] }])
    configure({ Url: 'https://a.example/' })
    expect(await world.run()).toMatchObject({ counts: { create: 1 } })
    expect(world.listing('HOME-1')).toMatchObject({ PropertyType: 'Other', Url: 'https://a.example/' })
  })

  test('give way to a fact of the feed, which stays when the feed loses it', async () => {
    world.configure({ north: feed })
    deliver(house)
    await world.run()
    deliver({ ...house, year: '1967' })
    expect(await world.run()).toMatchObject({ counts: { update: 1 } })
    expect(world.listing('HOME-1')).toMatchObject({ YearBuilt: 1967 })
    deliver({ ...house, price: 80_000 })
    const report = await world.run()
    expect(report.changes[0].fields.map(({ field }) => field)).toEqual(['SalePrice'])
    expect(world.listing('HOME-1')).toMatchObject({ SalePrice: 80_000, YearBuilt: 1967 })
  })

  test('another placeholder in the configuration changes no listing that is there', async () => {
    world.configure({ north: feed })
    deliver(house)
    await world.run()
    world.configure({ north: { ...feed, placeholders: { YearBuilt: 2000 } } })
    expect(await world.run()).toMatchObject({ counts: { update: 0 } })
    expect(world.listing('HOME-1')).toMatchObject({ YearBuilt: 1000 })
  })

  test.each(['overwrite', 'report', 'keep'])(
    'a fact that somebody gives on the service stays (drift: %s)',
    async (drift) => {
      world.configure({ north: { ...feed, drift } })
      deliver(lot, house)
      await world.run()
      world.standIn.edit(chatbot, 'HOME-1', { YearBuilt: 1967 })
      const report = await world.run()
      expect(report).toMatchObject({ counts: { update: 0, adopt: 1, hold: 0 } })
      expect(report.changes[0].why).toContain('YearBuilt was given on the service')
      deliver(lot, { ...house, price: 80_000 })
      expect(await world.run()).toMatchObject({ counts: { update: 1 } })
      expect(world.listing('HOME-1')).toMatchObject({ SalePrice: 80_000, YearBuilt: 1967 })
      expect(await world.run()).toMatchObject({ counts: { update: 0, adopt: 0 } })
    },
  )

  test('a fact of a volatile field stays, too, when the feed loses it before its turn', async () => {
    world.configure({ north: { ...feed, volatile: { refresh: '365d', fields: ['YearBuilt'] } } })
    deliver(house)
    await world.run()
    deliver({ ...house, year: '1967' })
    expect(await world.run()).toMatchObject({ counts: { update: 0 } })
    deliver({ ...house, price: 80_000 })
    expect(await world.run()).toMatchObject({ counts: { update: 1 } })
    expect(world.listing('HOME-1')).toMatchObject({ SalePrice: 80_000, YearBuilt: 1967 })
  })

  test.each(['before', 'with'])(
    'a fact given on the service leaves a volatile field its turn (its record changed %s that)',
    async (when) => {
      world.configure({ north: { ...feed, volatile: { refresh: '7d', fields: ['SalePrice'] } } })
      deliver(house)
      await world.run()
      await world.run()
      deliver({ ...house, price: 80_000 })
      if (when === 'before') expect(await world.run()).toMatchObject({ counts: { update: 0, adopt: 0 } })
      world.standIn.edit(chatbot, 'HOME-1', { YearBuilt: 1967 })
      expect(await world.run()).toMatchObject({ counts: { update: 0, adopt: 1 } })
      for (let day = 1; day <= 8; day++) {
        world.clock.advance(86_400_000)
        expect(await world.run()).toMatchObject({ result: 'ok' })
      }
      expect(world.listing('HOME-1')).toMatchObject({ SalePrice: 80_000, YearBuilt: 1967 })
    },
  )

  test.each([
    ['price and year', 80_000],
    ['year only', 90_000],
  ])('edited on the service between two runs, beside a change of the feed (%s)', async (_, price) => {
    world.configure({ north: feed })
    deliver(house)
    await world.run()
    world.standIn.edit(chatbot, 'HOME-1', { YearBuilt: 1967, City: 'Elsewhere' })
    deliver({ ...house, price })
    await world.run()
    await world.run()
    expect(world.listing('HOME-1')).toMatchObject({ SalePrice: price, YearBuilt: 1967, City: 'Springfield' })
  })

  test('never replace what a listing of somebody else has', async () => {
    world.configure({ north: feed })
    deliver(house)
    await world.run()
    const row = world.standIn.listings(chatbot)[0].listing
    world.loseStore()
    world.standIn.edit(chatbot, 'HOME-1', { YearBuilt: 1967, SalePrice: 5 })
    await world.run()
    expect(world.listing('HOME-1')).toMatchObject({ SalePrice: 90_000, YearBuilt: 1967 })
    deliver(house, { ...house, id: 'HOME-9' })
    world.standIn.seed(chatbot, [{ ...row, MLSNumber: 'HOME-9', YearBuilt: 1901, SalePrice: 5 }])
    await world.run()
    expect(world.listing('HOME-9')).toMatchObject({ SalePrice: 90_000, YearBuilt: 1901 })
  })

  test.each<[string, object, string]>([
    ['SaleType', { SaleType: 'for_sale' }, 'placeholders.SaleType: is never made up'],
    ['Status', { Status: 'Active' }, 'is never made up'],
    ['a currency', { CurrencySymbol: '$' }, 'is never made up'],
    ['bedrooms of every kind', { Bedrooms: 0 }, 'of a home is a fact'],
    ['bedrooms of a home', [{ when: { PropertyType: ['Land', 'Condo'] }, Bedrooms: 0 }], 'of a home is a fact'],
    ['what is not required', { City: 'X' }, 'is not required'],
    ['an unknown field', { YearBuild: 0 }, 'did you mean YearBuilt?'],
    ['an unknown kind', [{ when: { PropertyType: 'Lnad' }, YearBuilt: 0 }], 'did you mean Land?'],
    ['a default', { ParkingSpots: 0 }, 'defaults gives it already'],
    ['a wrong value', { YearBuilt: 99_999 }, 'needs a year'],
  ])('are refused for %s', (_, placeholders, problem) => {
    world.configure({ north: { ...feed, placeholders } })
    expect(() => openApp(world.context)).toThrow(problem)
  })
})
