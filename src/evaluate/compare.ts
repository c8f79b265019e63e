/** Finds answers that turned from right to wrong, or back, between two evaluations. */
import { UserError } from '../core/errors.ts'
import type { Try } from './evaluate.ts'

export interface Turned {
  id: string
  /** How many of the tries passed. */
  before: string
  now: string
  to: 'passed' | 'failed'
  /** The latest answer of each; null: none. */
  answerBefore: string | null
  answerNow: string | null
}

export type Earlier = Pick<Try, 'id' | 'pass' | 'answer'>

/** The tries of a transcript. Throws a `UserError` that names the wrong line. */
export function triesIn(text: string, file: string): Earlier[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    try {
      const { id, pass, answer = null } = JSON.parse(line) as Partial<Earlier>
      if (typeof id === 'string' && typeof pass === 'boolean') return [{ id, pass, answer }]
    } catch {
      // Said below.
    }
    throw new UserError(`${file}, line ${index + 1}: is no try of an evaluation; give a file that --transcript wrote`)
  })
}

/** Cases that passed in all tries before and do not now, or the other way round. Cases in only one of the two are left out. */
export function turned(before: readonly Earlier[], now: readonly Earlier[]): Turned[] {
  const [old, fresh] = [byId(before), byId(now)]
  return [...fresh].flatMap(([id, tries]) => {
    const earlier = old.get(id)
    if (earlier === undefined || passes(earlier) === passes(tries)) return []
    return {
      id,
      before: share(earlier),
      now: share(tries),
      to: passes(tries) ? ('passed' as const) : ('failed' as const),
      answerBefore: earlier.at(-1)!.answer,
      answerNow: tries.at(-1)!.answer,
    }
  })
}

const passes = (tries: readonly Earlier[]): boolean => tries.every(({ pass }) => pass)
const share = (tries: readonly Earlier[]): string => `${tries.filter(({ pass }) => pass).length} of ${tries.length}`

function byId(tries: readonly Earlier[]): Map<string, Earlier[]> {
  return Map.groupBy(tries, ({ id }) => id)
}
