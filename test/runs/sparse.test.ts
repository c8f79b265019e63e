/** Records that tell only what changed of a listing (REAXML), as whole runs over HTTP. */
import { afterEach, expect, it, vi } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import { RunWorld } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'

let world: RunWorld
afterEach(() => world.end())

const feed = {
  preset: 'reaxml',
  fields: { Url: { template: 'https://homes.example/{MLSNumber}' } },
  defaults: { DaysOnMarket: 0, YearBuilt: 0, LotArea: 0, BuildingArea: 0, ParkingSpots: 0 },
}

const list = (...records: string[]): string =>
  `<propertyList date="2026-11-21-10:00:00">${records.join('')}</propertyList>`

const ids = (id: string): string => `<agentID>AG1</agentID><uniqueID>${id}</uniqueID>`

const home = (id: string, more = '<price>650000</price><priceView>Offers over $650,000</priceView>'): string =>
  `<residential status="current">${ids(id)}${more}<underOffer value="yes"/><headline>Beside the park</headline>
  <category name="Townhouse"/><address display="yes"><streetNumber>4</streetNumber><street>Fern St</street>
  <suburb>Greendale</suburb><state>VIC</state><postcode>3000</postcode><country>NZ</country></address>
  <features><bedrooms>3</bedrooms><bathrooms>2</bathrooms></features></residential>`

const stub = (id: string, status: string, more = ''): string =>
  `<residential status="${status}">${ids(id)}${more}</residential>`

async function withHomes(...records: string[]): Promise<void> {
  // A number can't be sent empty, so only a service that clears what is left out can lose a price.
  world = await RunWorld.start({ feeds: { north: feed }, standIn: { profile: { omitted: 'cleared' } } })
  world.deliver(list(...records))
  expect((await world.run()).result).toBe('ok')
}

it('a new price and a sale go over the listing confirmed last, which keeps all the rest', async () => {
  await withHomes(home('1'), home('2'), home('3'))
  const before = world.listing('AG1-1')!
  expect(before).toMatchObject({ SalePrice: 650000, PropertyType: 'Townhouse', CurrencySymbol: 'NZ$' })

  world.deliver(
    list(
      stub('1', 'current', '<price>599000</price><priceView>$599,000</priceView>'),
      stub('2', 'sold', '<soldDetails><price display="yes">640000</price><date>2026-11-20</date></soldDetails>'),
    ),
  )
  const report = await world.run()
  expect(report.result).toBe('ok')
  expect(report.counts).toMatchObject({ update: 2, delete: 0, reject: 0 })
  expect(report.changes.flatMap(({ fields }) => fields.map(({ field }) => field)).toSorted()).toEqual([
    'ExtensionColumn',
    'ExtensionColumn',
    'SalePrice',
    'SalePrice',
    'Status',
  ])
  const columns = (id: string) => JSON.stringify(world.listing(id)!['ExtensionColumn'])
  expect(world.listing('AG1-1')).toEqual({ ...before, SalePrice: 599000, ExtensionColumn: expect.anything() })
  expect(columns('AG1-1')).toContain('$599,000')
  // No longer under offer; what was asked is not what was paid.
  expect(world.listing('AG1-2')).toMatchObject({ Status: 'Sold', SalePrice: 640000, Bedrooms: 3, City: 'Greendale' })
  expect(columns('AG1-2')).not.toMatch(/Offers over|Under Offer/)
  expect(columns('AG1-3')).toMatch(/Offers over.*/)

  const again = await world.run()
  expect(again.applied!.calls).toMatchObject({ create: 0, update: 0, delete: 0 })
  expect(again.counts.unchanged).toBe(2)
})

it('a change goes over what is still to be sent, which no later record repeats', async () => {
  await withHomes(home('1'))
  world.standIn.addFault({ operations: ['Create'], fault: { kind: 'refuse' } })
  world.deliver(list(home('2')))
  expect((await world.run()).result).toBe('partial')
  world.standIn.clearFaults()
  world.deliver(list(stub('2', 'current', '<price>599000</price><priceView>$599,000</priceView>')))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, reject: 0 } })
  expect(world.listing('AG1-2')).toMatchObject({ SalePrice: 599000, PropertyType: 'Townhouse', City: 'Greendale' })
})

it('a change goes over what was confirmed, not over what is held as older', async () => {
  await withHomes(home('1'), home('2'))
  const app = openApp(world.context, { logLevel: 'error' })
  try {
    const asked = vi.spyOn(app.store().holds, 'held')
    const at = (hour: number, ...records: string[]): Promise<ReadReport> => {
      world.deliver(list(...records).replace('10:00:00', `${hour}:00:00+00:00`))
      world.clock.advance(3_600_000)
      return world.run('sync', 'north', app)
    }
    const stubs = (price: number): string[] => ['1', '2'].map((id) => stub(id, 'current', `<price>${price}</price>`))
    await at(12, ...stubs(599_000))
    const others = ['1', '2'].map((id) => home(id).replace('<bedrooms>3', '<bedrooms>2'))
    expect(await at(10, ...others)).toMatchObject({ result: 'held', holds: [{ rule: 'older' }] })
    expect(await at(13, ...stubs(590_000))).toMatchObject({ result: 'ok', holds: [] })
    for (const id of ['AG1-1', 'AG1-2']) expect(world.listing(id)).toMatchObject({ SalePrice: 590000, Bedrooms: 3 })
    // However many there are, what is held of them is asked for at once.
    const keysOf = asked.mock.calls.flatMap(([, , only]) => only ?? [])
    expect(keysOf).toEqual([{ keys: ['AG1-1', 'AG1-2'] }])
    expect(await at(14)).toMatchObject({ result: 'ok', counts: { update: 0 } })
  } finally {
    await app.close()
  }
})

it('a price that may not be shown any more goes', async () => {
  await withHomes(home('1'))
  world.deliver(list(stub('1', 'current', '<price display="no">650000</price>')))
  await world.run()
  expect(world.listing('AG1-1')).not.toHaveProperty('SalePrice')
  expect(JSON.stringify(world.listing('AG1-1'))).not.toContain('650000')
})

it('a stub that says withdrawn removes; one for something unknown is a reject with that reason', async () => {
  await withHomes(home('1'), home('2'))
  world.deliver(list(stub('1', 'withdrawn'), stub('9', 'sold'), stub('8', 'withdrawn')))
  const report = await world.run()
  expect(report.delivery).toMatchObject({ listings: 0, removals: 2, rejects: 1 })
  expect(report.rejects).toEqual([
    { at: expect.any(String), mlsNumber: 'AG1-9', problems: [expect.stringContaining('never confirmed')] },
  ])
  expect(world.listings().map((listing) => listing['MLSNumber'])).toEqual(['AG1-2'])
})

it('where by a path that a stub lacks leaves it in, where by a field counts', async () => {
  await withHomes(home('1'))
  world.configure({ north: { ...feed, where: { 'address/suburb': 'Greendale', City: 'Greendale' } } })
  world.deliver(list(stub('1', 'current', '<price>599000</price>')))
  expect((await world.run()).delivery).toMatchObject({ listings: 1, filtered: 0 })
  world.configure({ north: { ...feed, where: { City: 'Elsewhere' } } })
  expect((await world.run()).delivery).toMatchObject({ listings: 0, filtered: 1 })
})
