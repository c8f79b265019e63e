import { describe, expect, test } from 'vitest'
import { fieldRules } from '../../src/core/listing.ts'
import type { FieldName } from '../../src/core/listing.ts'
import type { RecordFields } from '../../src/feed/format/format.ts'
import { RuleError, Unreadable } from '../../src/feed/mapping/converters/converter.ts'
import type { Making } from '../../src/feed/mapping/converters/converter.ts'
import { converters } from '../../src/feed/mapping/converters/converters.ts'
import { elementPaths } from '../../src/feed/mapping/path.ts'
import { converterKeys } from '../../src/feed/mapping/rule-keys.ts'
import type { Rule } from '../../src/feed/mapping/rule-keys.ts'
import { compileMapping } from '../../src/feed/mapping/rule.ts'
import { randomFrom } from './format.ts'

export interface ConverterCase {
  /** A rule that works, but for `as`. */
  rule: Rule
  /** The field that it is for; null: a column of ExtensionColumn. */
  field: FieldName | null
  /** A record in which every path of the rule leads to this text. */
  record: (text: string) => RecordFields
  /** A text, and what it becomes. */
  text: string
  value: unknown
}

const fieldOf = (name: FieldName | null) => fieldRules.find((rule) => rule.name === name) ?? null

function making(): Making {
  const moment = { now: Date.UTC(2026, 10, 21, 18), today: '2026-11-21', timezone: 'UTC' }
  return { listing: { SaleType: 'for_sale' }, moving: {}, moment, kept: [], removal: null, hidden: false, unread: [] }
}

function compiled(rule: Rule, field: FieldName | null) {
  return compileMapping(rule, fieldOf(field), {
    paths: elementPaths(),
    numbers: { decimal: '.', group: ',' },
    dates: ['ISO'],
    statuses: { Active: 'Active' },
    before: new Set(),
  })
}

const pieces = [
  '1',
  '2.5',
  ',',
  '-',
  ' ',
  'x',
  '€',
  '$',
  'acres',
  'https://a.example/1.jpg',
  'Active',
  'é',
  '\u0000',
  '<b>',
  '&amp;',
  '\ud800',
  '2026-02-30',
  '#',
  'N/A',
]

/** What every converter promises (`Converter` of src/feed/mapping/converters/converter.ts). */
export function converterContract(name: string, { rule, field, record, text, value }: ConverterCase): void {
  const converter = converters[name]
  const named: Rule = { ...rule, as: name }

  describe(`${name} keeps the converter contract`, () => {
    test('a text becomes the same value each time', () => {
      const read = compiled(named, field)
      expect(read(record(text), making())).toEqual(value)
      expect(read(record(text), making())).toEqual(value)
    })

    test('a record that says nothing gives nothing', () => {
      const read = compiled(named, field)
      for (const empty of [Object.create(null), record(''), record('  '), record('N/A')])
        expect(read(empty, making())).toBeUndefined()
    })

    test('any text is a value of its kind, nothing, or can not be read; it never throws', () => {
      const seed = Number(process.env.SEED ?? 20261121)
      const random = randomFrom(seed)
      const read = compiled(named, field)
      const kinds = { number: Number.isFinite, text: isText, images: isTexts, extension: () => false }
      for (let round = 0; round < 500; round++) {
        let drawn = ''
        for (let count = 1 + Math.floor(random() * 5); count > 0; count--)
          drawn += pieces[Math.floor(random() * pieces.length)]
        const found = read(record(drawn), making())
        const isRight =
          found === undefined || (found instanceof Unreadable ? isText(found.problem) : kinds[converter.yields](found))
        if (!isRight) throw new Error(`seed ${seed}, round ${round}: ${JSON.stringify({ drawn, found })}`)
      }
    })

    test('it takes the keys that it names and no others', () => {
      const own = Object.values(converters).flatMap(({ keys = {} }) => Object.keys(keys))
      const takes: readonly string[] = [...converter.takes, ...Object.keys(converter.keys ?? {})]
      for (const key of [...Object.keys(converterKeys), ...own]) {
        const attempt = () => compiled({ ...named, [key]: rule[key] ?? 'x' }, field)
        if (!takes.includes(key)) expect(attempt, key).toThrow(`${key} does not apply to ${name}`)
      }
      expect(own.filter((key) => key in converterKeys)).toEqual([])
      expect(new Set(own).size).toBe(own.length)
    })

    test('it is for fields of its kind, and says so', () => {
      const other = converter.yields === 'number' ? 'City' : 'Bedrooms'
      expect(() => compiled(named, other)).toThrow(RuleError)
      if (field !== null && converter.yields !== 'text')
        expect(() => compiled(named, other)).toThrow(`${name} gives ${converter.yields}, ${other} takes`)
      const { from: _, ...without } = named
      if (converter.needsFrom) expect(() => compiled(without, field)).toThrow(`${name} needs from`)
    })
  })
}

function isText(found: unknown): boolean {
  return typeof found === 'string' && found !== ''
}

function isTexts(found: unknown): boolean {
  return Array.isArray(found) && found.length > 0 && found.every(isText)
}
