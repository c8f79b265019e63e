/**
 * Lays a report out as headings and tables, for forms that are not read on a terminal: first what is held, by rule, then what failed,
 * then the changes by kind. Texts are made printable here; each form escapes them in its own way.
 */
import { numberText, timeText } from '../core/intl.ts'
import type { Reader } from '../core/intl.ts'
import { many, printable, shorten } from '../core/text.ts'
import type { ActionKind, ChangeKind } from '../plan/change.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import type { Verification } from '../verify/verification.ts'
import { isElsewhere, problemsOf } from './collect.ts'
import { Fit } from './fit.ts'
import { actions, headline, observedText, shownKinds, withoutValues } from './headline.ts'
import { isOpen } from './report.ts'
import type { Report, ReportedChange } from './report.ts'
import { areaText, fieldChange, fieldLabel, fieldValue, heldFor, homePrice, placeText, saleText } from './values.ts'
import { answerText, verdictOf, verifiedSentence } from './verified.ts'

/** What a row is about, for a form that has colours and a filter. */
export type Tone = 'plain' | 'warning' | ChangeKind

/** One text, or several lines. */
export type Cell = string | string[]

export interface Row {
  tone: Tone
  cells: Cell[]
  /** Addresses of pictures before and after the change. */
  pictures: { before: readonly string[]; after: readonly string[] } | null
}

export interface Section {
  title: string
  tone: Tone
  /** Sentences above the table. */
  intro: string[]
  /** A command to copy. */
  command: string | null
  columns: readonly string[]
  /** As the form writes them. */
  rows: string[]
  /** How many rows there are, also in words. */
  count: number
  countText: string
}

export interface Layout {
  headline: string
  /** Which run it is of. */
  about: string
  result: Report['result']
  /** The kinds of changes that there are, with their counts. */
  counts: { kind: ChangeKind; count: number; text: string }[]
  notes: string[]
  /** What there was no room for; null: nothing. */
  leftOut: string | null
  /** There are more changes than anybody can look through. */
  isLong: boolean
  sections: Section[]
  figures: [name: string, text: string][]
}

/** A section without its rows. */
type Unfilled = Omit<Section, 'rows' | 'count' | 'countText'>

/** Most changes that are shown unfolded. */
export const mostUnfolded = 5000
const mostNotes = 100
const mostGroups = 20
const picturesShown = 4
/** Most sections that are named if something is left out. */
const mostNamed = 8

/** How a form writes rows, and its room. `most` and sizes are in the form's own unit. */
export interface Room {
  row: (row: Row) => string
  sizeOf: (text: string) => number
  most: number
  /** The size of headings and notes around the rows. */
  around: (layout: Layout) => number
  /** The room in words for a reader: "20 MB". */
  name: string
}

export function layOut(report: Report, room: Room): Layout {
  const sections = new Map<string, Section>()
  const fit = new Fit<string>(room.most, room.sizeOf)
  const add = (key: string, section: () => Unfilled, row: () => Row): void => {
    if (!sections.has(key)) sections.set(key, { ...section(), rows: [], count: 0, countText: '' })
    fit.add(key, () => room.row(row()))
  }
  let changes = 0
  for (const change of report.changes()) {
    if (isElsewhere(change)) continue
    changes++
    if (change.kind === 'hold' || change.rules.length > 0) {
      const [key, section] = heldSection(report, change, sections)
      add(key, section, () => heldRow(report, change))
    }
    if (isOpen(change)) add('open', failedSection, () => failedRow(change))
    const { kind } = change
    if (kind !== 'hold')
      add(
        kind,
        () => kindSection(kind),
        () => changeRow(report, change),
      )
  }
  for (const problem of problemsOf(report))
    add(
      'rejects',
      () => rejectSection(report),
      () => rejectRow(problem),
    )
  for (const verified of report.verification?.listings ?? [])
    add(
      'verified',
      () => verifiedSection(report.verification!),
      () => verifiedRow(verified),
    )
  const sentences = new Set(report.holds.map(({ sentence }) => sentence))
  const notes = report.notes.filter((note) => !sentences.has(note))
  const more = notes.length - mostNotes
  const layout: Layout = {
    headline: shorten(headline(report), 1000),
    about: aboutOf(report),
    result: report.result,
    counts: countsOf(report),
    notes: [
      ...notes.slice(0, mostNotes).map((note) => shorten(printable(note), 1000)),
      ...(more > 0 ? [`${many(more, 'more note')}: see --format json`] : []),
    ],
    leftOut: null,
    isLong: changes > mostUnfolded,
    sections: [...sections.entries()]
      .toSorted((a, b) => orderOf(report, a[0]) - orderOf(report, b[0]))
      .map(([, row]) => row),
    figures: figuresOf(report),
  }
  // If many feeds share the room, the notes are what can be spared.
  while (layout.notes.length > 0 && room.around(layout) > room.most / 2)
    layout.notes = layout.notes.slice(0, Math.floor(layout.notes.length / 2))
  const fitted = fit.fitted(room.around(layout) + 3000)
  const missing: string[] = []
  for (const [key, section] of sections) {
    const { rows, count } = fitted.get(key)!
    Object.assign(section, { rows, count, countText: numberText(count, report.reader) })
    const left = section.count - section.rows.length
    if (left > 0) missing.push(`${numberText(left, report.reader)} of ${section.countText} under “${section.title}”`)
  }
  if (missing.length > 0)
    layout.leftOut = `Left out here, as this form holds at most ${room.name}: ${missing.slice(0, mostNamed).join('; ')}${missing.length > mostNamed ? '; …' : ''}. Everything is in --format json.`
  return layout
}

/** Where a section stands: what waits for a person first. */
function orderOf({ holds }: Report, key: string): number {
  const kinds = ['open', 'delete', 'update', 'create', 'rejects', 'verified', 'adopt', 'forget']
  if (!key.startsWith('hold')) return 1000 + kinds.indexOf(key)
  const rule = holds.findIndex((hold) => key === `hold by ${hold.rule}`)
  return key.startsWith('hold by') ? (rule < 0 ? 500 : rule) : 900
}

const homeColumns = ['MLS number', 'Home', 'Price', 'What changes', 'Why']

function heldSection(
  report: Report,
  change: ReportedChange,
  known: ReadonlyMap<string, Section>,
): [key: string, section: () => Unfilled] {
  const { rules } = change
  if (rules.length > 0) {
    const sentences = report.holds.filter(({ rule }) => rules.includes(rule)).map(({ sentence }) => printable(sentence))
    return [
      `hold by ${rules.join(' and ')}`,
      () => ({
        title: `Held by the guard: ${rules.join(' and ')}`,
        tone: 'hold',
        intro: sentences,
        command: commandFor('approve', report),
        columns: ['MLS number', 'Home', 'Price', 'Would', 'Why'],
      }),
    ]
  }
  const why = shorten(printable(withoutValues(change.why)), 200)
  const key = `hold: ${why}`
  const isMany =
    !known.has(key) && [...known.keys()].filter((heading) => heading.startsWith('hold: ')).length >= mostGroups
  const title = `Kept back: ${isMany ? 'other reasons' : why}`
  return [
    isMany ? 'hold: ' : key,
    () => ({ title, tone: 'hold', intro: [], command: null, columns: ['MLS number', 'Home', 'Price', 'Would', 'Why'] }),
  ]
}

const titles: Record<ActionKind, string> = {
  update: 'Update',
  create: 'Create',
  delete: 'Delete',
  adopt: 'Adopt: already as wanted',
  forget: 'Forget: gone on both sides',
}

function kindSection(kind: ActionKind): Unfilled {
  return { title: titles[kind], tone: kind, intro: [], command: null, columns: homeColumns }
}

/** A command to be copied into a shell, so with no other characters than a feed's name may have. */
function commandFor(command: string, { feed }: Report): string {
  return `listing-sync ${command} ${feed.replaceAll(/[^\w.-]/g, '')}`
}

function homeCells({ reader }: Report, { mlsNumber, home }: ReportedChange): Cell[] {
  const place = [placeText(home), saleText(home)].filter((line) => line !== '')
  return [shorten(printable(mlsNumber), 100), place, homePrice(home, reader)]
}

function changeRow(report: Report, change: ReportedChange): Row {
  const { kind, why, outcome, fields } = change
  const open = outcome === null || outcome.result === 'done' ? '' : ` [${outcome.result}]`
  return {
    tone: kind,
    cells: [...homeCells(report, change), fieldLines(report, change, fields), `${printable(why)}${open}`],
    pictures: picturesOf(fields),
  }
}

function heldRow(report: Report, change: ReportedChange): Row {
  const { kind, held, why, fields, withheld } = change
  const those = kind === 'hold' ? fields : withheld
  const would = held ?? (kind === 'hold' ? '' : kind)
  const lines = [would, ...fieldLines(report, change, those)].filter((line) => line !== '')
  return {
    tone: 'hold',
    cells: [...homeCells(report, change), lines, `${printable(why)}${heldFor(report, change)}`],
    pictures: picturesOf(those),
  }
}

/** The fields as lines. Of a create, which has all fields, a few facts tell which listing it is, and placeholders are named. */
function fieldLines({ reader }: Report, change: ReportedChange, fields: readonly FieldChange[]): string[] {
  const { kind, held, home } = change
  const form = { reader, home }
  if ((kind !== 'create' && held !== 'create') || fields.some(({ from }) => from !== null))
    return fields.map((fieldChanged) => `${fieldLabel(fieldChanged.field)}: ${fieldChange(fieldChanged, form)}`)
  const placeholders = fields.filter(({ placeholder }) => placeholder)
  return [
    factsOf(fields, change, reader),
    ...placeholders.map(({ field, to }) => `${fieldLabel(field)}: ${fieldValue(field, to, form)} (placeholder)`),
  ].filter((line) => line !== '')
}

/** "Apartment, 3 bed, 2 bath, 1,850 sq ft". */
function factsOf(fields: readonly FieldChange[], { home }: ReportedChange, reader: Reader): string {
  const value = (name: FieldChange['field']): FieldChange['to'] =>
    fields.find(({ field, placeholder }) => field === name && !placeholder)?.to ?? null
  const [type, bedrooms, bathrooms, area] = [
    value('PropertyType'),
    value('Bedrooms'),
    value('Bathrooms'),
    value('BuildingArea'),
  ]
  return [
    typeof type === 'string' ? shorten(printable(type), 120) : '',
    typeof bedrooms === 'number' ? `${numberText(bedrooms, reader)} bed` : '',
    typeof bathrooms === 'number' ? `${numberText(bathrooms, reader)} bath` : '',
    typeof area === 'number' ? areaText(area, home?.areaUnit ?? null, reader) : '',
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function picturesOf(fields: readonly FieldChange[]): Row['pictures'] {
  const images = fields.find(({ field }) => field === 'Images')
  if (images === undefined) return null
  const list = (value: FieldChange['from']): string[] => (value ?? []) as string[]
  const [from, to] = [list(images.from), list(images.to)]
  const [gone, come] = [new Set(to), new Set(from)]
  return {
    before: from.filter((address) => !gone.has(address)).slice(0, picturesShown),
    after: to.filter((address) => !come.has(address)).slice(0, picturesShown),
  }
}

function failedSection(): Unfilled {
  return { title: 'Not carried out', tone: 'warning', intro: [], command: null, columns: ['MLS number', 'What', 'Why'] }
}

function failedRow({ mlsNumber, kind, outcome }: ReportedChange): Row {
  const error = shorten(printable(outcome?.error ?? 'no message'), 500)
  return { tone: 'warning', cells: [printable(mlsNumber), `${kind} ${outcome?.result}`, error], pictures: null }
}

function rejectSection(report: Report): Unfilled {
  return {
    title: `Why ${many(report.delivery.rejects, 'record')} could not become a listing`,
    tone: 'warning',
    intro: [],
    command: commandFor('inspect', report),
    columns: ['Records', 'Problem', 'For example'],
  }
}

function rejectRow({ sentence, count, examples }: ReturnType<typeof problemsOf>[number]): Row {
  const places = examples.map(({ reject, problem }) => {
    const place = shorten(printable(`${reject.at}, ${reject.mlsNumber ?? 'no MLSNumber'}`), 200)
    return problem === sentence ? place : `${place}: ${shorten(printable(problem), 300)}`
  })
  return { tone: 'warning', cells: [String(count), shorten(printable(sentence), 300), places], pictures: null }
}

function verifiedSection(verification: Verification): Unfilled {
  const title = `What the chatbot says (session ${verification.session}): ${verifiedSentence(verification)}`
  const tone = verification.disagreed > 0 ? 'warning' : 'plain'
  return { title, tone, intro: [], command: null, columns: ['MLS number', 'Verdict', 'Question and answer'] }
}

function verifiedRow(listing: Verification['listings'][number]): Row {
  const exchange = [printable(listing.question), answerText(listing) ?? '(no answer)']
  return { tone: 'plain', cells: [printable(listing.mlsNumber), verdictOf(listing), exchange], pictures: null }
}

function aboutOf({ command, startedAt, finishedAt, reader, chatbot }: Report): string {
  const seconds = Math.round((finishedAt - startedAt) / 100) / 10
  return `${command} of ${timeText(startedAt, reader)} (${reader.timezone}), ${numberText(seconds, reader)} s; chatbot ${printable(chatbot)}`
}

function countsOf({ counts, reader }: Report): Layout['counts'] {
  return shownKinds
    .filter((kind) => counts[kind] > 0)
    .map((kind) => ({ kind, count: counts[kind], text: `${numberText(counts[kind], reader)} ${countNames[kind]}` }))
}

const countNames: Record<ChangeKind, string> = {
  hold: 'held',
  update: 'update',
  create: 'create',
  delete: 'delete',
  adopt: 'adopt',
  forget: 'forget',
}

function figuresOf(report: Report): Layout['figures'] {
  const { delivery, remote, counts, estimate, applied, reader } = report
  const whole = ({ complete, reasons }: { complete: boolean; reasons: string[] }): string =>
    complete ? '' : `; not complete: ${shorten(printable(reasons.join('; ')), 1000)}`
  const { removals, filtered, duplicates, rejects } = delivery
  const apart = `${many(removals, 'removal')}, ${filtered} filtered, ${many(duplicates, 'duplicate')}, ${many(rejects, 'reject')}`
  const rows: [string, string][] = [
    [
      'feed',
      `${many(delivery.listings, 'listing')} of ${many(delivery.records, 'record')} (${apart})${whole(delivery)}`,
    ],
    ['service', `${many(remote.listings, 'listing')} on ${many(remote.pages, 'page')}${whole(remote)}`],
    ...(report.observed ? [['list', observedText(report)] as [string, string]] : []),
    ['plan', [`${counts.unchanged} unchanged`, ...actions(report, shownKinds)].join(', ')],
  ]
  if (applied === null)
    rows.push([
      'expected',
      `${many(estimate.calls, 'call')}, about ${numberText(Math.ceil(estimate.seconds), reader)} s`,
    ])
  else {
    const outcomes = Object.entries(applied.outcomes).map(([name, count]) => `${count} ${name}`)
    rows.push(['outcomes', outcomes.join(', ')])
  }
  return [...rows, ['digest', report.digest]]
}
