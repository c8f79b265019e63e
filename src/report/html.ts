/**
 * The report as one HTML file that needs nothing else: no script, no link, no address is ever loaded, and a policy in the
 * file forbids it. Feed text goes through one escaping function and never into an attribute.
 */
import { createHash } from 'node:crypto'
import { outline } from './outline.ts'
import type { Outline, Section } from './outline.ts'
import { writePieces } from './report.ts'
import type { ReportForm } from './report.ts'

export function htmlForm(): ReportForm {
  return {
    write: (report, output) => writePieces(pieces(outline(report)), output),
    document: { before: `${head}\n`, after: '</body>\n</html>\n' },
    several: { before: '', between: '', after: '' },
  }
}

const style = `
  :root { color-scheme: light dark; --line: #8884; --dim: #8889; }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { font-size: 1.35rem; border-left: .4rem solid var(--tone); padding-left: .75rem; }
  h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
  h2::before { content: ""; display: inline-block; width: .7rem; height: .7rem; margin-right: .5rem; border-radius: 50%; background: var(--tone); }
  p.note { border-left: .4rem solid #c80; padding: .25rem .75rem; background: #c802; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
  th { font-weight: 600; color: var(--dim); }
  td:first-child { white-space: nowrap; font-variant-numeric: tabular-nums; }
  .ok, .create { --tone: #2a8; } .changes, .update { --tone: #27c; } .held, .partial, .hold, .warning { --tone: #c80; }
  .failed, .delete { --tone: #c33; } .plain, .adopt, .forget { --tone: #888; }
`

/**
 * What a browser may do with the page, should feed text ever get into it as markup: nothing but apply this very style. A
 * policy in a file can't forbid the page to be framed, nor to lead elsewhere by a refresh; that is for the escaping.
 */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`

const head = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>listing-sync report</title>
<style>${style}</style>
</head>
<body>`

function* pieces({ headline, result, notes, sections }: Outline): Generator<string> {
  yield `<article>\n<h1 class="${result}">${escaped(headline)}</h1>\n`
  for (const note of notes) yield `<p class="note">${escaped(note)}</p>\n`
  for (const section of sections) yield* table(section)
  yield '</article>\n'
}

function* table({ title, tone, columns, rows, more }: Section): Generator<string> {
  yield `<h2 class="${tone}">${escaped(title)}</h2>\n<table>\n`
  if (columns.some((column) => column !== ''))
    yield `<tr>${columns.map((column) => `<th>${escaped(column)}</th>`).join('')}</tr>\n`
  for (const cells of rows) {
    yield `<tr>${cells.map((cell) => `<td>${Array.isArray(cell) ? cell.map(escaped).join('<br>') : escaped(cell)}</td>`).join('')}</tr>\n`
  }
  yield '</table>\n'
  if (more > 0) yield `<p>… and ${more} more (see --format json)</p>\n`
}

/** The one way of text into the page. */
function escaped(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
}
