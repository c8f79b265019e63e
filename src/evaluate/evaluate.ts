/** Asks the questions of a file, each so many times, and judges the answers. */
import { ServiceError, UserError } from '../core/errors.ts'
import type { Listing } from '../core/listing.ts'
import { filled, namesIn, valuesOf } from './fill.ts'
import { expectationOf, failureOf } from './judge.ts'
import type { Expectation } from './judge.ts'
import type { Questions, Test } from './questions.ts'

/** A test about one listing, ready to be asked. */
export interface Case {
  /** The same in the next evaluation of the same file: its description or question, and the listing. */
  id: string
  /** null: it is about no listing. */
  mlsNumber: string | null
  question: string
  expectations: Expectation[]
}

/** One try of a case, as the transcript has it. */
export interface Try {
  at: string
  id: string
  mlsNumber: string | null
  try: number
  session: number
  question: string
  /** null: none came. */
  answer: string | null
  /** null: the service doesn't say. */
  tokens: number | null
  /** Milliseconds. */
  took: number
  pass: boolean
  /** What is wrong with the answer. */
  failures: string[]
  /** Why none came; null: one did. */
  problem: string | null
}

export interface Evaluation {
  tries: Try[]
  /** Percent of the tries asked for that passed. */
  passRate: number
  passed: number
  /** Tries that were wanted; fewer were asked if it ended early. */
  wanted: number
  /** Why it ended early; null: it did not. */
  stopped: string | null
}

/** The MLSNumbers that the tests name; whether any is about listings without naming one. */
export function listingsWanted({ prompts = ['{{question}}'], tests }: Questions): { named: string[]; any: boolean } {
  const named = tests.flatMap(({ vars }) => (vars?.MLSNumber === undefined ? [] : [String(vars.MLSNumber)]))
  return { named: [...new Set(named)], any: tests.some((test) => isAboutAny(test, prompts)) }
}

function isAboutAny({ vars = {}, assert }: Test, prompts: readonly string[]): boolean {
  if (vars.MLSNumber !== undefined) return false
  const texts = [...prompts, ...Object.values(vars), ...assert.flatMap(({ value }) => [value ?? ''].flat())]
  return texts.flatMap((text) => namesIn(String(text))).some((name) => !Object.hasOwn(vars, name))
}

/**
 * Every test with its listing; one that uses fields and names no listing, with each of `others`. Throws `UserError` with every
 * listing and placeholder that is missing.
 */
export function casesOf(
  { prompts = ['{{question}}'], tests }: Questions,
  listings: ReadonlyMap<string, Listing>,
  others: readonly string[],
): Case[] {
  const problems: string[] = []
  const cases: Case[] = []
  for (const [index, test] of tests.entries()) {
    const { vars = {}, description, assert } = test
    const own = vars.MLSNumber
    const about = own !== undefined ? [String(own)] : isAboutAny(test, prompts) ? others : [null]
    for (const mlsNumber of about) {
      const listing = mlsNumber === null ? null : (listings.get(mlsNumber) ?? null)
      const values = valuesOf(listing, vars)
      for (const prompt of prompts)
        try {
          const question = filled(prompt, values)
          const id = [description ?? question, mlsNumber].filter((part) => part !== null).join(' · ')
          cases.push({ id, mlsNumber, question, expectations: assert.map((each) => expectationOf(each, values)) })
        } catch (error) {
          if (!(error instanceof UserError)) throw error
          const why = mlsNumber !== null && listing === null ? ' (the feed has no such listing on the service)' : ''
          problems.push(`tests.${index}: ${error.message}${why}`)
        }
    }
  }
  if (problems.length > 0) throw new UserError(problems.join('\n'))
  return cases
}

export interface Asking {
  session: number
  tries: number
  /** Throws `ServiceError`. */
  ask(question: string): Promise<{ content: string; totalToken: number | null }>
  /** Milliseconds since the epoch. */
  now(this: void): number
  signal: AbortSignal
  /** Gets each try as soon as it is judged. */
  tried(attempt: Try): void
}

/** Two lost answers in a row end it. */
const mostLost = 2

export async function evaluate(cases: readonly Case[], asking: Asking): Promise<Evaluation> {
  const { session, now, signal } = asking
  const tries: Try[] = []
  let stopped: string | null = null
  let lost = 0
  for (const { id, mlsNumber, question, expectations } of cases)
    for (let number = 1; number <= asking.tries; number++) {
      if (signal.aborted) stopped ??= 'it was stopped'
      if (stopped !== null) break
      const startedAt = now()
      const attempt: Try = {
        at: new Date(startedAt).toISOString(),
        id,
        mlsNumber,
        try: number,
        session,
        question,
        answer: null,
        tokens: null,
        took: 0,
        pass: false,
        failures: [],
        problem: null,
      }
      try {
        const { content, totalToken } = await asking.ask(question)
        const took = now() - startedAt
        const failures = expectations.flatMap((each) => failureOf(each, content, took) ?? [])
        Object.assign(attempt, { answer: content, tokens: totalToken, took, failures, pass: failures.length === 0 })
        lost = 0
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        if (signal.aborted) {
          stopped = 'it was stopped'
          break
        }
        attempt.problem = error.message
        attempt.took = now() - startedAt
        const isLost = error.kind === 'transient' && error.effect === 'unknown'
        if (!isLost || ++lost >= mostLost) stopped = error.message
      }
      tries.push(attempt)
      asking.tried(attempt)
    }
  const passed = tries.filter(({ pass }) => pass).length
  const wanted = cases.length * asking.tries
  return { tries, passed, wanted, passRate: wanted === 0 ? 0 : (100 * passed) / wanted, stopped }
}
