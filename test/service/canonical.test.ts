import { describe, expect, test } from 'vitest'
import { differences } from '../../src/core/compare-listings.ts'
import { ownerKey } from '../../src/core/listing.ts'
import type { FieldName, Listing, Shown } from '../../src/core/listing.ts'
import { createItemReader } from '../../src/service/canonical.ts'
import { testItem, testListing } from './server.ts'

const volatile = new Set<FieldName>(['DaysOnMarket'])
const read = createItemReader(volatile)

function shown(overrides: Record<string, unknown> = {}): Shown {
  const item = read(testItem(17, overrides))
  if (!item) throw new Error('the item was not read')
  return item.whole()
}

describe('a list item in canonical form', () => {
  test('has the names and types of the listing input', () => {
    const { AreaUnit: _, ...visible } = testListing({ Description: 'Bright &amp; quiet' })
    expect(shown()).toMatchObject({ mlsNumber: 'A-17', id: 17, owner: null, unreadable: [] })
    expect(shown().fields).toEqual(visible)
  })

  test('sale types are read as the service is known to spell them, and else as before', () => {
    const known = createItemReader(volatile, { for_sale: '1', for_rent: 'Objekt' })
    const readings = [' 1', 'Objekt', 'For Rent', '2'].map(
      (SaleType) => known(testItem(17, { SaleType }))?.whole().fields.SaleType,
    )
    expect(readings).toEqual(['for_sale', 'for_rent', 'for_rent', undefined])
  })

  test('the items of one reader are read like each alone, whatever members they have and in which order', () => {
    const mark = (value: string): string => JSON.stringify([{ Key: ownerKey, value }])
    const item = {
      ID: 7,
      MLSNumber: 'A1',
      City: 'Springfield',
      Bathrooms: '2.50',
      ExtensionColumn: mark('north/7a24aeb4.1'),
    }
    const reordered = Object.fromEntries(Object.entries(item).toReversed())
    const renamed = Object.fromEntries(
      Object.entries(item).map(([name, value]) => [name === 'City' ? 'State' : name, value]),
    )
    const items = [item, reordered, item, renamed, { MLSNumber: 'A1' }, { ...item, Area: '' }]
    const marked = ['south', 'south', 'north'].map((feed) => ({ ...item, ExtensionColumn: mark(feed) }))
    const readItem = createItemReader(volatile)
    const all = [...items, ...marked, { ...item, ExtensionColumn: '' }].map((each) => {
      const alone = createItemReader(volatile)(each)?.whole()
      expect(readItem(each)?.whole()).toEqual(alone)
      return alone!
    })
    // Stores hold it: another one would make every listing look edited.
    expect(all[0].hash).toBe('IpVj6Uf3mBOsKBTgL8zUSs')
    expect(all.map(({ hash }) => hash === all[0].hash)).toEqual([
      true,
      true,
      true,
      false,
      false,
      true,
      false,
      false,
      false,
      false,
    ])
    expect(all.map(({ owner }) => owner).slice(-4)).toEqual(['south', 'south', 'north', null])
  })

  const url = (name: string) => `https://img.example/${name}.jpg`
  test.for<[field: FieldName, as: unknown, reading: unknown]>([
    ['SaleType', 'For Sale', 'for_sale'],
    ['SaleType', 'FOR_RENT', 'for_rent'],
    ['SaleType', 'Lease', 'for_rent'],
    ['SaleType', 'Sale or lease', 'unreadable'],
    ['SaleType', '2', 'unreadable'],
    ['SaleType', '', undefined],
    ['Status', 'ACTIVE', 'Active'],
    ['Status', ' preonmarket', 'PreOnMarket'],
    ['Status', 'On hold', 'unreadable'],
    ['Tours', 'openhouse', 'OpenHouse'],
    ['SpaceType', 'Entire Place', 'Entire place'],
    ['Bathrooms', '2.500000', 2.5],
    ['Bathrooms', 2.5, 2.5],
    ['Bathrooms', '.5', 0.5],
    ['Bathrooms', '0', 0],
    ['Bathrooms', '', undefined],
    ['Bathrooms', null, undefined],
    ['SalePrice', '1,250', 'unreadable'],
    ['SalePrice', '1e999', 'unreadable'],
    ['SalePrice', {}, 'unreadable'],
    ['Description', ' \n', undefined],
    ['Description', ['a'], 'unreadable'],
    ['Images', '', undefined],
    ['Images', '[]', undefined],
    ['Images', `["${url('1')}"]`, [url('1')]],
    ['Images', [url('1')], [url('1')]],
    ['Images', '[1]', 'unreadable'],
    ['Images', '[&quot;https://img.example/1.jpg&quot;]', [url('1')]],
    ['Images', url('1'), [url('1')]],
    ['Images', `${url('1')}, ${url('2')}`, [url('1'), url('2')]],
    ['Images', `${url('1')};${url('2')}|${url('3')}`, [url('1'), url('2'), url('3')]],
    ['Images', `${url('1')}\n${url('2')}\n`, [url('1'), url('2')]],
    [
      'Images',
      'https://i.example/?a=1&amp;b=2,https://i.example/3',
      ['https://i.example/?a=1&b=2', 'https://i.example/3'],
    ],
    ['Images', `${url('1')},2.jpg`, 'unreadable'],
    ['Images', '17 images', 'unreadable'],
    ['ExtensionColumn', '', undefined],
    ['ExtensionColumn', '[]', undefined],
    ['ExtensionColumn', '[{"KEY":"Agent","Value":"Ann"}]', [{ Key: 'Agent', value: 'Ann' }]],
    ['ExtensionColumn', '[{&quot;Key&quot;:&quot;a&quot;,&quot;value&quot;:1}]', [{ Key: 'a', value: '1' }]],
    ['ExtensionColumn', '[{"Key":"a","value":null}]', [{ Key: 'a', value: '' }]],
    ['ExtensionColumn', '[{"value":"Ann"}]', 'unreadable'],
    ['ExtensionColumn', '{"Agent":"Ann"}', 'unreadable'],
    ['ExtensionColumn', '[{"Key":', 'unreadable'],
    ['ExtensionColumn', '[{"Key":"a","value":{}}]', 'unreadable'],
  ])('%s shown as %j', ([field, as, reading]) => {
    const item = shown({ [field]: as })
    expect(item.unreadable).toEqual(reading === 'unreadable' ? [field] : [])
    expect(item.fields[field]).toEqual(reading === 'unreadable' ? undefined : reading)
  })

  test('coordinates of zero are absent only together', () => {
    expect(shown({ LATITUDE: 0, LONGITUDE: '0.0' }).fields).not.toHaveProperty('Latitude')
    expect(shown({ LATITUDE: 0, LONGITUDE: 9.5 }).fields).toMatchObject({ Latitude: 0, Longitude: 9.5 })
    expect(shown({ LATITUDE: '51.5000001', LONGITUDE: -0.1 }).fields).toMatchObject({
      Latitude: 51.5000001,
      Longitude: -0.1,
    })
  })

  test('the ownership entry is taken out', () => {
    const column = JSON.stringify([
      { Key: 'Agent', value: 'Ann' },
      { Key: ownerKey, value: 'north' },
    ])
    expect(shown({ ExtensionColumn: column })).toMatchObject({
      owner: 'north',
      fields: { ExtensionColumn: [{ Key: 'Agent', value: 'Ann' }] },
    })
    const only = shown({ ExtensionColumn: `[{"Key":"${ownerKey}","value":"north"}]` })
    expect(only.owner).toBe('north')
    expect(only.fields).not.toHaveProperty('ExtensionColumn')
    const two = `[{"Key":"${ownerKey}","value":"north"},{"Key":"${ownerKey}","value":"south"}]`
    expect(shown({ ExtensionColumn: two }).owner).toBeNull()
  })

  test.each([
    ['north/1f3a9c02.57', 'north', { store: '1f3a9c02', run: 57 }],
    [' north/00000000.0 ', 'north', { store: '00000000', run: 0 }],
    ['north', 'north', undefined],
    ['north/1f3a9c02', 'north/1f3a9c02', undefined],
    ['north/1F3A9C02.5', 'north/1F3A9C02.5', undefined],
    ['north/1f3a9c02.5.6', 'north/1f3a9c02.5.6', undefined],
    ['/1f3a9c02.5', null, { store: '1f3a9c02', run: 5 }],
  ])('the mark %j is of feed %j, by %j', (value, owner, by) => {
    const found = shown({ ExtensionColumn: JSON.stringify([{ Key: ownerKey, value }]) })
    expect([found.owner, found.by]).toEqual([owner, by])
  })

  test('an item without MLSNumber is nothing', () => {
    for (const MLSNumber of ['', ' ', null, undefined]) expect(read(testItem(1, { MLSNumber }))).toBeNull()
    expect(shown({ MLSNumber: ' 0017 ' }).mlsNumber).toBe('0017')
  })

  test('its hash covers what is shown, but no ID, derived, volatile or unknown field, nor the order of members', () => {
    const { hash } = shown()
    const same = { ID: 99, Price: '1', Area: '', DaysOnMarket: '13', Views: 12 }
    expect(shown(same).hash).toBe(hash)
    expect(shown({ City: null }).hash).toBe(hash)
    expect(read(Object.fromEntries(Object.entries(testItem(17)).toReversed()))?.hash).toBe(hash)
    const other = { Bathrooms: '2.50', LATITUDE: 1, SaleType: 'for sale', ExtensionColumn: '[]', Images: '' }
    for (const [name, value] of Object.entries(other)) expect(shown({ [name]: value }).hash, name).not.toBe(hash)
  })
})

describe('differences', () => {
  const wanted = testListing()

  test('there are none between a listing and the service’s way of showing it', () => {
    expect(differences(wanted, shown(), volatile)).toEqual([])
    expect(differences(wanted, shown({ DaysOnMarket: '99' }), volatile)).toEqual([])
  })

  test.for<[listing: Partial<Listing>, item: Record<string, unknown>]>([
    [{ Bathrooms: 0.1 + 0.2 }, { Bathrooms: '0.3' }],
    [{ SalePrice: 99.994 }, { SalePrice: '99.99' }],
    [{ UnitAreaPrice: 0.125 }, { UnitAreaPrice: '0.12' }],
    [
      { Latitude: 51.5, Longitude: -0.1 },
      { LATITUDE: 51.500001, LONGITUDE: '-0.1000009' },
    ],
    [{ Description: '  Two\n\nlines ' }, { Description: 'Two lines' }],
    [{ Description: "It's < 5 & \u00e9" }, { Description: 'It&#39;s &lt; 5 &amp; &#xE9;' }],
    [{ Images: [] }, { Images: '' }],
    [
      {
        ExtensionColumn: [
          { Key: 'a', value: '1' },
          { Key: 'b', value: '2 & 3' },
          { Key: ownerKey, value: 'forged' },
        ],
      },
      { ExtensionColumn: '[{"Key":"b","value":"2 &amp; 3"},{"Key":"a","value":"1"}]' },
    ],
    [{ SaleType: 'for_rent' }, { SaleType: 'Objekt' }],
  ])('none: %j shown as %j', ([listing, item]) => {
    expect(differences({ ...wanted, ...listing }, shown(item), volatile)).toEqual([])
  })

  test.for<[listing: Partial<Listing>, item: Record<string, unknown>, field: FieldName, from: unknown, to: unknown]>([
    [{ Bathrooms: 2.5 }, { Bathrooms: '2.51' }, 'Bathrooms', 2.51, 2.5],
    [{ SalePrice: 99.98 }, { SalePrice: '99.99' }, 'SalePrice', 99.99, 99.98],
    [{ LotArea: 7405 }, { LotArea: '7405.1' }, 'LotArea', 7405.1, 7405],
    [{ Latitude: 51.5, Longitude: 1 }, { LATITUDE: 51.50001, LONGITUDE: 1 }, 'Latitude', 51.50001, 51.5],
    [{}, { City: 'Springfield' }, 'City', 'Springfield', null],
    [{ City: 'Springfield' }, {}, 'City', null, 'Springfield'],
    [{}, { HOAMonth: '0.00' }, 'HOAMonth', 0, null],
    [{ Description: 'a' }, { Description: 'A' }, 'Description', 'A', 'a'],
    [{ SaleType: 'for_rent' }, {}, 'SaleType', 'for_sale', 'for_rent'],
    [
      { Images: ['https://i.example/1', 'https://i.example/2'] },
      { Images: 'https://i.example/2 https://i.example/1' },
      'Images',
      ['https://i.example/2', 'https://i.example/1'],
      ['https://i.example/1', 'https://i.example/2'],
    ],
    [
      { ExtensionColumn: [{ Key: 'a', value: '1' }] },
      { ExtensionColumn: '[{"Key":"a","value":"1"},{"Key":"a","value":"1"}]' },
      'ExtensionColumn',
      [
        { Key: 'a', value: '1' },
        { Key: 'a', value: '1' },
      ],
      [{ Key: 'a', value: '1' }],
    ],
  ])('one: %j shown as %j', ([listing, item, field, from, to]) => {
    expect(differences({ ...wanted, ...listing }, shown(item), volatile)).toEqual([{ field, from, to }])
  })
})
