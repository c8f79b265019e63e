import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { presetAt, presetFileOf } from '../../../src/config/presets.ts'
import { createMapping } from '../../../src/feed/mapping/create-mapping.ts'
import { mappingOptionsSchema } from '../../../src/feed/mapping/preset.ts'
import { readingOf } from '../../support/reading.ts'

const folders = join(import.meta.dirname, '../../../fixtures/presets')
const moment = { now: Date.UTC(2026, 10, 21, 18), today: '2026-11-21', timezone: 'America/Chicago' }

/** The Bathrooms of the listings in a preset's fixture, by MLSNumber; `change`: what becomes of its text. */
async function bathroomsOf(preset: string, change = (text: string) => text): Promise<Map<string, number>> {
  const folder = join(folders, preset)
  const [feed] = readdirSync(folder).filter((file) => file.startsWith('feed.'))
  const optionsFile = join(folder, 'options.json')
  const written: object = existsSync(optionsFile) ? (JSON.parse(readFileSync(optionsFile, 'utf8')) as object) : {}
  const mapping = createMapping(presetAt(presetFileOf(preset, '.')), mappingOptionsSchema.parse(written))
  const bytes = Buffer.from(change(readFileSync(join(folder, feed), 'utf8')))
  const reading = readingOf(mapping, Readable.from([bytes]))
  const found = new Map<string, number>()
  for await (const batch of reading.records)
    for (const record of batch)
      for (const one of mapping.normalise(reading.parse(record), record.at, moment))
        if (one.kind === 'listing') found.set(one.listing.MLSNumber, one.listing.Bathrooms)
  return found
}

const full = [
  ['homeharvest', 'full_baths'],
  ['hotpads', 'numFullBaths'],
  ['mls-csv', 'Baths Full'],
  ['propertybase', 'fullbathrooms'],
  ['reso-syndication', 'FullBathrooms'],
  ['rets-compact', 'BathsFull'],
  ['trulia', 'num-full-bathrooms'],
  ['worldpostings', 'bathroom_count'],
  ['zillow', 'FullBathrooms'],
]
test.each(full)('%s: half bathrooms are no count where the full ones are not said (%s)', async (preset, name) => {
  expect([...(await bathroomsOf(preset)).values()].some((count) => count % 1 !== 0)).toBe(true)
  const without = await bathroomsOf(preset, (text) => text.replaceAll(new RegExp(`(?<![\\w-])${name}`, 'g'), 'Unsaid'))
  expect([...without.values()].filter((count) => count > 0 && count < 1.5 && count % 1 !== 0)).toEqual([])
})

test.each(['N/A', 'null', 'None', '-'])('full bathrooms of %s are not said', async (word) => {
  const without = await bathroomsOf('mls-csv', (text) => text.replaceAll(',3,2,1,3,', `,3,${word},1,3,`))
  const [before] = [...(await bathroomsOf('mls-csv'))].filter(([, count]) => count === 2.5)
  expect([before[1], without.get(before[0])]).toEqual([2.5, 3])
})

test('of RESO, partial bathrooms count where no others are said, and a total below the half ones is all', async () => {
  const [changed] = [...(await bathroomsOf('reso-csv'))].filter(([, count]) => count === 3.25)
  const having = async (cells: Record<string, string>): Promise<number | undefined> => {
    const found = await bathroomsOf('reso-csv', (text) => {
      const [header, ...rows] = text.split('\n')
      const names = Object.keys(cells)
      const spoiled = header.replace(/Bathrooms/g, 'Unsaid')
      return [
        `${spoiled},${names.join(',')}`,
        ...rows.map((row) => (row === '' ? '' : `${row},${Object.values(cells).join(',')}`)),
      ].join('\n')
    })
    return found.get(changed[0])
  }
  expect(await having({ BathroomsFull: '2', BathroomsPartial: '1' })).toBe(2.5)
  expect(await having({ BathroomsFull: '2', BathroomsThreeQuarter: '1', BathroomsPartial: '1' })).toBe(2.75)
  expect(await having({ BathroomsTotalInteger: '3', BathroomsThreeQuarter: '1', BathroomsPartial: '1' })).toBe(2.75)
  expect(await having({ BathroomsTotalInteger: '0', BathroomsHalf: '1' })).toBe(0)
})

test.each(['reso-csv', 'reso-json'])(
  '%s: of a total, which counts each as one, the half ones are a half',
  async (preset) => {
    const said = await bathroomsOf(preset)
    const [sure] = [...said].find(([, count]) => count % 1 !== 0) ?? []
    const without = await bathroomsOf(preset, (text) => text.replaceAll('BathroomsFull', 'Unsaid'))
    expect(without.get(String(sure))).toBe(said.get(String(sure)))
  },
)
