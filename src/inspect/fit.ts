/**
 * How well presets fit a feed: each reads the first records; the score depends on the results and on how many fields of
 * preset and feed match.
 */
import { FeedError } from '../core/errors.ts'
import { fieldRules } from '../core/listing.ts'
import type { Delivered, Problem } from '../core/listing.ts'
import type { ReadBudget } from '../feed/format/budget.ts'
import { RecordError } from '../feed/format/format.ts'
import type { FormatOptions, RawRecord, ReadOptions, Reading } from '../feed/format/format.ts'
import { formats } from '../feed/format/formats.ts'
import { withFurther } from '../feed/mapping/defaults.ts'
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
  budget: ReadBudget
  options: Omit<ReadOptions, 'lengthProven'>
}

/** Records to try. */
const tried = 200
const requiredFields = fieldRules.filter(({ required }) => required).length

/**
 * A preset that does not fit at all has score 0 and a reason; `isEmpty`: it reads the whole document, which has no record; `isUnread`:
 * it finds records, and not one can be parsed.
 */
export async function fitOf(
  preset: Preset,
  options: MappingOptions,
  beginning: Beginning,
): Promise<Fit & { isEmpty?: boolean; isUnread?: boolean }> {
  const { name, title } = preset
  const record = [preset.formatOptions.record ?? []].flat().join(' or ') || undefined
  let tested
  try {
    tested = await trial(preset, options, beginning)
  } catch (error) {
    if (!(error instanceof FeedError) || beginning.budget.exceeded() !== null) throw error
    return { name, title, score: 0, reason: error.message }
  }
  const { profile, records, delivered } = tested
  if (records === 0) {
    const reason = `there is no record under ${record ?? 'its header'}`
    return { name, title, score: 0, reason, isEmpty: beginning.whole }
  }
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
  const used = known.size / Math.max(1, fields.length)
  const score = 100 * (0.55 * mapped + 0.2 * rules + 0.15 * shareFound + 0.1 * used)
  const place = record === undefined ? '' : `records at ${record}; `
  const reason =
    `${place}the first ${records} map to ${Math.round(mapped * 100)} %; ` +
    `it finds values for ${filledOwners.size} of its ${owners.size} fields and uses ${known.size} of the feed's ${fields.length}`
  return { name, title, score: Math.round(score), reason, ...(names.length === 0 && { isUnread: true }) }
}

/** Maps the first records. Throws `FeedError` if the format can't read the document. */
async function trial(preset: Preset, options: MappingOptions, beginning: Beginning) {
  const mapping = createMapping(preset, options)
  const profile = new Profile()
  const delivered: Delivered[][] = []
  await eachFirst(mapping.format, mapping.formatOptions, beginning, (record, reading) => {
    try {
      const fields = reading.parse(record)
      profile.add(fields)
      delivered.push(mapping.normalise(fields, record.at, beginning.moment))
    } catch (error) {
      delivered.push([unread(record.at, error)])
    }
  })
  // The last record may be cut off, so it is not judged.
  if (!beginning.whole && delivered.length > 1 && delivered.length < tried) delivered.pop()
  return { profile, records: delivered.length, delivered: delivered.flat() }
}

/** The fields of the first records. */
export async function firstFields(format: string, options: FormatOptions, beginning: Beginning) {
  const profile = new Profile()
  await eachFirst(format, options, beginning, (record, reading) => {
    try {
      profile.add(reading.parse(record))
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
    }
  })
  return profile.fields()
}

/** Throws `FeedError` once the time for reading is over. */
async function eachFirst(
  format: string,
  formatOptions: FormatOptions,
  { head, options, budget }: Beginning,
  look: (record: RawRecord, reading: Reading) => void,
): Promise<void> {
  async function* once(): AsyncGenerator<Buffer> {
    yield head
  }
  const reading = formats[format].read(once(), { ...formatOptions, ...options, lengthProven: () => true })
  let left = tried
  for await (const batch of reading.records) {
    for (const records of budget.steps(batch.slice(0, left))) {
      await budget.pause()
      budget.each(records, (record) => look(record, reading))
      const late = budget.exceeded()
      if (late !== null) throw new FeedError(late)
    }
    left -= batch.length
    if (left <= 0) return
  }
}

/** Fields that some presets fix for their format. Such a preset does not fit better for that. */
const givenByFormat = ['SaleType', 'CurrencySymbol']

/**
 * How much of one record is understood, 0 to 1. Fields that many formats lack (Url, YearBuilt) count little, a missing
 * MLSNumber or a record that can't be parsed counts much.
 */
function quality(delivered: Delivered): number {
  const problems = problemsOf(delivered)
  if (problems.some(({ field, value }) => field === 'record' && value === null)) return 0
  const open = problems.filter((problem) => isLack(problem) && givenByFormat.includes(problem.field)).length
  const lacks = problems.filter(isLack).length - open
  const otherNumbers = problems.filter(isOtherNumber).length
  const unreadable = problems.length - open - lacks - otherNumbers
  const rest = Math.max(0, 1 - (lacks + otherNumbers) / requiredFields - 0.15 * unreadable)
  return delivered.kind === 'reject' && delivered.mlsNumber === null ? 0.2 * rest : rest
}

/** What can't be read of a record, whether it costs the listing or not. */
function problemsOf(delivered: Delivered): readonly Problem[] {
  return delivered.kind === 'reject' ? delivered.problems : delivered.kind === 'listing' ? (delivered.unread ?? []) : []
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
  { decimal: '.', group: "'" },
] as const

/** Another form of numbers than the preset's that at least halves the unreadable values. */
export async function numbersThatFit(
  preset: Preset,
  options: MappingOptions,
  beginning: Beginning,
): Promise<MappingOptions['numbers']> {
  const unreadable = async (numbers: MappingOptions['numbers']): Promise<number> => {
    // A price is read as a sale's or a rent's, and a table of sales need not say which.
    const defaults = withFurther(options.defaults, { SaleType: 'for_sale' })
    const { delivered } = await trial(preset, { ...options, defaults, numbers }, beginning)
    return delivered.flatMap(problemsOf).filter(isOtherNumber).length
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
