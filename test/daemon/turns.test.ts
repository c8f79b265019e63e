import { expect, test } from 'vitest'
import { Turns } from '../../src/daemon/daemon.ts'

test('runs of one chatbot take turns, and those of two wait for nobody', async () => {
  const turns = new Turns()
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
