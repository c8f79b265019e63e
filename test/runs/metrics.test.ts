/** The metrics file after whole runs, read by a parser that takes nothing but the format. */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import { openApp } from '../../src/app/open.ts'
import { exposition } from '../../src/report/metrics.ts'
import type { FeedMetrics } from '../../src/report/metrics.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { home, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/**
 * Prometheus' text exposition, version 0.0.4, as this program writes it: HELP, TYPE, then the samples of that family, each
 * family once, no sample twice, a line feed at the very end.
 */
function parsed(text: string): Sample[] {
  if (text === '') return []
  expect(text.endsWith('\n')).toBe(true)
  const samples: Sample[] = []
  const seen = new Set<string>()
  let family = ''
  let awaiting: 'TYPE' | 'sample' | 'any' = 'any'
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\\n]|\\\\|\\n)+)$/.exec(line)
    const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped)$/.exec(line)
    if (help !== null) {
      expect(awaiting, line).toBe('any')
      expect(seen, line).not.toContain(help[1])
      ;[family, awaiting] = [help[1], 'TYPE']
      seen.add(family)
    } else if (type !== null) {
      expect([awaiting, type[1]], line).toEqual(['TYPE', family])
      awaiting = 'sample'
    } else {
      expect(awaiting, line).not.toBe('TYPE')
      const found =
        /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.exec(
          line,
        )
      expect(found, line).not.toBeNull()
      const [, name, written = '', value] = found!
      expect(name).toBe(family)
      expect(seen, line).not.toContain(`${name}{${written}}`)
      seen.add(`${name}{${written}}`)
      const pairs = [...written.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [
        label,
        unescaped(text),
      ])
      samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) })
      awaiting = 'any'
    }
  }
  expect(awaiting).toBe('any')
  return samples
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
}

let world: RunWorld
const file = () => join(world.folder, 'metrics.prom')
beforeEach(async () => {
  world = await RunWorld.start()
})
afterEach(() => world.end())

function configure(feeds: Record<string, object>, metrics = './metrics.prom'): void {
  world.configure(feeds)
  const config = parse(readFileSync(world.configFile, 'utf8')) as object
  writeFileSync(world.configFile, stringify({ ...config, metrics }))
}

/** The value of one sample; undefined: there is none. */
function metric(name: string, labels: Record<string, string>): number | undefined {
  const samples = parsed(readFileSync(file(), 'utf8')).filter(
    (sample) =>
      sample.name === `listing_sync_${name}` &&
      Object.keys(sample.labels).length === Object.keys(labels).length &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )
  expect(samples.length).toBeLessThanOrEqual(1)
  return samples[0]?.value
}

const homes = (...numbers: number[]): string => zillowFeed(numbers.map((number) => home(number)))
const north = { feed: 'north' }

describe('the file', () => {
  test('tells of the last run, the last good one and the last accepted delivery', async () => {
    configure({ north: { verify: { session: 7 } } })
    world.deliver(homes(1, 2, 3))
    const first = await world.run()
    expect(metric('feed_info', { ...north, chatbot: 'SN-1' })).toBe(1)
    expect(metric('last_run_timestamp_seconds', north)).toBe(first.finishedAt / 1000)
    expect(metric('last_success_timestamp_seconds', north)).toBe(first.finishedAt / 1000)
    expect(metric('last_accepted_delivery_timestamp_seconds', north)).toBe(first.startedAt / 1000)
    expect(metric('last_run_changes', { ...north, kind: 'create' })).toBe(3)
    expect(metric('last_run_outcomes', { ...north, outcome: 'done' })).toBe(3)
    expect(metric('last_run_calls', { ...north, operation: 'create' })).toBe(3)
    expect(metric('last_run_records', north)).toBe(3)
    expect(metric('last_run_result', { ...north, result: 'ok' })).toBe(1)
    expect(metric('last_run_duration_seconds', north)).toBe((first.finishedAt - first.startedAt) / 1000)
    expect(metric('listings', north)).toBe(3)
    expect(metric('last_verify_listings', { ...north, verdict: 'agreed' })).toBe(3)
    expect(metric('last_verify_tokens', north)).toBe(first.verification!.tokens)

    // Cut off: complete is only what ends as it should. What is absent is not gone.
    world.clock.advance(3_600_000)
    world.deliver(homes(1, 2).slice(0, -30))
    const cut = await world.run()
    expect(metric('last_run_result', { ...north, result: 'ok' })).toBe(cut.result === 'ok' ? 1 : 0)
    expect(metric('last_accepted_delivery_timestamp_seconds', north)).toBe(first.startedAt / 1000)

    world.clock.advance(3_600_000)
    world.standIn.addFault({ operations: ['List'], fault: { kind: 'credentials' } })
    const failed = await world.run()
    expect(failed.result).toBe('failed')
    expect(metric('last_run_timestamp_seconds', north)).toBe(failed.finishedAt / 1000)
    expect(metric('last_success_timestamp_seconds', north)).toBe(cut.finishedAt / 1000)
    expect(metric('last_run_result', { ...north, result: 'failed' })).toBe(1)
    expect(metric('last_run_result', { ...north, result: 'ok' })).toBe(0)
    // Of the last run that asked.
    expect(metric('last_verify_timestamp_seconds', north)).toBeCloseTo(first.finishedAt / 1000, 0)
    expect(readdirSync(world.folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('keeps the values of feeds that this process did not run, from the store', async () => {
    configure({ north: {}, south: {} })
    world.deliver(homes(1, 2))
    world.deliver(homes(11, 12, 13), 'south.xml')
    expect(await world.executed('sync', 'north')).toMatchObject({ status: 0 })
    expect(metric('listings', { feed: 'south' })).toBe(0)
    expect(metric('last_run_timestamp_seconds', { feed: 'south' })).toBeUndefined()
    const before = metric('last_run_timestamp_seconds', north)
    rmSync(file())
    expect(await world.executed('backfill', 'south')).toMatchObject({ status: 0 })
    expect(metric('last_run_timestamp_seconds', north)).toBe(before)
    expect(metric('last_run_changes', { ...north, kind: 'create' })).toBe(2)
    expect(metric('last_run_changes', { feed: 'south', kind: 'create' })).toBe(3)
  })

  test('tells of a run that could not be recorded, as another holds the lease', async () => {
    configure({ north: {} })
    world.deliver(homes(1, 2))
    const first = await world.run()
    world.clock.advance(3_600_000)
    const store = openStore(join(world.folder, 'store.db'))
    try {
      await store.lease('SN-1', world.clock.now())
      const refused = await world.run()
      expect(refused.result).toBe('failed')
      expect(metric('last_run_timestamp_seconds', north)).toBe(refused.finishedAt / 1000)
      expect(metric('last_run_result', { ...north, result: 'failed' })).toBe(1)
      expect(metric('last_success_timestamp_seconds', north)).toBe(first.finishedAt / 1000)
    } finally {
      await store.close()
    }
  })

  test('tells of what is held', async () => {
    configure({ north: {} })
    world.deliver(homes(1, 2, 3, 4, 5, 6))
    await world.run()
    world.deliver(homes(1, 2))
    expect((await world.run()).result).toBe('held')
    expect(metric('held_changes', north)).toBe(4)
    expect(metric('last_run_changes', { ...north, kind: 'hold' })).toBe(4)
  })

  test('that cannot be written fails no run', async () => {
    configure({ north: {}, south: {} }, './no/such/folder/metrics.prom')
    world.deliver(homes(1))
    world.deliver(homes(2), 'south.xml')
    const run = await world.executed('sync')
    expect(run.status).toBe(0)
    expect(run.stderr.match(/could not write the metrics file/g)).toHaveLength(1)
    mkdirSync(file())
    configure({ north: {}, south: {} })
    expect((await world.executed('sync')).status).toBe(0)
    expect(readdirSync(world.folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('after a run, the figures of that feed are looked up, and those of all every few seconds', async () => {
    const names = ['a', 'b', 'c', 'd']
    configure(Object.fromEntries(names.map((name) => [name, { chatbot: name, source: 'north.xml' }])))
    world.deliver(homes(1, 2))
    const app = openApp(world.context)
    try {
      const looks = vi.spyOn(app.store().snapshot, 'count')
      for (const feed of app.config.feeds) (await app.sync(feed, 'sync')).close()
      expect(names.map((feed) => metric('listings', { feed }))).toEqual([2, 2, 2, 2])
      const before = looks.mock.calls.length
      const [feed] = app.config.feeds
      world.deliver(homes(1, 2, 3))
      ;(await app.sync(feed, 'sync')).close()
      expect(looks.mock.calls.slice(before)).toEqual([['a', 'a']])
      world.clock.advance(5000)
      ;(await app.sync(feed, 'sync')).close()
      expect(looks.mock.calls.slice(before + 1).map(([chatbot]) => chatbot)).toEqual(names)
      expect(names.map((feed) => metric('listings', { feed }))).toEqual([3, 2, 2, 2])
    } finally {
      await app.close()
    }
  })

  test('is written by no dry run, and only where it is asked for', async () => {
    configure({ north: {} })
    world.deliver(homes(1))
    await world.run('diff')
    expect(readdirSync(world.folder)).not.toContain('metrics.prom')
    world.configure({ north: {} })
    await world.run()
    expect(readdirSync(world.folder).filter((name) => name.includes('prom'))).toEqual([])
  })
})

test('whatever a feed and its chatbot are called, the parser gets the same names back', () => {
  const none: Omit<FeedMetrics, 'feed' | 'chatbot'> = {
    lastRun: null,
    lastSuccess: null,
    lastAccepted: null,
    written: null,
    listings: 0,
    held: 0,
    heldByRule: {},
    lastVerified: null,
  }
  const name = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\\', '"', '\n', '\\n', 'a"} 1\nb{c="'))
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1 }), name, (feeds, chatbot) => {
      const text = exposition({ isConfigRefused: false, feeds: feeds.map((feed) => ({ ...none, feed, chatbot })) })
      const info = parsed(text).filter((sample) => sample.name === 'listing_sync_feed_info')
      expect(info.map(({ labels }) => labels)).toEqual(feeds.map((feed) => ({ feed, chatbot })))
    }),
  )
  expect(parsed(exposition({ isConfigRefused: true, feeds: [] }))).toMatchObject([
    { name: 'listing_sync_config_refused', value: 1 },
  ])
})
