/** The presets' fixtures, wired as the program wires a feed. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { presetAt, presetFileOf } from '../../src/config/presets.ts'
import type { Delivered } from '../../src/core/listing.ts'
import { createMapping } from '../../src/feed/mapping/create-mapping.ts'
import type { Mapping } from '../../src/feed/mapping/mapping.ts'
import { mappingOptionsSchema } from '../../src/feed/mapping/preset.ts'
import { readingOf } from './reading.ts'

export const fixtures = join(import.meta.dirname, '../../fixtures/presets')

export const moment = { now: Date.UTC(2026, 10, 21, 18), today: '2026-11-21', timezone: 'America/Chicago' }

/** The preset with what the fixture's options.json adds, as a feed's configuration would. */
export function mappingOf(preset: string): Mapping {
  const optionsFile = join(fixtures, preset, 'options.json')
  const options: unknown = existsSync(optionsFile) ? JSON.parse(readFileSync(optionsFile, 'utf8')) : {}
  return createMapping(presetAt(presetFileOf(preset, '.')), mappingOptionsSchema.parse(options))
}

/** The path of a preset's fixture. */
export function fixtureOf(preset: string): string {
  const folder = join(fixtures, preset)
  return join(
    folder,
    readdirSync(folder).find((name) => name.startsWith('feed.'))!,
  )
}

/** What becomes of each record of a preset's fixture; `change`: what becomes of its bytes before. */
export async function deliveredBy(preset: string, change = (bytes: Buffer) => bytes) {
  const mapping = mappingOf(preset)
  const reading = readingOf(mapping, Readable.from([change(readFileSync(fixtureOf(preset)))]))
  const delivered: Delivered[] = []
  for await (const batch of reading.records)
    for (const record of batch) delivered.push(...mapping.normalise(reading.parse(record), record.at, moment))
  return { delivered, reasons: reading.end().reasons }
}
