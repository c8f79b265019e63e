/**
 * One preset's world: a store that remembers the sound feed, a service that shows it, and a dry run over any other bytes
 * in its place: file → decompression → format → mapping → receive → plan → guard, all of it the program's own.
 */
import { strict as assert } from 'node:assert'
import { ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { shortHash } from '../../src/core/hash.ts'
import type { Listing, Shown } from '../../src/core/listing.ts'
import type { Runtime } from '../../src/core/machine.ts'
import type { Report, ReportedChange } from '../../src/report/report.ts'
import type { Feed } from '../../src/run/tools.ts'
import type { BeforeSend, Chatbot, ShownSink } from '../../src/service/service.ts'
import { openStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { diff, sync } from '../../src/sync.ts'
import { Scratch } from '../simulation/scratch.ts'
import { mappingOf } from '../support/preset-fixtures.ts'
import { feedOf, soundFeed } from './feeds.ts'
import type { usualLimits } from './feeds.ts'
import type { Sound } from './mutations.ts'

/** A report with its lists read. */
export interface Read extends Omit<Report, 'changes' | 'rejects'> {
  changes: ReportedChange[]
  rejects: { at: string; mlsNumber: string | null; problems: string[] }[]
}

/** A service that takes everything and shows what it took. */
class ShowingService implements Chatbot {
  readonly #listings = new Map<string, { listing: Listing; id: number }>()
  readonly calls = { create: 0, update: 0, delete: 0, list: 0 }
  readonly mark: string
  readonly stamp = null
  readonly #now: () => number

  constructor(feed: string, now: () => number) {
    this.mark = feed
    this.#now = now
  }

  sign(): void {}

  async observe(sink: ShownSink) {
    sink.reset()
    await sink.add(
      Array.from(this.#listings.keys(), (key) => ({ ...this.#shown(key), whole: () => this.#shown(key) })),
      [],
    )
    return { complete: true, reasons: [], pages: 1, listings: this.#listings.size, startedAt: this.#now() }
  }

  lookUp(mlsNumber: string) {
    return Promise.resolve(this.#listings.has(mlsNumber) ? [this.#shown(mlsNumber)] : [])
  }

  async create(listing: Listing, beforeSend: BeforeSend) {
    await beforeSend()
    const id = this.#listings.size + 1
    this.#listings.set(listing.MLSNumber, { listing, id })
    return { value: String(id), unsettled: false }
  }

  update(): never {
    throw new Error('nothing is to be updated')
  }

  delete(): never {
    throw new Error('nothing is to be deleted')
  }

  deleteByNativeId(): never {
    throw new Error('nothing is to be deleted')
  }

  #shown(key: string): Shown {
    const { listing, id } = this.#listings.get(key)!
    const { AreaUnit: _, ...fields } = listing
    return {
      mlsNumber: key,
      id,
      fields,
      unreadable: [],
      owner: this.mark,
      hash: shortHash(Buffer.from(JSON.stringify(fields))),
    }
  }
}

interface Parts {
  feed: Feed
  store: Store
  service: Chatbot
  runtime: Runtime
}

export class FuzzWorld {
  readonly sound: Sound
  /** Of the sound feed, confirmed on the service. */
  listings = 0
  readonly #feed: Feed
  readonly #store: Store
  readonly #service: Chatbot
  readonly #runtime: Runtime
  readonly #file: number
  readonly #scratch = new Scratch()

  private constructor(sound: Sound, parts: Parts, path: string) {
    this.sound = sound
    this.#feed = parts.feed
    this.#store = parts.store
    this.#service = parts.service
    this.#runtime = parts.runtime
    // Kept open: to open a file anew costs more than the run.
    this.#file = openSync(path, 'r+')
  }

  /** Loads the sound feed of a preset into a service, by real runs. `folder` takes the deliveries. */
  static async open(preset: string, folder: string, limits: typeof usualLimits): Promise<FuzzWorld> {
    let now = Date.UTC(2026, 10, 21, 18)
    const path = join(folder, `${preset}.feed`)
    const mapping = mappingOf(preset)
    const sound = await soundFeed(preset, mapping)
    const feed = feedOf(preset, mapping, path, limits)
    const store = openStore(':memory:')
    const service = new ShowingService(feed.name, () => now)
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const runtime: Runtime = { clock: { now: () => now, sleep: () => Promise.resolve() }, random: () => 0.5, log }
    writeFileSync(path, sound.bytes)
    const world = new FuzzWorld(sound, { feed, store, service, runtime }, path)
    for (const round of ['loads', 'settles', 'is as wanted']) {
      const report = await sync(feed, { ...world.#parts(), abandon: () => {} })
      assert.equal(report.counts.create > 0, round === 'loads', `${preset} ${round}: ${JSON.stringify(report.counts)}`)
      assert.equal(report.delivery.complete, true, `${preset}: ${report.delivery.reasons.join()}`)
      now += 3_600_000
    }
    world.listings = await store.snapshot.count(feed.chatbot, feed.name)
    return world
  }

  /** A dry run over these bytes. Throws what the run throws: a defect. */
  async run(bytes: Buffer): Promise<Read> {
    ftruncateSync(this.#file)
    writeSync(this.#file, bytes, 0, bytes.length, 0)
    const report = await diff(this.#feed, this.#parts())
    return { ...report, changes: [...report.changes()], rejects: [...report.rejects()] }
  }

  #parts() {
    const { signal } = new AbortController()
    const [store, service, runtime] = [this.#store, this.#service, this.#runtime]
    return { store, service, workspace: this.#scratch.workspace(), runtime, signal, progress: () => {} }
  }
}
