import { expect, test } from 'vitest'
import { createTurnstile } from '../../src/http/turnstile.ts'
import { ManualClock } from '../daemon/manual-clock.ts'

const clock = new ManualClock('2026-11-21T12:00:00Z')

test('what watches the daemon does not wait behind pages', async () => {
  const turn = createTurnstile(clock)
  const made: string[] = []
  const page = (name: string) => async (): Promise<string> => {
    made.push(name)
    return name
  }
  const answers = [turn(page('first')), turn(page('second')), turn(page('ready'), 'urgent')]
  expect(await Promise.all(answers)).toEqual(['first', 'second', 'ready'])
  expect(made).toEqual(['first', 'ready', 'second'])
})

test('200 wait in a line, and work that throws holds nobody up', async () => {
  const turn = createTurnstile(clock)
  const failing = turn(() => Promise.reject(new Error('no such page')))
  const waiting = Array.from({ length: 200 }, (_, n) => turn(async () => n))
  expect(await turn(async () => 'too late')).toBeNull()
  const watching = turn(async () => 'in time', 'urgent')
  await expect(failing).rejects.toThrow('no such page')
  expect(await watching).toBe('in time')
  expect(await Promise.all(waiting)).toHaveLength(200)
})
