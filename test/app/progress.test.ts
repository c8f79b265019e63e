/** How far a run is: in the log every 30 seconds, on a terminal as one line that moves, and in words for the store. */
import { expect, test } from 'vitest'
import type { Channel } from '../../src/app/doors.ts'
import { progressOf } from '../../src/app/progress.ts'

function begin(isTTY: boolean) {
  let now = 0
  const logged: unknown[][] = []
  const lines: string[] = []
  let shown = ''
  const line = (...values: unknown[]): void => void logged.push(values)
  const log = { debug: line, info: line, warn: line, error: line }
  const clock = { now: () => now, sleep: () => Promise.resolve() }
  const stream = { isTTY, write: (text: string) => void (shown += text) } as unknown as Channel
  const progress = progressOf(
    'north',
    stream,
    { clock, log, random: () => 0.5 },
    async (words) => void lines.push(words),
  )
  return {
    async at(seconds: number, done: number) {
      now = seconds * 1000
      progress.show('changes', done, 1000)
      await Promise.resolve().then(() => undefined)
    },
    end: () => progress.end(),
    logged,
    told: lines,
    shown: () => shown,
  }
}

test('without a terminal: a line every 30 seconds, with the rate and the time left, which the store gets, too', async () => {
  const run = begin(false)
  for (let second = 0; second <= 95; second += 5) await run.at(second, second * 2)
  expect(run.logged).toEqual([
    [{ stage: 'changes', done: 60, total: 1000, perSecond: 2, secondsLeft: 470 }, 'run under way'],
    [{ stage: 'changes', done: 120, total: 1000, perSecond: 2, secondsLeft: 440 }, 'run under way'],
    [{ stage: 'changes', done: 180, total: 1000, perSecond: 2, secondsLeft: 410 }, 'run under way'],
  ])
  expect(run.told).toEqual([
    '60 of 1000 (6 %) changes, 8 min left',
    '120 of 1000 (12 %) changes, 7 min left',
    '180 of 1000 (18 %) changes, 7 min left',
  ])
  expect(run.shown()).toBe('')
})

test('on a terminal: one line that moves and goes away, and nothing in the log', async () => {
  const run = begin(true)
  for (const second of [0, 40, 80]) await run.at(second, second)
  run.end()
  expect(run.logged).toEqual([])
  const home = '\r\u001B[K'
  expect(run.shown().startsWith(`${home}north: 0 of 1000 (0 %) changes`)).toBe(true)
  expect(run.shown().endsWith(home)).toBe(true)
  expect(run.told).toHaveLength(2)
})
