/** Whether an answer is what a test expects of it. */
import { TimeLimitError, withinTime } from '../core/time-limit.ts'
import { shorten } from '../core/text.ts'
import { filled } from './fill.ts'
import type { Values } from './fill.ts'
import type { Assertion } from './questions.ts'

/** Milliseconds that one regular expression may take: an answer is a stranger's text. */
const longestMatch = 1000

/** An assertion with its placeholders filled. */
export interface Expectation {
  type: Assertion['type']
  texts: string[]
  /** Most milliseconds, with `latency`. */
  most: number
}

/** Throws `UserError` for a placeholder without a value. */
export function expectationOf({ type, value, threshold }: Assertion, values: Values): Expectation {
  const escape =
    type === 'regex' ? (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) : undefined
  const texts = [value ?? ''].flat().map((text) => filled(String(text), values, escape))
  return { type, texts, most: Number(value ?? threshold ?? 0) }
}

/** What is wrong with an answer; null: nothing. `took`: milliseconds. */
export function failureOf({ type, texts, most }: Expectation, answer: string, took: number): string | null {
  const [text] = texts
  const has = (part: string): boolean => answer.includes(part)
  const quoted = texts.map((each) => `"${shorten(each, 80)}"`).join(', ')
  switch (type) {
    case 'contains':
      return has(text) ? null : `does not contain ${quoted}`
    case 'icontains':
      return answer.toLowerCase().includes(text.toLowerCase()) ? null : `does not contain ${quoted}, in any letter case`
    case 'not-contains':
      return has(text) ? `contains ${quoted}` : null
    case 'contains-any':
      return texts.some(has) ? null : `contains none of ${quoted}`
    case 'contains-all':
      return texts.every(has)
        ? null
        : `lacks ${texts
            .filter((each) => !has(each))
            .map((each) => `"${shorten(each, 80)}"`)
            .join(', ')}`
    case 'equals':
      return answer.trim() === text.trim() ? null : `is not ${quoted}`
    case 'latency':
      return took <= most ? null : `took ${took} ms, more than ${most}`
    default:
      return mismatch(text, answer)
  }
}

function mismatch(pattern: string, answer: string): string | null {
  try {
    const matches = withinTime(longestMatch, () => new RegExp(pattern, 'u').test(answer))
    return matches ? null : `does not match "${shorten(pattern, 80)}"`
  } catch (error) {
    if (error instanceof TimeLimitError) return `took a regular expression longer than ${longestMatch} ms`
    throw error
  }
}
