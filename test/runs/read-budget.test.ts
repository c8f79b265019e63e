/** How long reading a delivery may take (`limits.read`), and what goes on meanwhile. */
import { noDelivery } from '../../src/store/deliveries.ts'
import { systemClock } from '../../src/core/machine.ts'
import { readFileSync } from 'node:fs'
import { PassThrough, Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RecordError } from '../../src/feed/format/format.ts'
import type { RawRecord, Reader } from '../../src/feed/format/format.ts'
import { formats } from '../../src/feed/format/formats.ts'
import { createMapping } from '../../src/feed/mapping/create-mapping.ts'
import { loadPreset } from '../../src/feed/mapping/load-preset.ts'
import { decompressed } from '../../src/feed/transport/decompress.ts'
import { transportSettings } from '../../src/feed/transport/settings.ts'
import { standardInput } from '../../src/feed/transport/stdin.ts'
import type { Besides } from '../../src/feed/transport/transport.ts'
import { planSettings } from '../../src/plan/settings.ts'
import { dryMirror } from '../../src/run/mirror.ts'
import { receive } from '../../src/run/receive.ts'
import type { Mode } from '../../src/run/tools.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { openWorkspace } from '../../src/workspace/sqlite.ts'
import { resoRow, resoTable } from '../support/delivery.ts'
import { withPatience } from '../support/patience.ts'

const now = Date.parse('2026-11-21T12:00:00Z')
const preset = loadPreset(
  readFileSync(new URL('../../config/presets/reso-csv.yaml', import.meta.url), 'utf8'),
  'reso-csv',
)
const mapping = createMapping(preset, {})

let opened: ReturnType<typeof open>
function open() {
  return { store: openStore(':memory:'), workspace: openWorkspace(), stop: new AbortController() }
}
async function end(): Promise<void> {
  opened.workspace.close()
  await opened.store.close()
}
async function anew(): Promise<void> {
  await end()
  opened = open()
}
beforeEach(() => {
  opened = open()
})
afterEach(end)

/** CSV whose records do something before they are parsed: what a parser may come to, if it is not as it should be. */
function slowCsv(before: (record: RawRecord) => void): Reader {
  return {
    hasEndMark: false,
    read(bytes, options) {
      const reading = formats['csv'].read(bytes, options)
      return {
        ...reading,
        parse(record) {
          before(record)
          return reading.parse(record)
        },
      }
    },
  }
}

async function received(
  stream: Readable,
  read: object,
  format: Reader,
  besides?: (signal: AbortSignal) => Besides,
  mode?: Mode,
) {
  const { store, workspace, stop } = opened
  const plan = planSettings.parse({ limits: { read } })
  const transport = transportSettings.parse({})
  const feed = {
    name: 'north',
    chatbot: 'SN-1',
    source: '-',
    open: async (_: unknown, signal: AbortSignal, scratch: string) => {
      const opened = await standardInput(() => stream)('-', {
        directory: '.',
        ...transport,
        clock: { now: () => now, sleep: () => Promise.resolve() },
        validators: null,
        scratch,
        signal,
      })
      return opened === 'not-modified' ? opened : { ...opened, besides: besides?.(signal) }
    },
    decompress: (source: Parameters<typeof decompressed>[0]) =>
      decompressed(source, { ...transport, scratch: workspace.folder }),
    format,
    transport,
    mapping,
    plan,
  }
  const moment = { now, today: '2026-11-21', timezone: 'UTC' }
  const { summary } = await receive(
    feed,
    { store, workspace, signal: stop.signal, runtime: { clock: systemClock }, progress: () => undefined },
    {
      moment,
      validators: null,
      last: noDelivery,
    },
    dryMirror(feed, store),
    mode,
  )
  const keys = [...workspace.delivered()].map(({ key }: { key: string }) => key)
  return { summary, keys }
}

const table = (count: number) => resoTable(...Array.from({ length: count }, (_, index) => resoRow(`M-${1000 + index}`)))

/** A file of a delivery that lies beside the newest one. */
function fileOf(name: string, text: string, release?: () => Promise<void>) {
  const open = async () => ({
    name,
    bytes: Readable.from([Buffer.from(text)]),
    charset: null,
    contentEncoding: null,
    validators: {},
    end: () => ({ proven: true, reasons: [] }),
    release,
  })
  return { name, changedAt: now, open }
}

test('once the time is over, no other file of the delivery is opened', async () => {
  const opened: string[] = []
  const besides = (signal: AbortSignal): Besides => ({
    name: '4.csv',
    changedAt: now,
    older: ['1.csv', '2.csv', '3.csv'].map((name) => ({
      name,
      changedAt: now,
      async open() {
        opened.push(name)
        if (!signal.aborted) await new Promise((over) => signal.addEventListener('abort', over))
        throw signal.reason
      },
    })),
  })
  const stream = Readable.from([Buffer.from(table(3))])
  const { summary } = await received(stream, { total: '50ms' }, formats['csv'], besides, 'backfill')
  expect(opened).toEqual(['1.csv'])
  const late = 'reading took longer than 0.05 s (limits.read.total); the rest was not read'
  expect(summary).toMatchObject({ complete: false, reasons: expect.arrayContaining([`1.csv: ${late}`]) })
  expect(stream.destroyed).toBe(true)
})

test('what lies in the scratch folder for a file goes once it is read', async () => {
  const released: string[] = []
  const release = async (name: string) => void released.push(`${name} after ${opened.workspace.isDelivered('M-1001')}`)
  const older = ['a', 'b'].map((name) => fileOf(name, table(2), () => release(name)))
  const besides = () => ({ name: 'c', changedAt: now, older })
  const { summary } = await received(Readable.from([table(3)]), {}, formats['csv'], besides, 'backfill')
  expect(summary).toMatchObject({ listings: 3, complete: true })
  expect(released).toEqual(['a after true', 'b after true'])
})

test('where another file stops the run, the newest one, which is open, is closed', async () => {
  const open = () => Promise.reject(new Error('stopped by the test'))
  const besides = () => ({ name: 'b', changedAt: now, older: [{ name: 'a', changedAt: now, open }] })
  const stream = Readable.from([Buffer.from(table(3))])
  await expect(received(stream, {}, formats['csv'], besides, 'backfill')).rejects.toThrow('stopped by the test')
  expect(stream.destroyed).toBe(true)
})

const spend = (milliseconds: number): void => {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}
const isRecord = (record: RawRecord, number: string): boolean => record.raw.toString().startsWith(number)

describe('a record that would be read for ever', () => {
  test.each<[string, () => void]>([
    ['in a loop', () => spend(Infinity)],
    ['in a regular expression', () => void /^(?:a|a)+$/.test(`${'a'.repeat(60)}b`)],
    [
      'in a loop that catches everything',
      () => {
        for (;;) {
          try {
            spend(Infinity)
          } catch {
            continue
          }
        }
      },
    ],
  ])('%s: what comes before it is kept, the delivery is incomplete and says why', async (_, hang) => {
    const format = slowCsv((record) => {
      if (isRecord(record, 'M-1040')) hang()
    })
    await withPatience(300, async (stall) => {
      await anew()
      const stream = Readable.from([Buffer.from(table(100))])
      const { summary, keys } = await received(stream, { stall: `${stall}ms` }, format)
      expect(keys).toEqual(Array.from({ length: 40 }, (_, index) => `M-${1000 + index}`))
      expect(summary).toMatchObject({ complete: false, records: 40, listings: 40 })
      const limit = `${stall / 1000} s to read (limits.read.stall)`
      expect(summary.reasons).toEqual([`row 42 took longer than ${limit}; it and the rest were not read`])
    })
  })

  test('ends its file, and the files after it are read', async () => {
    const format = slowCsv((record) => {
      if (isRecord(record, 'a-2')) spend(Infinity)
    })
    const older = ['a', 'b'].map((name) => fileOf(name, resoTable(resoRow(`${name}-1`), resoRow(`${name}-2`))))
    const besides = () => ({ name: 'c', changedAt: now, older })
    await withPatience(300, async (stall) => {
      await anew()
      const stream = Readable.from([Buffer.from(table(3))])
      const { summary, keys } = await received(stream, { stall: `${stall}ms` }, format, besides, 'backfill')
      expect(keys.toSorted()).toEqual(['M-1000', 'M-1001', 'M-1002', 'a-1', 'b-1', 'b-2'])
      expect(summary.reasons).toEqual([expect.stringMatching(/^a: row 3 took longer than .* \(limits\.read\.stall\)/)])
    })
  })

  test('is not what a record is while the machine works for others', async () => {
    let waits = 0
    // Waits without working, as a process does that gets no processor.
    const wait = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)
    const format = slowCsv((record) => {
      if (isRecord(record, 'M-1040') && ++waits <= 3) wait()
    })
    const { summary, keys } = await received(Readable.from([Buffer.from(table(100))]), { stall: '300ms' }, format)
    expect(waits).toBeGreaterThan(3)
    expect(keys).toHaveLength(100)
    expect(summary).toMatchObject({ complete: true, records: 100, listings: 100 })
  })

  test('is not what an ordinary record is that fails', async () => {
    const format = slowCsv((record) => {
      if (isRecord(record, 'M-1001')) throw new RecordError('broken')
    })
    const { summary } = await received(Readable.from([Buffer.from(table(3))]), { stall: '1m' }, format)
    expect(summary).toMatchObject({ complete: true, records: 3, listings: 2, rejects: 1 })
  })
})

describe('a delivery that takes too long in all', () => {
  test('is cut off between records', async () => {
    const stream = Readable.from([Buffer.from(table(2000))])
    const { summary, keys } = await received(
      stream,
      { total: '500ms' },
      slowCsv(() => spend(5)),
    )
    expect(keys.length).toBeGreaterThan(0)
    expect(keys.length).toBeLessThan(2000)
    expect(summary.complete).toBe(false)
    expect(summary.reasons).toContain('reading took longer than 0.5 s (limits.read.total); the rest was not read')
  })

  test('is cut off while it waits for bytes that do not come', async () => {
    const stream = new PassThrough()
    stream.write(table(3))
    const { summary, keys } = await received(stream, { total: '300ms' }, formats['csv'])
    // A block that never became full is not read either.
    expect(keys).toEqual([])
    expect(summary.complete).toBe(false)
    expect(summary.reasons).toContain('reading took longer than 0.3 s (limits.read.total); the rest was not read')
  })
})

describe('while a long delivery is read', () => {
  test('timers and other feeds have their turns', async () => {
    let turns = 0
    const timer = setInterval(() => void turns++, 1)
    try {
      await received(
        Readable.from([Buffer.from(table(400))]),
        {},
        slowCsv(() => spend(2)),
      )
    } finally {
      clearInterval(timer)
    }
    // 200 records of 2 ms: a step is longer than a turn.
    expect(turns).toBeGreaterThanOrEqual(3)
  })

  test('a signal is heard', async () => {
    const reading = received(
      Readable.from([Buffer.from(table(5000))]),
      {},
      slowCsv(() => spend(5)),
    )
    const stopped = expect(reading).rejects.toThrow('enough')
    await delay(200)
    const before = performance.now()
    opened.stop.abort(new Error('enough'))
    await stopped
    // 5000 records of 5 ms would take 25 seconds.
    expect(performance.now() - before).toBeLessThan(15_000)
  })
})

test('limits: off switches the guard off only, and guard: off goes with a time for reading', () => {
  const usual = { stall: 5000, total: 4 * 3_600_000 }
  expect(planSettings.parse({}).limits).toMatchObject({ isOff: false, read: usual })
  expect(planSettings.parse({ limits: 'off' }).limits).toMatchObject({ isOff: true, read: usual })
  const own = planSettings.parse({ limits: { guard: 'off', read: { stall: '1m' } } })
  expect(own.limits).toMatchObject({ isOff: true, read: { ...usual, stall: 60_000 } })
})
