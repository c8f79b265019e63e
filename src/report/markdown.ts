/** The report as Markdown, for a ticket or a pull request. Feed text stays text: nothing in it is a link, a tag or a table. */
import type { Outline, Section } from './outline.ts'
import { outline } from './outline.ts'
import { writePieces } from './report.ts'
import type { ReportForm } from './report.ts'

export function markdownForm(): ReportForm {
  return {
    write: (report, output) => writePieces(lines(outline(report)), output, '\n'),
    document: { before: '', after: '' },
    several: { before: '', between: '\n', after: '' },
  }
}

function* lines({ headline, notes, sections }: Outline): Generator<string> {
  yield `## ${escaped(headline)}\n`
  for (const note of notes) yield `> ${escaped(note)}\n`
  for (const section of sections) yield* table(section)
}

function* table({ title, columns, rows, more }: Section): Generator<string> {
  yield `### ${escaped(title)}`
  yield ''
  yield row(columns)
  yield `|${columns.map(() => ' --- |').join('')}`
  for (const cells of rows) yield row(cells)
  yield ''
  if (more > 0) yield `… and ${more} more (see \`--format json\`)\n`
}

function row(cells: (string | string[])[]): string {
  return `|${cells.map((cell) => ` ${Array.isArray(cell) ? cell.map(escaped).join('<br>') : escaped(cell)} |`).join('')}`
}

/** A line of plain text: every character that Markdown or HTML gives a meaning is escaped, and no address becomes a link. */
function escaped(text: string): string {
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[\\`*_{}[\]()#+\-!|~=^$]/g, String.raw`\$&`)
    .replace(/@/g, '&#64;')
    .replace(/:\/\//g, '&#58;//')
    .replace(/www\./gi, (prefix) => `${prefix.slice(0, -1)}&#46;`)
}
