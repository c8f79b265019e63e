/** What goes wrong between two runs, or is wrong from then on: one entry each. */
import type { Choices } from './choices.ts'
import type { Mishap } from './mishap.ts'
import type { Delivery } from './feed.ts'
import type { Program } from './program.ts'
import { hour, minute } from './time.ts'

export interface Between {
  readonly choices: Choices
  readonly program: Program
  /** What the source sends next. */
  readonly delivery: Delivery
}

export const between: readonly Mishap<Between>[] = [
  {
    name: 'the clock is set',
    chances: [0.1, 0.3],
    happens({ choices, program: { time, checker } }) {
      time.ahead = choices.pick('set to', [-25 * hour, -hour, -10 * minute, 0, 10 * minute, hour, 25 * hour, 73 * hour])
      checker.trace(`the clock is ${time.ahead / minute} minutes ahead`)
      checker.clockSet()
    },
  },
  {
    name: 'the keys to the service change',
    chances: [0.1],
    happens: ({ program }) => void program.keys++,
  },
  {
    name: 'the disk of the store is full',
    chances: [0.1, 0.3],
    happens({ choices, program }) {
      const from = choices.integer('full from write', 1, 30)
      program.fullStore = { from, until: from + choices.pick('full for', [1, 3, Infinity]) }
    },
  },
  {
    name: 'the disk of the workspace is full',
    chances: [0.1, 0.3],
    happens: ({ choices, program }) => void (program.fullWorkspace = choices.integer('pages left', 0, 40)),
  },
  {
    name: 'a backup of the store is put back',
    chances: [0.15],
    happens: ({ choices, program }) => program.putBack(choices.unit('which backup'), false),
  },
  {
    name: 'a backup of the store and its note is put back',
    chances: [0.15],
    happens: ({ choices, program }) => program.putBack(choices.unit('which backup of both'), true),
  },
  {
    name: 'another daemon with a store of its own runs',
    chances: [0.2],
    happens: ({ program, delivery }) => program.byAnother(delivery),
  },
]
