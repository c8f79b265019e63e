/** The sound feeds that everything begins with: the presets' fixtures, wired as the program wires a feed. */
import { createReadStream, existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { presetAt, presetFileOf } from '../../src/config/presets.ts'
import { bounded } from '../../src/feed/format/bounded.ts'
import { formats } from '../../src/feed/format/formats.ts'
import { createMapping } from '../../src/feed/mapping/create-mapping.ts'
import type { Mapping } from '../../src/feed/mapping/mapping.ts'
import { mappingOptionsSchema } from '../../src/feed/mapping/preset.ts'
import { decompressed } from '../../src/feed/transport/decompress.ts'
import { file } from '../../src/feed/transport/file.ts'
import { transportSettings } from '../../src/feed/transport/settings.ts'
import { planSettings } from '../../src/plan/settings.ts'
import type { Feed } from '../../src/run/tools.ts'
import type { Sound } from './mutations.ts'
import { readingOf } from '../support/reading.ts'

const fixtures = join(import.meta.dirname, '../../fixtures/presets')

const moment = { now: Date.UTC(2026, 10, 21, 18), today: '2026-11-21', timezone: 'America/Chicago' }

export const presetNames = readdirSync(fixtures)
/** The program's own limits. */
export const usualLimits = transportSettings.parse({})
/** Small ones, so that what is beyond them is no rare thing. */
export const smallLimits = {
  ...usualLimits,
  maxBytes: 50_000_000,
  maxUnpackedBytes: 50_000_000,
  maxRecordBytes: 150_000,
}
/** How many of so many listings the guard lets go; as many may come under another number. */
export const deletesAllowed = (listings: number): number =>
  listings < 3 ? listings : Math.min(Math.max(3, Math.floor(listings / 5)), Math.floor(listings / 2))

export function mappingOf(preset: string): Mapping {
  const optionsFile = join(fixtures, preset, 'options.json')
  const options: unknown = existsSync(optionsFile) ? JSON.parse(readFileSync(optionsFile, 'utf8')) : {}
  return createMapping(presetAt(presetFileOf(preset, '.')), mappingOptionsSchema.parse(options))
}

/**
 * The fixture's bytes, and its records as the format cuts them; without those whose MLSNumber can't be read: with them no
 * listing is ever deleted by absence, and the deletes are what is tested.
 */
export async function soundFeed(preset: string, mapping: Mapping): Promise<Sound> {
  const folder = join(fixtures, preset)
  const fixture = join(
    folder,
    readdirSync(folder).find((name) => name.startsWith('feed.'))!,
  )
  const reading = readingOf(mapping, createReadStream(fixture), { maxRecordBytes: smallLimits.maxRecordBytes })
  const whole = readFileSync(fixture)
  const [records, unreadable]: [Buffer[], Buffer[]] = [[], []]
  for await (const batch of reading.records) {
    for (const record of batch) {
      const given = mapping.normalise(reading.parse(record), record.at, moment)
      const isReadable = given.every((one) => one.kind !== 'reject' || one.mlsNumber !== null)
      ;(isReadable ? records : unreadable).push(Buffer.from(record.raw))
    }
  }
  const path = [mapping.formatOptions.record ?? ''].flat()[0]
  return { preset, format: mapping.format, path, bytes: unreadable.reduce(without, whole), records }
}

/** The document without one of its records, which its own count of them leaves out, too. */
function without(bytes: Buffer, record: Buffer): Buffer {
  const enclosed = Buffer.concat([Buffer.from('<DATA>'), record, Buffer.from('</DATA>')])
  const behind = Buffer.concat([record, Buffer.from(',')])
  const whole = [enclosed, behind].find((each) => bytes.includes(each)) ?? record
  const start = bytes.indexOf(whole)
  if (start < 0) throw new Error('the record is not in the document as it was read')
  const rest = Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + whole.length)])
  const counted = rest
    .toString('latin1')
    .replace(/(?<=<COUNT Records="|listing_count=")\d+/, (count) => `${Number(count) - 1}`)
  return Buffer.from(counted, 'latin1')
}

/** The feed of a preset that reads this file; all but the limits as a configuration without words of its own has it. */
export function feedOf(preset: string, mapping: Mapping, path: string, transport: typeof usualLimits): Feed {
  return {
    name: preset,
    chatbot: 'SN-1',
    locale: 'en-US',
    timezone: 'America/Chicago',
    mapping,
    source: path,
    basis: '',
    open: (validators, signal, scratch) =>
      file(path, {
        directory: '/',
        ...transport,
        validators,
        scratch,
        clock: { now: () => 0, sleep: () => Promise.resolve() },
        signal,
      }),
    decompress: (opened) => decompressed(opened, { ...transport, scratch: dirname(path) }),
    format: bounded(formats[mapping.format], transport),
    transport,
    plan: planSettings.parse({ limits: { confirm: 'never' } }),
    outranks: new Set(),
    configured: new Set(),
    deltas: new Set(),
    deadline: 7_200_000,
    rate: 1000,
    concurrency: 4,
    observe: 0,
    keys: 1,
    deleteBatch: 50,
    listIdsAreNative: false,
  }
}
