/** What runs that are under way at one time leave behind. */
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import { collected } from '../support/collected.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

test('runs at one time leave nothing on the signal of the process', async () => {
  const names = Array.from({ length: 3 }, (_, number) => `feed-${number}`)
  const feeds = names.map((name) => [name, { chatbot: name, source: 'north.xml' }])
  const world = await RunWorld.start({ feeds: Object.fromEntries(feeds) })
  world.deliver(zillowFeed(homes(1, 3)))
  const app = openApp(world.context)
  const listeners = () => getEventListeners(world.context.signal, 'abort')
  const before = listeners()
  try {
    const runs = app.config.feeds.map(async (feed) => (await app.sync(feed, 'sync')).close())
    const over = new AbortController()
    const all = Promise.all(runs).finally(() => over.abort())
    while (!over.signal.aborted) {
      for (let turn = 0; turn < 200 && !over.signal.aborted; turn++)
        await new Promise((resolve) => setImmediate(resolve))
      await collected()
    }
    await all
    expect(listeners()).toEqual(before)
  } finally {
    await app.close()
    await world.end()
  }
})
