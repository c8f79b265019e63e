/**
 * Turns the text of a configuration file into plain values: YAML, then its references.
 * `${NAME}` is an environment variable, `${NAME:-text}` one with a default, `${file:PATH}` a file's content without its
 * last line break; `$${` stands for `${` itself.
 */
import { LineCounter, isNode, parseDocument, visit } from 'yaml'
import { messageOf, systemReason } from '../core/errors.ts'
import type { Located, Path } from '../core/schema-words.ts'
import { aliasSentence, bareReference, bareSentence, excerpt, excerptAt, yamlSentence } from './excerpt.ts'

export interface ConfigDocument {
  value: unknown
  problems: string[]
  /** Line of a path, counted from 1; if it is missing, of its nearest parent. */
  lineOf: (path: Path) => number | null
}

/** Where the values of references come from. */
export interface ReferenceSources {
  env: Record<string, string | undefined>
  /** Content of a file by its path as written; may throw. */
  readFile: (path: string) => string
  /** Called with every text that no log, error or report may show; with the content of files before it is checked. */
  learn: (secrets: string[]) => void
}

/** The value of a reference, how it was written, and where. */
export interface Filled {
  value: string
  /** It is the default of `${NAME:-text}`, which anybody who sees the file can see. */
  isDefault: boolean
  reference: string
  path: Path
}

/** Reads YAML; duplicate keys, unknown tags and a second document are problems. Never throws. */
export function readDocument(text: string): ConfigDocument {
  const lineCounter = new LineCounter()
  // `logLevel`: else the library would write warnings to standard error, and quote the text in them.
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error' })
  const lines = text.split('\n')
  const at = (position: number, sentence: string): string => {
    const { line, col } = lineCounter.linePos(position)
    return `line ${line}: ${sentence}: ${excerpt(lines[line - 1] ?? '')}\n${excerptAt(lines, line, col)}`
  }
  const lineAt = (position: number): number => lineCounter.linePos(position).line
  const wrong = [...document.errors, ...document.warnings]
  // What a tab at the beginning of a line leads to has many names.
  const wrongLines = new Set(wrong.map(({ pos }) => lineAt(pos[0])))
  const wrongLike = (pattern: RegExp): number[] =>
    [...wrongLines].filter((line) => pattern.test(lines[line - 1] ?? '')).toSorted((a, b) => a - b)
  const tabs = wrongLike(/^ *\t/)
  const [bare = Infinity] = wrongLike(bareReference)
  const aliases = new Map<number, string>()
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return
      const position = alias.range?.[0] ?? 0
      aliases.set(lineAt(position), at(position, aliasSentence))
    },
  })
  // One mistake makes the library report several errors.
  const others = wrong.filter(({ pos }) => {
    const line = lineAt(pos[0])
    return line < Math.min(tabs.at(0) ?? Infinity, bare) && !aliases.has(line)
  })
  const problems = others.map((error) => at(error.pos[0], yamlSentence(error)))
  problems.push(...aliases.values())
  if (bare < Infinity) problems.push(`line ${bare}: ${bareSentence}`)
  if (tabs.length > 0) {
    const all = `${tabs.slice(0, 5).join(', ')}${tabs.length > 5 ? ' and more' : ''}`
    problems.push(
      `line ${tabs[0]}: a line begins with a tab, which YAML does not take; write blanks${tabs.length > 1 ? ` (lines ${all})` : ''}`,
    )
  }
  let value: unknown = null
  try {
    if (problems.length === 0) value = document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    problems.push(messageOf(error))
  }
  const lineOf = (path: Path): number | null => {
    const node = path.length === 0 ? document.contents : document.getIn(path, true)
    if (isNode(node) && node.range) return lineCounter.linePos(node.range[0]).line
    return path.length === 0 ? null : lineOf(path.slice(0, -1))
  }
  return { value, problems, lineOf }
}

/** A copy of the value with its references filled in; unresolved ones are problems. */
export function fillReferences(value: unknown, sources: ReferenceSources) {
  const problems: Located[] = []
  const filled: Filled[] = []
  const fill = (value: unknown, path: Path): unknown => {
    if (typeof value === 'string') return fillText(value, path)
    if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index]))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, [...path, key])]))
  }
  const fillText = (text: string, path: Path): string =>
    text.replace(/\$\$\{|\$\{([^}]*)\}?/g, (whole: string, inner: string | undefined): string => {
      if (inner === undefined) return '${'
      const found = lookUp(inner, whole.endsWith('}'), sources)
      if ('value' in found) {
        if (found.value !== '') filled.push({ ...found, reference: whole, path })
        return found.value
      }
      problems.push({ path, problem: found.problem })
      return whole
    })
  return { value: fill(value, []), problems, filled }
}

type Found = Pick<Filled, 'value' | 'isDefault'>

function lookUp(inner: string, closed: boolean, sources: ReferenceSources): Found | { problem: string } {
  const file = /^file:(.+)$/.exec(inner)?.[1]
  if (closed && file !== undefined) {
    try {
      const value = sources.readFile(file).replace(/\r?\n$/, '')
      return value === '' ? { problem: `file ${file} is empty` } : { value, isDefault: false }
    } catch (error) {
      return { problem: `file ${file} can't be read: ${systemReason(error) ?? messageOf(error)}` }
    }
  }
  const variable = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inner)
  if (!closed || variable === null) {
    return {
      problem: `"\${${inner}" is not a reference; write \${NAME}, \${NAME:-default}, \${file:PATH}, or $\${ for the text`,
    }
  }
  const [, name, otherwise] = variable
  const value = Object.hasOwn(sources.env, name) ? sources.env[name] : undefined
  if (value !== undefined && value !== '') return { value, isDefault: false }
  if (otherwise !== undefined) return { value: otherwise, isDefault: true }
  return { problem: `environment variable ${name} is ${value === undefined ? 'not set' : 'empty'}` }
}
