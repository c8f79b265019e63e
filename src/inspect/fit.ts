/**
 * How well presets fit a feed: each one reads its first records, and what comes of them, and how much of preset and feed
 * know each other, makes the score.
 */
import { FeedError, messageOf } from '../core/errors.ts'
import { fieldRules } from '../core/listing.ts'
import type { Delivered, Problem } from '../core/listing.ts'
import { RecordError } from '../feed/format/format.ts'
import type { FormatOptions, ReadOptions, Reading } from '../feed/format/format.ts'
import { formats } from '../feed/format/formats.ts'
import { createMapping } from '../feed/mapping/create-mapping.ts'
import { fieldsRead } from '../feed/mapping/fields-read.ts'
import type { Moment } from '../feed/mapping/mapping.ts'
import type { MappingOptions, Preset } from '../feed/mapping/preset.ts'
import type { Fit } from './findings.ts'
import { Profile } from './profile.ts'
import type { FieldProfile } from './profile.ts'
import { isLack } from './tally.ts'

/** The beginning of a feed, decompressed. */
export interface Beginning {
  head: Buffer
  /** Whether that is the whole document. */
  whole: boolean
  options: Omit<ReadOptions, 'lengthProven'>
}

/** Records that are tried. */
const tried = 200
const requiredFields = fieldRules.filter(({ required }) => required).length

/** A preset that does not fit at all has score 0 and the reason why. */
export async function fitOf(
  preset: Preset,
  options: MappingOptions,
  beginning: Beginning,
  moment: Moment,
): Promise<Fit> {
  const { name, title } = preset
  const { record } = preset.formatOptions
  let tested: Trial
  try {
    tested = await trial(preset, options, beginning, moment)
  } catch (error) {
    if (!(error instanceof FeedError)) throw error
    return { name, title, score: 0, reason: error.message }
  }
  const { profile, records, qualities } = tested
  if (records === 0) return { name, title, score: 0, reason: `there is no record under ${record ?? 'its header'}` }
  const fields = profile.fields().filter(({ filled }) => filled > 0)
  const paths = fieldsRead(
    preset,
    options,
    fields.map(({ path }) => path),
  )
  const found = paths.filter(({ reads }) => reads.length > 0)
  const [owners, filledOwners] = [paths, found].map((some) => new Set(some.map(({ owner }) => owner)))
  for (const set of [owners, filledOwners]) set.delete('record')
  const known = new Set(found.flatMap(({ reads }) => reads))
  const mapped = sum(qualities) / qualities.length
  const rules = filledOwners.size / owners.size
  const shareFound = found.length / paths.length
  const score = 100 * (0.55 * mapped + 0.2 * rules + 0.15 * shareFound + 0.1 * (known.size / fields.length))
  const place = record === undefined ? '' : `records at ${record}; `
  const reason =
    `${place}the first ${records} map to ${percent(mapped)} %; ` +
    `it finds something for ${filledOwners.size} of its ${owners.size} fields, and uses ${known.size} of the feed's ${fields.length}`
  return { name, title, score: Math.round(score), reason }
}

interface Trial {
  profile: Profile
  records: number
  delivered: Delivered[]
  qualities: number[]
}

/** Maps the first records. Throws `FeedError` where the format can't read the document at all. */
async function trial(preset: Preset, options: MappingOptions, beginning: Beginning, moment: Moment): Promise<Trial> {
  const mapping = createMapping(preset, options)
  const profile = new Profile()
  const delivered: Delivered[][] = []
  const reading = readBeginning(mapping.format, mapping.formatOptions, beginning)
  for await (const batch of reading.records) {
    for (const record of batch) {
      if (delivered.length === tried) break
      delivered.push(
        parsed(() => {
          const fields = reading.parse(record)
          profile.add(fields)
          return mapping.normalise(fields, record.at, moment)
        }, record.at),
      )
    }
    if (delivered.length === tried) break
  }
  // What was cut off with the rest of the document is no record that can be judged.
  if (!beginning.whole && delivered.length > 1 && delivered.length < tried) delivered.pop()
  return { profile, records: delivered.length, delivered: delivered.flat(), qualities: delivered.flat().map(quality) }
}

/** The fields of the first records, whatever they mean. */
export async function firstFields(
  format: string,
  formatOptions: FormatOptions,
  beginning: Beginning,
): Promise<FieldProfile[]> {
  const profile = new Profile()
  const reading = readBeginning(format, formatOptions, beginning)
  for await (const batch of reading.records) {
    for (const record of batch.slice(0, tried)) {
      try {
        profile.add(reading.parse(record))
      } catch (error) {
        if (!(error instanceof RecordError)) throw error
      }
    }
    if (profile.records >= tried) break
  }
  return profile.fields()
}

function parsed(parse: () => Delivered[], at: string): Delivered[] {
  try {
    return parse()
  } catch (error) {
    const problems = [{ field: 'record', value: null, problem: messageOf(error) }]
    return [{ kind: 'reject', at, mlsNumber: null, problems }]
  }
}

function readBeginning(format: string, formatOptions: FormatOptions, { head, options }: Beginning): Reading {
  async function* once(): AsyncGenerator<Buffer> {
    yield head
  }
  return formats[format].read(once(), { ...formatOptions, ...options, lengthProven: () => true })
}

/**
 * How much of one record is understood, 0 to 1. What a format never says (Url, YearBuilt) counts little against a preset;
 * a record without a number, or one that can't be parsed, counts much.
 */
function quality(delivered: Delivered): number {
  if (delivered.kind !== 'reject') return 1
  if (delivered.problems.some(({ field, value }) => field === 'record' && value === null)) return 0
  const lacks = delivered.problems.filter(isLack).length
  const otherNumbers = delivered.problems.filter(isOtherNumber).length
  const unreadable = delivered.problems.length - lacks - otherNumbers
  const rest = Math.max(0, 1 - (lacks + otherNumbers) / requiredFields - 0.15 * unreadable)
  return delivered.mlsNumber === null ? 0.2 * rest : rest
}

/** A number in another form than the preset's: a setting of the feed (`numbers`), no sign of another format. */
function isOtherNumber({ problem }: Problem): boolean {
  return /written like|needs an area/.test(problem)
}

const forms = [
  { decimal: '.', group: ',' },
  { decimal: ',', group: '.' },
  { decimal: '.', group: '' },
  { decimal: ',', group: '' },
  { decimal: ',', group: ' ' },
  { decimal: '.', group: ' ' },
] as const

/** The form of numbers that the feed has where it is not the preset's: one that halves the values that can't be read. */
export async function numbersThatFit(
  preset: Preset,
  options: MappingOptions,
  beginning: Beginning,
  moment: Moment,
): Promise<MappingOptions['numbers']> {
  const unreadable = async (numbers: MappingOptions['numbers']): Promise<number> => {
    const { delivered } = await trial(
      preset,
      numbers === undefined ? options : { ...options, numbers },
      beginning,
      moment,
    )
    const problems = delivered.flatMap((record) => (record.kind === 'reject' ? record.problems : []))
    return problems.filter(isOtherNumber).length
  }
  let least = await unreadable(undefined)
  const most = least / 2
  let best: MappingOptions['numbers']
  if (least < 3) return undefined
  for (const form of forms) {
    const count = await unreadable(form)
    if (count > most || count >= least) continue
    least = count
    best = form
  }
  return best
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function percent(share: number): number {
  return Math.round(share * 100)
}
