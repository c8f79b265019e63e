/**
 * Messages for what zod finds wrong in a configuration or preset. A value with several allowed forms is judged by the one it is written in.
 */
import type { z } from 'zod'
import { nearestName, unknownName } from './text.ts'

export type Path = (string | number)[]

/** Something wrong at one place of a configuration or a preset. */
export interface Located {
  path: Path
  problem: string
}

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

const kinds: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'keys with values',
  record: 'keys with values',
  array: 'a list',
}

/** Objects with more keys are not named by them. */
const mostNamed = 6

const empty = 'is empty; give it a value or leave the key out'

/** The message for one finding unless the schema has its own. For zod's `error`, together with `reportInput`. */
export function issueSentence(issue: RawIssue): string | undefined {
  const input: unknown = issue.input
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeys(issue.inst)
      return known && issue.keys?.map((key: string) => unknownName(key, known, 'key')).join('\n')
    }
    case 'invalid_type':
    case 'invalid_value':
    case 'invalid_union':
      if (input === undefined)
        return issue.code === 'invalid_type' ? 'is missing' : `is missing; takes ${anyOf(kindsOf(issue))}`
      if (input === null) return empty
      return notTaken(input, kindsOf(issue), issue.code === 'invalid_value' ? wordsOf(issue) : []) + meaning(issue)
    case 'too_small':
      if (issue.origin === 'string') return 'must not be empty'
      if (issue.origin === 'array') return 'is an empty list; give it values or leave the key out'
      return `must be ${String(issue.minimum)} or more`
    case 'too_big':
      return `must be at most ${String(issue.maximum)}`
    default:
      return undefined
  }
}

/** A finding as problems, each with the path of its value. */
export function located(issue: Issue, above: Path = []): Located[] {
  const path: Path = [...above, ...issue.path.map((step) => (typeof step === 'symbol' ? step.toString() : step))]
  // The message of a strict object has one line for each of its unknown keys.
  if (issue.code === 'unrecognized_keys') {
    const lines = issue.message.split('\n')
    return issue.keys.map((key, index) => ({ path: [...path, key], problem: lines[index] }))
  }
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => ({ path, problem: message }))
  const meant = issue.code === 'invalid_union' ? issue.errors.find((branch) => !branch.some(isOtherForm)) : undefined
  return meant ? meant.flatMap((inner) => located(inner, path)) : [{ path, problem: issue.message }]
}

/** Whether a branch of a union fails because the value is written in another form. */
function isOtherForm(issue: Issue): boolean {
  if (issue.path.length > 0) return false
  if (issue.code === 'invalid_type') return true
  if (issue.code === 'invalid_value') return typeof issue.input !== typeof issue.values[0]
  return issue.code === 'invalid_union' && issue.errors.every((branch) => branch.some(isOtherForm))
}

/** Quotes a text only where words were expected: elsewhere it may be a misplaced secret. */
function notTaken(input: unknown, accepted: readonly string[], words: readonly string[]): string {
  const takes = `takes ${anyOf(accepted)}`
  if (typeof input === 'string' && words.length > 0) {
    const nearest = nearestName(input, words)
    if (nearest === null) return `${takes}, not ${JSON.stringify(input)}`
    return `${words.length > 6 ? 'unknown word' : takes + ', not'} ${JSON.stringify(input)}; did you mean "${nearest}"?`
  }
  if (typeof input === 'string' || typeof input === 'object' || !accepted.includes('text')) return takes
  return `${takes}; put it in quotes, exactly as it is spelled`
}

/** What a setting is, for whoever took it for a section of keys. */
function meaning({ input, expected, inst }: RawIssue): string {
  const description = (inst as { description?: string } | undefined)?.description
  return typeof input === 'object' && expected === 'string' && description !== undefined ? ` (${description})` : ''
}

/** What would have been accepted, in words; each once, in the order of the schema. */
function kindsOf(issue: RawIssue | Issue): string[] {
  if (issue.code === 'invalid_type') {
    const kind = kinds[String(issue.expected)] ?? String(issue.expected)
    const keys = ('inst' in issue && knownKeys(issue.inst)) || []
    return [keys.length === 0 || keys.length > mostNamed ? kind : `${kind} (${keys.join(', ')})`]
  }
  if (issue.code === 'invalid_value') return wordsOf(issue).map((word) => JSON.stringify(word))
  if (issue.code !== 'invalid_union') return []
  const branches: readonly (readonly Issue[])[] = issue.errors ?? []
  return [
    ...new Set(
      branches
        .flat()
        .filter(({ path }) => path.length === 0)
        .flatMap(kindsOf),
    ),
  ]
}

function wordsOf(issue: RawIssue | Issue): string[] {
  return issue.code === 'invalid_value' ? (issue.values ?? []).map(String) : []
}

/** `a, b or c`. */
export function anyOf(accepted: readonly string[]): string {
  return accepted.length < 2 ? accepted.join('') : `${accepted.slice(0, -1).join(', ')} or ${accepted.at(-1)}`
}

function knownKeys(schema: unknown): string[] | undefined {
  const definition = (schema as Partial<z.core.$ZodObject> | undefined)?._zod?.def
  return definition?.type === 'object' ? Object.keys(definition.shape) : undefined
}
