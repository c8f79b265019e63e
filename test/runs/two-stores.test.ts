/** Two programs with a store each write one chatbot's listings (docs/faults.md, F75): neither fights for long, and it is said. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { home, zillowFeed } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'

const halfAnHour = 1_800_000
const homes = Array.from({ length: 12 }, (_, index) => home(index + 1))
/** The two agree in all but one field, as two versions of a configuration do. */
const versions = {
  one: { north: { fields: { YearBuilt: { value: 1990 } } } },
  two: { north: { fields: { YearBuilt: { value: 1991 } } } },
}
const asks = expect.stringMatching(
  /^12 of 12 listings were edited on the chatbot again after they had been sent again; another program seems to write them\. Held: 12 updates\./,
)

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
  world.deliver(zillowFeed(homes))
})
afterEach(() => world.end())

function run(which: keyof typeof versions): ReturnType<RunWorld['run']> {
  world.clock.advance(halfAnHour)
  world.configure(versions[which], {}, `./${which}.db`)
  return world.run()
}

/** The first one has loaded the feed and knows how it is shown; the second one has put its own over it. */
async function begin(): Promise<void> {
  for (const which of ['one', 'one', 'two'] as const) await run(which)
}

describe('whose runs', () => {
  test('take turns: the second time it is held, and sent no oftener than a list can say so again', async () => {
    await begin()
    expect(await run('one')).toMatchObject({ result: 'ok', counts: { update: 12 }, notes: [] })
    await run('two')
    expect(await run('one')).toMatchObject({ result: 'held', counts: { update: 0, hold: 12 }, notes: [asks] })
    await run('two')
    const again = 'held since Sat 21 Nov were carried out: another complete list said the same'
    expect(await run('one')).toMatchObject({ counts: { update: 12 }, notes: [`12 updates ${again}`] })
    await run('two')
    expect(await run('one')).toMatchObject({ result: 'held', counts: { update: 0 }, notes: [asks] })
  })

  test('come twice for each of the other: though what was sent was shown so, it is asked, too', async () => {
    await begin()
    expect(await run('one')).toMatchObject({ counts: { update: 12 } })
    expect(await run('one')).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
    await run('two')
    for (const homeOf of homes) world.standIn.edit(chatbot, homeOf.mlsNumber, { YearBuilt: 1991 })
    expect(await run('one')).toMatchObject({ result: 'held', counts: { update: 0, hold: 12 }, notes: [asks] })
  })
})

test('once the other has stopped, an approval sends what is held, and that is the end of it', async () => {
  await begin()
  await run('one')
  await run('two')
  await run('one')
  world.clock.advance(halfAnHour)
  world.configure(versions.one, {}, './one.db')
  await world.approve()
  expect(await run('one')).toMatchObject({ result: 'ok', counts: { update: 12 } })
  expect(await run('one')).toMatchObject({ result: 'ok', counts: { unchanged: 12 }, notes: [] })
  expect(world.listing(home(1).mlsNumber)).toMatchObject({ YearBuilt: 1990 })
})

test('a person who edits a few, again and again, is no other program', async () => {
  await begin()
  await run('one')
  await run('one')
  for (let times = 0; times < 2; times++) {
    for (const one of homes.slice(0, 2)) world.standIn.edit(chatbot, one.mlsNumber, { YearBuilt: 1900 })
    expect(await run('one')).toMatchObject({ result: 'ok', counts: { update: 2 }, notes: [] })
    await run('one')
  }
})
