/** Runs that read no list of the service: what they look up instead, and when they read it. */
import { describe, expect, test } from 'vitest'
import { nextTurn } from '../../src/core/turn.ts'
import { minuteIn } from '../../src/core/zone.ts'
import { takeList } from '../../src/run/look.ts'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import { dearer, home } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { chatbot } from '../support/run-world.ts'
import {
  all,
  beginEach,
  changed,
  daemon,
  first,
  hour,
  last,
  minute,
  readsNone,
  readsTheList,
  run,
  service,
  world,
} from './seldom-listed.ts'

beginEach()

/** Calls for the whole list. */
const walk = 13
const copies = ({ mlsNumber }: Home): number =>
  world.listings().filter((item) => item['MLSNumber'] === mlsNumber).length
const rowOf = ({ mlsNumber }: Home): StandInListing => world.listing(mlsNumber) as unknown as StandInListing

describe('between two lists', () => {
  test('a run on the same feed calls nobody', async () => {
    const { startedAt } = await run([first, ...all.slice(1)].toReversed(), 'backfill')
    await run()
    expect(await run()).toMatchObject({
      result: 'ok',
      counts: { unchanged: 24 },
      observed: { lookedUp: 0, at: expect.any(Number), next: nextTurn(chatbot, startedAt, 7 * 24 * hour) },
      remote: { complete: true, pages: walk, listings: 24 },
      applied: { calls: { list: 0, create: 0, update: 0, delete: 0 } },
    })
  })

  test('what changes, comes and goes is looked up, and nothing else is', async () => {
    const feed = [...changed(first).filter((home) => home !== last), home(25)]
    expect(await run(feed)).toMatchObject({
      result: 'ok',
      counts: { update: 1, create: 1, delete: 1, unchanged: 22 },
      observed: { lookedUp: 3 },
      // A page with the listing and one without, or only one without; then again of what was written.
      applied: { calls: { list: 2 + 2 + 1 + (2 + 2), create: 1, update: 1, delete: 1 } },
    })
    expect(world.listing(first.mlsNumber)!['SalePrice']).toBe(dearer(first).price)
    expect([copies(last), copies(home(25))]).toEqual([0, 1])
    expect(await run(feed)).toMatchObject({ counts: { unchanged: 24 }, observed: { lookedUp: 0 } })
  })

  test('the list is read where that takes no more calls', async () => {
    const six = all.slice(0, 6)
    expect(await run(changed(...six))).toMatchObject({ counts: { update: 6 }, observed: { lookedUp: 6 } })
    expect(await run(changed(...all.slice(0, 7), ...six))).toMatchObject({ counts: { update: 1 }, ...readsNone })
    expect(await run(all)).toMatchObject({ counts: { update: 7 }, ...readsTheList })
  })

  test('a hold of what the feed delivered twice ends once it is right', async () => {
    const heldNow = async (): Promise<number> =>
      (JSON.parse((await world.executed('status', '--format', 'json')).stdout) as { held: unknown[] }).held.length
    expect(await run([...all, dearer(first)])).toMatchObject({ counts: { hold: 2 }, ...readsNone })
    expect(await heldNow()).toBe(1)
    expect(await run()).toMatchObject({ counts: { unchanged: 24 }, ...readsNone })
    expect(await heldNow()).toBe(0)
  })

  test('an edit of what the feed leaves as it is stays until the list is read', async () => {
    world.standIn.edit(chatbot, last.mlsNumber, { Bedrooms: 9 })
    const { observed } = await run(changed(first))
    expect(world.listing(last.mlsNumber)!['Bedrooms']).toBe(9)
    world.clock.advance(observed!.next - world.clock.now() - 16 * minute)
    expect(await run(changed(first))).toMatchObject({ counts: { update: 0 }, ...readsNone })
    world.clock.advance(minute)
    expect(await run(changed(first))).toMatchObject({ counts: { update: 1 }, ...readsTheList })
    expect(world.listing(last.mlsNumber)!['Bedrooms']).toBe(last.bedrooms)
  })
})

describe('a look-up that finds something else has the list read:', () => {
  test('what changes was edited', async () => {
    world.standIn.edit(chatbot, first.mlsNumber, { Bedrooms: 9 })
    expect(await run(changed(first))).toMatchObject({ result: 'ok', counts: { update: 1 }, ...readsTheList })
    expect(world.listing(first.mlsNumber)!['Bedrooms']).toBe(first.bedrooms)
  })

  test('what changes is gone', async () => {
    world.standIn.remove(chatbot, first.mlsNumber)
    expect(await run(changed(first))).toMatchObject({ counts: { create: 1 }, ...readsTheList })
    expect(copies(first)).toBe(1)
  })

  test('what changes is there twice', async () => {
    world.standIn.seed(chatbot, [rowOf(first)])
    expect(await run(changed(first))).toMatchObject({ counts: { update: 0, hold: 1 }, ...readsTheList })
  })

  test.each([{}, { SalePrice: 7 }])('somebody made what is new (%o)', async (edit) => {
    world.standIn.seed(chatbot, [{ ...rowOf(last), MLSNumber: home(25).mlsNumber, ...edit }])
    expect(await run([...all, home(25)])).toMatchObject({ counts: { create: 0, update: 1 }, ...readsTheList })
    expect(copies(home(25))).toBe(1)
  })

  test('what goes was edited, or bears the mark of another feed', async () => {
    world.standIn.edit(chatbot, last.mlsNumber, { SalePrice: 7 })
    world.standIn.edit(chatbot, first.mlsNumber, { ExtensionColumn: [{ Key: 'ListingSyncFeed', value: 'south' }] })
    expect(await run(all.slice(1, -1))).toMatchObject({ counts: { delete: 1, hold: 1 }, ...readsTheList })
    expect([copies(first), copies(last)]).toEqual([1, 0])
  })

  test('nobody answers', async () => {
    const fault = { kind: 'status', status: 500 } as const
    world.standIn.addFault({ operations: ['List'], mlsNumber: first.mlsNumber, times: 2, fault })
    expect(await run(changed(first))).toMatchObject({ result: 'ok', counts: { update: 1 }, ...readsTheList })
  })
})

describe('without a setting', () => {
  test.each([
    [1, undefined],
    [0.2, { lookedUp: 0 }],
  ])('a list of 13 pages is read by every run at %d calls a second, if within a minute', async (rate, observed) => {
    world.configure({ north: {} }, { ...service, rate })
    await daemon.reload(() => [])
    await run()
    expect((await run()).observed).toEqual(observed && expect.objectContaining(observed))
  })
})

test('a list that a run goes by is taken: one of which nothing was recorded leaves none', () => {
  const list = { at: 1, pages: 2, listings: 3, basis: '', run: 4 }
  const lists = new Map([['north', list]])
  expect([takeList({ name: 'north' }, { lists }), takeList({ name: 'north' }, { lists })]).toEqual([list, null])
})

test('report, status and check tell when the list is read', async () => {
  const json = JSON.parse((await world.executed('sync', '--format', 'json')).stdout) as { observed: object }
  const at = world.clock.now()
  const next = nextTurn(chatbot, at, 7 * 24 * hour)
  const iso = (time: number): string => new Date(time).toISOString()
  expect(json.observed).toEqual({ at: expect.stringMatching(iso(at).slice(0, 16)), next: iso(next), lookedUp: null })
  const read = `read whole at ${minuteIn('UTC', at)}, next at ${minuteIn('UTC', next)}`
  expect((await world.executed('diff', '--format', 'text')).stdout).toContain(`list      ${read}`)
  const status = await world.executed('status')
  expect(status.stdout).toContain(`the service's list is read whole once in 7d; ${read}`)
  expect((await world.executed('check')).stdout).toContain('its list is read whole once in 7d')
  world.configure({ north: {} })
  await world.executed('sync')
  for (const command of ['check', 'status'])
    expect((await world.executed(command)).stdout, command).not.toContain('is read whole')
})
