/**
 * `inspect`: what is in a source, which preset fits it, how its records would be mapped. The beginning of the document is
 * kept and tried on every preset; then the whole of it passes once, in flat memory.
 */
import { isUtf8 } from 'node:buffer'
import { FeedError, messageOf } from './errors.ts'
import { archiveProblem, kindOf } from './feed/detect.ts'
import type { Kind } from './feed/detect.ts'
import type { Format, Mapping, Moment, Opened, RawRecord, Reading } from './feed/feed.ts'
import { dialectOf } from './feed/format/csv-dialect.ts'
import { saidEncoding } from './feed/format/encoding.ts'
import type { MappingOptions } from './feed/mapping-schema.ts'
import { createMapping } from './feed/mapping.ts'
import type { Preset } from './feed/preset.ts'
import { chosenPreset } from './inspect-choice.ts'
import type { Choice } from './inspect-choice.ts'
import { feedMapping, fieldFacts, missingFacts, wordFacts, wordsMayBeMapped } from './inspect-facts.ts'
import type { FeedMapping } from './inspect-facts.ts'
import type { Beginning } from './inspect-fit.ts'
import type { DocumentFacts, Findings } from './inspect/findings.ts'
import { Profile } from './inspect/profile.ts'
import { Samples } from './inspect/samples.ts'
import { lacksFactsOnly, Tally } from './inspect/tally.ts'
import type { Delivered } from './listing.ts'
import type { Feed } from './prepare.ts'

/** So much of a document is kept to try presets on. */
const beginningBytes = 2 * 1024 * 1024

export interface InspectParts {
  feed: Pick<Feed, 'open' | 'decompress' | 'formatOptions'>
  formats: Record<Mapping['format'], Format>
  /** A preset that need not be looked for. */
  given: { preset: Preset; options: MappingOptions; how: 'given' | 'configured' } | null
  presets: readonly Preset[]
  /** Records to read; null: all. */
  limit: number | null
  moment: Moment
  /** Folder for files of this run. */
  scratch: string
  signal: AbortSignal
  progress: (records: number) => void
}

/** What was found, and what it was found with: a configuration can be written from these. */
export interface Inspected {
  findings: Findings
  preset: Preset | null
  /** null where no preset fits. */
  feed: FeedMapping | null
}

/** Throws `FeedError` where the source can't be read or is no feed. */
export async function inspect(parts: InspectParts): Promise<Inspected> {
  const { feed, signal, scratch, formats, moment } = parts
  const opened = await feed.open(null, signal, scratch)
  if (opened === 'not-modified') throw new FeedError('the source says "not modified" to a first request')
  const sent = await beginning(opened.bytes, 64 * 1024)
  const problem = sent.head.length < 30 ? null : archiveProblem(sent.head)
  if (problem !== null) throw new FeedError(problem)
  const source = feed.decompress({ ...opened, bytes: sent.bytes }, scratch)
  const { head, whole, bytes } = await beginning(source.bytes, beginningBytes)
  if (head.length === 0 && source.end().reasons.length > 0) throw new FeedError(source.end().reasons.join('; '))
  const said = { encoding: feed.formatOptions.encoding, charset: opened.charset }
  const delimiters = parts.presets.flatMap(({ delimiter }) =>
    delimiter === undefined || delimiter.length < 2 ? [] : [delimiter],
  )
  const kind = kindOf(head, said, delimiters)
  const start: Beginning = { head, whole, options: { ...said, maxRecordBytes: feed.formatOptions.maxRecordBytes } }
  const choice = await chosenPreset(parts, kind, start)
  const { preset } = choice

  const work = new Work(choice, moment)
  const format = preset?.format ?? kind.format
  const counted = counting(bytes)
  const reading = formats[format](counted.bytes, {
    ...(work.mapping?.formatOptions ?? unknownFormat(kind)),
    ...start.options,
    lengthProven: () => !feed.formatOptions.endsWithLineBreak || source.end().proven,
  })
  const limited = await readAll(reading, work, parts)
  const reasons = limited ? [] : [...new Set([...source.end().reasons, ...reading.end().reasons])]
  if (!limited && work.profile.records + work.broken === 0 && reasons.length === 0)
    reasons.push('the document holds no record')
  const document: DocumentFacts = {
    container: containerOf(opened, sent.head, head),
    format,
    encoding: encodingFacts(saidEncoding(head, said), work),
    dialect:
      format === 'csv'
        ? dialectOf(
            head.subarray(0, 128 * 1024),
            preset?.delimiter ?? kind.dialect?.delimiter ?? null,
            preset?.quote ?? '"',
          )
        : null,
    record: format === 'xml' ? (preset?.record ?? kind.record) : null,
    bytes: counted.count(),
    records: work.records,
    complete: limited ? null : reasons.length === 0,
    reasons,
  }
  const mapped = preset && feedMapping(preset, choice.options, work.profile.fields())
  return { findings: findingsOf(opened.name, document, choice, work, mapped), preset, feed: mapped }
}

/** What of a reading is kept. */
class Work {
  records = 0
  broken = 0
  notUtf8 = 0
  beyondAscii = false
  readonly profile = new Profile()
  readonly tally = new Tally()
  readonly samples = new Samples()
  readonly mapping: Mapping | null
  readonly moment: Moment
  /** Fills up what a record lacks, to show the rest of it. */
  readonly filling: Mapping | null

  constructor({ preset, options }: Choice, moment: Moment) {
    this.moment = moment
    this.mapping = preset && createMapping(preset, options, preset.file, this.tally.unmapped)
    this.filling = preset && createMapping(preset, { ...options, defaults: { ...placeholders, ...options.defaults } })
  }

  take(reading: Reading, record: RawRecord): void {
    this.records++
    if (!isUtf8(record.raw)) this.notUtf8++
    else this.beyondAscii ||= record.raw.some((byte) => byte > 127)
    const { mapping, moment, filling } = this
    let fields
    try {
      fields = reading.parse(record)
    } catch (error) {
      this.broken++
      const problems = [{ field: 'record', value: null, problem: messageOf(error) }]
      this.#count({ kind: 'reject', at: record.at, mlsNumber: null, problems }, () => null)
      return
    }
    this.profile.add(fields)
    for (const [index, one] of (mapping?.normalise(fields, record.at, moment) ?? []).entries()) {
      this.#count(one, () => filling?.normalise(fields, record.at, moment)[index] ?? null)
    }
  }

  #count(delivered: Delivered, filledUp: () => Delivered | null): void {
    this.tally.add(delivered)
    if (!this.samples.wants(delivered)) return
    const lacks = delivered.kind === 'reject' && lacksFactsOnly(delivered.problems)
    this.samples.add(delivered, lacks ? filledUp() : null)
  }
}

/** Stand for facts that a record lacks while the rest of it is shown; no report ever holds them. */
const placeholders: MappingOptions['defaults'] = {
  SaleType: 'for_sale',
  Status: 'Active',
  CurrencySymbol: '$',
  PropertyType: 'Other',
  Bedrooms: 0,
  Bathrooms: 0,
  Url: 'https://www.example.com/',
  YearBuilt: 0,
  DaysOnMarket: 0,
  LotArea: 0,
  BuildingArea: 0,
  AreaUnit: 'Square Feet',
  ParkingSpots: 0,
}

/** Whether reading stopped at the limit. */
async function readAll(reading: Reading, work: Work, { limit, signal, progress }: InspectParts): Promise<boolean> {
  for await (const batch of reading.records) {
    signal.throwIfAborted()
    for (const record of batch) {
      if (work.records === limit) return true
      work.take(reading, record)
    }
    progress(work.records)
  }
  return false
}

function findingsOf(
  source: string,
  document: DocumentFacts,
  choice: Choice,
  work: Work,
  feed: FeedMapping | null,
): Findings {
  const { preset, options, fit, others, settings } = choice
  const { tally, profile, samples } = work
  const profiles = profile.fields()
  const fields = fieldFacts(profiles, profile.records, preset, options)
  const endless = document.reasons.some((reason) => reason.includes('no line break shows that it is whole'))
  const lineBreak = {
    write: 'endsWithLineBreak: false',
    why: 'the last row has no line break; only you know that it was not cut off',
  }
  return {
    version: 1,
    source,
    document,
    preset: fit,
    others,
    settings: endless ? [...settings, lineBreak] : settings,
    counts: tally.counts,
    fields,
    moreFields: profile.more,
    unused:
      preset === null
        ? []
        : fields.filter(({ filled, usedFor }) => filled > 0 && usedFor.length === 0).map(({ path }) => path),
    samples: samples.list(),
    rejects: tally.rejects(),
    words: wordFacts(tally.words().filter(wordsMayBeMapped), feed),
    moreWords: tally.moreWords,
    removals: tally.removals(),
    missing: missingFacts(tally.missing(), feed),
  }
}

/** The way to read a document that no preset fits. */
function unknownFormat({ record, dialect }: Kind): Mapping['formatOptions'] {
  if (record === null && dialect === null)
    throw new FeedError(
      'the document is XML, but no element in it is repeated and has several children, as records have',
    )
  return { record, delimiter: dialect?.delimiter ?? null, quote: '"', requiredHeaders: [] }
}

function encodingFacts(
  said: { name: string; by: string } | null,
  { notUtf8, beyondAscii }: Work,
): DocumentFacts['encoding'] {
  if (said !== null) return said
  if (notUtf8 > 0) return { name: 'windows-1252', by: 'a guess: nothing says it, and it is no UTF-8' }
  if (beyondAscii) return { name: 'utf-8', by: 'a guess: nothing says it, and every record is UTF-8' }
  return { name: 'utf-8', by: 'a guess: nothing says it, and there are plain ASCII characters only' }
}

function containerOf({ contentEncoding }: Opened, sent: Buffer, head: Buffer): string[] {
  const around = contentEncoding === null ? [] : [contentEncoding]
  if (sent.subarray(0, 2).toString('hex') === '1f8b' && contentEncoding === null) around.push('gzip')
  if (sent.subarray(0, 4).toString('hex') === '504b0304' && !sent.subarray(0, 4).equals(head.subarray(0, 4)))
    around.push('zip')
  return around
}

/** The first bytes as a copy, and all of them in order. */
async function beginning(source: AsyncIterable<Buffer>, size: number) {
  const iterator = source[Symbol.asyncIterator]()
  const parts: Buffer[] = []
  let length = 0
  let done = false
  while (length < size && !done) {
    const next = await iterator.next()
    if (next.done) done = true
    else {
      // A block may be filled anew (`Opened.bytes`).
      parts.push(Buffer.from(next.value))
      length += next.value.length
    }
  }
  const head = Buffer.concat(parts)
  async function* bytes(): AsyncGenerator<Buffer> {
    try {
      if (head.length > 0) yield head
      for (let next = done ? null : await iterator.next(); next && !next.done; next = await iterator.next())
        yield next.value
    } finally {
      await iterator.return?.()
    }
  }
  return { head, whole: done, bytes: bytes() }
}

function counting(source: AsyncIterable<Buffer>): { bytes: AsyncIterable<Buffer>; count: () => number } {
  let count = 0
  async function* bytes(): AsyncGenerator<Buffer> {
    for await (const block of source) {
      count += block.length
      yield block
    }
  }
  return { bytes: bytes(), count: () => count }
}
