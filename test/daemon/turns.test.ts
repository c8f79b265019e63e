import { expect, test } from 'vitest'
import { Turns } from '../../src/daemon/daemon.ts'

test('runs of one chatbot take turns, and those of two wait for nobody', async () => {
  const turns = new Turns(32)
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
  const turns = new Turns(2)
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
