import { expect, test } from 'vitest'
import { Turns } from '../../src/daemon/daemon.ts'
import { ManualClock } from './manual-clock.ts'

const start = '2026-11-21T12:00:00Z'

test('runs of one chatbot take turns, and those of two wait for nobody', async () => {
  const turns = new Turns(new ManualClock(start))
  const told: string[] = []
  const take = (name: string, chatbot: string): void =>
    turns.take({ name, chatbot }, async () => {
      told.push(`${name} begins`)
      await new Promise(setImmediate)
      told.push(`${name} ends`)
    })
  take('north', 'SN-1')
  take('west', 'SN-1')
  take('south', 'SN-2')
  await turns.idle()
  expect(told.indexOf('west begins')).toBeGreaterThan(told.indexOf('north ends'))
  expect(told.indexOf('south begins')).toBeLessThan(told.indexOf('north ends'))
})

test('so many runs at once and no more, in the order they came', async () => {
  const turns = new Turns(new ManualClock(start), { places: 2, long: 2, patience: 60_000 })
  const began: string[] = []
  let running = 0
  let most = 0
  const names = ['a', 'b', 'c', 'd', 'e']
  for (const name of names)
    turns.take({ name, chatbot: name }, async () => {
      began.push(name)
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
    })
  await turns.idle()
  expect(began).toEqual(names)
  expect(most).toBe(2)
})

test('runs that hang give their places to others after a minute, and not all of them', async () => {
  const clock = new ManualClock(start)
  const turns = new Turns(clock, { places: 2, long: 2, patience: 60_000 })
  const began: string[] = []
  const hanging: (() => void)[] = []
  const take = (name: string, job: () => Promise<void>): void =>
    turns.take({ name, chatbot: name }, () => (began.push(name), job()))
  for (const name of ['a', 'b', 'c']) take(name, () => new Promise((resolve) => hanging.push(resolve)))
  take('well', async () => undefined)
  await new Promise(setImmediate)
  await clock.pass(59_000)
  expect(began).toEqual(['a', 'b'])
  await clock.pass(1000)
  expect(began).toEqual(['a', 'b', 'c', 'well'])
  for (const name of ['d', 'e']) take(name, () => new Promise((resolve) => hanging.push(resolve)))
  await clock.pass(600_000)
  expect(began).toEqual(['a', 'b', 'c', 'well', 'd'])
  expect(turns.has('a')).toBe(true)
  while (began.length < 6) {
    hanging.shift()?.()
    await new Promise(setImmediate)
  }
  for (const end of hanging) end()
  await turns.idle()
  expect(turns.has('a')).toBe(false)
})

test('a run that is through leaves no timer behind', async () => {
  const clock = new ManualClock(start)
  const ended: string[] = []
  const sleeping: Pick<ManualClock, 'now' | 'sleep'> = {
    now: () => clock.now(),
    sleep: (milliseconds, signal) => {
      signal?.addEventListener('abort', () => ended.push('timer'))
      return clock.sleep(milliseconds, signal)
    },
  }
  const turns = new Turns(sleeping)
  turns.take({ name: 'a', chatbot: 'a' }, async () => undefined)
  await turns.idle()
  expect(ended).toEqual(['timer'])
})
