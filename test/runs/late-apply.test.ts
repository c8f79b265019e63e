/** A plan that takes long to carry out: what people do meanwhile is not deleted unseen (docs/faults.md, F103, F123). */
import { afterEach, describe, expect, test } from 'vitest'
import { dearer, home, homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'

const minute = 60_000
/** Twelve homes fill six of them. */
const smallPages = { profile: { pageSize: 2 } }
const north = { limits: 'off' }

let world: RunWorld
/** What people do while the first update of a run is under way, which takes as long as its fault says. */
let meanwhile = (): void => {}
afterEach(() => world.end())

/** A service on which twelve homes are, each seen once. */
async function begin(service: object = {}): Promise<void> {
  meanwhile = () => {}
  const delay = (milliseconds: number): Promise<void> => {
    world.clock.advance(milliseconds)
    meanwhile()
    return Promise.resolve()
  }
  world = await RunWorld.start({ feeds: { north }, service, standIn: { delay } })
  world.deliver(zillowFeed(homes(1, 12)))
  await world.run()
  await world.run()
  world.calls()
}

/** A run in which the first home changes, which takes so long, and the last ones are gone. */
function runThatTakes(wait: number, gone = 3): Promise<ReadReport> {
  world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'slow', wait } })
  world.deliver(zillowFeed([dearer(home(1)), ...homes(2, 12 - gone)]))
  return world.run()
}

const numbers = (): unknown[] => world.listings().map((item) => item['MLSNumber'])
const outcomeOf = (report: ReadReport, { mlsNumber }: Home): unknown =>
  report.changes.find((change) => change.mlsNumber === mlsNumber)?.outcome

describe('deletes that go out long after the list', () => {
  test('within a minute are sent as planned', async () => {
    await begin()
    expect(await runThatTakes(50_000)).toMatchObject({ result: 'ok', counts: { delete: 3 } })
    expect(world.calls()).toMatchObject({ Update: 1, Delete: 1, List: 2 + 2 })
  })

  test('later are looked up first, each, and go in one batch', async () => {
    await begin(smallPages)
    const report = await runThatTakes(2 * minute)
    expect(report).toMatchObject({ result: 'ok', applied: { outcomes: { done: 4 } } })
    // Seven pages of the walk, two calls a look-up of what is deleted, and of what was updated.
    expect(world.calls()).toMatchObject({ Update: 1, Delete: 1, List: 7 + 3 * 2 + 2 })
    expect(numbers()).toHaveLength(9)
  })

  test.each([
    ['looked up', smallPages, 7 + 2 + 1 + 2 + 2],
    ['listed once more, where that takes fewer calls', {}, 2 + 2],
  ])('%s: what somebody did meanwhile is left to the next run', async (_, service, lists) => {
    await begin(service)
    meanwhile = () => {
      world.standIn.edit(chatbot, home(10).mlsNumber, { SalePrice: 1 })
      world.standIn.remove(chatbot, home(11).mlsNumber)
    }
    const report = await runThatTakes(2 * minute)
    meanwhile = () => {}
    expect(outcomeOf(report, home(10))).toEqual({
      result: 'skipped',
      error: 'edited by somebody since it was listed: the next run decides',
    })
    expect(outcomeOf(report, home(11))).toMatchObject({
      result: 'skipped',
      error: expect.stringContaining('no longer'),
    })
    expect(outcomeOf(report, home(12))).toMatchObject({ result: 'done' })
    expect(report.result).toBe('partial')
    expect(world.calls()).toMatchObject({ Delete: 1, List: lists })
    expect(world.listing(home(10).mlsNumber)).toMatchObject({ SalePrice: 1 })

    // The next list shows the edit; the feed does not hold the listing, and it is ours.
    const next = await world.run()
    expect(next.changes.map(({ kind, mlsNumber }) => [kind, mlsNumber])).toEqual([
      ['delete', home(10).mlsNumber],
      ['forget', home(11).mlsNumber],
    ])
    expect(numbers()).toHaveLength(9)
  })

  test('a listing that somebody made anew in the place of ours stays, too', async () => {
    await begin(smallPages)
    meanwhile = () => {
      const { ExtensionColumn: _, ...listing } = world.listing(home(12).mlsNumber)!
      world.standIn.remove(chatbot, home(12).mlsNumber)
      world.standIn.seed(chatbot, [{ ...listing, MLSNumber: home(12).mlsNumber }])
    }
    const report = await runThatTakes(2 * minute)
    expect(outcomeOf(report, home(12))).toMatchObject({ result: 'skipped' })
    expect(numbers()).toContain(home(12).mlsNumber)
  })

  test('that can not be looked up are not sent', async () => {
    await begin({ ...smallPages, attempts: 1 })
    meanwhile = () =>
      world.standIn.addFault({
        operations: ['List'],
        mlsNumber: home(11).mlsNumber,
        fault: { kind: 'status', status: 500 },
      })
    const report = await runThatTakes(2 * minute)
    expect(outcomeOf(report, home(11))).toMatchObject({ result: 'failed' })
    expect(numbers()).toContain(home(11).mlsNumber)
    expect(numbers()).not.toContain(home(12).mlsNumber)
  })

  test('look-ups that take long themselves: what was looked up goes before it is a minute old', async () => {
    await begin(smallPages)
    meanwhile = () => {
      meanwhile = () => {}
      world.standIn.addFault({ operations: ['List'], fault: { kind: 'slow', wait: 40_000 } })
    }
    expect(await runThatTakes(2 * minute)).toMatchObject({ result: 'ok' })
    expect(world.calls()).toMatchObject({ Delete: 3, List: 7 + 3 * 2 + 2 })
  })

  test('the estimate of the calls knows of them', async () => {
    await begin(smallPages)
    world.configure({ north }, { ...smallPages, rate: 0.01 })
    world.deliver(zillowFeed([dearer(home(1)), ...homes(2, 9)]))
    const report = await world.run('diff')
    // One update, which takes more than a minute at this rate; three look-ups of two; one batch; a look at the update.
    expect(report.estimate.calls).toBe(1 + 3 * 2 + 1 + 2)
  })
})

describe('a plan of more than two hours', () => {
  test('ends: what is left is for the next run, which plans anew', async () => {
    await begin()
    const report = await runThatTakes(121 * minute)
    expect(report).toMatchObject({ result: 'partial', error: null, applied: { outcomes: { done: 1, skipped: 3 } } })
    expect(report.notes).toContainEqual(expect.stringContaining('left for the next run'))
    // A list that nothing is deleted by is not walked once more.
    expect(world.calls()).toMatchObject({ Update: 1, Delete: 0, List: 2 })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 0, delete: 3 } })
  })

  test('a backfill, which deletes nothing, goes on', async () => {
    await begin()
    world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'slow', wait: 121 * minute } })
    world.deliver(zillowFeed([...homes(1, 12).map(dearer), home(13)]))
    expect(await world.run('backfill')).toMatchObject({ result: 'ok', counts: { update: 12, create: 1 } })
  })
})

test('under an incomplete list, what the feed says is gone is looked up first: a copy may be on a page that could not be had', async () => {
  await begin(smallPages)
  world.standIn.seed(chatbot, [
    { ...world.listing(home(1).mlsNumber)!, MLSNumber: home(1).mlsNumber, Description: 'a copy by hand' },
  ])
  // The newest come first: the copy is on the first page, what it is a copy of on the last one.
  world.standIn.addFault({ operations: ['List'], page: 6, fault: { kind: 'status', status: 500 } })
  world.deliver(
    zillowFeed([{ ...home(1), status: 'Withdrawn' }, ...homes(2, 11), { ...home(12), status: 'Withdrawn' }]),
  )
  const report = await world.run()
  expect(report.remote.complete).toBe(false)
  expect(outcomeOf(report, home(1))).toEqual({
    result: 'skipped',
    error: '2 listings on the service have this MLSNumber by now: the next run decides',
  })
  expect(outcomeOf(report, home(12))).toMatchObject({ result: 'done' })
  expect(world.listings().filter((item) => item['MLSNumber'] === home(1).mlsNumber)).toHaveLength(2)
})
