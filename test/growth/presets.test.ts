/** Every preset maps hostile records in time that grows with their size and no faster (`excess`). */
import { createReadStream, existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { presetAt, presetFileOf } from '../../src/config/presets.ts'
import type { RecordFields, RecordNode } from '../../src/feed/format/format.ts'
import { formats } from '../../src/feed/format/formats.ts'
import { createMapping } from '../../src/feed/mapping/create-mapping.ts'
import { mappingOptionsSchema } from '../../src/feed/mapping/preset.ts'
import { inChunks } from '../contract/format.ts'
import { readingOf } from '../support/reading.ts'
import { excess, sizes } from './growth.ts'
import { texts } from './shapes.ts'

const fixtures = join(import.meta.dirname, '../../fixtures/presets')
const moment = { now: Date.UTC(2026, 10, 21, 18), today: '2026-11-21', timezone: 'UTC' }

/** The others are read by the suite of converters; these are for what fields do to one another. */
const shapes = [
  'words',
  'digits, then a letter',
  'commas',
  'combining marks in turn',
  'slashes of addresses',
  'entities',
]

function mappingOf(name: string) {
  const options = join(fixtures, name, 'options.json')
  // What a feed may set and no preset does.
  const own = existsSync(options) ? (JSON.parse(readFileSync(options, 'utf8')) as object) : {}
  const more = { repair: 'double-utf8', imagesNotFrom: ['photos.example'] }
  return createMapping(presetAt(presetFileOf(name, '.')), mappingOptionsSchema.parse({ ...own, ...more }))
}

type Mapping = ReturnType<typeof mappingOf>

async function firstRecord(name: string, mapping: Mapping): Promise<RecordFields> {
  const feed = readdirSync(join(fixtures, name)).find((file) => file.startsWith('feed.')) ?? 'feed'
  const reading = readingOf(mapping, createReadStream(join(fixtures, name, feed)))
  for await (const batch of reading.records) return reading.parse(batch[0])
  throw new Error(`the fixture of ${name} has no record`)
}

/** The record with every text, or every node, changed. */
function changed(
  node: RecordNode,
  text: (found: string) => RecordNode | RecordNode[],
  more: RecordFields = {},
): RecordNode {
  if (typeof node === 'string') return node
  const made: RecordFields = Object.create(null)
  for (const [name, child] of Object.entries(node)) {
    const nodes = [child].flat().map((each) => (typeof each === 'string' ? text(each) : changed(each, text, more)))
    made[name] = nodes.length === 1 ? nodes[0] : nodes.flat()
  }
  return Object.assign(made, more)
}

const children = (count: number, name: (index: number) => string): RecordFields =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), '1']))

describe.each(readdirSync(fixtures))('%s', (name) => {
  const mapping = mappingOf(name)
  const { nested } = formats[mapping.format]

  test('maps records with long texts, many elements and many names', async () => {
    const record = await firstRecord(name, mapping)
    const number = 'M-1'
    const makers: [string, (size: number) => RecordNode][] = shapes.map((shape) => [
      shape,
      (size) => {
        const text = texts[shape](size)
        return changed(record, () => text)
      },
    ])
    if (nested) {
      makers.push(
        ['elements of one name', (size) => changed(record, (text) => Array.from({ length: size / 4 }, () => text))],
        [
          'elements of many names',
          (size) =>
            changed(
              record,
              (text) => text,
              children(size / 4, (index) => `n${index}`),
            ),
        ],
        [
          'elements with a prefix',
          (size) =>
            changed(
              record,
              (text) => text,
              children(size / 4, (index) => `x:n${index}`),
            ),
        ],
        [
          'attributes',
          (size) =>
            changed(
              record,
              (text) => text,
              children(size / 4, (index) => `@n${index}`),
            ),
        ],
        [
          'groups of one name',
          (size) => changed(record, (text) => Array.from({ length: size / 4 }, () => ({ '#text': text, n: text }))),
        ],
      )
    }
    const found: string[] = []
    for (const [what, make] of makers) {
      const why = await excess((size) => {
        const made = make(size)
        if (typeof made !== 'string') mapping.normalise(made, 'record 1', moment, () => null)
      }, sizes(256))
      if (why !== null) found.push(`${what} of ${number}: ${why}`)
    }
    expect(found).toEqual([])
  })

  test.runIf(mapping.format === 'csv' && mapping.formatOptions.columns === undefined)(
    'maps rows that have a few cells of a header of long names',
    async () => {
      const { requiredHeaders = [], delimiter = ',' } = mapping.formatOptions
      const why = await excess(async (size) => {
        const names = Array.from({ length: 8 }, (_, index) => `${'x'.repeat(size / 16)}${index}`)
        const header = [...names, ...requiredHeaders].join(delimiter)
        const rows = Array.from({ length: size / 32 }, (_, index) => `1${`${delimiter}2`.repeat(1 + (index % 6))}`)
        const document = Buffer.from(`${header}\n${rows.join('\n')}\n`)
        const usual = {
          encoding: null,
          charset: null,
          maxRecordBytes: 64_000_000,
          lengthProven: () => true,
          quote: '"',
        }
        const reading = formats.csv.read(inChunks(document, 64 * 1024), { ...usual, ...mapping.formatOptions })
        for await (const batch of reading.records)
          for (const each of batch) mapping.normalise(reading.parse(each), each.at, moment, () => null)
      }, sizes(4096))
      expect(why).toBeNull()
    },
  )
})
