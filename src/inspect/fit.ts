/**
 * How well presets fit a feed: each reads the first records; the score depends on the results and on how many fields of
 * preset and feed match.
 */
import { FeedError } from '../core/errors.ts'
import { fieldRules } from '../core/listing.ts'
import type { Delivered, Problem } from '../core/listing.ts'
import { RecordError } from '../feed/format/format.ts'
import type { FormatOptions, ReadOptions } from '../feed/format/format.ts'
import { formats } from '../feed/format/formats.ts'
import { createMapping } from '../feed/mapping/create-mapping.ts'
import { fieldsRead } from '../feed/mapping/fields-read.ts'
import type { Moment } from '../feed/mapping/mapping.ts'
import type { MappingOptions, Preset } from '../feed/mapping/preset.ts'
import type { Fit } from './findings.ts'
import { Profile } from './profile.ts'
import { isLack, unread } from './tally.ts'

/** The beginning of a feed, decompressed, and when it is read. */
export interface Beginning {
  moment: Moment
  head: Buffer
  /** Whether this is the whole document. */
  whole: boolean
  options: Omit<ReadOptions, 'lengthProven'>
}

/** Records to try. */
const tried = 200
const requiredFields = fieldRules.filter(({ required }) => required).length

/** A preset that does not fit at all has score 0 and a reason. */
export async function fitOf(preset: Preset, options: MappingOptions, beginning: Beginning): Promise<Fit> {
  const { name, title } = preset
  const record = [preset.formatOptions.record ?? []].flat().join(' or ') || undefined
  let tested
  try {
    tested = await trial(preset, options, beginning)
  } catch (error) {
    if (!(error instanceof FeedError)) throw error
    return { name, title, score: 0, reason: error.message }
  }
  const { profile, records, delivered } = tested
  if (records === 0) return { name, title, score: 0, reason: `there is no record under ${record ?? 'its header'}` }
  const fields = profile.fields().filter(({ filled }) => filled > 0)
  const names = fields.map(({ path }) => path)
  const paths = fieldsRead(preset, options, names)
  const found = paths.filter(({ reads }) => reads.length > 0)
  const [owners, filledOwners] = [paths, found].map((some) => new Set(some.map(({ owner }) => owner)))
  for (const set of [owners, filledOwners]) set.delete('record')
  const known = new Set(found.flatMap(({ reads }) => reads))
  const mapped = delivered.reduce((sum, each) => sum + quality(each), 0) / delivered.length
  const rules = filledOwners.size / owners.size
  const shareFound = found.length / paths.length
  const score = 100 * (0.55 * mapped + 0.2 * rules + 0.15 * shareFound + 0.1 * (known.size / fields.length))
  const place = record === undefined ? '' : `records at ${record}; `
  const reason =
    `${place}the first ${records} map to ${Math.round(mapped * 100)} %; ` +
    `it finds values for ${filledOwners.size} of its ${owners.size} fields and uses ${known.size} of the feed's ${fields.length}`
  return { name, title, score: Math.round(score), reason }
}

/** Maps the first records. Throws `FeedError` if the format can't read the document. */
async function trial(preset: Preset, options: MappingOptions, beginning: Beginning) {
  const mapping = createMapping(preset, options)
  const profile = new Profile()
  const delivered: Delivered[][] = []
  for await (const { at, parse } of firstRecords(mapping.format, mapping.formatOptions, beginning)) {
    try {
      const fields = parse()
      profile.add(fields)
      delivered.push(mapping.normalise(fields, at, beginning.moment))
    } catch (error) {
      delivered.push([unread(at, error)])
    }
  }
  // The last record may be cut off, so it is not judged.
  if (!beginning.whole && delivered.length > 1 && delivered.length < tried) delivered.pop()
  return { profile, records: delivered.length, delivered: delivered.flat() }
}

/** The fields of the first records. */
export async function firstFields(format: string, options: FormatOptions, beginning: Beginning) {
  const profile = new Profile()
  for await (const { parse } of firstRecords(format, options, beginning)) {
    try {
      profile.add(parse())
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
    }
  }
  return profile.fields()
}

async function* firstRecords(format: string, formatOptions: FormatOptions, { head, options }: Beginning) {
  async function* once(): AsyncGenerator<Buffer> {
    yield head
  }
  const reading = formats[format].read(once(), { ...formatOptions, ...options, lengthProven: () => true })
  let left = tried
  for await (const batch of reading.records) {
    for (const record of batch.slice(0, left)) yield { at: record.at, parse: () => reading.parse(record) }
    left -= batch.length
    if (left <= 0) return
  }
}

/**
 * How much of one record is understood, 0 to 1. Fields that many formats lack (Url, YearBuilt) count little, a missing
 * MLSNumber or a record that can't be parsed counts much.
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

/** A number in another form than the preset's: a matter of the setting `numbers`, not of the format. */
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

/** Another form of numbers than the preset's that at least halves the unreadable values. */
export async function numbersThatFit(
  preset: Preset,
  options: MappingOptions,
  beginning: Beginning,
): Promise<MappingOptions['numbers']> {
  const unreadable = async (numbers: MappingOptions['numbers']): Promise<number> => {
    const { delivered } = await trial(preset, { ...options, numbers }, beginning)
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
