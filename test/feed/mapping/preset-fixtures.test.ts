import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { presetAt, presetFileOf } from '../../../src/config/presets.ts'
import { createMapping } from '../../../src/feed/mapping/create-mapping.ts'
import { deliveredBy, fixtureOf, fixtures, moment } from '../../support/preset-fixtures.ts'
import { readingOf } from '../../support/reading.ts'

/*
 * Every folder of fixtures/presets proves the preset of its name: feed.* read through the real format must become
 * expected.json, record by record. options.json holds what a feed's configuration would add.
 * `UPDATE_EXPECTED=1` rewrites expected.json; check the difference before you commit it.
 */
const presets = join(import.meta.dirname, '../../../config/presets')
describe('presets', () => {
  for (const name of readdirSync(fixtures)) {
    it(`${name}: its fixture becomes what is expected`, async () => {
      const { delivered: found, reasons } = await deliveredBy(name)
      expect(reasons).toEqual([])
      const file = join(fixtures, name, 'expected.json')
      if (process.env.UPDATE_EXPECTED) writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`)
      expect(found).toEqual(JSON.parse(readFileSync(file, 'utf8')))
      expect(found.length).toBeGreaterThanOrEqual(12)
    })
  }

  it.each(readdirSync(fixtures))(
    '%s: a document of no bytes is an empty one, incomplete, and no error',
    async (name) => {
      const reading = readingOf(createMapping(presetAt(presetFileOf(name, '.')), {}), Readable.from([]))
      for await (const batch of reading.records) expect(batch).toEqual([])
      expect(reading.end().reasons).toEqual(['the document is empty'])
    },
  )

  it('in XML, names in the wrong case lose nothing', async () => {
    const folder = join(fixtures, 'zillow')
    const preset = presetAt(presetFileOf('zillow', '.'))
    const mapping = createMapping(preset, {})
    const documents = ['', 'latitude', 'longitude', 'city'].map((name) =>
      readFileSync(join(folder, 'feed.xml'), 'utf8').replaceAll(
        new RegExp(`<(/?)${name === '' ? '$' : name}>`, 'gi'),
        `<$1${name}>`,
      ),
    )
    const coordinates = await Promise.all(
      documents.map(async (text) => {
        const reading = readingOf(mapping, Readable.from([Buffer.from(text)]))
        const found: unknown[] = []
        for await (const batch of reading.records)
          for (const record of batch)
            for (const delivered of mapping.normalise(reading.parse(record), '', moment))
              found.push(
                delivered.kind === 'listing'
                  ? [delivered.listing.Latitude, delivered.listing.Longitude, delivered.listing.City]
                  : delivered.kind,
              )
        return found
      }),
    )
    expect(coordinates[0].length).toBeGreaterThanOrEqual(12)
    for (const other of coordinates.slice(1)) expect(other).toEqual(coordinates[0])
  })

  it('every preset has a fixture of its own', () => {
    const names = readdirSync(presets)
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => file.replace(/\.yaml$/, ''))
    expect(readdirSync(fixtures).toSorted()).toEqual(names.toSorted())
  })
})

/** The number of records that a fixture says it has, as its text has it. */
const counts: Record<string, [said: RegExp, other: string]> = {
  'crea-ddf': [/<RecordsReturned>18</, '<RecordsReturned>15<'],
  'property-finder': [/listing_count="15"/, 'listing_count="16"'],
  'reso-json': [/"@odata.count": ?15/, '"@odata.count": 16'],
}

it('a preset with a counter finds it in its fixture: another number is no whole delivery', async () => {
  const counting = readdirSync(presets).filter((file) => /^counter:/m.test(readFileSync(join(presets, file), 'utf8')))
  expect(counting).toEqual(Object.keys(counts).map((name) => `${name}.yaml`))
  for (const [name, [said, other]] of Object.entries(counts)) {
    const text = readFileSync(fixtureOf(name), 'utf8')
    expect(text, name).toMatch(said)
    const mapping = createMapping(presetAt(presetFileOf(name, '.')), {})
    const reading = readingOf(mapping, Readable.from([Buffer.from(text.replace(said, other))]))
    for await (const _ of reading.records);
    expect(reading.end().reasons, name).toEqual([expect.stringContaining(other.match(/\d+/)![0])])
  }
})
