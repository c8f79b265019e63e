/** Hostile text from feed and service, through whole runs, on what the commands print. */
import { afterEach, expect, test } from 'vitest'
import { home, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

let world: RunWorld
afterEach(() => world.end())

/** Characters that a terminal obeys or reorders, except line feeds. */
// oxlint-disable-next-line no-control-regex
const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/

const homes = Array.from({ length: 12 }, (_, index) => ({
  ...home(index + 1),
  mlsNumber: `M\u202e${index}\u2066<b>|\u200b=1+1`,
  title: '\u0085\u009b31m',
  street: `${index} \u202eteertS \u009b2J Road`,
}))

test('status, approve and every form of a report are without controls, in text and in JSON', async () => {
  world = await RunWorld.start()
  const feed = (some: typeof homes): string => zillowFeed(some).replaceAll('<b>', '&lt;b&gt;')
  world.deliver(feed(homes))
  world.standIn.addFault({
    operations: ['Create'],
    mlsNumber: homes[3].mlsNumber,
    fault: { kind: 'refuse', message: 'no \u001b[2J \u009b31m \u202e listing' },
  })
  const outputs = [await world.executed('sync')]
  expect(outputs[0].status).toBe(4)
  world.deliver(feed(homes.slice(0, 1)))
  outputs.push(await world.executed('sync', '--format', 'json'))
  for (const form of ['text', 'json', 'markdown', 'html']) outputs.push(await world.executed('diff', '--format', form))
  outputs.push(await world.executed('status'), await world.executed('status', '--format', 'json'))
  outputs.push(await world.executed('approve', 'north', '--yes'), await world.executed('runs', 'north'))
  outputs.push(
    await world.executed('runs', 'north', '--format', 'json'),
    await world.executed('check'),
    await world.executed('diff', 'no\u001b[2J\u202esuch'),
  )
  for (const { stdout, stderr } of outputs) {
    expect(stdout + stderr).not.toMatch(unseen)
    expect(stdout + stderr).not.toBe('')
  }
  const [, , , , , , , status, approved] = outputs
  const held = (JSON.parse(status.stdout) as { held: { mlsNumber: string }[] }).held
  expect(held.map(({ mlsNumber }) => mlsNumber)).toContain(homes[5].mlsNumber)
  // An example in a rule's sentence is of the feed, too.
  await world.executed('approve', 'north', '--revoke')
  world.deliver(feed(homes.map((original, at) => (at < 5 ? { ...original, price: original.price * 100 } : original))))
  await world.executed('sync')
  for (const words of [
    ['status', '--ready'],
    ['status', '--ready', '--format', 'json'],
    ['runs', '--format', 'json'],
  ]) {
    const { stdout } = await world.executed(...words)
    expect(stdout).toMatch(/the price of \d+ of \d+ listings would change/i)
    expect(stdout).not.toMatch(unseen)
  }
  // Five of each rule are shown.
  expect(approved.stdout).toContain('M1<b>|=1+1')
})
