/** `verify`: whether and how the chatbot is asked about what a run changed; a feed's own is put over the common one. */
import { z } from 'zod'
import type { Located } from '../core/schema-words.ts'
import { text, whole } from '../core/setting-kinds.ts'
import { defaultQuestion, questionProblem } from '../verify/question.ts'
import { mappingOf } from './check.ts'

export interface VerifySettings {
  /** Chat session, given by the user: the service's interface does not show how one is made. */
  session: number
  /** Most changed listings that are asked about after a run; 0: none. */
  sample: number
  /** With `{MLSNumber}` and `{address}`. */
  question: string
}

const sampleRange = { min: 0, max: 100 }

export const verifySchema = z.strictObject({
  session: whole('Chat session to ask in, of this chatbot and for nothing else', {
    min: Number.MIN_SAFE_INTEGER,
  }).optional(),
  sample: whole('Most changed listings asked about after a sync; 0: none', sampleRange).prefault(3),
  question: text('The question, with {MLSNumber} and {address}')
    .superRefine((value, context) => {
      const message = questionProblem(value)
      if (message !== null) context.addIssue({ code: 'custom', message })
    })
    .prefault(defaultQuestion),
})

/** `verify` before a session is named: the command takes one of its own. */
export const verifyDefaults: Omit<VerifySettings, 'session'> = { sample: 3, question: defaultQuestion }

/** The feed's verification, from what was written and checked; null where none is. */
export function verifySettings(common: unknown, own: unknown): VerifySettings | null {
  if (common === undefined && own === undefined) return null
  const { session, sample, question } = verifySchema.parse({ ...mappingOf(common), ...mappingOf(own) })
  return session === undefined ? null : { session, sample, question }
}

/** A session belongs to one chatbot, and without one nobody can be asked. Works on a tree whose parts may be wrong. */
export function verifyProblems(tree: unknown): Located[] {
  const { verify, feeds } = mappingOf(tree)
  const common = mappingOf(verify)
  const written = Object.entries(mappingOf(feeds)).map(([name, feed]) => {
    const { chatbot, service, verify: own } = mappingOf(feed)
    return { name, own, fills: JSON.stringify([chatbot, mappingOf(service).baseUrl]) }
  })
  const problems: Located[] = []
  const users = written.filter(({ own }) => !('session' in mappingOf(own)))
  if ('session' in common) {
    const served = users.map(({ fills }) => fills)
    if (new Set(served).size > 1)
      problems.push({
        path: ['verify', 'session'],
        problem: `a session is one chatbot's, and ${users.map(({ name }) => name).join(', ')} fill several; say it in the verify of each feed`,
      })
    return problems
  }
  const problem = 'has no session, so nobody could be asked; give one that the service made'
  for (const { name, own } of users) if (own !== undefined) problems.push({ path: ['feeds', name, 'verify'], problem })
  if (verify !== undefined && users.length === written.length && problems.length === 0)
    problems.push({ path: ['verify'], problem })
  return problems
}
