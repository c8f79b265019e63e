/** Runs that read no list of the service: what makes the next one read it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import { home } from '../support/homes.ts'
import {
  all,
  beginEach,
  changed,
  daemon,
  first,
  hour,
  last,
  minute,
  north,
  readsNone,
  readsTheList,
  run,
  service,
  world,
} from './seldom-listed.ts'

beginEach()

describe('the list is read after', () => {
  const failing = (operation: 'Create' | 'Update' | 'Delete', fault: FaultRuleInput['fault'], times = 1) =>
    world.standIn.addFault({ operations: [operation], times, fault })
  const feed = [...changed(first).filter((home) => home !== last), home(25)]
  test.each<[string, () => unknown]>([
    ['an update was refused', () => failing('Update', { kind: 'refuse' }, 2)],
    [
      'an update was answered at the second attempt',
      () => failing('Update', { kind: 'reset', when: 'after-carrying-out' }),
    ],
    ['an update was confirmed and ignored', () => failing('Update', { kind: 'pretend' })],
    ['a create got no answer', () => failing('Create', { kind: 'reset', when: 'after-reading' })],
    ['a delete was answered at the second attempt', () => failing('Delete', { kind: 'reset', when: 'after-reading' })],
    ['a delete was refused', () => failing('Delete', { kind: 'refuse' })],
    [
      'a look at what was written failed',
      () => {
        const fault = { kind: 'status', status: 500 } as const
        for (const nth of [2, 3])
          world.standIn.addFault({ operations: ['List'], mlsNumber: first.mlsNumber, page: 1, nth, fault })
      },
    ],
  ])('%s', async (_, happens) => {
    happens()
    expect(await run(feed)).toMatchObject(readsNone)
    expect(await run(feed)).toMatchObject(readsTheList)
  })

  test('the guard held something, and as long as it does', async () => {
    expect(await run(all.slice(0, 12))).toMatchObject({ result: 'held' })
    expect(await run(all.slice(0, 12))).toMatchObject({ result: 'held', ...readsTheList })
    expect(await run()).toMatchObject({ result: 'ok', ...readsTheList })
    expect(await run()).toMatchObject({ result: 'ok', ...readsNone })
  })

  test('a run failed', async () => {
    rmSync(join(world.folder, 'north.xml'))
    expect(await world.run('sync', 'north', daemon)).toMatchObject({ result: 'failed' })
    expect(await run()).toMatchObject(readsTheList)
  })

  test('a run of another process', async () => {
    world.clock.advance(minute)
    expect(await world.run()).toMatchObject(readsTheList)
    expect(await run()).toMatchObject(readsTheList)
  })

  test('a backfill, which reads it itself, as does every dry run', async () => {
    expect(await run(all, 'diff')).toMatchObject(readsTheList)
    expect(await run()).toMatchObject(readsNone)
    expect(await run(all, 'backfill')).toMatchObject(readsTheList)
    expect(await run()).toMatchObject(readsTheList)
  })

  test.each<[string, object, object?]>([
    ['its plan', { drift: 'keep' }],
    ['its mapping', { fields: { YearBuilt: { value: 1990 } } }],
    ['its filter', { where: { City: ['nowhere'] } }],
    ['its keys', {}, { secretKey: 'another-key' }],
  ])('the feed changed in the configuration: %s', async (_, changes, keys) => {
    world.configure({ north: { ...north, ...changes } }, { ...service, ...keys })
    await daemon.reload(() => [])
    expect(await run()).toMatchObject(readsTheList)
  })

  test('the clock was set back', async () => {
    world.clock.advance(-hour)
    expect(await run()).toMatchObject(readsTheList)
  })
})
