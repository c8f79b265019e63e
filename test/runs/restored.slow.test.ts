/** A store put back from a backup, or copied, is found out whichever of its files were: creates settle, nothing comes twice. */
import { copyFileSync, cpSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dearer, home, homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

const minute = 60_000
const all = homes(1, 12)
const north = { volatile: { refresh: '365d' } }
const data = './data/store.db'

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
  world.configure({ north }, {}, data)
})
afterEach(() => world.end())

const folder = (name = 'data'): string => join(world.folder, name)
const numbers = (): string[] =>
  world
    .listings()
    .map((item) => String(item['MLSNumber']))
    .toSorted()

/** A backup of the whole folder, of a store in which ten listings are known. */
async function backUp(): Promise<void> {
  world.deliver(zillowFeed(all.slice(0, 10)))
  await world.run()
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 10 }, notes: [] })
  cpSync(folder(), folder('backup'), { recursive: true, preserveTimestamps: true })
}

/** Files of the backup, by the ways in which people put them back. */
const restore = {
  'over the files that are there': (names: readonly string[]) => {
    for (const name of names) copyFileSync(join(folder('backup'), name), join(folder(), name))
  },
  'in the place of deleted ones': (names: readonly string[]) => {
    for (const name of names) rmSync(join(folder(), name), { force: true })
    for (const name of names) cpSync(join(folder('backup'), name), join(folder(), name), { preserveTimestamps: true })
  },
  'where all was lost': (names: readonly string[]) => {
    // The store last: some file systems give its number to the next file, so that only the time of its birth tells.
    for (const name of ['store.db.serial', 'store.db']) rmSync(join(folder(), name))
    for (const name of names) copyFileSync(join(folder('backup'), name), join(folder(), name))
  },
}
const files = {
  'the store alone': ['store.db'],
  'the store and the note beside it': ['store.db', 'store.db.serial'],
  'everything of the folder': ['store.db', 'store.db.serial', 'store.db.lock'],
}
const cases = Object.keys(restore).flatMap((way) => Object.keys(files).map((what) => [what, way] as const))

/** The dry run says what the run does: it takes the store for one that is lost, lets creates wait, and is right after that. */
async function settles(note: string): Promise<void> {
  world.calls()
  const dry = await world.run('diff')
  const report = await world.run()
  expect([dry.counts, dry.notes]).toEqual([report.counts, report.notes])
  expect(report).toMatchObject({ result: 'ok', counts: { create: 0 } })
  expect(report.notes).toEqual([expect.stringContaining(note)])
  expect(report.changes.filter(({ kind }) => kind === 'hold').map(({ cause }) => cause)).toContain('lost-store')
  expect(world.calls()).toMatchObject({ Create: 0 })
}

async function comesRight(feed = all): Promise<void> {
  world.standIn.landLateCalls()
  world.clock.advance(16 * minute)
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { hold: 0 } })
  expect(numbers()).toEqual(feed.map(({ mlsNumber }) => mlsNumber).toSorted())
  await world.run()
  world.calls()
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: feed.length }, notes: [] })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
}

const notAsLeft = 'The store is not as it was left: it is a copy, a backup that was put back, or lost its last writes.'

describe('a restored backup', () => {
  test.each(cases)('%s, %s: a create that the service does not show yet is not sent again', async (what, way) => {
    await backUp()
    world.standIn.addFault({ operations: ['Create'], times: 1, fault: { kind: 'late', requests: 1000 } })
    world.deliver(zillowFeed(all.slice(0, 11)))
    expect(await world.run()).toMatchObject({ applied: { outcomes: { unknown: 1 } } })
    restore[way as keyof typeof restore](files[what as keyof typeof files])
    world.deliver(zillowFeed(all))
    await settles(notAsLeft)
    await comesRight()
  })

  test.each(cases)('%s, %s: what happened since is found on the service', async (what, way) => {
    await backUp()
    world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1, 9), all[10]]))
    expect(await world.run()).toMatchObject({ counts: { create: 1, update: 1, delete: 1 } })
    await world.run()
    restore[way as keyof typeof restore](files[what as keyof typeof files])
    const feed = [dearer(all[0]), ...all.slice(1, 9), ...all.slice(10)]
    world.deliver(zillowFeed(feed))
    await settles(notAsLeft)
    await comesRight(feed)
  })

  test('from before the first run of another feed: what that created may still land, too', async () => {
    await backUp()
    world.configure({ north, south: north }, {}, data)
    world.standIn.addFault({ operations: ['Create'], times: 1, fault: { kind: 'late', requests: 1000 } })
    world.deliver(zillowFeed([home(50)]), 'south.xml')
    expect(await world.run('sync', 'south')).toMatchObject({ applied: { outcomes: { unknown: 1 } } })
    restore['over the files that are there'](files['everything of the folder'])
    await world.run()
    for (let times = 1; times <= 2; times++) {
      const { counts, notes, changes } = await world.run('sync', 'south')
      expect([counts, notes.length]).toMatchObject([{ create: 0, hold: 1 }, 2 - times])
      expect(changes).toMatchObject([{ kind: 'hold', cause: 'lost-store' }])
      world.clock.advance(minute)
    }
    world.standIn.landLateCalls()
    world.clock.advance(16 * minute)
    expect((await world.run('sync', 'south')).counts).toMatchObject({ create: 0, hold: 0 })
    expect(numbers().filter((number) => number === home(50).mlsNumber)).toHaveLength(1)
  })

  /** Sets a disk back: the file is the very file, and its time that of the note beside it. */
  const time = 1_700_000_000
  const disk = {
    noted: () => {
      const note = join(folder(), 'store.db.serial')
      utimesSync(join(folder(), 'store.db'), time, time)
      writeFileSync(note, readFileSync(note, 'utf8').replace(/\d{20}/, `0${time}000000000`))
      cpSync(folder(), folder('backup'), { recursive: true, preserveTimestamps: true })
    },
    setBack: () => {
      restore['over the files that are there'](files['everything of the folder'])
      utimesSync(join(folder(), 'store.db'), time, time)
    },
  }

  test.each([
    ['refused since', '--refuse'],
    ['approved before, and that was taken back since', '--revoke'],
  ])('in which no file tells: what was %s waits its whole time again, by the dry run, too', async (_, decision) => {
    const day = 24 * 60 * minute
    world.deliver(zillowFeed(all))
    await world.run()
    world.clock.advance(2 * day)
    const left = all.slice(0, 6)
    world.deliver(zillowFeed(left))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    if (decision === '--revoke') await world.approve()
    disk.noted()
    await world.executed('approve', 'north', decision, '--yes')
    for (const home of left.slice(0, 2)) {
      world.clock.advance(day)
      world.deliver(zillowFeed(left.map((each) => (each === home ? dearer(each) : each))))
      expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    }
    world.clock.advance(2 * day)
    disk.setBack()
    const dry = await world.run('diff')
    const report = await world.run()
    expect([dry.counts, dry.notes]).toEqual([report.counts, report.notes])
    expect(report).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    expect(report.notes[0]).toMatch(/put back from a backup\..*, what is held waits longer, and what was approved/)
    world.clock.advance(2 * day)
    expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    world.clock.advance(day)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 6 } })
  })

  test('in which no file tells, as where a disk was set back: the marks do', async () => {
    world.deliver(zillowFeed(all.slice(0, 10)))
    await world.run()
    disk.noted()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 10 }, notes: [] })
    disk.setBack()
    world.deliver(zillowFeed(all.slice(0, 11)))
    // Nothing was written since: it is as it was.
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 }, notes: [] })
    for (const home of all.slice(0, 5)) {
      const others = all.slice(0, 11).filter(({ mlsNumber }) => mlsNumber !== home.mlsNumber)
      world.deliver(zillowFeed([dearer(home), ...others]))
      await world.run()
    }
    disk.setBack()
    world.deliver(zillowFeed(all))
    await settles('The service shows listings that a later state of this store wrote: it was put back from a backup.')
    await comesRight()
  })
})

test('the number of a deleted file is given again, and that of a disk changes: the time of birth tells', async ({
  skip,
}) => {
  await backUp()
  const store = join(folder(), 'store.db')
  const { dev, ino, birthtimeNs } = statSync(store, { bigint: true })
  const database = new Database(store)
  const place = database.prepare<[], string>('SELECT place FROM meta').pluck().get()
  if (place !== `${dev} ${ino} ${birthtimeNs}`) skip('this file system keeps no time of birth')
  /** As where the store was in another file; no note tells. */
  const isOf = (other: string): void => {
    database.prepare('UPDATE meta SET place = ?').run(other)
    rmSync(`${store}.serial`)
  }
  isOf(`${dev + 1n} ${ino} ${birthtimeNs}`)
  world.deliver(zillowFeed(all.slice(0, 11)))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 }, notes: [] })
  isOf(`${dev} ${ino} ${birthtimeNs - 1n}`)
  database.close()
  world.deliver(zillowFeed(all))
  await settles(notAsLeft)
})

test('a restored backup is one for every feed of it, also where nothing on the service tells', async () => {
  world.configure({ north, south: { ...north, ownership: 'snapshot' } }, {}, data)
  world.deliver(zillowFeed(homes(20, 24)), 'south.xml')
  await world.run('sync', 'south')
  await backUp()
  restore['over the files that are there'](files['everything of the folder'])
  expect((await world.run()).notes).toEqual([expect.stringContaining(notAsLeft)])
  world.deliver(zillowFeed(homes(20, 25)), 'south.xml')
  expect(await world.run('sync', 'south')).toMatchObject({ result: 'ok', counts: { create: 0, hold: 1 } })
  world.clock.advance(16 * minute)
  expect(await world.run('sync', 'south')).toMatchObject({ result: 'ok', counts: { create: 1, hold: 0 } })
})

test('a listing that another feed made its own after the backup is let go of by the first one', async () => {
  world.configure({ north, south: north }, {}, data)
  await backUp()
  world.deliver(zillowFeed(all.slice(0, 9)))
  expect(await world.run()).toMatchObject({ counts: { delete: 1 } })
  world.deliver(zillowFeed([all[9]]), 'south.xml')
  expect(await world.run('sync', 'south')).toMatchObject({ counts: { create: 1 } })
  restore['in the place of deleted ones'](files['everything of the folder'])
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { forget: 1 } })
  for (let run = 1; run <= 2; run++) {
    const south = await world.run('sync', 'south')
    expect(south).toMatchObject({ result: 'ok', counts: { hold: 0 } })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { forget: 0, unchanged: 9 } })
  }
  expect(numbers()).toHaveLength(10)
})

describe('a store that is moved', () => {
  test.each([
    ['in its file system', (from: string, to: string) => renameSync(from, to)],
    [
      'by a copy, the first one deleted',
      (from: string, to: string) => {
        cpSync(from, to, { recursive: true, preserveTimestamps: true })
        rmSync(from, { recursive: true })
      },
    ],
  ])('%s goes on; at most creates wait for `settle`, and once', async (_, move) => {
    await backUp()
    rmSync(folder('backup'), { recursive: true })
    move(folder(), folder('new'))
    world.configure({ north }, {}, './new/store.db')
    world.deliver(zillowFeed(all.slice(1, 11)))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', counts: { delete: 1, unchanged: 9 } })
    world.clock.advance(16 * minute)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { hold: 0 }, notes: [] })
    expect(numbers()).toHaveLength(10)
    world.deliver(zillowFeed(all.slice(1)))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 }, notes: [] })
  })

  test('that other commands wrote to meanwhile is the same store', async () => {
    await backUp()
    world.deliver(zillowFeed(all.slice(0, 4)))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 6 } })
    for (const words of [['approve', 'north', '--refuse', '--yes'], ['status'], ['diff']])
      await world.executed(...words)
    world.deliver(zillowFeed(all.slice(0, 11)))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, hold: 0 }, notes: [] })
  })
})

test('a store copied elsewhere while the old one runs on: both say so, neither creates what the other has', async () => {
  await backUp()
  const run = (store: string): ReturnType<RunWorld['run']> => {
    world.clock.advance(20 * minute)
    world.configure({ north }, {}, store)
    return world.run()
  }
  const copy = './backup/store.db'
  world.deliver(zillowFeed(all.slice(0, 11)))
  expect((await run(copy)).notes).toEqual([expect.stringContaining(notAsLeft)])
  expect(await run(copy)).toMatchObject({ result: 'ok', counts: { create: 1 } })

  // What the copy wrote has the mark of another store by now.
  world.deliver(zillowFeed(all))
  const first = await run(data)
  expect(first).toMatchObject({ result: 'ok', counts: { create: 0, adopt: 1, hold: 1 } })
  expect(first.notes).toEqual([expect.stringContaining('were written by another store')])
  expect(await run(data)).toMatchObject({ result: 'ok', counts: { create: 1 } })
  // A later mark of another store may have been hidden before; the next one may not.
  expect(await run(copy)).toMatchObject({ result: 'ok', counts: { adopt: 1 }, notes: [] })
  world.deliver(zillowFeed([...all.slice(0, 11), dearer(all[11])]))
  expect(await run(data)).toMatchObject({ result: 'ok', counts: { update: 1 } })
  world.deliver(zillowFeed([...all.slice(0, 11), dearer(all[11]), home(13)]))
  expect(await run(copy)).toMatchObject({ result: 'partial', counts: { create: 0, hold: 1 } })
  const rest = [...homes(3, 11), dearer(home(12)), home(13)]
  world.deliver(zillowFeed([dearer(home(1)), home(2), ...rest]))
  expect(await run(copy)).toMatchObject({ result: 'partial', counts: { update: 1, hold: 1 } })
  expect(await run(data)).toMatchObject({ result: 'ok', counts: { create: 1 } })
  world.deliver(zillowFeed([dearer(home(1)), dearer(home(2)), ...rest, home(14)]))
  expect(await run(copy)).toMatchObject({ result: 'partial', counts: { update: 1, adopt: 1, hold: 1 } })
  expect(await run(data)).toMatchObject({ result: 'partial', counts: { create: 0, hold: 1 } })
  expect(numbers()).toEqual(
    homes(1, 13)
      .map(({ mlsNumber }) => mlsNumber)
      .toSorted(),
  )
})
