/**
 * The decision table of docs/design.md. Pure: values in, steps out.
 *
 *   feed        snapshot     service        → step
 *   nothing     any          any            → absent.ts: delete, forget, hold or nothing
 *   gone        any          any            → absent.ts: delete, forget or nothing
 *   reject      any          any            → nothing: it stays as it is
 *   differing   any          any            → hold: the feed must say which is right
 *   listing     other feed   any            → present.ts: hold, the other feed has it
 *   listing     any          twice          → present.ts: hold, duplicate on the service
 *   listing     in flight    any            → present.ts: settled by what is shown
 *   listing     ours         shown          → present.ts: nothing, or update: changed, drifted, refresh
 *   listing     ours         –              → present.ts: create, gone from the service
 *   listing     –            shown          → present.ts: adopt or update
 *   listing     –            –              → present.ts: create
 */
import { contentHash } from '../core/hash.ts'
import { listingAt } from '../core/listing.ts'
import type { FieldName, Listing } from '../core/listing.ts'
import { absent, gone } from './absent.ts'
import { hold, note, stepOf } from './change.ts'
import type { PlanStep } from './change.ts'
import type { PlanSettings } from './inputs.ts'
import { present, refreshDue } from './present.ts'
import { isOurs } from './situation.ts'
import type { Situation, Case, WantedListing } from './situation.ts'

export interface Decision {
  steps: PlanStep[]
  /** Listings delivered once more, equal. */
  duplicates: number
  ours: boolean
}

/**
 * Whether the decision may need what was sent under this MLSNumber and how it was shown. It must be fetched beforehand, so
 * this is cheap, and true unless it is plain that nothing changed.
 */
export function mayRecall({ key, delivered, row, seen, shown }: Situation, settings: PlanSettings): boolean {
  if (row === null || !row.owned) return false
  if (!seen && delivered.length === 0) return false
  // Without a row there is nothing to recall, except for a record that was not parsed.
  if (row.content === null) return seen
  const { feed, now, volatile } = settings
  if (row.feed !== feed) return settings.outranks(row.feed)
  if (row.flight !== null) return true
  if (delivered.some(({ content }) => content !== row.content)) return true
  if (row.ignored || (row.movesAt !== null && row.movesAt <= now)) return true
  // Not shown, it is created or left alone; shown twice, it is held.
  if (shown.length !== 1) return false
  const [{ hash, owner }] = shown
  if (owner !== null && owner !== feed && settings.outranks(owner)) return true
  return hash !== row.baseline || refreshDue(key, row.sentAt, now, volatile.refresh)
}

export function decide(situation: Situation, settings: PlanSettings, recall: Case['recall']): Decision {
  const { key, delivered, row, seen, history } = situation
  const mine = row !== null && row.feed === settings.feed ? row : null
  const ours = isOurs(situation, mine, settings)
  const one: Case = { ...situation, mine, ours, settings, recall }
  const back = history.absence !== null && (seen || delivered.length > 0) ? [note({ op: 'returned', key })] : []
  const decision = (steps: PlanStep[], duplicates = 0): Decision => ({ steps: [...steps, ...back], duplicates, ours })

  if (delivered.length === 0 && !seen) return decision(absent(one))

  const wanted = wantedListings(one)
  const duplicates = delivered.filter((record) => record.kind === 'listing').length + (seen ? 1 : 0) - wanted.length
  const reject = delivered.find((record) => record.kind === 'reject')
  const leaving = delivered.find((record) => record.kind === 'removal' || record.kind === 'filtered')
  const holdEach = (why: string): Decision =>
    decision(
      wanted.map(() => stepOf(hold({ mlsNumber: key }, why, 'change', 'twice-delivered'))),
      duplicates,
    )

  if (reject !== undefined)
    return holdEach(`another record of this MLSNumber (${reject.at}) can't be read: correct the feed`)
  if (wanted.length > 1 || (wanted.length === 1 && leaving !== undefined)) {
    const places = delivered.map((record) => record.at)
    if (seen) places.push('a record unchanged since the last run')
    return holdEach(`several records have this MLSNumber and differ (${places.join('; ')}): correct the feed`)
  }
  if (leaving !== undefined) return decision(gone(one, leaving))
  return decision(present(one, wanted[0]), duplicates)
}

/** The listings delivered for this MLSNumber, equal ones once. */
function wantedListings({ delivered, row, seen, settings, recall }: Case): WantedListing[] {
  const { now, today, volatile, mapping } = settings
  const wanted: WantedListing[] = []
  if (seen && row !== null) {
    const listing = (): Listing => listingAt(recall(row.id), now, today)
    const placeholders = (): readonly FieldName[] => recall(row.id).moving.placeholders ?? []
    const moved = row.content === null || (row.movesAt !== null && row.movesAt <= now)
    const content = moved ? contentHash(listing(), volatile.fields) : row.content!
    wanted.push({ content, at: { snapshot: row.id }, home: row.home, byMapping: false, listing, placeholders })
  }
  for (const record of delivered) {
    if (record.kind !== 'listing' || wanted.some(({ content }) => content === record.content)) continue
    wanted.push({
      content: record.content!,
      at: { delivered: record.position },
      home: record.home,
      byMapping: row !== null && row.raw !== null && row.raw === record.raw && row.mapping !== mapping,
      listing: () => listingAt(record.listing(), now, today),
      placeholders: () => record.listing().moving.placeholders ?? [],
    })
  }
  return wanted
}
