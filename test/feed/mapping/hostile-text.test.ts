/**
 * Text made to slow down regular expressions. At these lengths quadratic time would take minutes and exponential time would
 * never end, so the time limit of the test fails.
 */
import { mayHoldMarks } from '../../../src/feed/mapping/surplus-marks.ts'
import { describe, expect, test } from 'vitest'
import { blm } from '../../../src/feed/format/blm.ts'
import type { FieldMapping } from '../../../src/feed/mapping/rule-keys.ts'
import { read } from '../../contract/format.ts'
import { delivered, resoHeader, resoRow, resoTable } from '../../support/delivery.ts'

const length = 200_000
const pieces = [' ', '1 ', '1,', 'a', '- ', '|', ', ', "'", '#', 'apt ', '\t', '\u00a0', 'https://', '1x', 'to ', 'Ã©']
const quoted = (value: string): string => `"${value.replaceAll('"', '""')}"`

test.each<[string, FieldMapping]>([
  ['LotArea', { from: 'PublicRemarks', as: 'area', unit: 'acres', dimensions: 'square feet', range: 'least' }],
  ['SalePrice', { from: 'PublicRemarks', as: 'money', per: 'month' }],
  ['Bedrooms', { from: 'PublicRemarks', as: 'number' }],
  ['DaysOnMarket', { from: 'PublicRemarks', as: 'daysSince', formats: ['ISO', 'RFC822', 'MMMM D YYYY h:mm A'] }],
  ['Images', { from: 'PublicRemarks', as: 'images', split: [',', '|', ' '] }],
  ['CurrencySymbol', { from: 'PublicRemarks', as: 'currency' }],
  [
    'PropertyType',
    { from: 'PublicRemarks', as: 'choice', table: 'propertyTypes', otherwise: 'Other', keepWordAs: 'X' },
  ],
  ['Address', { from: 'PublicRemarks', unitFrom: 'PublicRemarks' }],
  ['Tours', { as: 'tours', openHouses: [{ start: 'PublicRemarks', separator: ' to ' }], virtual: ['PublicRemarks'] }],
  ['MLSNumber', 'PublicRemarks'],
  ['Url', 'PublicRemarks'],
])('%s of a long hostile text', async (field, rule) => {
  const rows = pieces.map((piece, index) => {
    const text = `2${piece.repeat(length / piece.length)}b`
    return resoRow(`M${index}`, { PublicRemarks: quoted(text) })
  })
  const options = { fields: { [field]: rule }, repair: 'double-utf8' } as const
  const { listings, rejects, complete } = await delivered(resoTable(...rows), { preset: 'reso-csv', ...options })
  expect(Object.keys(listings).length + rejects.length).toBe(pieces.length)
  expect(complete).toBe(true)
  for (const { problems } of rejects) {
    for (const problem of problems) {
      expect(problem).toMatch(new RegExp(`^${field}: (?:'|is missing)`))
      expect(problem.length).toBeLessThan(500)
    }
  }
})

test('a street of a long text is hidden where it may not be shown', async () => {
  const street = `1 Main ${'very '.repeat(20_000)}long`
  const header = `${resoHeader},UnparsedAddress,InternetAddressDisplayYN`
  const row = `${resoRow('M1', { PublicRemarks: quoted(`See ${street} today`) })},${quoted(street)},False`
  const { listings } = await delivered(`${header}\n${row}\n`, { preset: 'reso-csv' })
  expect(listings['M1']).not.toHaveProperty('Address')
  expect(listings['M1'].Description).toMatch(/^See …/)
})

describe('documents', () => {
  test('that begin with many comments', async () => {
    const feed = `${'<!---->'.repeat(140)}${resoTable(resoRow('M1'))}`
    expect(Object.keys((await delivered(feed, { preset: 'reso-csv' })).listings)).toEqual(['M1'])
    await expect(delivered(`${'<!-- x --> '.repeat(20)}<html>`, { preset: 'reso-csv' })).rejects.toThrow(/HTML/)
  })

  test('whose header is one name a thousand times', async () => {
    const width = 5000
    const header = `${resoHeader}${',Note'.repeat(width)}`
    const row = `${resoRow('M1')},${Array.from({ length: width }, (_, index) => index).join(',')}`
    const { listings } = await delivered(`${header}\n${`${row}\n`.repeat(20)}`, { preset: 'reso-csv' })
    expect(Object.keys(listings)).toEqual(['M1'])
  })

  test('in BLM with long runs of line breaks', async () => {
    const head = `#HEADER#\nVERSION : 3\nEOF : '^'\nEOR : '~'\n${'\n'.repeat(40_000)}#DEFINITION#\nA^B^~\n#DATA#\n`
    const { records, reasons } = await read(blm, `${head}1^x${'\n'.repeat(500_000)}y^~\n#END#\n`, {})
    expect(records).toHaveLength(1)
    expect(records[0]).toMatchObject({ A: '1' })
    expect(reasons).toEqual([])
  })
})

test('marks may hide in escapes, in what is not ASCII and in rows of a second table', () => {
  const may = (text: string, outside?: string) =>
    mayHoldMarks({ at: '', raw: Buffer.from(text), ...(outside !== undefined && { outside }) })
  expect(may('1,"plain, ASCII",[x]')).toBe(false)
  expect(may('e\u0301')).toBe(true)
  for (const escape of ['&#x301;', '\\u0301'])
    expect([30, 31].map((marks) => may(`e${escape.repeat(marks)}`))).toEqual([false, true])
  expect(may('plain', '[]')).toBe(true)
})

test('a letter keeps 30 combining marks, and the report says that there were more', async () => {
  const marks = '\u0316\u0301'.repeat(100_000)
  const rows = [resoRow('M1', { PublicRemarks: `sho${marks}ut` }), resoRow('M2', { PublicRemarks: 'caf\u0065\u0301' })]
  const { listings, notes } = await delivered(resoTable(...rows), { preset: 'reso-csv' })
  // One of them is in the letter.
  expect(listings['M1'].Description?.match(/\p{M}/gu)).toHaveLength(29)
  expect(listings['M1'].Description).toMatch(/^sh\u00f3\u0316+\u0301+ut$/u)
  expect(listings['M2'].Description).toBe('caf\u00e9')
  expect(notes).toEqual([
    '1 new or changed record holds a letter with more than 30 combining marks, first MLSNumber M1; the marks beyond were left out',
  ])
})
