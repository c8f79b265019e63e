/** Every converter reads hostile texts in time that grows with their length and no faster (`excess`). */
import { expect, test } from 'vitest'
import { fieldRules } from '../../src/core/listing.ts'
import type { FieldName } from '../../src/core/listing.ts'
import type { RecordFields } from '../../src/feed/format/format.ts'
import { converters } from '../../src/feed/mapping/converters/converters.ts'
import { elementPaths } from '../../src/feed/mapping/path.ts'
import type { Rule } from '../../src/feed/mapping/rule-keys.ts'
import { compileMapping } from '../../src/feed/mapping/rule.ts'
import { excess, sizes } from './growth.ts'
import { texts } from './shapes.ts'

const from = { from: 'A' }
/** A rule for each with the keys that make it do most. */
const cases: Record<string, { rule: Rule; field: FieldName | null; record?: (text: string) => RecordFields }> = {
  text: { rule: { ...from, split: ',', nth: 1 }, field: 'City' },
  html: { rule: from, field: 'Description' },
  codedText: { rule: from, field: 'Location' },
  textAfter: { rule: { ...from, after: 'a' }, field: null },
  join: { rule: { from: ['A', 'B'] }, field: 'Location' },
  key: { rule: from, field: 'MLSNumber' },
  url: { rule: from, field: 'Url' },
  number: { rule: { ...from, choices: { no: '0' } }, field: 'Bedrooms' },
  sum: { rule: { parts: [from, { from: 'B' }] }, field: 'Bathrooms' },
  money: { rule: { ...from, period: 'B' }, field: 'RentPrice' },
  area: { rule: { ...from, unitFrom: 'B', dimensions: 'feet', range: 'least' }, field: 'LotArea' },
  daysSince: { rule: { ...from, formats: ['ISO', 'RFC822', 'MMMM D YYYY h:mm A'] }, field: 'DaysOnMarket' },
  choice: { rule: { ...from, table: 'propertyTypes', otherwise: 'Other', keepWordAs: 'Kind' }, field: 'PropertyType' },
  currency: { rule: from, field: 'CurrencySymbol' },
  status: { rule: from, field: 'Status' },
  street: { rule: { ...from, unitFrom: 'B' }, field: 'Address' },
  images: { rule: { ...from, split: [',', '|', ' '], orderBy: 'A', each: '.' }, field: 'Images' },
  tours: { rule: { openHouses: [{ start: 'A', separator: ' to ' }], virtual: ['A'] }, field: 'Tours' },
  flags: { rule: from, field: null, record: (text) => ({ A: { [text]: text, B: text } }) },
}

test('every converter has a rule here', () => {
  expect(Object.keys(cases).toSorted()).toEqual(Object.keys(converters).toSorted())
})

test.each(Object.entries(cases))('%s', async (name, { rule, field, record = (text) => ({ A: text, B: text }) }) => {
  const read = compileMapping({ ...rule, as: name }, fieldRules.find((each) => each.name === field) ?? null, {
    paths: elementPaths(),
    numbers: { decimal: '.', group: ',' },
    dates: ['ISO'],
    statuses: { Active: 'Active' },
    before: new Set(),
  })
  const found: string[] = []
  for (const [shape, make] of Object.entries(texts)) {
    const convert = (size: number): void => {
      const text = make(size)
      // What an address is read with may be hostile as well, and like it.
      const City = `${text.slice(text.length >> 1)}z`
      const moment = { now: Date.UTC(2026, 10, 21), today: '2026-11-21', timezone: 'UTC' }
      const listing = { SaleType: 'for_rent', City, State: City, ZIP: City } as const
      read(record(text), { listing, moving: {}, moment, kept: [], removal: null, hidden: false, unread: [] })
    }
    const why = await excess(convert, sizes(4096))
    if (why !== null) found.push(`${shape}: ${why}`)
  }
  expect(found).toEqual([])
})
