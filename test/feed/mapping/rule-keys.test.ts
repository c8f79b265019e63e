import { describe, expect, it } from 'vitest'
import type { RecordFields } from '../../../src/feed/format/format.ts'
import { createMapping } from '../../../src/feed/mapping/create-mapping.ts'
import { loadPreset } from '../../../src/feed/mapping/load-preset.ts'
import type { FieldMapping } from '../../../src/feed/mapping/rule-keys.ts'

const moment = { now: Date.UTC(2026, 10, 21, 18), today: '2026-11-21', timezone: 'UTC' }
const preset = (format: 'xml' | 'csv') =>
  loadPreset(
    `{ name: trial, title: Trial, format: ${format}, ${format === 'xml' ? 'record: a/b,' : ''} delivery: full,
       numbers: { decimal: '.', group: ',' }, fields: { MLSNumber: ID, Status: { value: Active } } }`,
    'trial.yaml',
  )

/** The field's value by a rule for one record, or its problem. */
function read(
  field: 'LotArea' | 'RentPrice' | 'Images' | 'Location' | 'Address' | 'AreaUnit',
  rule: FieldMapping,
  record: object,
) {
  const format = 'xml' in record ? 'xml' : 'csv'
  const given: RecordFields = Object.assign(Object.create(null), { ID: '1' }, record)
  const defaults = {
    SaleType: 'for_rent',
    CurrencySymbol: '$',
    PropertyType: 'Land',
    Bedrooms: 0,
    Bathrooms: 0,
    Url: 'https://a.example/',
    YearBuilt: 0,
    DaysOnMarket: 0,
    LotArea: 0,
    BuildingArea: 0,
    AreaUnit: 'Square Feet',
    ParkingSpots: 0,
  }
  const [found] = createMapping(preset(format), { fields: { [field]: rule }, defaults }).normalise(
    given,
    'row 2',
    moment,
  )
  if (found.kind === 'listing') return found.listing[field]
  return found.kind === 'reject' ? found.problems.map(({ value }) => value) : found.kind
}

describe('area', () => {
  const rule: FieldMapping = {
    from: 'Lot',
    as: 'area',
    unitFrom: ['Unit', 'Units'],
    dimensions: 'square feet',
    range: 'least',
  }
  it.each([
    ['50x125', '', 6250],
    ['127 X 146', '', 18_542],
    ["50' x 125.5 ft", '', 6275],
    ['1,000×2', 'acres', 2000],
    ['0x125', '', ['0x125']],
    ['50x125x60', '', ['50x125x60']],
    ['2 - 4.99 acres', '', 87_120],
    ['2 to 5', 'acres', 87_120],
    ['-2 acres', '', ['-2 acres']],
    ['10000 square feet', 'acres', 10_000],
    ['2', 'acres', 87_120],
    ['2', '', 0],
    ['50 + 75 terrace', '', ['50 + 75 terrace']],
  ])('%s in %s', (Lot, Units, value) => {
    expect(read('LotArea', rule, { Lot, Unit: 'N/A', Units })).toEqual(value)
  })
})

describe('money', () => {
  const rule: FieldMapping = { from: 'P', period: ['A', 'B'], periods: { '0': 'weekly', '5': '' }, per: 'month' }
  it.each([
    ['300', '0', '', 1300],
    ['300', '', 'yearly', 25],
    ['300', '', '', 300],
    ['300', '5', '', undefined],
    ['300', '7', '', ['7']],
  ])('%s with the periods "%s" and "%s"', (P, A, B, value) => {
    expect(read('RentPrice', rule, { P, A, B })).toEqual(value)
  })
})

describe('images', () => {
  it('cuts at several marks, but only before an address', () => {
    const cell = 'https://a.example/1,w=5.jpg,https://a.example/2.jpg ; HTTP://a.example/3.jpg |;'
    expect(read('Images', { from: 'I', split: [',', ';', '|'] }, { I: cell })).toEqual([
      'https://a.example/1,w=5.jpg',
      'https://a.example/2.jpg',
      'HTTP://a.example/3.jpg',
    ])
  })
})

describe('textAfter', () => {
  it.each([
    ['https://a.example/home/123?x=1', 'home-123'],
    ['https://a.example/homes/123', undefined],
    ['https://a.example/home/', undefined],
    ['', undefined],
  ])('%s', (U, value) => {
    expect(read('Location', { from: 'U', as: 'textAfter', after: '/home/', prefix: 'home-' }, { U })).toBe(value)
  })
})

describe('street', () => {
  it('takes the unit from the first of its paths that has one', () => {
    const rule: FieldMapping = { from: 'A', unitFrom: ['Unit', 'Apt'] }
    expect(read('Address', rule, { A: '1 Elm St', Unit: 'N/A', Apt: '4' })).toBe('1 Elm St #4')
  })
})

describe('XML names under a prefix', () => {
  const record = {
    xml: '',
    'c:City': 'prefixed',
    City2: 'plain',
    'c:City2': 'prefixed',
    Price: { '@c:unit': 'acres', '#text': '1' },
    'c:unit': 'no attribute',
  }
  it.each([
    ['City', 'prefixed'],
    ['City2', 'plain'],
    ['c:City', 'prefixed'],
    ['d:City', undefined],
    ['ity', undefined],
    ['Price/@unit', 'acres'],
    ['Price/unit', undefined],
  ])('%s', (path, value) => {
    expect(read('Location', path, record)).toBe(value)
  })
})

describe('area with units', () => {
  it.each([
    ['6', 'SM', 64.58],
    ['6', 'a.', 6458.35],
    ['6 SM', '', 64.58],
    ['6', 'acres', 261_360],
    ['6', 'XX', ['6 XX']],
  ])('%s %s', (Lot, Unit, value) => {
    const units = { sm: 'sqm', A: 'are' }
    expect(read('LotArea', { from: 'Lot', as: 'area', unitFrom: 'Unit', units }, { Lot, Unit })).toEqual(value)
  })
})

describe('AreaUnit', () => {
  it.each([
    ['sqft', 'Square Feet'],
    ['Acres', 'Square Feet'],
    ['square feet', 'Square Feet'],
    ['SQ M', 'Square Meters'],
    ['m²', 'Square Meters'],
    ['hectares', 'Square Meters'],
    ['tsubo', ['tsubo']],
  ])('%s', (Unit, value) => {
    expect(read('AreaUnit', 'Unit', { Unit })).toEqual(value)
  })
})

describe('split with nth', () => {
  const point = (nth: number): FieldMapping => ({ from: ['Point', 'Other'], split: ',', nth })
  it.each<[string, FieldMapping, object, unknown]>([
    ['the first', point(1), { Point: '55.27, 25.19' }, 55.27],
    ['the second', point(2), { Point: '55.27, 25.19' }, 25.19],
    ['one that is not there', point(3), { Point: '55.27, 25.19' }, undefined],
    ['one that is empty, then the next path', point(2), { Point: '55.27,', Other: '1,2' }, 2],
    ['no number', point(1), { Point: '1.2.3N, 25.19' }, ['1.2.3N']],
  ])('%s', (_, rule, record, value) => {
    expect(read('RentPrice', rule, record)).toEqual(value)
  })

  it('cuts texts and areas', () => {
    expect(read('Location', { from: 'Area', split: ' > ', nth: 2 }, { Area: 'North > Old Town' })).toBe('Old Town')
    const area: FieldMapping = { from: 'Lot', split: '|', nth: 1, as: 'area', unit: 'square feet' }
    expect(read('LotArea', area, { Lot: '21,780 sqft|1/2 - 1 acre' })).toBe(21_780)
  })
})

describe('rules that can not work', () => {
  it.each<[string, FieldMapping, string]>([
    ['LotArea', { from: 'A', as: 'area', unit: 'acres', dimensions: 'smoots' }, 'unknown unit of area "smoots"'],
    ['RentPrice', { from: 'A', period: 'B', periods: { '1': 'now and then' } }, 'unknown period "now and then"'],
    ['LotArea', { from: 'A', as: 'area' }, 'area needs unit or unitFrom, for a number that names no unit'],
    ['LotArea', { from: 'A', as: 'area', unit: 'acres', units: { x: 'smoots' } }, 'unknown unit of area "smoots"'],
    ['Latitude', { from: 'A', nth: 2 }, 'split and nth go together'],
    ['Latitude', { from: 'A', split: ',' }, 'split and nth go together'],
    ['Latitude', { from: 'A', split: [',', ';'], nth: 1 }, 'split and nth go together'],
    ['Images', { from: 'A', split: ',', nth: 1 }, 'nth does not apply to images'],
    ['Location', { from: 'A', as: 'textAfter' }, 'textAfter needs after'],
    ['Location', { from: 'A', after: '/' }, 'after does not apply to text'],
  ])('%s: %j', (field, rule, problem) => {
    expect(() => createMapping(preset('csv'), { fields: { [field]: rule } })).toThrow(problem)
  })
})
