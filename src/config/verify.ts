/** `verify` of the configuration: a feed's settings override the common ones. */
import type { Located } from '../core/schema-words.ts'
import { verifySchema } from '../verify/settings.ts'
import type { VerifySettings } from '../verify/settings.ts'
import { mappingOf } from './check.ts'

/** The feed's verification; null: none. */
export function verifySettings(common: unknown, own: unknown): VerifySettings | null {
  if (common === undefined && own === undefined) return null
  const { session, ...settings } = verifySchema.parse({ ...mappingOf(common), ...mappingOf(own) })
  return session === undefined ? null : { session, ...settings }
}

/** A session is required and belongs to one chatbot. Parts of the tree may be wrong. */
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
        problem: `a session belongs to one chatbot, but ${users.map(({ name }) => name).join(', ')} use several; set it in the verify of each feed`,
      })
    return problems
  }
  const problem = 'has no session; give the ID of a chat session created in the service'
  for (const { name, own } of users) if (own !== undefined) problems.push({ path: ['feeds', name, 'verify'], problem })
  if (verify !== undefined && users.length === written.length && problems.length === 0)
    problems.push({ path: ['verify'], problem })
  return problems
}
