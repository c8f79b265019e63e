import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fieldRules } from '../../../src/core/listing.ts'
import type { Delivered } from '../../../src/core/listing.ts'
import type { RecordFields, RecordNode } from '../../../src/feed/format/format.ts'
import { createMapping } from '../../../src/feed/mapping/create-mapping.ts'
import { loadPreset } from '../../../src/feed/mapping/load-preset.ts'
import type { Mapping } from '../../../src/feed/mapping/mapping.ts'
import { readingOf } from '../../support/reading.ts'

/*
 * Any record becomes a valid listing or a reject with reasons. fast-check prints the seed and the smallest failing record.
 */
const moment = { now: Date.UTC(2026, 10, 21, 18), today: '2026-11-21', timezone: 'America/Chicago' }
const pieces =
  '| |-|N/A|0|0.0|1|2.5|1,234|1e9|-7|99999.0|Active|For Rent|Pending|SingleFamily|Yes|No|2026-11-22|2026-02-30|13:00|25:61|9999-12-31|Monthly|Year|https://a.example/x y|http://|javascript:1|https://my.matterport.com/show|$1.2M|POA|12 acres|<b>x</b>|<script>|&amp;lt;|&#1114112;|&#0;|&#xD800;|\ud800|\u0000|__proto__|ListingSyncFeed'.split(
    '|',
  )
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...pieces) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((some) => some.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
)

/** Sets the value at a path, creating nodes; of repeated nodes it uses the first. */
function put(record: RecordFields, [name, ...rest]: string[], value: RecordNode | RecordNode[]): void {
  if (rest.length === 0) {
    record[name] = value
    return
  }
  const [present] = [record[name]].flat()
  const below: RecordFields = typeof present === 'object' ? present : Object.create(null)
  if (typeof present !== 'object') record[name] = below
  put(below, rest, value)
}

async function fixtureRecords(name: string, mapping: Mapping): Promise<(() => RecordFields)[]> {
  const folder = join(import.meta.dirname, '../../../fixtures/presets', name)
  const bytes = createReadStream(join(folder, mapping.format === 'csv' ? 'feed.csv' : 'feed.xml'))
  const reading = readingOf(mapping, bytes)
  const found: (() => RecordFields)[] = []
  for await (const batch of reading.records) {
    for (const { at, raw } of batch) {
      const kept = Buffer.from(raw)
      found.push(() => reading.parse({ at, raw: kept }))
    }
  }
  return found
}

function checkListing(delivered: Delivered): void {
  if (delivered.kind === 'reject') {
    expect(delivered.problems.length).toBeGreaterThan(0)
    for (const { value } of delivered.problems) expect((value ?? '').length).toBeLessThanOrEqual(200)
  }
  if (delivered.kind !== 'listing') return
  for (const { name, type, required, choices } of fieldRules) {
    const value = delivered.listing[name]
    if (value === undefined) expect(required, name).toBe(false)
    else if (type === 'number') expect(Number.isFinite(value), name).toBe(true)
    else if (type === 'text')
      expect(value, name).toSatisfy((text: unknown) => typeof text === 'string' && text.length > 0)
    if (typeof value === 'string' && choices) expect(choices).toContain(value)
  }
  // The MLSNumber is a key and kept unchanged.
  const json = JSON.stringify({ ...delivered.listing, MLSNumber: '' })
  expect(delivered.listing.MLSNumber).not.toMatch(/\p{Cc}|\p{Cs}/u)
  expect(json.isWellFormed()).toBe(true)
  expect(json).not.toMatch(/\\u0000|\\ud[89a-f]|<script|"Key":"ListingSyncFeed"/i)
}

describe('any record', () => {
  const presets = join(import.meta.dirname, '../../../config/presets')
  for (const name of ['zillow', 'reso-csv', 'reso-syndication', 'rets-compact']) {
    it(`of ${name} becomes a sound listing or says why not`, async () => {
      const yaml = readFileSync(join(presets, `${name}.yaml`), 'utf8')
      const preset = loadPreset(yaml, name)
      const numbers = ['YearBuilt', 'LotArea', 'BuildingArea', 'ParkingSpots', 'Bathrooms', 'Bedrooms', 'DaysOnMarket']
      const mapping = createMapping(preset, {
        defaults: {
          Url: 'https://a.example/',
          CurrencySymbol: '$',
          ...Object.fromEntries(numbers.map((field) => [field, 0])),
        },
        ...(name === 'rets-compact' && { fields: { MLSNumber: 'LIST_105' } }),
      })
      const pattern = preset.format === 'xml' ? /\b[A-Za-z-]+(?:\/[A-Za-z-]+)+/g : /\b[A-Z][A-Za-z0-9]+\b/g
      const paths = [...new Set(yaml.match(pattern))].map((path) => path.split('/'))
      expect(paths.length).toBeGreaterThan(20)
      const kinds = new Set<string>()
      const value = fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }) })
      const record = fc.constantFrom(...(await fixtureRecords(name, mapping)))
      const changes = fc.array(fc.tuple(fc.constantFrom(...paths), value), { maxLength: 6 })
      fc.assert(
        fc.property(record, changes, (fresh, changed) => {
          const fields = fresh()
          for (const [path, found] of changed) put(fields, path, found)
          for (const delivered of mapping.normalise(fields, 'record 1', moment)) {
            kinds.add(delivered.kind)
            checkListing(delivered)
          }
        }),
        { numRuns: 3000 },
      )
      expect(kinds).toContain('listing')
      expect(kinds).toContain('removal')
      expect(kinds).toContain('reject')
    })
  }
})
