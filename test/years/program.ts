/** The program of an office: real run, plan, guard, apply and store, on a store and a workspace in memory. */
import { transportSettings } from '../../src/feed/transport/settings.ts'
import type { Delivered } from '../../src/core/listing.ts'
import type { Mapping } from '../../src/feed/mapping/mapping.ts'
import type { Opened } from '../../src/feed/transport/transport.ts'
import type { Decision } from '../../src/plan/guard/hold.ts'
import type { Report } from '../../src/report/report.ts'
import type { Feed } from '../../src/run/tools.ts'
import type { Held } from '../../src/store/store.ts'
import { sync } from '../../src/sync.ts'
import { SqliteDisk } from '../simulation/disk.ts'
import { lineFormat } from '../simulation/feed.ts'
import { Scratch } from '../simulation/scratch.ts'
import { hour, minute } from '../simulation/time.ts'
import { chatbot, feedName } from '../simulation/world.ts'
import { MemoryChatbot, volatile } from './chatbot.ts'
import type { Content } from './incidents.ts'
import type { Entry } from './office.ts'

/** `confirm` in milliseconds. */
export type Limits = Feed['plan']['limits']
export const defaultLimits: Limits = {
  share: 20,
  growth: 75,
  confirm: 72 * hour,
  grace: { runs: 1, hours: 0 },
  read: { stall: 10_000, total: 4 * 3_600_000 },
  isOff: false,
}

export interface Ran {
  readonly report: Report
  /** What the guard holds after it. */
  readonly held: readonly Held[]
}

const log = { debug() {}, info() {}, warn() {}, error() {} }
const transport = transportSettings.parse({ endsWithLineBreak: false })

interface Line {
  withdrawn?: true
  written?: true
  entry: Entry
}

const mapping: Mapping = {
  version: 'v1',
  delivery: 'full',
  format: 'xml',
  formatOptions: {},
  placeOf: (record) => (record as unknown as Line).entry.listing,
  normalise(record, at): Delivered[] {
    const { withdrawn, written, entry } = record as unknown as Line
    const { listing, listedOn } = entry
    if (withdrawn) return [{ kind: 'removal', at, mlsNumber: listing.MLSNumber, why: 'withdrawn' }]
    return [{ kind: 'listing', at, listing, moving: written ? {} : { listedOn } }]
  },
}

const lines = new WeakMap<Entry, string>()

function lineOf(entry: Entry, withdrawn: boolean): string {
  if (withdrawn) return JSON.stringify({ withdrawn, entry } satisfies Partial<Line>)
  let line = lines.get(entry)
  if (line === undefined) {
    // DaysOnMarket as the record says it, where it does.
    line = JSON.stringify(entry.listing.DaysOnMarket > 0 ? { written: true, entry } : { entry })
    lines.set(entry, line)
  }
  return line
}

/** `broken`: lines that are no record, whose MLSNumber can't be read. */
export function bytesOf({ entries, withdrawn, cut }: Content, broken: readonly string[] = []): Buffer {
  const all = entries.map((entry) => lineOf(entry, withdrawn?.has(entry.listing.MLSNumber) ?? false))
  const document = ['BEGIN', ...all, ...broken, 'END', ''].join('\n')
  return Buffer.from(cut === undefined ? document : document.slice(0, Math.floor(document.length * cut)))
}

export class OfficeProgram {
  readonly service: MemoryChatbot
  readonly limits: Limits
  #now = 0
  readonly #disk: SqliteDisk
  readonly #scratch: Scratch

  /** `from`: another one, which stays as it is. `close` must follow; `scratch` is the caller's. */
  constructor(scratch: Scratch, limits = defaultLimits, from: OfficeProgram | null = null) {
    this.#scratch = scratch
    this.limits = limits
    this.#disk = from === null ? new SqliteDisk() : new SqliteDisk(from.#disk.bytes())
    this.service = new MemoryChatbot(feedName, () => this.#now, from?.service)
  }

  close(): Promise<void> {
    return this.#disk.store.close()
  }

  /** A run at this time. Throws what the run throws: a defect. */
  async run(bytes: Buffer, now: number): Promise<Ran> {
    this.#now = now
    const { store } = this.#disk
    const report = await sync(this.#feed(bytes), {
      store,
      service: this.service,
      workspace: this.#scratch.workspace(),
      runtime: { clock: { now: () => this.#now, sleep: () => Promise.resolve() }, random: () => 0.5, log },
      signal: new AbortController().signal,
      progress: () => {},
      abandon: () => {},
    })
    if (report.error !== null) throw new Error(report.error)
    const held = report.result === 'held' || report.holds.length > 0 ? await store.holds.held(feedName, now) : []
    return { report, held: held.filter(({ rules }) => rules.length > 0) }
  }

  /** What somebody decides about all that is held. */
  async decide(decision: Decision): Promise<void> {
    await this.#disk.store.holds.decide(feedName, decision, 'somebody', this.#now, null)
  }

  #feed(bytes: Buffer): Feed {
    const opened: Opened = {
      name: 'the office',
      bytes: (async function* () {
        if (bytes.length > 0) yield bytes
      })(),
      charset: null,
      contentEncoding: null,
      validators: {},
      end: () => ({ proven: true, reasons: [] }),
    }
    return {
      name: feedName,
      chatbot,
      locale: 'en-US',
      timezone: 'UTC',
      mapping,
      source: 'memory',
      basis: '',
      open: () => Promise.resolve(opened),
      decompress: (delivery) => ({ bytes: delivery.bytes, end: () => delivery.end() }),
      format: lineFormat,
      transport,
      plan: {
        limits: this.limits,
        ownership: 'tag',
        drift: 'overwrite',
        volatile: { fields: volatile, refresh: 7 * 24 * hour },
        settle: 15 * minute,
      },
      outranks: new Set(),
      configured: new Set(),
      deltas: new Set(),
      deadline: 2 * hour,
      rate: 5,
      concurrency: 3,
      observe: 0,
      deleteBatch: 100,
      listIdsAreNative: false,
      keys: 1,
    }
  }
}
