/**
 * `inspect`: what is in a source, which preset fits it, how its records would be mapped. Every preset is tried on the
 * beginning of the document; then the whole document is read once, in constant memory.
 */
import { FeedError } from '../core/errors.ts'
import { bounded } from '../feed/format/bounded.ts'
import type { ReadBudget } from '../feed/format/budget.ts'
import { declaredEncoding } from '../feed/format/encoding.ts'
import type { Reading } from '../feed/format/format.ts'
import { siblingsOf } from '../feed/format/xml-shape.ts'
import { formats, kindOf } from '../feed/format/formats.ts'
import type { Moment } from '../feed/mapping/mapping.ts'
import type { Preset } from '../feed/mapping/preset.ts'
import type { Reader } from '../feed/format/format.ts'
import { beginning } from '../feed/transport/decompress.ts'
import type { TransportSettings } from '../feed/transport/settings.ts'
import { reasonsOf } from '../feed/transport/transport.ts'
import type { Opened, TransportEnd } from '../feed/transport/transport.ts'
import { chosenPreset } from './choice.ts'
import type { Candidates, Choice } from './choice.ts'
import { feedMapping, fieldFacts, missingFacts, wordFacts } from './facts.ts'
import type { FeedMapping } from './facts.ts'
import type { DocumentFacts, Findings, LiveFacts } from './findings.ts'
import type { Beginning } from './fit.ts'
import { MappedRecords } from './map-records.ts'
import { unreadFlags } from './names.ts'

export interface Inspection extends Candidates {
  feed: {
    open(validators: null, signal: AbortSignal, scratch: string): Promise<Opened | 'not-modified'>
    decompress: (opened: Opened, scratch: string) => { bytes: AsyncIterable<Buffer>; end(): TransportEnd }
    transport: TransportSettings
  }
  moment: Moment
  /** Records to read; null: all. */
  limit: number | null
  /** Folder for files of this run. */
  scratch: string
  /** Of this reading, trials of presets included. */
  budget: ReadBudget
  progress: (records: number) => void
  /** Puts the rows of second tables (`join`) beside the records. */
  joined: (reading: Reading) => Reading
}

/** The findings and the mapping behind them, from which a configuration can be written. */
export interface Inspected {
  findings: Findings
  preset: Preset | null
  /** null: no preset fits. */
  feed: FeedMapping | null
}

/** How much of a document is kept to try presets on. */
const beginningBytes = 2 * 1024 * 1024

/** Throws `FeedError` if the source can't be read or is not a feed. */
export async function inspect(inspection: Inspection): Promise<Inspected> {
  const { feed, budget, scratch } = inspection
  const opened = await feed.open(null, budget.signal, scratch)
  if (opened === 'not-modified') throw new FeedError('the source answered HTTP 304 to a first request')
  const sent = await beginning(opened.bytes)
  try {
    const source = feed.decompress({ ...opened, bytes: sent.bytes }, scratch)
    const start = await beginning(source.bytes, beginningBytes)
    try {
      const late = budget.exceeded()
      if (late !== null) throw new FeedError(late)
      if (start.head.length === 0 && source.end().reasons.length > 0)
        throw new FeedError(source.end().reasons.join('; '))
      return await read(inspection, { opened, sent: sent.head, end: () => source.end(), ...start })
    } finally {
      await start.close()
    }
  } finally {
    await sent.close()
  }
}

/** `sent`: the first bytes, still compressed. */
interface Started extends Pick<Awaited<ReturnType<typeof beginning>>, 'head' | 'whole' | 'bytes'> {
  opened: Opened
  sent: Buffer
  end: () => TransportEnd
}

async function read(inspection: Inspection, { opened, sent, end, head, whole, bytes }: Started): Promise<Inspected> {
  const { endsWithLineBreak, encoding, maxRecordBytes, maxFields } = inspection.feed.transport
  const hints = { encoding, charset: opened.charset }
  const kind = kindOf(head, hints, inspection.presets)
  const { moment, budget } = inspection
  const start: Beginning = { head, whole, moment, budget, options: { ...hints, maxRecordBytes, maxFields } }
  const choice = await chosenPreset(inspection, kind, start)
  const { preset, options } = choice

  const mapped = new MappedRecords(choice, moment)
  const format = preset?.format ?? kind.format
  const formatOptions = mapped.mapping?.formatOptions ?? kind.options
  if (formatOptions === null) {
    const lack = 'no element in it is repeated and has several children, as records have'
    throw new FeedError(`the document is ${formats[format].title}, but ${lack}`)
  }
  const counted = counting(bytes)
  const own = bounded(formats[format], inspection.feed.transport).read(counted.bytes, {
    ...formatOptions,
    ...start.options,
    lengthProven: () => !endsWithLineBreak || end().proven,
  })
  const reading = inspection.joined(own)
  const limited = await readAll(reading, mapped, inspection)
  const reasons = limited ? [] : [...new Set([...reasonsOf(end(), formats[format]), ...reading.end().reasons])]
  const exceeded = budget.exceeded()
  if (exceeded !== null) reasons.push(exceeded)
  const isEmpty = !limited && mapped.records === 0 && reasons.length === 0
  if (isEmpty && mapped.mapping === null) reasons.push('the document holds no record')
  const mode = mapped.mapping?.deliveryOf?.(reading.says?.() ?? {}) ?? mapped.mapping?.delivery
  const { delimiter } = formatOptions
  const document: DocumentFacts = {
    container: containerOf(opened, sent, head),
    format,
    encoding: encodingFacts(declaredEncoding(head, hints), mapped),
    dialect: format === kind.format && kind.dialect ? { ...kind.dialect, ...(delimiter && { delimiter }) } : null,
    record: formatOptions.record === undefined ? null : [formatOptions.record].flat().join(', '),
    siblings: formatOptions.record === undefined ? [] : siblingsOf(head, [formatOptions.record].flat()),
    bytes: counted.count(),
    records: mapped.records,
    complete: limited ? null : reasons.length === 0,
    reasons,
    doubt: formats[format].hasEndMark ? null : (end().doubt ?? null),
  }
  const feed = preset && feedMapping(preset, options, mapped.profile.fields())
  const findings = findingsOf(opened.name, document, choice, mapped, feed)
  if (isEmpty && mode !== undefined) findings.notes.push(emptyMeans[mode])
  return { findings, preset, feed }
}

/** What a whole document without a record tells a run. */
const emptyMeans = {
  full: 'the document is whole and has no record, so to a sync every listing of the feed is gone. It holds these deletes: one or two go by themselves after limits.confirm; of three or more none goes before you approve it. With limits: off all go at once',
  delta: 'the document is whole and has no record, so as a delta it changes nothing',
} as const

/** One page of a live source, and how it is read. */
export interface LiveInspection extends Pick<Inspection, 'moment' | 'limit' | 'budget' | 'progress' | 'joined'> {
  given: NonNullable<Inspection['given']>
  page: { name: string; bytes: Buffer }
  reader: Reader
  maxRecordBytes: number
  facts: LiveFacts
}

/** The same of a live source, from one page of its records. */
export async function inspectLive(inspection: LiveInspection): Promise<Inspected> {
  const { page, reader, maxRecordBytes, moment, facts } = inspection
  const { preset, options, how } = inspection.given
  const reason = 'the preset of a feed decides how a live source is read'
  const fit = { name: preset.name, title: preset.title, score: 100, reason, chosen: how }
  const choice: Choice = { preset, options, fit, others: [], settings: [] }
  const mapped = new MappedRecords(choice, moment)
  const own = reader.read(inOneBlock(page.bytes), {
    encoding: 'utf-8',
    charset: null,
    maxRecordBytes,
    lengthProven: () => true,
  })
  const reading = inspection.joined(own)
  await readAll(reading, mapped, inspection)
  const exceeded = inspection.budget.exceeded()
  const reasons = [
    ...(exceeded === null ? [] : [exceeded]),
    ...(mapped.records === 0 ? ['the page holds no record'] : []),
  ]
  const document: DocumentFacts = {
    container: [],
    format: 'json',
    encoding: { name: 'utf-8', by: 'as JSON is' },
    dialect: null,
    record: 'value',
    siblings: [],
    bytes: page.bytes.length,
    records: mapped.records,
    complete: reasons.length === 0 ? null : false,
    reasons,
    doubt: null,
  }
  const feed = feedMapping(preset, options, mapped.profile.fields())
  return { findings: { ...findingsOf(page.name, document, choice, mapped, feed), live: facts }, preset, feed }
}

async function* inOneBlock(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/** Whether reading stopped at the limit. */
async function readAll(
  reading: Reading,
  mapped: MappedRecords,
  inspection: Pick<Inspection, 'limit' | 'budget' | 'progress'>,
): Promise<boolean> {
  const { limit, budget, progress } = inspection
  for await (const batch of reading.records) {
    for (const records of budget.steps(batch)) {
      await budget.pause()
      if (budget.exceeded() !== null) return false
      const left = limit === null ? records.length : limit - mapped.records
      budget.each(records.slice(0, left), (record) => mapped.take(reading, record))
      if (left < records.length) return true
    }
    progress(mapped.records)
  }
  return false
}

function findingsOf(
  source: string,
  document: DocumentFacts,
  choice: Choice,
  mapped: MappedRecords,
  feed: FeedMapping | null,
): Findings {
  const { preset, options, fit, others, settings } = choice
  const { tally, profile, samples } = mapped
  const profiles = profile.fields()
  const fields = fieldFacts(profiles, profile.records, preset, options)
  const unused = fields.filter(({ filled, usedFor }) => filled > 0 && usedFor.length === 0)
  const endless = document.reasons.some((reason) => reason.includes('no line break shows that it is whole'))
  const lineBreak = {
    write: 'endsWithLineBreak: false',
    why: 'the last row has no line break; set this if you know that it was not cut off',
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
    unused: preset === null ? [] : unused.map(({ path }) => path),
    samples: samples.list(),
    rejects: tally.rejects(),
    leftOut: tally.leftOut(),
    words: wordFacts(tally.words(), feed),
    moreWords: tally.moreWords,
    removals: tally.removals(),
    missing: missingFacts(tally.missing(), feed, tally.counts.listings + tally.counts.rejects, unused),
    hiding: preset === null ? [] : unreadFlags(fields),
    notes: mapped.prices.notes(),
  }
}

function encodingFacts(
  declared: { name: string; by: string } | null,
  { notUtf8, beyondAscii }: MappedRecords,
): DocumentFacts['encoding'] {
  if (declared !== null) return declared
  if (notUtf8 > 0) return { name: 'windows-1252', by: 'guessed: not declared, and not UTF-8' }
  if (beyondAscii) return { name: 'utf-8', by: 'guessed: not declared, and every record is UTF-8' }
  return { name: 'utf-8', by: 'guessed: not declared, and only ASCII characters' }
}

function containerOf({ contentEncoding }: Opened, sent: Buffer, head: Buffer): string[] {
  const around = contentEncoding === null ? [] : [contentEncoding]
  if (sent.subarray(0, 2).toString('hex') === '1f8b' && contentEncoding === null) around.push('gzip')
  if (sent.subarray(0, 4).toString('hex') === '504b0304' && !sent.subarray(0, 4).equals(head.subarray(0, 4)))
    around.push('zip')
  return around
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
