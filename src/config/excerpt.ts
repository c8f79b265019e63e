/** Shows parts of a configuration that is no valid YAML, without secrets: a wrong line may be the one with the password. */
import type { YAMLError } from 'yaml'
import { configJsonSchema } from './schema.ts'

/** Keys whose values are no secrets, by nature: words, numbers, times and names. */
const plain = new Set(
  `adopt allowNetworkStore allowPrivateRedirects approve attempts base chatbot clear concurrency confirm deadline deleteBatch
  delivery drift encoding endsWithLineBreak grace growth listen max maxBytes maxRecordBytes ownership pageSize patience preset
  rate repair schedule settle share timeout timezone transferTimeout unchanged virtualCount`.split(/\s+/),
)

/** Whether the value at a key can't be a secret. */
export function isPlain(key: string | number | undefined): boolean {
  return typeof key === 'string' && plain.has(key)
}

/** A line as far as it may be shown: `rate: 5`, `password: …`, or `…`. */
export function excerpt(line: string): string {
  const [, key = '', value = ''] = /^\s*(?:- +)?([\w-]+) *:(?: +(.*?))?\s*$/.exec(line) ?? []
  if (!isSetting(key)) return '…'
  // Anything beyond one plain word or a few may be more than this key's value.
  return isPlain(key) && /^(["']?)[\w.*/ -]{1,60}\1$/.test(value) ? `${key}: ${value}` : `${key}: …`
}

/**
 * The line `line` with its neighbours, and a caret under `column` (both from 1). All but names of settings and plain values is `…`; a
 * blank at the beginning is `·`.
 */
export function excerptAt(lines: readonly string[], line: number, column: number): string {
  const shown: string[] = []
  for (let number = Math.max(1, line - 1); number <= Math.min(lines.length, line + 1); number++) {
    const { text, caret } = masked(lines[number - 1], column - 1)
    const margin = `${number} | `.padStart(7)
    shown.push(`${margin}${text}`)
    if (number === line) shown.push(`${' '.repeat(margin.length + caret)}^`)
  }
  return shown.join('\n')
}

/** A line without what may be a secret, and where its `column` (from 0) is in that. */
function masked(line: string, column: number): { text: string; caret: number } {
  const indent = /^\s*/.exec(line)![0].length
  const whole = excerpt(line)
  // Runs of blanks don't reach a terminal.
  const blanks = '·'.repeat(Math.min(indent, 40))
  // A single setting whose value may be shown stays as it is.
  if (!whole.endsWith('…')) {
    const dash = /^\s*(?:- +)?/.exec(line)![0].length
    return { text: blanks + whole, caret: blanks.length + Math.max(0, Math.min(column - dash, whole.length)) }
  }
  let text = blanks
  let caret = 0
  for (const { 0: part, index } of line.slice(indent, 500).matchAll(/[\w-]+ *:(?=\s|$)|\S+|\s+/g)) {
    const name = /^([\w-]+) *:$/.exec(part)?.[1]
    const isShown = name !== undefined && isSetting(name)
    const isMore = !isShown && /… ?$/.test(text)
    if (index + indent <= column) caret = isMore ? text.lastIndexOf('…') : text.length
    if (isShown) text += part
    else if (/^\s+$/.test(part)) text += text.endsWith(' ') ? '' : ' '
    else if (!isMore) text += '…'
  }
  return { text: text.trimEnd(), caret }
}

/** The name of every setting. */
let known: ReadonlySet<string> | null = null

function isSetting(name: string): boolean {
  known ??= new Set(namesIn(configJsonSchema()))
  return known.has(name)
}

function namesIn(schema: unknown): string[] {
  if (schema === null || typeof schema !== 'object') return []
  const { properties = {} } = schema as { properties?: object }
  return [...Object.keys(properties), ...Object.values(schema).flatMap(namesIn)]
}

/** What is wrong with YAML, without quoting it as the library does. */
export function yamlSentence({ code, message }: Pick<YAMLError, 'code' | 'message'>): string {
  if (code === 'TAG_RESOLVE_FAILED') return 'A value that begins with ! must be in quotes'
  if (code === 'DUPLICATE_KEY') return 'A key stands twice in the same place; leave one of them out'
  if (code === 'BAD_DIRECTIVE') return 'A line that begins with % is a directive of YAML; none is taken'
  if (code === 'MULTIPLE_DOCS') return 'The file holds several documents, which --- divides; only one is taken'
  return message.replace(/(?::|\\|"(?!quote)).*|"/gs, '').trim()
}

/** Within the braces or brackets of YAML, the brace of `${NAME}` would begin another pair. */
export const bareReference = /[{[,][^'"]*[:[,]\s*\$\{/
export const bareSentence = "${NAME} between braces or brackets needs quotes: write '${NAME}'"
/** An alias without its anchor. */
export const aliasSentence = 'A value that begins with * must be in quotes'
