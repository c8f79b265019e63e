/**
 * A world of one MLSNumber in a few words: what the feed says of it, what we remember, what the service shows. It becomes
 * the inputs of a real plan, and a small model of service and store carries that plan out perfectly.
 */
import { contentHash } from '../../src/core/hash.ts'
import type { Listing, MovingListing } from '../../src/core/listing.ts'
import type { Bookkeeping, Change } from '../../src/plan/change.ts'
import type {
  PlanInputs,
  PlanSettings,
  CallKind,
  DeliveredRow,
  History,
  ShownRow,
  SnapshotRow,
} from '../../src/plan/inputs.ts'
import { noFacts, planChanges } from '../../src/plan/plan.ts'
import type { PlanFacts } from '../../src/plan/plan.ts'
import { inPages } from '../support/pages.ts'
import { day, hour, limits, listing, minute, now, snapshotOf, volatile } from '../support/plan-world.ts'

const key = 'A'

/** `old` is what we sent last, `new` what a changed feed holds, `edited` what somebody made of it. */
export type Content = 'old' | 'new' | 'edited'
export const listings: Record<Content, Listing> = {
  old: listing(key),
  new: listing(key, { SalePrice: 340_000, City: 'Shelbyville', Description: 'Now cheaper' }),
  edited: listing(key, { Bedrooms: 9, City: 'Ogdenville' }),
}
const hashes = Object.fromEntries(
  Object.entries(listings).map(([content, listing]) => [content, contentHash(listing, volatile)]),
) as Record<Content, string>

export type Tag = 'north' | 'south' | null

export interface Item {
  content: Content
  tag: Tag
  /** The service shows some fields in a form of its own. */
  spelled?: Spelling
}

/** How the service shows what it was sent: to the letter, with a text or a number of its own form. */
export type Spelling = 'text' | 'number' | undefined

/** `SnapshotRow` without what never matters here; times are young (still to settle) or long ago. */
export interface Row {
  feed: 'north' | 'south'
  owned: boolean
  content: Content | null
  baseline: string | null
  flight: CallKind | null
  young: boolean
  /** When a look-up first did not show what is in flight. */
  missed?: 'lately' | 'long ago'
  suspect: boolean
  refused: Content | null
  undone: number
  ignored: boolean
}

export const feedSides = [
  'absent',
  'seen',
  'same',
  'changed',
  'removal',
  'filtered',
  'reject',
  'twice equal',
  'twice differing',
  'listing and removal',
  'listing and reject',
] as const
export type FeedSide = (typeof feedSides)[number]

export interface World {
  feed: FeedSide
  row: Row | null
  items: Item[]
  /** Runs in which its absence was noted before. */
  absentRuns: number
}

export interface Setting {
  deliveryComplete: boolean
  unreadable: 0 | 1
  remoteComplete: boolean
  mode: 'full' | 'delta'
  deletes: boolean
  ownership: 'tag' | 'snapshot' | 'mirror'
  graceRuns: 1 | 2
  drift: 'overwrite' | 'keep' | 'report'
  outranks: boolean
}

export interface Planned {
  changes: Change[]
  unchanged: number
  notes: Bookkeeping[]
  facts: PlanFacts
}

const noHistory: History = { key, absence: null, leftAt: null, counted: [], heldSince: null, holds: [] }

const record = (kind: DeliveredRow['kind'], content: Content | null, position = 1): DeliveredRow => ({
  key,
  position,
  at: `record ${position}`,
  kind,
  why: content === null ? `the feed says ${kind}` : null,
  content: content === null ? null : hashes[content],
  raw: `raw-${content}`,
  home: null,
  listing: () => ({ listing: listings[content!], moving: {} }),
})

const deliveries: Record<FeedSide, DeliveredRow[]> = {
  absent: [],
  seen: [],
  same: [record('listing', 'old')],
  changed: [record('listing', 'new')],
  removal: [record('removal', null)],
  filtered: [record('filtered', null)],
  reject: [record('reject', null)],
  'twice equal': [record('listing', 'new'), record('listing', 'new', 2)],
  'twice differing': [record('listing', 'old'), record('listing', 'new', 2)],
  'listing and removal': [record('listing', 'new'), record('removal', null, 2)],
  'listing and reject': [record('listing', 'old'), record('reject', null, 2)],
}

/** What the feed wants of this MLSNumber; null: it holds no readable listing, or no single one. */
export function wantedContent(feed: FeedSide): Content | null {
  if (feed === 'seen' || feed === 'same') return 'old'
  return feed === 'changed' || feed === 'twice equal' ? 'new' : null
}

export const itemHash = ({ content, tag, spelled }: Item): string => `${content}/${tag}/${spelled ?? ''}`

function shownFields({ content, spelled }: Item): Listing {
  const { AreaUnit: _, ...fields } = listings[content]
  if (spelled === 'text') return { ...fields, City: 'SPRINGFIELD CITY' } as Listing
  return (spelled === 'number' ? { ...fields, LotArea: fields.LotArea + 7 } : fields) as Listing
}

const shownRows = new Map<string, ShownRow>()

/** The item as the workspace has it: where it is as its baseline its fields were not kept. */
function shownRow(item: Item, row: Row | null): ShownRow {
  const hash = itemHash(item)
  const kept = row === null || !row.owned || row.flight !== null || row.baseline !== hash
  const name = `${hash} ${kept}`
  const known = shownRows.get(name)
  if (known !== undefined) return known
  const shown = { mlsNumber: key, id: 1, fields: shownFields(item), unreadable: [], owner: item.tag, hash }
  const made = { key, hash, owner: item.tag, shown: () => (kept ? shown : null) }
  shownRows.set(name, made)
  return made
}

function snapshotRow(row: Row): SnapshotRow {
  const { content, baseline, undone, ignored, flight, refused } = row
  return {
    id: 1,
    key,
    feed: row.feed,
    owned: row.owned,
    content: content === null ? null : hashes[content],
    raw: content === null ? null : `raw-${content}`,
    parts: 1,
    mapping: 'mapping-1',
    home: null,
    bornAt: null,
    identifier: null,
    missedAt: row.missed === undefined ? null : row.missed === 'lately' ? now - minute : now - hour,
    sentAt: now - minute,
    baseline,
    movesAt: null,
    suspectUntil: row.suspect ? now + minute : null,
    undone,
    putRightAt: undone === 0 ? null : now - hour,
    ignored,
    flight,
    flightAt: flight === null ? null : row.young ? now - minute : now - hour,
    refusedContent: refused === null ? null : hashes[refused],
    refusedMapping: refused === null ? null : 'mapping-1',
    refusedAt: refused === null ? null : now - minute,
    refusedMessage: refused === null ? null : 'no such town',
  }
}

export function settingsOf(setting: Setting): PlanSettings {
  const { deliveryComplete, remoteComplete, ownership, outranks, graceRuns } = setting
  return {
    feed: 'north',
    now,
    today: '2026-11-21',
    timezone: 'UTC',
    delivery: { complete: deliveryComplete, reasons: deliveryComplete ? [] : ['it was cut'] },
    agrees: null,
    // One that came when this listing went, whenever that was.
    keyless:
      setting.unreadable === 0
        ? []
        : [now, now - hour].map((since) => ({ identity: `raw-${since}`, home: null, since, notedAt: since })),
    remote: { complete: remoteComplete, reasons: remoteComplete ? [] : ['page 3 failed'] },
    lookUps: null,
    remoteStartedAt: now,
    mode: setting.mode,
    deletes: setting.deletes,
    mapping: 'mapping-1',
    forms: new Set(),
    ownership,
    outranks: () => ownership === 'mirror' || outranks,
    configured: new Set(['south']),
    drift: setting.drift,
    limits: { ...limits, grace: { runs: graceRuns, hours: 0 } },
    volatile: { fields: volatile, refresh: 365 * day },
    settle: 15 * minute,
    lostUntil: null,
  }
}

/** The real plan of a world. */
export async function planOf({ feed, row, items, absentRuns }: World, settings: PlanSettings): Promise<Planned> {
  const inputs: PlanInputs = {
    delivered: deliveries[feed],
    ...snapshotOf(row === null ? [] : [snapshotRow(row)]),
    shown: items.map((item) => shownRow(item, row)),
    history: inPages(absentRuns === 0 ? [] : [{ ...noHistory, absence: { runs: absentRuns, since: now - hour } }]),
    seen: () => feed === 'seen',
    shownAsBefore: () => false,
    // As the store rejects what it has nothing of; and a decision that asks for what was not fetched throws.
    recall: async (ids) => new Map(ids.map((id) => [id, recalledOf(row!)])),
  }
  const planned: Planned = { changes: [], unchanged: 0, notes: [], facts: noFacts() }
  for await (const { changes, notes, unchanged } of planChanges(inputs, settings, planned.facts)) {
    planned.changes.push(...changes.map(({ change }) => change))
    planned.notes.push(...notes)
    planned.unchanged += unchanged
  }
  return planned
}

function recalledOf({ owned, content }: Row): MovingListing {
  if (!owned || content === null) throw new Error('nothing is remembered under this row')
  return { listing: listings[content], moving: {} }
}

/** The world after a run in which every call was carried out and answered, as `store/snapshot.ts` and `apply` would leave it. */
export function carriedOut(world: World, planned: Planned, setting: Setting, spelling: Spelling): World {
  let { row, items, absentRuns } = world
  for (const entry of planned.notes) {
    if (entry.op === 'absent') absentRuns++
    else if (entry.op === 'returned') absentRuns = 0
    else if (entry.op === 'forget-flight') row = null
    else if (entry.op === 'baseline') row = { ...row!, baseline: entry.hash, ignored: false, undone: 0 }
  }
  for (const change of planned.changes) {
    const { kind } = change
    if (kind === 'hold') continue
    if (kind === 'delete') items = []
    if (kind === 'create' && change.cause === 'new' && change.unsettled && items.length === 0) {
      row = { ...row!, missed: 'lately' }
      continue
    }
    if (kind === 'delete' || kind === 'forget') {
      row = null
      continue
    }
    const content = wantedContent(world.feed)!
    if (kind !== 'adopt') {
      const tag = setting.ownership === 'snapshot' ? null : 'north'
      items = [{ content, tag, ...(spelling !== undefined && { spelled: spelling }) }]
    }
    row = {
      feed: 'north',
      owned: true,
      content,
      // The service was looked at right after the write.
      baseline: kind === 'adopt' ? change.shownHash : itemHash(items[0]),
      flight: null,
      young: false,
      suspect: kind !== 'adopt' && change.unsettled,
      refused: null,
      undone: ['drifted', 'unseen', 'gone-from-service'].includes(change.cause) ? (row?.undone ?? 0) + 1 : 0,
      ignored: false,
    }
  }
  return { feed: world.feed, row, items, absentRuns }
}
