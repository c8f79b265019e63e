/**
 * The report as Markdown, for a ticket or a pull request: at most 65,000 characters, the long tables folded. Feed text stays
 * text: nothing in it is a link, a tag or a table.
 */
import { layOut } from './layout.ts'
import type { Cell, Layout, Section } from './layout.ts'
import { writePieces } from './report.ts'
import type { FormOptions, ReportForm } from './report.ts'

/** GitHub takes 65,536 characters in a comment. */
const most = 65_000
/** Most rows without folding. */
const mostOpen = 20

export function markdownForm({ feeds = 1 }: Partial<FormOptions> = {}): ReportForm {
  return {
    write(report, output) {
      const layout = layOut(report, {
        row: ({ cells }) => `${row(cells)}\n`,
        sizeOf: (text) => text.length,
        most: Math.floor(most / feeds),
        around: (around) => [...lines(around)].join('\n').length,
        name: `${(most / 1000).toFixed(0)},000 characters`,
      })
      return writePieces(lines(layout), output, '\n')
    },
    document: { before: '', after: '' },
    several: { before: '', between: '\n', after: '' },
  }
}

function* lines(layout: Layout): Generator<string> {
  const { headline, about, leftOut, notes, sections, figures } = layout
  yield `## ${escaped(headline)}\n`
  yield `${escaped(about)}\n`
  if (leftOut !== null) yield `> ${escaped(leftOut)}\n`
  for (const note of notes) yield `> ${escaped(note)}\n`
  for (const section of sections) yield* table(section)
  yield '<details><summary>Figures</summary>\n'
  yield '| | |\n| --- | --- |'
  for (const cells of figures) yield row(cells)
  yield '\n</details>'
}

function* table({ title, intro, command, columns, rows, count, countText }: Section): Generator<string> {
  yield `### ${escaped(title)} \\(${escaped(countText)}\\)\n`
  for (const sentence of intro) yield `${escaped(sentence)}\n`
  if (command !== null) yield `\`\`\`sh\n${command}\n\`\`\`\n`
  // `count` 0: the rows are not known yet, and the size of the words is counted with folding.
  const isFolded = rows.length > mostOpen || count === 0
  if (isFolded) yield `<details><summary>${rows.length} rows</summary>\n`
  yield row([...columns])
  yield `|${columns.map(() => ' --- |').join('')}`
  yield rows.join('')
  if (count > rows.length) yield `… and ${count - rows.length} more \\(see \`--format json\`\\)\n`
  if (isFolded) yield '</details>\n'
}

function row(cells: readonly Cell[]): string {
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
