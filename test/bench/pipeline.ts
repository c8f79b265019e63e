/** The product's own pipeline for the benches: real file, real format, real mapping, real store; only the service is left out. */
import { presetAt, presetFileOf } from '../../src/config/presets.ts'
import { systemClock } from '../../src/core/machine.ts'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import type { Format, Reading } from '../../src/feed/format/format.ts'
import { formats } from '../../src/feed/format/formats.ts'
import { createMapping } from '../../src/feed/mapping/create-mapping.ts'
import type { Mapping, Moment } from '../../src/feed/mapping/mapping.ts'
import { mappingOptionsSchema } from '../../src/feed/mapping/preset.ts'
import { decompressed } from '../../src/feed/transport/decompress.ts'
import { file as fileTransport } from '../../src/feed/transport/file.ts'
import { transportSettings } from '../../src/feed/transport/settings.ts'
import type { Opened } from '../../src/feed/transport/transport.ts'
import type { ShownRow } from '../../src/plan/inputs.ts'
import { planSettings } from '../../src/plan/settings.ts'
import { planChanges } from '../../src/plan/plan.ts'
import { dryMirror } from '../../src/run/mirror.ts'
import { receive } from '../../src/run/receive.ts'
import type { Delivery } from '../../src/run/receive.ts'
import { openStore } from '../../src/store/sqlite.ts'
import type { Confirmation, Store } from '../../src/store/store.ts'
import { openWorkspace } from '../../src/workspace/sqlite.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'
import { readingOf } from '../support/reading.ts'

export interface Pipeline {
  mapping: Mapping
  format: Format
  store: Store
  moment: Moment
  /** What the service shows, which is not what is measured here. */
  shown: ShownRow[]
}

const now = Date.parse('2026-11-21T12:00:00Z')
export const moment: Moment = { now, today: '2026-11-21', timezone: 'UTC' }

/** A preset by its name, with what a feed's configuration adds to it. */
export function openMapping(name: string, options: unknown = {}): Mapping {
  return createMapping(presetAt(presetFileOf(name, '.')), mappingOptionsSchema.parse(options))
}

export function openPipeline(format: 'xml' | 'csv', storeFile: string): Pipeline {
  return {
    mapping: openMapping(format === 'xml' ? 'zillow' : 'reso-csv'),
    format: formats[format],
    store: openStore(storeFile),
    moment,
    shown: [],
  }
}

/** A reading of the file with the format's splitter. */
export function receiving({ mapping }: Pick<Pipeline, 'mapping'>, path: string): Reading {
  return readingOf(mapping, blocksOf(path), { maxRecordBytes: 4_000_000, lengthProven: () => false })
}

const transport = transportSettings.parse({ maxBytes: '1TB' })

async function* blocksOf(path: string): AsyncGenerator<Buffer> {
  yield* (await opened(path)).bytes
}

async function opened(path: string): Promise<Opened> {
  const options = {
    directory: dirname(path),
    ...transport,
    validators: null,
    scratch: dirname(path),
    clock: { now: () => 0, sleep: () => Promise.resolve() },
  }
  return (await fileTransport(path, { ...options, signal: new AbortController().signal })) as Opened
}

async function received(
  { mapping, format, store, moment }: Pipeline,
  path: string,
  workspace: Workspace,
): Promise<Delivery> {
  const feed = {
    name: 'bench',
    chatbot: 'bench',
    source: path,
    open: () => opened(path),
    decompress: (source: Opened) => decompressed(source, { ...transportSettings.parse({}), scratch: tmpdir() }),
    format,
    transport,
    mapping,
    plan: planSettings.parse({}),
  }
  const tools = {
    store,
    workspace,
    signal: new AbortController().signal,
    runtime: { clock: systemClock },
    progress: () => undefined,
  }
  const last = await store.deliveries.last('bench')
  return receive(feed, tools, { moment, validators: null, last }, dryMirror(feed, store))
}

/** A store that has confirmed every listing of the file, as it is after a backfill and one more run. */
export async function remembered(path: string, format: 'xml' | 'csv', storeFile: string): Promise<Pipeline> {
  const pipeline = openPipeline(format, storeFile)
  const { mapping, store } = pipeline
  const workspace = openWorkspace()
  await received(pipeline, path, workspace)
  let batch: Confirmation[] = []
  const flush = async (): Promise<void> => {
    await store.snapshot.confirm('bench', batch)
    batch = []
  }
  for (const row of workspace.delivered()) {
    if (row.kind !== 'listing') throw new Error(`${row.at}: ${row.why}`)
    const { key, content, raw, parts, home, movesAt } = row
    const confirmed = {
      key,
      feed: 'bench',
      sent: row.listing(),
      content: content!,
      record: { raw, parts },
      mapping: mapping.version,
      home,
      bornAt: null,
      movesAt,
    }
    batch.push({ ...confirmed, at: now, suspectUntil: null, isPutRight: false, baseline: 'as-shown', ignored: false })
    if (batch.length === 5000) await flush()
  }
  await flush()
  workspace.close()
  const asBefore = (): null => null
  for await (const page of store.snapshot.rows('bench'))
    for (const { key, baseline } of page) pipeline.shown.push({ key, hash: baseline!, owner: 'bench', shown: asBefore })
  return pipeline
}

/** From file to plan, against a service that shows everything as it was. */
export async function planned(pipeline: Pipeline, path: string): Promise<{ changes: number; unchanged: number }> {
  const { store, mapping } = pipeline
  const workspace = openWorkspace()
  try {
    const { summary, keyless } = await received(pipeline, path, workspace)
    const chunks = planChanges(
      {
        delivered: workspace.delivered(),
        snapshot: store.snapshot.rows('bench'),
        shown: pipeline.shown,
        history: store.history.rows('bench', 'bench', now),
        seen: (id) => workspace.isSeen(id),
        recall: (ids) => store.snapshot.recall(ids),
      },
      {
        feed: 'bench',
        now,
        today: pipeline.moment.today,
        delivery: summary,
        keyless,
        remote: { complete: true, reasons: [] },
        remoteStartedAt: now,
        mode: 'full',
        agrees: null,
        deletes: true,
        mapping: mapping.version,
        forms: new Set(),
        outranks: () => false,
        ...planSettings.parse({}),
        lostUntil: null,
      },
    )
    const counts = { changes: 0, unchanged: 0 }
    for await (const steps of chunks) {
      for (const { step } of steps) {
        if (step === 'change') counts.changes++
        else if (step === 'unchanged') counts.unchanged++
      }
    }
    return counts
  } finally {
    workspace.close()
  }
}
