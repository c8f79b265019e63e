/** What goes wrong at the service beyond answers that fail or get lost: one entry each. */
import type { SendResponse } from '../../src/service/send.ts'
import type { Choices } from './choices.ts'
import type { Mishap } from './mishap.ts'
import type { Row, WriteCall } from './service.ts'
import { hour, minute } from './time.ts'

/** A call that gets no answer and is carried out some time later. */
export interface Landing {
  readonly choices: Choices
  /** Milliseconds after it was made. */
  after: number
}

export const landings: readonly Mishap<Landing>[] = [
  {
    // Later than anybody waits (docs/faults.md, A1).
    name: 'a call lands after settle',
    chances: [0.3, 0.8],
    happens: (landing) => void (landing.after = landing.choices.integer('after settle', 16 * minute, 5 * hour)),
  },
]

/** A call that is carried out and answered. */
export interface Answered {
  readonly choices: Choices
  readonly call: WriteCall
  readonly carryOut: () => SendResponse
  answer: SendResponse
}

const counted = (answered: Answered, other: (count: number, choices: Choices) => number): void => {
  const { Data, ...rest } = JSON.parse(answered.answer.body) as { Data: { SuccessCount?: number } | null }
  const count = Data?.SuccessCount
  if (answered.call.kind !== 'delete' || count === undefined) return
  const body = JSON.stringify({ ...rest, Data: { SuccessCount: other(count, answered.choices) } })
  answered.answer = { ...answered.answer, body }
}

export const answers: readonly Mishap<Answered>[] = [
  {
    // By a proxy that did not like the first answer: the caller sees the second one.
    name: 'a call is carried out twice',
    chances: [0.05, 0.2],
    happens: (answered) => void (answered.answer = answered.carryOut()),
  },
  {
    name: 'a delete counts too few',
    chances: [0.2, 0.5],
    happens: (answered) => counted(answered, (count, choices) => choices.integer('too few', 0, Math.max(0, count - 1))),
  },
  {
    name: 'a delete counts too many',
    chances: [0.2, 0.5],
    happens: (answered) => counted(answered, (count, choices) => count + choices.integer('too many', 1, 3)),
  },
]

/** An update that is answered as if it had been carried out. */
export interface Pretence {
  readonly choices: Choices
  isIgnored: boolean
}

export const pretences: readonly Mishap<Pretence>[] = [
  {
    name: 'an update is confirmed and ignored',
    chances: [0.1, 0.4],
    happens: (pretence) => void (pretence.isIgnored = true),
  },
]

/** A walk over the pages as it begins. */
export interface Walk {
  readonly choices: Choices
  /** The rows as they were so many milliseconds ago. */
  readonly before: (milliseconds: number) => readonly Row[]
  readonly rows: readonly Row[]
  /** What all its pages show of the service; left out: what is there. */
  shows?: readonly Row[]
}

/** How old a list may be: a write is listed within `settle` (docs/faults.md, A2). */
export const oldest = 10 * minute
const age = ({ choices }: Walk): number => choices.integer('so old', 1000, oldest)

export const walks: readonly Mishap<Walk>[] = [
  { name: 'the list is old', chances: [0.2, 0.6], happens: (walk) => void (walk.shows = walk.before(age(walk))) },
  {
    name: 'rows of the list are old',
    chances: [0.2, 0.6],
    happens(walk) {
      const old = new Map(walk.before(age(walk)).map((row) => [row.id, row]))
      const isOld = (): boolean => walk.choices.unit('row is old') < 0.5
      const gone = [...old.values()].filter(({ id }) => !walk.rows.some((row) => row.id === id))
      const shown = walk.rows.flatMap((row) => (isOld() ? (old.get(row.id) ?? []) : row))
      walk.shows = [...gone.filter(isOld), ...shown].toSorted((a, b) => a.id - b.id)
    },
  },
]

export const serviceMishaps = [...landings, ...answers, ...pretences, ...walks] as const
