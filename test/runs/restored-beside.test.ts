/** A store that was put back, while runs of several chatbots overlap (docs/faults.md, F72). */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import { dearer, home, homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

const minute = 60_000
let world: RunWorld
/** What happens while an answer of the service is late. */
let meanwhile: () => Promise<void>

beforeEach(async () => {
  meanwhile = async () => {}
  world = await RunWorld.start({
    standIn: { delay: () => meanwhile() },
    feeds: { north: {}, south: { chatbot: 'SN-2' } },
  })
})
afterEach(() => world.end())

test('while the run that notices it goes on for hours, those of another chatbot wait no longer than settle', async () => {
  const at = (name: string): string => join(world.folder, name)
  for (const name of ['north', 'south']) {
    world.deliver(zillowFeed(homes(1, 12)), `${name}.xml`)
    await world.run('sync', name)
  }
  await world.executed('backup', at('copy.db'))
  for (const name of ['north', 'south']) await world.run('sync', name)
  for (const file of ['store.db', 'store.db-wal', 'store.db-shm']) rmSync(at(file), { force: true })
  copyFileSync(at('copy.db'), at('store.db'))
  world.deliver(zillowFeed([dearer(home(1)), ...homes(2, 12)]))
  world.deliver(zillowFeed(homes(1, 13)), 'south.xml')

  const app = openApp(world.context, { logLevel: 'error' })
  const beside: Awaited<ReturnType<RunWorld['run']>>[] = []
  meanwhile = async () => {
    meanwhile = async () => {}
    for (const wait of [0, 20 * minute]) {
      world.clock.advance(wait)
      beside.push(await world.run('sync', 'south', app))
    }
  }
  world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'slow', wait: 1 } })
  expect((await world.run('sync', 'north', app)).notes).toEqual([
    expect.stringContaining('The store is not as it was left'),
  ])
  expect(beside).toMatchObject([{ counts: { create: 0, hold: 1 } }, { counts: { create: 1, hold: 0 }, notes: [] }])
  // It was renamed once: the marks of the long run are this store's own.
  expect(await world.run('sync', 'north', app)).toMatchObject({ counts: { unchanged: 12 }, notes: [] })
  await app.close()
})

test('where only the marks tell that it was put back, overlapping runs give it one new name', async () => {
  const at = (name: string): string => join(world.folder, name)
  for (const name of ['north', 'south']) {
    world.deliver(zillowFeed(homes(1, 12)), `${name}.xml`)
    await world.run('sync', name)
  }
  const [before, note] = [readFileSync(at('store.db')), readFileSync(at('store.db.serial'), 'utf8')]
  for (const name of ['north', 'south']) {
    world.deliver(zillowFeed([dearer(home(1)), ...homes(2, 12)]), `${name}.xml`)
    await world.run('sync', name)
  }
  // As by a snapshot of the whole disk, made during a run.
  writeFileSync(at('store.db'), before)
  writeFileSync(at('store.db.serial'), note.replace(/ \d{20}\n/, ` ${'0'.repeat(20)}\n`))

  const app = openApp(world.context, { logLevel: 'error' })
  const south = (): ReturnType<RunWorld['run']> => world.run('sync', 'south', app)
  world.deliver(zillowFeed([dearer(home(1)), dearer(home(2)), ...homes(3, 12)]), 'south.xml')
  const beside: Awaited<ReturnType<typeof south>>[] = []
  meanwhile = async () => {
    meanwhile = async () => {}
    beside.push(await south())
  }
  world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'slow', wait: 1 } })
  const sentence = expect.stringContaining('it was put back from a backup')
  expect(await world.run('sync', 'north', app)).toMatchObject({ notes: [sentence] })
  expect(beside).toMatchObject([{ notes: [sentence], counts: { update: 2 } }])
  expect(await south()).toMatchObject({ notes: [], counts: { unchanged: 12 } })
  await app.close()
})
