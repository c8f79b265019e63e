/**
 * The report as one HTML file that needs nothing else. A policy in the file lets run and apply nothing but its own script
 * and style, and load nothing but pictures of hosts that were named. Feed text goes through one escaping function, and
 * into an attribute only as the address of a picture.
 */
import { createHash } from 'node:crypto'
import { layOut } from './layout.ts'
import type { Cell, Layout, Row, Section } from './layout.ts'
import { pageScript, pageStyle } from './page-style.ts'
import { writePieces } from './report.ts'
import type { FormOptions, Report, ReportForm } from './report.ts'

/** Most bytes of a file. */
const most = 20_000_000
/** Bytes for style, script and policy, with room to spare. */
const frame = 50_000
/** Rows on a page of a folded section. */
const pageRows = 500

export function htmlForm({ images = [], feeds = 1 }: Partial<FormOptions> = {}): ReportForm {
  return {
    write: (report, output) => writePieces(article(report, { images, feeds }), output),
    document: { before: `${headOf(images)}\n${tools}`, after: `<script>${pageScript}</script>\n</body>\n</html>\n` },
    several: { before: '', between: '', after: '' },
  }
}

/** How a policy names a text that it allows. */
export const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/**
 * What a browser may do with the page, should feed text ever get into it as markup: run this very script and apply this very style,
 * and nothing else. A policy in a file can forbid neither framing nor leading elsewhere by a refresh: escaping has to prevent that.
 */
export function policyOf(images: readonly string[]): string {
  const from = images.flatMap((host) => [`https://${host}`, `http://${host}`])
  const pictures = from.length === 0 ? '' : `; img-src ${from.join(' ')}`
  return `default-src 'none'; style-src ${hashOf(pageStyle)}; script-src ${hashOf(pageScript)}${pictures}; base-uri 'none'; form-action 'none'`
}

const headOf = (images: readonly string[]): string => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf(images)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>listing-sync report</title>
<style>${pageStyle}</style>
</head>
<body>`

const kinds = ['hold', 'delete', 'update', 'create', 'adopt', 'forget', 'warning']
const kindNames: Readonly<Record<string, string>> = { hold: 'held', warning: 'problems' }
const options = kinds.map((kind) => `<option value="${kind}">${kindNames[kind] ?? kind}</option>`).join('')

/** The search and filter. Hidden until the script shows it, as it does nothing without one. */
const tools = `<div class="tools" hidden="">
<input id="search" type="search" aria-label="Search" placeholder="Search: number, street, city, reason">
<select id="kind" aria-label="Kind"><option value="">every kind</option>${options}</select>
<output id="found" class="dim"></output>
</div>
`

/** The part of the page that tells of one feed, in pieces. */
export function* article(
  report: Report,
  { images, feeds }: Required<Pick<FormOptions, 'images' | 'feeds'>>,
): Generator<string> {
  const hosts = new Set(images)
  const layout = layOut(report, {
    row: (row) => rowOf(row, hosts),
    sizeOf: (text) => Buffer.byteLength(text),
    most: Math.floor((most - frame) / feeds),
    // Counted for each page of rows, as each has a head of its own.
    around: (around) => Buffer.byteLength([...pieces(around)].join('')) + 400 * (most / feeds / 100 / pageRows),
    name: '20 MB',
  })
  yield* pieces(layout)
}

function* pieces(layout: Layout): Generator<string> {
  const { headline, about, result, counts, leftOut, notes, sections, figures, isLong } = layout
  yield `<article>\n<h1 class="${result}">${escaped(headline)}</h1>\n<p class="about">${escaped(about)}</p>\n`
  if (leftOut !== null) yield `<p class="left">${escaped(leftOut)}</p>\n`
  yield* bar(counts)
  for (const note of notes) yield `<p class="note">${escaped(note)}</p>\n`
  for (const section of sections) yield* isLong && section.count > pageRows ? folded(section) : open(section)
  yield `<details><summary>Figures</summary>\n<table class="rows"><tbody>\n`
  for (const [name, text] of figures) yield `<tr><td>${escaped(name)}</td><td>${escaped(text)}</td></tr>\n`
  yield '</tbody></table>\n</details>\n</article>\n'
}

function* bar(counts: Layout['counts']): Generator<string> {
  if (counts.length === 0) return
  const all = counts.reduce((sum, { count }) => sum + count, 0)
  const cells = counts.map(
    ({ kind, count }) => `<td class="${kind}" width="${Math.max(1, Math.round((100 * count) / all))}%"></td>`,
  )
  yield `<table class="bar" aria-hidden="true"><tbody><tr>${cells.join('')}</tr></tbody></table>\n`
  yield `<ul class="counts">${counts.map(({ kind, text }) => `<li class="${kind}">${escaped(text)}</li>`).join('')}</ul>\n`
}

function* open(section: Section): Generator<string> {
  yield `<section>\n${headingOf(section)}\n`
  yield* introOf(section)
  yield* table(section, section.rows)
  yield '</section>\n'
}

function* folded(section: Section): Generator<string> {
  const { rows, tone } = section
  yield `<details class="section"${tone === 'hold' ? ' open=""' : ''}><summary>${headingOf(section)}</summary>\n`
  yield* introOf(section)
  for (let from = 0; from < rows.length; from += pageRows) {
    const page = rows.slice(from, from + pageRows)
    yield `<details class="page"${from === 0 && tone === 'hold' ? ' open=""' : ''}><summary>rows ${from + 1} to ${from + page.length}</summary>\n`
    yield* table(section, page)
    yield '</details>\n'
  }
  yield '</details>\n'
}

function headingOf({ title, tone, countText }: Section): string {
  return `<h2 class="${tone}">${escaped(title)} (${escaped(countText)})</h2>`
}

function* introOf({ intro, command }: Section): Generator<string> {
  for (const sentence of intro) yield `<p>${escaped(sentence)}</p>\n`
  if (command !== null) yield `<code class="command">${escaped(command)}</code>\n`
}

function* table({ columns }: Section, rows: readonly string[]): Generator<string> {
  yield `<table class="rows">\n<thead><tr>${columns.map((column) => `<th scope="col">${escaped(column)}</th>`).join('')}</tr></thead>\n<tbody>\n`
  yield* rows
  yield '</tbody>\n</table>\n'
}

/** Classes of the cells of rows about homes. */
const classes = ['', 'home', 'price', '', '']

function rowOf({ tone, cells, pictures }: Row, hosts: ReadonlySet<string>): string {
  const isHome = cells.length === classes.length
  const written = cells.map((cell, at) => {
    const shown = at === 3 && pictures !== null ? picturesOf(pictures, hosts) : ''
    const named = isHome && classes[at] !== '' ? ` class="${classes[at]}"` : ''
    return `<td${named}>${cellOf(cell)}${shown}</td>`
  })
  return `<tr class="row ${tone}">${written.join('')}</tr>\n`
}

function cellOf(cell: Cell): string {
  return Array.isArray(cell) ? cell.map((line) => `<div>${escaped(line)}</div>`).join('') : escaped(cell)
}

function picturesOf({ before, after }: NonNullable<Row['pictures']>, hosts: ReadonlySet<string>): string {
  const shown = (addresses: readonly string[]): string => addresses.map((address) => pictureOf(address, hosts)).join('')
  const [gone, come] = [shown(before), shown(after)]
  if (gone + come === '') return ''
  const part = (name: string, images: string): string =>
    images === '' ? '' : `<span class="dim">${name}</span>${images}`
  return `<div class="pictures">${part('before', gone)}${part('after', come)}</div>`
}

/** A picture as an element; '': its host is not among those named. */
function pictureOf(address: string, hosts: ReadonlySet<string>): string {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol) || !hosts.has(url.host) || url.username !== '') return ''
  return `<img src="${escaped(url.href)}" alt="" loading="lazy">`
}

/** The only way by which text gets into the page. */
export function escaped(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
}
