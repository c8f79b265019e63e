/** Many feeds in one daemon, on a clock that the test lets pass: each has its turns, whatever the others do. */
import { afterEach, expect, test } from 'vitest'
import { daemonCommand } from '../../src/commands/daemon.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'
import { ManualClock } from './manual-clock.ts'

const minute = 60_000
const feeds = Array.from({ length: 120 }, (_, number) => `feed-${number}`)

let world: RunWorld
const stop = new AbortController()
let ended: Promise<number>
afterEach(async () => {
  stop.abort()
  await ended
  await world.end()
})

test('120 feeds, due every minute: each runs as often as it is due, and each run is in the log', async () => {
  const written = Object.fromEntries(
    feeds.map((name) => [
      name,
      { chatbot: name, schedule: '* * * * *', source: 'north.xml', ...(name === 'feed-7' && { source: 'none.xml' }) },
    ]),
  )
  world = await RunWorld.start({ standIn: {}, feeds: written })
  world.deliver(zillowFeed(homes(1, 2)))
  const clock = new ManualClock('2026-11-21T12:00:00Z')
  const ends: { feed: string; msg: string }[] = []
  const writeLog = (line: string): void => {
    const entry = JSON.parse(line) as { feed: string; msg: string }
    if (/^run (finished|failed)/.test(entry.msg)) ends.push(entry)
  }
  ended = daemonCommand({ ...world.context, signal: stop.signal, clock, writeLog })
  const minutes = 4
  for (let passed = 1; passed <= minutes; passed++) {
    await until(() => ends.length === feeds.length * passed)
    const counted = feeds.map((feed) => ends.filter((end) => end.feed === feed).length)
    expect(counted).toEqual(feeds.map(() => passed))
    if (passed < minutes) await clock.pass(minute)
  }
  const failed = ends.filter(({ msg }) => msg === 'run failed')
  expect(failed.map(({ feed }) => feed)).toEqual(Array.from({ length: minutes }, () => 'feed-7'))
  const store = openStore(`${world.folder}/store.db`)
  const last = await Promise.all(feeds.map(async (feed) => (await store.runs.last(feed))?.result))
  await store.close()
  expect(last).toEqual(feeds.map((feed) => (feed === 'feed-7' ? 'failed' : 'ok')))
})
