/** The map of converters: each keeps the contract, and a new one needs only its file and its line. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { RuleError } from '../../../../src/feed/mapping/converters/converter.ts'
import type { Converter } from '../../../../src/feed/mapping/converters/converter.ts'
import { converters } from '../../../../src/feed/mapping/converters/converters.ts'
import { pathSchema } from '../../../../src/feed/mapping/rule-keys.ts'

interface ShoutKeys {
  mark?: string
  unlessIn?: string
}

/** A text in capitals with a mark behind it, but for records that have something in `unlessIn`: as its file would export it. */
const shout: Converter<ShoutKeys> = {
  yields: 'text',
  takes: ['prefix'],
  keys: { mark: z.string().length(1), unlessIn: pathSchema },
  paths: ({ unlessIn }) => (unlessIn === undefined ? [] : [unlessIn]),
  needsFrom: true,
  build({ rule, select, text }) {
    if (rule.mark === undefined) throw new RuleError('shout needs mark')
    const quiet = rule.unlessIn === undefined ? null : select(rule.unlessIn)
    return (node) => {
      const found = text(node)
      if (found === undefined) return undefined
      return quiet?.first(node) ? found : `${rule.prefix ?? ''}${found.toUpperCase()}${rule.mark}`
    }
  },
}

converters.shout = shout
// What is offered is read from the map when the language of rules is loaded.
const { converterContract } = await import('../../../contract/converter.ts')
const { inspectSource } = await import('../../../../src/app/inspect.ts')
const { home, zillowFeed } = await import('../../../support/homes.ts')
const { RunWorld } = await import('../../../support/run-world.ts')

const from = { from: 'A' }
const inA = (text: string) => ({ A: text })
const cases: Record<string, Parameters<typeof converterContract>[1]> = {
  text: { rule: from, field: 'City', record: inA, text: ' Spring\nfield ', value: 'Spring field' },
  html: { rule: from, field: 'Description', record: inA, text: 'a<br>b', value: 'a\nb' },
  codedText: { rule: from, field: 'Location', record: inA, text: '699 - Old Mill', value: 'Old Mill' },
  textAfter: { rule: { ...from, after: '/home/' }, field: null, record: inA, text: 'x/home/7?', value: '7' },
  join: {
    rule: { from: ['A', 'B'] },
    field: 'Location',
    record: (text) => ({ A: text, B: text }),
    text: 'a',
    value: 'a a',
  },
  key: { rule: from, field: 'MLSNumber', record: inA, text: '0012', value: '0012' },
  url: { rule: from, field: 'Url', record: inA, text: 'http://a.example/ x', value: 'http://a.example/%20x' },
  number: { rule: from, field: 'Bedrooms', record: inA, text: '12.5', value: 12.5 },
  sum: {
    rule: { parts: [from, { from: 'B' }] },
    field: 'Bathrooms',
    record: (text) => ({ A: text, B: text }),
    text: '1.5',
    value: 3,
  },
  money: { rule: { ...from, per: 'year' }, field: 'HOAMonth', record: inA, text: '$1,200', value: 100 },
  area: { rule: { ...from, unit: 'acres' }, field: 'LotArea', record: inA, text: '0.5', value: 21_780 },
  daysSince: { rule: from, field: 'DaysOnMarket', record: inA, text: '2026-11-11', value: 10 },
  choice: { rule: from, field: 'SpaceType', record: inA, text: 'ENTIRE_PLACE', value: 'Entire place' },
  currency: { rule: from, field: 'CurrencySymbol', record: inA, text: '5 EUR', value: '€' },
  status: { rule: from, field: 'Status', record: inA, text: 'active', value: 'Active' },
  street: { rule: { ...from, unitFrom: 'B' }, field: 'Address', record: inA, text: '1 Elm St', value: '1 Elm St' },
  images: {
    rule: { ...from, each: 'Photo', orderBy: '@id', split: ',' },
    field: 'Images',
    record: (text) => ({
      Photo: [
        { '@id': '2', A: text },
        { '@id': '1', A: `${text},` },
      ],
    }),
    text: 'http://a.example/1',
    value: ['http://a.example/1'],
  },
  tours: {
    rule: { openHouses: [{ each: 'House', start: 'A' }], virtual: ['B'] },
    field: 'Tours',
    record: (text) => ({ House: [{ A: text }] }),
    text: '2026-11-30',
    value: 'OpenHouse',
  },
  flags: {
    rule: { from: 'Pets' },
    field: null,
    record: (text) => ({ Pets: { Cats: text } }),
    text: 'yes',
    value: 'Cats',
  },
  shout: { rule: { ...from, mark: '!' }, field: 'City', record: inA, text: 'Springfield', value: 'SPRINGFIELD!' },
}

test('every converter of the map is under the contract', () => {
  expect(Object.keys(cases).toSorted()).toEqual(Object.keys(converters).toSorted())
})
for (const [name, converterCase] of Object.entries(cases)) converterContract(name, converterCase)

describe('a converter of its own, by its line in the map alone', () => {
  const city = { from: 'Location/City', as: 'shout', mark: '!', unlessIn: 'Location/Quiet' }

  test('makes a field of the listings that reach the service, and inspect knows what it reads', async () => {
    const world = await RunWorld.start({ feeds: { north: { fields: { City: city } } } })
    try {
      const [first, second] = [home(1), home(2)]
      const feed = zillowFeed([first, second]).replace('<City>', '<Quiet>yes</Quiet><City>')
      world.deliver(feed)
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2 } })
      const cities = world.listings().map((item) => String(item['City']))
      expect(cities).toEqual([expect.stringMatching(/^[A-Z][a-z]/), expect.stringMatching(/^[A-Z ]+!$/)])

      const { findings } = await inspectSource(world.context, 'north', { preset: undefined, limit: null })
      const quiet = findings.fields.find(({ path }) => path === 'Location/Quiet')
      expect(quiet?.usedFor).toEqual(['City'])
    } finally {
      await world.end()
    }
  })

  test.each([
    [{ ...city, as: 'whisper-it' }, '"flags" or "shout", not "whisper-it"'],
    [{ ...city, as: 'shot' }, 'did you mean "shout"?'],
    [{ ...city, marks: '!' }, 'fields.City.marks: unknown key; did you mean "mark"?'],
    [{ ...city, mark: '!!' }, 'fields.City.mark: '],
    [{ from: 'Location/City', as: 'shout' }, 'fields.City: shout needs mark'],
    [{ ...city, after: 'x' }, 'fields.City: after does not apply to shout'],
    [{ from: 'Location/City', mark: '!' }, 'fields.City: mark does not apply to text'],
    [{ ...city, unlessIn: 'a//b' }, 'fields.City: an empty step in the path "a//b"'],
  ])('the configuration is checked by it: %j', async (rule, problem) => {
    const world = await RunWorld.start({ feeds: { north: { fields: { City: rule } } } })
    try {
      await expect(world.run()).rejects.toThrow(problem)
    } finally {
      await world.end()
    }
  })
})
