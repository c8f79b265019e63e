/** The sound feeds that everything begins with: the presets' fixtures, wired as the program wires a feed. */
import { createReadStream, readFileSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { bounded } from '../../src/feed/format/bounded.ts'
import { formats } from '../../src/feed/format/formats.ts'
import type { Mapping } from '../../src/feed/mapping/mapping.ts'
import { decompressed } from '../../src/feed/transport/decompress.ts'
import { file } from '../../src/feed/transport/file.ts'
import { transportSettings } from '../../src/feed/transport/settings.ts'
import { planSettings } from '../../src/plan/settings.ts'
import type { Feed } from '../../src/run/tools.ts'
import type { Sound } from './mutations.ts'
import { fixtureOf, fixtures, moment } from '../support/preset-fixtures.ts'
import { readingOf } from '../support/reading.ts'

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

/**
 * The fixture's bytes, and its records as the format cuts them; without those whose MLSNumber can't be read: with them no
 * listing is ever deleted by absence, and the deletes are what is tested.
 */
export async function soundFeed(preset: string, mapping: Mapping): Promise<Sound> {
  const fixture = fixtureOf(preset)
  const reading = readingOf(mapping, createReadStream(fixture), { maxRecordBytes: smallLimits.maxRecordBytes })
  const whole = readFileSync(fixture)
  const [records, unreadable]: [Buffer[], Buffer[]] = [[], []]
  for await (const batch of reading.records) {
    for (const record of batch) {
      const given = mapping.normalise(reading.parse(record), record.at, moment)
      const isReadable = given.every((delivered) => delivered.kind !== 'reject' || delivered.mlsNumber !== null)
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
