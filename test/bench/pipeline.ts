/** The product's own pipeline for the benches: real file, real format, real mapping, real store; only the service is left out. */
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import type { FieldName } from '../../src/core/listing.ts'
import { blm } from '../../src/feed/format/blm.ts'
import { csv } from '../../src/feed/format/csv.ts'
import type { Format, Reading } from '../../src/feed/format/format.ts'
import { retsCompact } from '../../src/feed/format/rets.ts'
import { xml } from '../../src/feed/format/xml.ts'
import { createMapping } from '../../src/feed/mapping/create-mapping.ts'
import { loadPreset } from '../../src/feed/mapping/load-preset.ts'
import type { Mapping, Moment } from '../../src/feed/mapping/mapping.ts'
import { mappingOptionsSchema } from '../../src/feed/mapping/schema.ts'
import { decompressed } from '../../src/feed/transport/decompress.ts'
import { file as fileTransport } from '../../src/feed/transport/file.ts'
import type { Opened } from '../../src/feed/transport/transport.ts'
import type { ShownRow } from '../../src/plan/inputs.ts'
import { planChanges } from '../../src/plan/plan.ts'
import { receive } from '../../src/run/receive.ts'
import type { Received } from '../../src/run/receive.ts'
import { openStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { openWorkspace } from '../../src/workspace/sqlite.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'

export interface Pipeline {
  mapping: Mapping
  format: Format
  store: Store
  moment: Moment
  /** What the service shows, which is not what is measured here. */
  shown: ShownRow[]
}

const volatile: ReadonlySet<FieldName> = new Set<FieldName>(['DaysOnMarket'])
const now = Date.parse('2026-11-21T12:00:00Z')
const preset = (name: string): string =>
  readFileSync(new URL(`../../config/presets/${name}.yaml`, import.meta.url), 'utf8')
const formats: Record<Mapping['format'], Format> = { xml, csv, 'rets-compact': retsCompact, blm }

export const moment: Moment = { now, today: '2026-11-21', timezone: 'UTC' }

/** A preset by its name, with what a feed's configuration adds to it. */
export function openMapping(name: string, options: unknown = {}): Mapping {
  return createMapping(loadPreset(preset(name), name), mappingOptionsSchema.parse(options))
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
  const bytes = blocksOf(path)
  return formats[mapping.format](bytes, {
    ...mapping.formatOptions,
    encoding: null,
    charset: null,
    maxRecordBytes: 4_000_000,
    lengthProven: () => false,
  })
}

async function* blocksOf(path: string): AsyncGenerator<Buffer> {
  yield* (await opened(path)).bytes
}

async function opened(path: string): Promise<Opened> {
  const options = {
    directory: dirname(path),
    maxBytes: 1e12,
    timeout: 3_600_000,
    maxRedirects: 0,
    headers: {},
    validators: null,
    scratch: dirname(path),
    allowPrivateRedirects: false,
    login: {},
    ready: {},
    clock: { now: () => 0, sleep: () => Promise.resolve() },
  }
  return (await fileTransport(path, { ...options, signal: new AbortController().signal })) as Opened
}

async function received(
  { mapping, format, store, moment }: Pipeline,
  path: string,
  workspace: Workspace,
): Promise<Received> {
  return receive({
    opened: await opened(path),
    decompress: (source) => decompressed(source, { maxBytes: 1e12, scratch: tmpdir(), member: null }),
    format,
    formatOptions: { encoding: null, maxRecordBytes: 4_000_000, endsWithLineBreak: true },
    mapping,
    known: () => null,
    store,
    workspace,
    feed: 'bench',
    chatbot: 'SN-1',
    moment,
    volatile,
    signal: new AbortController().signal,
    progress: () => undefined,
  })
}

/** A store that has confirmed every listing of the file, as it is after a backfill and one more run. */
export async function remembered(path: string, format: 'xml' | 'csv', storeFile: string): Promise<Pipeline> {
  const pipeline = openPipeline(format, storeFile)
  const { mapping, store } = pipeline
  const workspace = openWorkspace()
  await received(pipeline, path, workspace)
  let batch: Parameters<Store['confirm']>[1][number][] = []
  const flush = (): void => {
    store.confirm('bench', batch)
    batch = []
  }
  for (const row of workspace.delivered()) {
    if (row.kind !== 'listing') throw new Error(`${row.at}: ${row.why}`)
    const { key, content, raw, parts, filled, movesAt } = row
    const confirmed = {
      key,
      feed: 'bench',
      sent: row.listing(),
      content: content!,
      record: { raw, parts },
      mapping: mapping.version,
      filled,
      movesAt,
    }
    batch.push({ ...confirmed, at: now, suspectUntil: null, reason: null, baseline: { hash: 'as-shown', echo: {} } })
    if (batch.length === 5000) flush()
  }
  flush()
  workspace.close()
  const asBefore = (): null => null
  for (const { key, baseline } of store.snapshot('bench'))
    pipeline.shown.push({ key, hash: baseline!, owner: 'bench', shown: asBefore })
  return pipeline
}

/** From file to plan, against a service that shows everything as it was. */
export async function planned(pipeline: Pipeline, path: string): Promise<{ changes: number; unchanged: number }> {
  const { store, mapping } = pipeline
  const workspace = openWorkspace()
  try {
    const { summary, seen, unreadable } = await received(pipeline, path, workspace)
    const steps = planChanges(
      {
        delivered: workspace.delivered(),
        snapshot: store.snapshot('bench'),
        shown: pipeline.shown,
        absences: [],
        seen: (id) => seen.has(id),
        recall: (id) => store.recall(id),
      },
      {
        feed: 'bench',
        now,
        today: pipeline.moment.today,
        delivery: summary,
        unreadable,
        remote: { complete: true, reasons: [] },
        remoteStartedAt: now,
        mode: 'full',
        deletes: true,
        mapping: mapping.version,
        ownership: 'tag',
        outranks: () => false,
        drift: 'overwrite',
        grace: { runs: 1, time: 0 },
        volatile,
        refresh: 7 * 86_400_000,
        settle: 900_000,
        driftedSince: null,
        lostUntil: null,
      },
    )
    const counts = { changes: 0, unchanged: 0 }
    for (const { step } of steps) {
      if (step === 'change') counts.changes++
      else if (step === 'unchanged') counts.unchanged++
    }
    return counts
  } finally {
    workspace.close()
  }
}
