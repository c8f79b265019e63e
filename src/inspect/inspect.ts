/**
 * `inspect`: what is in a source, which preset fits it, how its records would be mapped. The beginning of the document is
 * kept and tried on every preset; then the whole of it passes once, in flat memory.
 */
import { FeedError } from '../core/errors.ts'
import { archiveProblem, kindOf } from '../feed/format/detect.ts'
import type { Kind } from '../feed/format/detect.ts'
import { saidEncoding } from '../feed/format/encoding.ts'
import type { Reading } from '../feed/format/format.ts'
import type { Mapping } from '../feed/mapping/mapping.ts'
import type { Opened, TransportEnd } from '../feed/transport/transport.ts'
import { chosenPreset } from './choice.ts'
import type { Choice } from './choice.ts'
import { feedMapping, fieldFacts, missingFacts, wordFacts, wordsMayBeMapped } from './facts.ts'
import type { DocumentFacts, Findings } from './findings.ts'
import type { Beginning } from './fit.ts'
import { Work } from './map-records.ts'
import type { FeedMapping, Inspected, InspectParts } from './parts.ts'

/** So much of a document is kept to try presets on. */
const beginningBytes = 2 * 1024 * 1024

/** Throws `FeedError` where the source can't be read or is no feed. */
export async function inspect(parts: InspectParts): Promise<Inspected> {
  const { feed, signal, scratch } = parts
  const opened = await feed.open(null, signal, scratch)
  if (opened === 'not-modified') throw new FeedError('the source says "not modified" to a first request')
  const sent = await beginning(opened.bytes, 64 * 1024)
  try {
    const problem = sent.head.length < 30 ? null : archiveProblem(sent.head)
    if (problem !== null) throw new FeedError(problem)
    const source = feed.decompress({ ...opened, bytes: sent.bytes }, scratch)
    const start = await beginning(source.bytes, beginningBytes)
    try {
      if (start.head.length === 0 && source.end().reasons.length > 0)
        throw new FeedError(source.end().reasons.join('; '))
      return await read(parts, { opened, sent: sent.head, end: () => source.end(), ...start })
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

async function read(parts: InspectParts, { opened, sent, end, head, whole, bytes }: Started): Promise<Inspected> {
  const { formats, moment } = parts
  const { endsWithLineBreak, encoding, maxRecordBytes } = parts.feed.formatOptions
  const said = { encoding, charset: opened.charset }
  const rare = parts.presets.flatMap(({ delimiter = '' }) => (delimiter.length < 2 ? [] : [delimiter]))
  const kind = kindOf(head, said, rare)
  const start: Beginning = { head, whole, options: { ...said, maxRecordBytes } }
  const choice = await chosenPreset(parts, kind, start)
  const { preset, options } = choice

  const work = new Work(choice, moment)
  const format = preset?.format ?? kind.format
  const counted = counting(bytes)
  const reading = formats[format](counted.bytes, {
    ...(work.mapping?.formatOptions ?? unknownFormat(kind)),
    ...start.options,
    lengthProven: () => !endsWithLineBreak || end().proven,
  })
  const limited = await readAll(reading, work, parts)
  const reasons = limited ? [] : [...new Set([...end().reasons, ...reading.end().reasons])]
  if (!limited && work.records === 0 && reasons.length === 0) reasons.push('the document holds no record')
  const { dialect } = kind
  const document: DocumentFacts = {
    container: containerOf(opened, sent, head),
    format,
    encoding: encodingFacts(saidEncoding(head, said), work),
    dialect: format === 'csv' && dialect ? { ...dialect, delimiter: preset?.delimiter ?? dialect.delimiter } : null,
    record: format === 'xml' ? (preset?.record ?? kind.record) : null,
    bytes: counted.count(),
    records: work.records,
    complete: limited ? null : reasons.length === 0,
    reasons,
  }
  const mapped = preset && feedMapping(preset, options, work.profile.fields())
  return { findings: findingsOf(opened.name, document, choice, work, mapped), preset, feed: mapped }
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

/** Two ways to look at bytes on their way. */

/** The first bytes as a copy, and all of them in order; `close` where they are not read to their end. */
export async function beginning(source: AsyncIterable<Buffer>, size: number) {
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
  const close = async (): Promise<void> => void (await iterator.return?.())
  return { head, whole: done, bytes: bytes(), close }
}

/** The bytes as they pass, counted. */
export function counting(source: AsyncIterable<Buffer>): { bytes: AsyncIterable<Buffer>; count: () => number } {
  let count = 0
  async function* bytes(): AsyncGenerator<Buffer> {
    for await (const block of source) {
      count += block.length
      yield block
    }
  }
  return { bytes: bytes(), count: () => count }
}
