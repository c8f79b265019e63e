/** Pages are made in the thread that syncs: however many are asked for at once, the sync goes on. */
import { afterEach, expect, test } from 'vitest'
import { homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'
import { ask } from './served.ts'
import type { Answer } from './served.ts'

let world: RunWorld
afterEach(async () => {
  await world.end()
})

/** As many calls as the service takes in a second, and as the run sends: six seconds. */
const rate = 40
const updates = 240

test('100 requests at once during a sync: every page comes, and no call waits for them', async () => {
  world = await RunWorld.start()
  // As of today, so that no listing is a day older in the next run.
  world.clock.advance(Date.now() - world.clock.now())
  const http = { http: { listen: '127.0.0.1:0' } }
  const feed = { schedule: '* * * * * *' }
  world.configure({ north: feed })
  world.deliver(zillowFeed(homes(1, 2000)))
  await world.run()
  // 1,200 held homes: a page that takes its time.
  const kept = zillowFeed(homes(1, 800))
  world.deliver(kept)
  expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 1200 } })
  let dearer = 0
  world.deliver(
    kept.replaceAll(/<Price>(\d+)/g, (whole, price) => (dearer++ < updates ? `<Price>${Number(price) + 1}` : whole)),
  )
  world.configure({ north: feed }, { rate }, undefined, http)
  world.standIn.resetCounts()

  let answers: Answer[] = []
  /** How many updates the service had had when each page came. */
  const updatesAt: number[] = []
  let log = ''
  const updated = (): number => world.standIn.counts.Update
  await world.started(async (child) => {
    child.stderr!.on('data', (text: string) => (log += text))
    await until(() => updated() >= 20)
    const address = /"address":"([^"]+)"/.exec(log)![1]
    const paths = ['/', '/feeds/north/held', '/feeds/north/runs/2', '/feeds/north/held', '/listings?q=olive']
    const asked = Array.from({ length: 100 }, async (_, at) => {
      const answer = await ask(address, paths[at % paths.length])
      updatesAt.push(updated())
      return answer
    })
    answers = await Promise.all(asked)
    await until(() => log.includes('"run finished"'))
    child.kill('SIGTERM')
  }, 'daemon')
  const [line] = log.split('\n').filter((text) => text.includes('"run finished"'))
  const { outcomes } = JSON.parse(line) as { outcomes: object }
  expect(outcomes).toMatchObject({ done: updates, failed: 0 })
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(100).fill(200))
  // Some pages may lie between two calls, not a hundred: without the rest between pages nearly all do. On a slow machine the
  // last ones come when no call is left.
  expect(longestStreak(updatesAt.filter((count) => count < updates))).toBeLessThan(25)
})

/** Most equal numbers in a row. */
function longestStreak(numbers: readonly number[]): number {
  let longest = 0
  let streak = 0
  for (const [at, number] of numbers.entries()) {
    streak = number === numbers[at - 1] ? streak + 1 : 1
    longest = Math.max(longest, streak)
  }
  return longest
}
