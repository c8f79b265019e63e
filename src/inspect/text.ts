/** The findings as text, at most 100 columns wide: the document first, then the results. */
import { styleText } from 'node:util'
import { parse } from 'yaml'
import { fieldRules } from '../core/listing.ts'
import type { FieldValue } from '../core/listing.ts'
import { andMore, many, printable, shorten } from '../core/text.ts'
import { formats } from '../feed/format/formats.ts'
import { flow } from './facts.ts'
import type { Findings, FieldFacts, Sample } from './findings.ts'

type Style = Parameters<typeof styleText>[0]
export type Paint = (style: Style, text: string) => string

const width = 100
const mostShown = 20

export function findingsText(findings: Findings, colour: boolean): string {
  const paint: Paint = (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text)
  return [...lines(findings, paint)].map((line) => `${line}\n`).join('')
}

function* lines(findings: Findings, paint: Paint): Generator<string> {
  const { preset, samples, unused } = findings
  yield* documentLines(findings, paint)
  yield* liveLines(findings, paint)
  for (const note of findings.notes) yield* wrapped(printable(note), 2, (line) => paint('yellow', line))
  yield* presetLines(findings, paint)
  yield* resultLines(findings, paint)
  yield* missingLines(findings, paint)
  yield* hidingLines(findings, paint)
  yield* wordLines(findings, paint)
  yield* rejectLines('Why records would be rejected', findings.rejects, paint)
  yield* rejectLines("Values that can't be read, and are left out", findings.leftOut, paint)
  yield* sampleLines(samples, paint)
  yield* fieldLines(findings, paint)
  if (preset !== null && unused.length > 0) {
    yield ''
    yield paint('bold', `Unused fields (${unused.length})`)
    yield* wrapped(unused.map((path) => shorten(printable(path), 60)).join(', '), 2)
  }
}

function* liveLines({ live }: Findings, paint: Paint): Generator<string> {
  if (live === undefined) return
  const { title, all, licence, schedule } = live
  const count = all === null ? 'it does not count its records' : `${groupedMany(all, 'record')} in all`
  yield* row('live', `${title}: ${count}`, paint)
  for (const sentence of licence) yield* wrapped(`licence: ${sentence}`, 2, (line) => paint('yellow', line))
  for (const sentence of schedule) yield* wrapped(`schedule: ${sentence}`, 2)
}

function* documentLines({ source, document, live }: Findings, paint: Paint): Generator<string> {
  const { container, format, encoding, dialect, record, bytes, records, complete, reasons, doubt } = document
  const place = record === null ? '' : `, records at ${printable(record)}`
  const rows = dialect?.lineEnd === '\r' ? ', rows by CR' : ''
  const how = dialect === null ? place : `, cells separated by ${markName(dialect.delimiter)}${rows}`
  const within = container.length === 0 ? '' : `, within ${container.join(' and ')}`
  yield paint('bold', shorten(printable(source), width))
  yield* row('format', `${formats[format].title}${how}${within}`, paint)
  yield* row('encoding', `${encoding.name} (${encoding.by})`, paint)
  yield* row('size', `${groupedMany(bytes, 'byte')}, ${groupedMany(records, 'record')}`, paint)
  if (complete === null && live !== undefined) yield* row('whole', 'one page of the source was read', paint)
  else if (complete === null) yield* row('whole', 'not known: only these first records were read', paint)
  else if (complete && doubt !== null) yield* row('whole', paint('yellow', `not proven: ${doubt}`), paint)
  else if (complete) yield* row('whole', 'yes', paint)
  else yield* row('whole', paint('yellow', `no: ${reasons.map(printable).join('; ')}`), paint)
}

function* presetLines({ preset, others, settings }: Findings, paint: Paint): Generator<string> {
  yield ''
  if (preset === null) {
    yield paint(['bold', 'yellow'], 'No preset fits')
    yield* wrapped(
      'Copy the nearest preset and write your own (config/presets/README.md), or let --init write a first one from the ' +
        'names of the fields; then inspect again with --preset PATH.',
      2,
    )
  } else {
    const chosen = { found: 'fits best', given: 'as asked for', configured: 'as configured' }[preset.chosen]
    yield `${paint('bold', `Preset ${preset.name}`)}, ${chosen}: ${paint(preset.score >= 60 ? 'green' : 'yellow', `${preset.score} of 100`)}`
    yield* wrapped(`${printable(preset.title)}: ${printable(preset.reason)}.`, 2)
  }
  const next = others.map(({ name, score }) => `${name} ${score}`).join(', ')
  if (next !== '') yield* wrapped(`${preset === null ? 'the nearest:' : 'then'} ${next}`, 2)
  for (const { write, why } of settings) {
    yield* wrapped(`${why}:`, 2)
    yield `    ${paint('cyan', printable(write))}`
  }
}

function* resultLines({ preset, counts, removals }: Findings, paint: Paint): Generator<string> {
  if (preset === null) return
  const { listings, filtered, rejects, lackingFactsOnly } = counts
  yield ''
  yield paint('bold', 'What its records would become')
  yield* row('listings', grouped(listings), paint)
  yield* row('removals', grouped(counts.removals), paint)
  for (const { why, count } of removals.slice(0, mostShown)) yield* wrapped(`${grouped(count)}: ${printable(why)}`, 14)
  if (filtered > 0) yield* row('left out', `${grouped(filtered)} by where`, paint)
  const only = lackingFactsOnly === 0 ? '' : `; ${grouped(lackingFactsOnly)} would be listings with the values below`
  yield* row('rejects', rejects === 0 ? '0' : paint('yellow', `${grouped(rejects)}${only}`), paint)
}

function* missingLines({ missing }: Findings, paint: Paint): Generator<string> {
  if (missing.length === 0) return
  yield ''
  yield paint('bold', 'Required values that records lack, and what to write')
  for (const { field, count, reads, perhaps, write } of missing) {
    const text = printable(write)
    const start = `${grouped(count).padStart(8)}  ${field.padEnd(14)}  `
    if (start.length + text.length <= width) yield start + paint('cyan', text)
    else {
      yield start.trimEnd()
      yield* wrapped(text, 14, (line) => paint('cyan', line))
    }
    if (perhaps.length > 0)
      yield* wrapped(`if it is that: hardly any record has it in ${named(reads)}, where the preset looks`, 14)
  }
  const merged = together(missing.map(({ write }) => write))
  if (merged.length > 0) yield '          together:'
  for (const text of merged) yield* wrapped(printable(text), 14, (line) => paint('cyan', line))
}

const named = (paths: readonly string[]): string =>
  andMore(
    paths.slice(0, 3).map((path) => shorten(printable(path), 40)),
    paths.length,
  )

/** Each section that several entries are for, as one entry: a key may stand in a configuration once. */
function together(writes: readonly string[]): string[] {
  const entries = writes.flatMap((write) => Object.entries(parse(write) as Record<string, object | object[]>))
  return [...Map.groupBy(entries, ([section]) => section)].flatMap(([section, found]) => {
    if (found.length === 1) return []
    const all = found.flatMap(([, value]) => value)
    const groups = all.filter((value) => 'when' in value)
    const merged: object = Object.assign({}, ...all.filter((value) => !('when' in value)))
    return flow({ [section]: groups.length === 0 ? merged : [merged, ...groups] })
  })
}

function* hidingLines({ hiding }: Findings, paint: Paint): Generator<string> {
  if (hiding.length === 0) return
  yield ''
  yield paint('bold', 'Flags that hide an address, and that no rule reads: an error. What to write')
  yield* wrapped(flow({ hideAddress: hiding }), 14, (text) => paint('cyan', text))
}

function* wordLines({ words, moreWords }: Findings, paint: Paint): Generator<string> {
  if (words.length === 0) return
  yield ''
  yield paint('bold', 'Words that no rule maps, and what to write')
  for (const { field, words: found, write } of words) {
    const total = found.reduce((sum, { count }) => sum + count, 0)
    const first = found.slice(0, mostShown)
    const listed = first.map(({ word, count }) => `${shorten(printable(word), 60)} (${grouped(count)})`)
    const more = found.length > mostShown || moreWords ? ' and more (see --format json)' : ''
    yield* wrapped(`${grouped(total).padStart(6)}  ${field}: ${listed.join(', ')}${more}`, 2, undefined, 10)
    const hint = field === 'Status' ? '  # Active, PreOnMarket, Sold or remove' : ''
    yield* wrapped(shorten(printable(write), 4000) + hint, 14, (text) => paint('cyan', text))
  }
}

function* rejectLines(title: string, rejects: Findings['rejects'], paint: Paint): Generator<string> {
  const others = rejects.filter(({ problem }) => !problem.startsWith('is missing; give it with defaults'))
  if (others.length === 0) return
  yield ''
  yield paint('bold', title)
  for (const { field, problem, count, examples } of others.slice(0, mostShown)) {
    yield* wrapped(`${grouped(count).padStart(6)}  ${printable(field)} ${printable(problem)}`, 2, undefined, 10)
    for (const { at, mlsNumber, value } of examples) {
      const shownValue = value === null ? '' : `: "${shorten(printable(value), 40)}"`
      yield `          ${paint('dim', shorten(`${printable(at)}, ${mlsNumber === null ? 'no MLSNumber' : printable(mlsNumber)}${shownValue}`, width - 10))}`
    }
  }
  if (others.length > mostShown) yield `  and ${many(others.length - mostShown, 'more reason')} (see --format json)`
}

function* row(name: string, text: string, paint: Paint): Generator<string> {
  yield* wrapped(`${paint('dim', name.padEnd(9))} ${text}`, 2, undefined, 12)
}

/** Wraps text at words; `hanging`: indentation of further lines. */
export function* wrapped(
  text: string,
  indent: number,
  painted: (text: string) => string = (plain) => plain,
  hanging = indent,
): Generator<string> {
  let line = ''
  let margin = indent
  for (const word of text.split(/(?<=\S) /)) {
    if (line !== '' && margin + line.length + 1 + word.length > width) {
      yield ' '.repeat(margin) + painted(line)
      line = ''
      margin = hanging
    }
    line = line === '' ? word : `${line} ${word}`
  }
  yield ' '.repeat(margin) + painted(line)
}

/** 1,234,567 */
export function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

function groupedMany(count: number, noun: string): string {
  return `${grouped(count)} ${count === 1 ? noun : `${noun}s`}`
}

function markName(delimiter: string): string {
  return { ',': 'a comma', ';': 'a semicolon', '\t': 'a tab', '|': 'a bar' }[delimiter] ?? printable(delimiter)
}

const longestPath = 42
const longestUse = 20

/** One line for each field with values; the empty ones together. */
export function* fieldLines({ fields, moreFields, preset }: Findings, paint: Paint): Generator<string> {
  const filled = fields.filter((field) => field.filled > 0)
  const empty = fields.filter((field) => field.filled === 0)
  if (fields.length === 0) return
  const pathWidth = Math.min(longestPath, Math.max(...filled.map(({ path }) => shown(path).length), 0))
  yield ''
  const count = `${fields.length}${moreFields ? ' and more' : ''}`
  yield paint('bold', `Fields (${count}): percent of records, name, use, examples`)
  for (const field of filled) {
    const { path, examples } = field
    const use = preset === null ? '' : useOf(field).padEnd(longestUse + 2)
    const start = `  ${percent(field.filled).padStart(4)}  ${shown(path).padEnd(pathWidth)}  `
    const rest = shorten(examples.join(' | '), width - start.length - use.length)
    yield `${start}${paint(field.usedFor.length === 0 ? 'yellow' : 'green', use)}${paint('dim', rest)}`
  }
  if (empty.length > 0) yield* wrapped(`empty in every record: ${empty.map(({ path }) => shown(path)).join(', ')}`, 2)
}

function shown(path: string): string {
  const text = printable(path)
  // The end of a long path says more than its beginning.
  return text.length <= longestPath ? text : `…${text.slice(1 - longestPath)}`
}

function useOf({ usedFor }: FieldFacts): string {
  if (usedFor.length === 0) return 'unused'
  const [first, ...rest] = usedFor.map((name) => (name === 'record' ? 'the record' : name))
  return shorten(rest.length === 0 ? first : `${first} +${rest.length}`, longestUse)
}

function percent(filled: number): string {
  return filled > 0 && filled < 1 ? '<1' : filled < 100 && filled > 99 ? '99' : String(Math.round(filled))
}

const nameWidth = 17

/** How some records would map, field by field, or why not. */
export function* sampleLines(samples: readonly Sample[], paint: Paint): Generator<string> {
  if (samples.length === 0) return
  yield ''
  yield paint('bold', 'How records would map')
  for (const sample of samples) {
    const { at, mlsNumber, listing, missing, problems, why } = sample
    yield shorten(`  ${printable(at)}: ${mlsNumber === null ? 'no MLSNumber' : printable(mlsNumber)}`, width)
    if (listing === null) {
      if (why !== null) yield line('removal', why, paint)
      for (const { field, value, problem } of problems)
        yield line(field, `${value === null ? '' : `"${value}" `}${problem}`, paint, 'yellow')
      continue
    }
    for (const { name } of fieldRules) {
      const value = listing[name]
      if (missing.includes(name)) yield line(name, 'missing', paint, 'yellow')
      else if (value !== undefined) yield line(name, valueText(value), paint)
    }
  }
}

function line(name: string, text: string, paint: Paint, style?: 'yellow'): string {
  const plain = shorten(printable(text), width - nameWidth - 6)
  return `    ${paint('dim', shorten(printable(name), nameWidth).padEnd(nameWidth))} ${style === undefined ? plain : paint(style, plain)}`
}

function valueText(value: FieldValue): string {
  if (!Array.isArray(value)) return String(value)
  const texts = value.map((item) => (typeof item === 'string' ? item : `${item.Key}: ${item.value}`))
  return `${texts.length}: ${texts.join(', ')}`
}
