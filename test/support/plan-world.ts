/** Builds the three sides of a plan from a few words, so that a test says only what its situation is about. */
import { expect } from 'vitest'
import { contentHash } from '../../src/core/hash.ts'
import { compareKeys } from '../../src/core/listing.ts'
import type { FieldName, Listing, Moving, MovingListing, Shown } from '../../src/core/listing.ts'
import type { Ask, Bookkeeping, Change, Steps } from '../../src/plan/change.ts'
import { noTally } from '../../src/plan/guard/hold.ts'
import type { HoldRecord } from '../../src/plan/guard/hold.ts'
import { homeHashOf } from '../../src/core/home-hash.ts'
import type { Seen } from '../../src/plan/guard/rules.ts'
import { Scales } from '../../src/plan/guard/scales.ts'
import type { Policy } from '../../src/plan/guard/scales.ts'
import type {
  PlanInputs,
  PlanSettings,
  DeliveredRow,
  History,
  RowInBrief,
  ShownRow,
  SnapshotRow,
} from '../../src/plan/inputs.ts'
import { noFacts, planChanges } from '../../src/plan/plan.ts'
import type { PlanFacts } from '../../src/plan/plan.ts'
import { inPages } from './pages.ts'

export const volatile: ReadonlySet<FieldName> = new Set<FieldName>(['DaysOnMarket'])
export const limits: PlanSettings['limits'] = {
  share: 20,
  growth: 75,
  confirm: 72 * 3_600_000,
  grace: { runs: 1, hours: 0 },
  read: { stall: 10_000, total: 4 * 3_600_000 },
  isOff: false,
}
export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour
export const now = Date.parse('2026-11-21T12:00:00Z')

/** By what a whole delivery lets held changes go. */
export const policy: Policy = {
  now,
  confirm: 72 * hour,
  isWhole: true,
  endsNone: false,
  healed: new Set(),
  isListedAgain: true,
  saysItself: () => true,
  contentOf: (_, part) => part,
}

/** What the rules see on a day on which nothing happens. */
export const quiet: Seen = {
  ...new Scales(policy, noTally()).figures,
  ours: 100,
  isRare: false,
  isFirstLoad: false,
  isMirror: false,
  isEmpty: false,
  saysItself: () => true,
  older: null,
  wasOlder: false,
  wasUnrecognisable: false,
  strange: 0,
  otherKeys: false,
}

export function listing(mlsNumber: string, changes: Partial<Listing> = {}): Listing {
  return {
    MLSNumber: mlsNumber,
    SaleType: 'for_sale',
    Status: 'Active',
    CurrencySymbol: '$',
    PropertyType: 'Single Family',
    Bedrooms: 3,
    Bathrooms: 2.5,
    Url: `https://homes.example/${mlsNumber}`,
    YearBuilt: 1990,
    DaysOnMarket: 10,
    LotArea: 8000,
    BuildingArea: 1800,
    AreaUnit: 'Square Feet',
    ParkingSpots: 2,
    SalePrice: 350_000,
    City: 'Springfield',
    ...changes,
  }
}

export interface Planned {
  changes: Change[]
  unchanged: number
  notes: Bookkeeping[]
  asks: Ask[]
  facts: PlanFacts
  /** Ids of the rows of which what was sent was fetched. */
  recalled: number[]
  /** How often something was fetched. */
  fetches: number
}

/** The store's side of a plan of feed north, of rows sorted by key. */
export function snapshotOf(rows: readonly SnapshotRow[], pageSize?: number): Pick<PlanInputs, 'snapshot' | 'rows'> {
  const byKey = new Map(rows.map((row) => [row.key, row]))
  return {
    snapshot: inPages(rows.map(inBrief), pageSize),
    rows: async (keys) => new Map(keys.map((key) => [key, byKey.get(key)!])),
  }
}

/** A row as a store gives it in brief to feed north. */
export function inBrief({ id, key, feed, owned, sentAt, ...row }: SnapshotRow): RowInBrief {
  const isKnown = feed === 'north' && owned && row.content !== null && row.baseline !== null
  const isSettled = isKnown && row.movesAt === null && row.flight === null && !row.ignored && row.undone === 0
  return { id, key, settledSince: isSettled ? sentAt : null }
}

/** A plan's world; every method adds one row. */
export class PlanWorld {
  settings: PlanSettings = {
    feed: 'north',
    now,
    today: '2026-11-21',
    timezone: 'UTC',
    delivery: { complete: true, reasons: [] },
    agrees: null,
    keyless: [],
    remote: { complete: true, reasons: [] },
    lookUps: null,
    remoteStartedAt: now,
    mode: 'full',
    deletes: true,
    mapping: 'mapping-1',
    forms: new Set(),
    ownership: 'tag',
    outranks: () => false,
    configured: new Set(['north', 'south']),
    drift: 'overwrite',
    limits,
    volatile: { fields: volatile, refresh: 7 * day },
    settle: 15 * minute,
    lostUntil: null,
  }
  /** Rows of the store in a page. */
  pageSize = 1000
  /** What is fetched does not come. */
  withholds = false
  #delivered: DeliveredRow[] = []
  #snapshot: SnapshotRow[] = []
  #shown: ShownRow[] = []
  #histories = new Map<string, History>()
  #seen = new Set<number>()
  #recalled = new Map<number, MovingListing>()

  delivers(listing: Listing, moving: Moving = {}): this {
    return this.#deliver({
      kind: 'listing',
      key: listing.MLSNumber,
      why: null,
      content: contentHash(listing, volatile),
      home: homeHashOf(listing),
      listing: () => ({ listing: listing, moving }),
    })
  }

  /** The record's bytes are those of the snapshot row. */
  deliversUnchanged(key: string): this {
    this.#seen.add(this.row(key).id)
    return this
  }

  says(kind: 'removal' | 'filtered' | 'reject', key: string, why: string = kind): this {
    return this.#deliver({
      kind,
      key,
      why,
      content: null,
      home: null,
      listing: () => {
        throw new Error('no listing')
      },
    })
  }

  /** Absent from earlier deliveries, as noted. */
  wasAbsent(key: string, runs: number, since: number): this {
    return this.#history(key, { absence: { runs, since } })
  }

  /** This feed took the listing off. */
  left(key: string, leftAt: number): this {
    return this.#history(key, { leftAt })
  }

  /** Earlier runs held it, or a person decided about it. */
  held(key: string, ...holds: HoldRecord[]): this {
    return this.#history(key, { holds, heldSince: Math.min(...holds.map(({ since }) => since)) })
  }

  /** It was changed within 24 hours. */
  counted(key: string, ...counted: History['counted']): this {
    return this.#history(key, { counted })
  }

  #history(key: string, changes: Partial<History>): this {
    const none: History = { key, absence: null, leftAt: null, counted: [], heldSince: null, holds: [] }
    this.#histories.set(key, { ...none, ...this.#histories.get(key), ...changes })
    return this
  }

  #deliver(row: Pick<DeliveredRow, 'kind' | 'key' | 'why' | 'content' | 'home' | 'listing'>): this {
    const position = this.#delivered.length + 1
    this.#delivered.push({
      ...row,
      position,
      at: `record ${position}`,
      raw: `raw-${position}`,
    })
    return this
  }

  /** A confirmed listing of ours that was seen as sent, unless `changes` says otherwise. */
  remembers(sent: Listing, changes: Partial<SnapshotRow> = {}, moving: Moving = {}): this {
    const id = this.#snapshot.length + 1
    const row: SnapshotRow = {
      id,
      key: sent.MLSNumber,
      feed: 'north',
      owned: true,
      content: contentHash(sent, volatile),
      raw: `raw-of-${sent.MLSNumber}`,
      parts: 1,
      mapping: 'mapping-1',
      home: homeHashOf(sent),
      bornAt: null,
      identifier: null,
      missedAt: null,
      sentAt: now - minute,
      baseline: `hash-${sent.MLSNumber}`,
      movesAt: null,
      suspectUntil: null,
      undone: 0,
      putRightAt: null,
      ignored: false,
      flight: null,
      flightAt: null,
      refusedContent: null,
      refusedMapping: null,
      refusedAt: null,
      refusedMessage: null,
      ...changes,
    }
    this.#snapshot.push(row)
    this.#recalled.set(id, { listing: sent, moving })
    return this
  }

  /** The service shows this listing; `kept` false: it is as its baseline, so its fields were not kept. */
  shows(listing: Listing, changes: Partial<ShownRow & Pick<Shown, 'unreadable'>> & { kept?: boolean } = {}): this {
    const { kept = true, unreadable = [], ...row } = changes
    const { AreaUnit: _, ...fields } = listing
    const hash = row.hash ?? `hash-${listing.MLSNumber}`
    const owner = row.owner === undefined ? 'north' : row.owner
    const shown: Shown = { mlsNumber: listing.MLSNumber, id: this.#shown.length + 1, fields, unreadable, owner, hash }
    this.#shown.push({ key: listing.MLSNumber, hash, owner, shown: () => (kept ? shown : null) })
    return this
  }

  row(key: string): SnapshotRow {
    const row = this.#snapshot.find((row) => row.key === key)
    if (row === undefined) throw new Error(`the world remembers no ${key}`)
    return row
  }

  /** What a run that reads no list has to look up, with what it may expect; null: it has to read the list. */
  async asks(settings: Partial<PlanSettings> = {}): Promise<Record<string, string | null> | null> {
    const lookUps = { keys: new Set<string>(), listedAt: now - minute }
    const { asks } = await this.plan({ ...settings, lookUps })
    if (asks.some(({ isUnclear }) => isUnclear)) return null
    return Object.fromEntries(asks.map(({ key, expected }) => [key, expected && `${expected.owner} ${expected.hash}`]))
  }

  /** What is as its baseline is planned in both ways in which a walk over the list may note it, and must come to the same. */
  async plan(settings: Partial<PlanSettings> = {}): Promise<Planned> {
    const planned = await this.#planned(settings, new Map())
    const noted = new Map<ShownRow, number>()
    for (const { id, key, feed, owned, baseline } of this.#snapshot) {
      const item = this.#shown.find((row) => row.key === key)
      const isNoted = item !== undefined && !item.isFormer && item.hash === baseline && item.owner === feed
      if (isNoted && owned && feed === this.settings.feed && item.shown() === null) noted.set(item, id)
    }
    if (noted.size > 0) expect(await this.#planned(settings, noted)).toEqual(planned)
    return planned
  }

  /** `noted`: items that are noted by their snapshot row. */
  async #planned(settings: Partial<PlanSettings>, noted: ReadonlyMap<ShownRow, number>): Promise<Planned> {
    const recalled: number[] = []
    let fetches = 0
    const ids = new Set(noted.values())
    const byKey = (a: { key: string }, b: { key: string }): number => compareKeys(a.key, b.key)
    const { withholds } = this
    const memory = this.#recalled
    const inputs: PlanInputs = {
      delivered: this.#delivered.toSorted(byKey),
      ...snapshotOf(this.#snapshot.toSorted(byKey), this.pageSize),
      shown: this.#shown.filter((item) => !noted.has(item)).toSorted(byKey),
      history: inPages([...this.#histories.values()].toSorted(byKey), this.pageSize),
      seen: (id) => this.#seen.has(id),
      shownAsBefore: (id) => ids.has(id),
      async recall(ids) {
        fetches++
        recalled.push(...ids)
        return new Map(withholds ? [] : ids.map((id) => [id, memory.get(id)!]))
      },
    }
    const walked: Steps[] = []
    const facts = noFacts()
    for await (const steps of planChanges(inputs, { ...this.settings, ...settings }, facts)) walked.push(steps)
    return {
      changes: walked.flatMap(({ changes }) => changes.map(({ change }) => change)),
      unchanged: walked.reduce((sum, { unchanged }) => sum + unchanged, 0),
      notes: walked.flatMap(({ notes }) => notes),
      asks: walked.flatMap(({ asks }) => asks),
      facts,
      recalled,
      fetches,
    }
  }
}
