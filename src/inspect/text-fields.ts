import { printable, shorten } from '../text.ts'
import type { FieldFacts, Findings } from './findings.ts'
import { wrapped } from './text.ts'
import type { Paint } from './text.ts'

const width = 100
const longestPath = 42
const longestUse = 20

/** One line for each field that has something in it; the empty ones together. */
export function* fieldLines({ fields, moreFields, preset }: Findings, paint: Paint): Generator<string> {
  const filled = fields.filter((field) => field.filled > 0)
  const empty = fields.filter((field) => field.filled === 0)
  if (fields.length === 0) return
  const pathWidth = Math.min(longestPath, Math.max(...filled.map(({ path }) => shown(path).length), 0))
  yield ''
  yield paint(
    'bold',
    `Fields (${fields.length}${moreFields ? ' and more' : ''}): percent of records, name, use, examples`,
  )
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
  // The end of a long path tells more than its beginning.
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
