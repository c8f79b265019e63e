/**
 * `inspect`: what is in a source, which preset fits it, how its records would be mapped. The beginning of the document is
 * kept and tried on every preset; then the whole of it passes once, in flat memory.
 */
import { FeedError } from '../core/errors.ts'
import { declaredEncoding } from '../feed/format/encoding.ts'
import type { Reading } from '../feed/format/format.ts'
import { formats, kindOf } from '../feed/format/formats.ts'
import type { Preset } from '../feed/mapping/preset.ts'
import { beginning } from '../feed/transport/decompress.ts'
import type { TransportSettings } from '../feed/transport/settings.ts'
import type { Opened, TransportEnd } from '../feed/transport/transport.ts'
import { chosenPreset } from './choice.ts'
import type { Candidates, Choice } from './choice.ts'
import { feedMapping, fieldFacts, missingFacts, wordFacts, wordsMayBeMapped } from './facts.ts'
import type { FeedMapping } from './facts.ts'
import type { DocumentFacts, Findings } from './findings.ts'
import type { Beginning } from './fit.ts'
import { MappedRecords } from './map-records.ts'

/** What an inspection is given. */
export interface Inspection extends Candidates {
  feed: {
    open(validators: null, signal: AbortSignal, scratch: string): Promise<Opened | 'not-modified'>
    decompress: (opened: Opened, scratch: string) => { bytes: AsyncIterable<Buffer>; end(): TransportEnd }
    transport: TransportSettings
  }
  /** Records to read; null: all. */
  limit: number | null
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

/** So much of a document is kept to try presets on. */
const beginningBytes = 2 * 1024 * 1024

/** Throws `FeedError` where the source can't be read or is no feed. */
export async function inspect(inspection: Inspection): Promise<Inspected> {
  const { feed, signal, scratch } = inspection
  const opened = await feed.open(null, signal, scratch)
  if (opened === 'not-modified') throw new FeedError('the source says "not modified" to a first request')
  const sent = await beginning(opened.bytes)
  try {
    const source = feed.decompress({ ...opened, bytes: sent.bytes }, scratch)
    const start = await beginning(source.bytes, beginningBytes)
    try {
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

/** An open source: the first bytes as `sent`, and its document from the beginning. */
interface Started {
  opened: Opened
  sent: Buffer
  end: () => TransportEnd
  head: Buffer
  whole: boolean
  bytes: AsyncIterable<Buffer>
}

async function read(inspection: Inspection, { opened, sent, end, head, whole, bytes }: Started): Promise<Inspected> {
  const { endsWithLineBreak, encoding, maxRecordBytes } = inspection.feed.transport
  const hints = { encoding, charset: opened.charset }
  const kind = kindOf(head, hints, inspection.presets)
  const start: Beginning = { head, whole, options: { ...hints, maxRecordBytes } }
  const choice = await chosenPreset(inspection, kind, start)
  const { preset, options } = choice

  const mapped = new MappedRecords(choice, inspection.moment)
  const format = preset?.format ?? kind.format
  const formatOptions = mapped.mapping?.formatOptions ?? kind.options
  if (formatOptions === null) {
    const { title } = formats[format]
    throw new FeedError(
      `the document is ${title}, but no element in it is repeated and has several children, as records have`,
    )
  }
  const counted = counting(bytes)
  const reading = formats[format].read(counted.bytes, {
    ...formatOptions,
    ...start.options,
    lengthProven: () => !endsWithLineBreak || end().proven,
  })
  const limited = await readAll(reading, mapped, inspection)
  const reasons = limited ? [] : [...new Set([...end().reasons, ...reading.end().reasons])]
  if (!limited && mapped.records === 0 && reasons.length === 0) reasons.push('the document holds no record')
  const { delimiter } = formatOptions
  const document: DocumentFacts = {
    container: containerOf(opened, sent, head),
    format,
    encoding: encodingFacts(declaredEncoding(head, hints), mapped),
    dialect: format === kind.format && kind.dialect ? { ...kind.dialect, ...(delimiter && { delimiter }) } : null,
    record: formatOptions.record ?? null,
    bytes: counted.count(),
    records: mapped.records,
    complete: limited ? null : reasons.length === 0,
    reasons,
  }
  const feed = preset && feedMapping(preset, options, mapped.profile.fields())
  return { findings: findingsOf(opened.name, document, choice, mapped, feed), preset, feed }
}

/** Whether reading stopped at the limit. */
async function readAll(
  reading: Reading,
  mapped: MappedRecords,
  { limit, signal, progress }: Inspection,
): Promise<boolean> {
  for await (const batch of reading.records) {
    signal.throwIfAborted()
    for (const record of batch) {
      if (mapped.records === limit) return true
      mapped.take(reading, record)
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

function encodingFacts(
  declared: { name: string; by: string } | null,
  { notUtf8, beyondAscii }: MappedRecords,
): DocumentFacts['encoding'] {
  if (declared !== null) return declared
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

/** The bytes as they pass, counted. */
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
