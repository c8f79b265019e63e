/**
 * The decision table (DESIGN, "The decision, per MLSNumber"), in its order of precedence. Pure: values in, steps out.
 *
 *   feed        snapshot     service        → step
 *   nothing     any          any            → leaving.ts: delete, forget, hold or nothing
 *   gone        any          any            → leaving.ts: delete, forget or nothing
 *   reject      any          any            → held as it is
 *   differing   any          any            → hold: which is right?
 *   listing     other feed   any            → staying.ts: hold, the other feed has it
 *   listing     any          twice          → staying.ts: hold, duplicate on the service
 *   listing     in flight    any            → staying.ts: settled by what is shown
 *   listing     ours         shown          → staying.ts: nothing, or update: changed, drifted, refresh
 *   listing     ours         –              → staying.ts: create, gone from the service
 *   listing     –            shown          → staying.ts: adopt or update
 *   listing     –            –              → staying.ts: create
 */
import { contentHash } from '../core/hash.ts'
import { listingAt } from '../core/listing.ts'
import type { Listing } from '../core/listing.ts'
import { absent, gone } from './absent.ts'
import { held, note } from './change.ts'
import type { PlanStep } from './change.ts'
import type { PlanInputs, PlanSettings } from './inputs.ts'
import { present } from './present.ts'
import { isOurs } from './situation.ts'
import type { Situation, Case, WantedListing } from './situation.ts'

export interface Decision {
  steps: PlanStep[]
  /** Listings delivered once more, equal. */
  duplicates: number
  ours: boolean
}

export function decide(situation: Situation, settings: PlanSettings, recall: PlanInputs['recall']): Decision {
  const { key, delivered, row, seen, absence } = situation
  const mine = row !== null && row.feed === settings.feed ? row : null
  const ours = isOurs(situation, mine, settings)
  const one: Case = { ...situation, mine, ours, settings, recall }
  const back = absence !== null && (seen || delivered.length > 0) ? [note({ op: 'returned', key })] : []
  const decision = (steps: PlanStep[], duplicates = 0): Decision => ({ steps: [...steps, ...back], duplicates, ours })

  if (delivered.length === 0 && !seen) return decision(absent(one))

  const wanted = wantedListings(one)
  const duplicates = delivered.filter((record) => record.kind === 'listing').length + (seen ? 1 : 0) - wanted.length
  const reject = delivered.find((record) => record.kind === 'reject')
  const leaving = delivered.find((record) => record.kind === 'removal' || record.kind === 'filtered')
  const holdAll = (why: string): Decision =>
    decision(
      wanted.map(({ position }) => held(key, 'twice-delivered', why, { position })),
      duplicates,
    )

  if (reject !== undefined)
    return holdAll(`another record of this MLSNumber (${reject.at}) can't be read: which is right?`)
  if (wanted.length > 1 || (wanted.length === 1 && leaving !== undefined)) {
    const places = delivered.map((record) => record.at)
    if (seen) places.push('a record unchanged since the last run')
    return holdAll(`delivered more than once, differing (${places.join('; ')}): which is right?`)
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
    const moved = row.content === null || (row.movesAt !== null && row.movesAt <= now)
    const content = moved ? contentHash(listing(), volatile) : row.content!
    wanted.push({ content, position: null, byMapping: false, listing })
  }
  for (const record of delivered) {
    if (record.kind !== 'listing' || wanted.some(({ content }) => content === record.content)) continue
    wanted.push({
      content: record.content!,
      position: record.position,
      byMapping: row !== null && row.raw !== null && row.raw === record.raw && row.mapping !== mapping,
      listing: () => listingAt(record.listing(), now, today),
    })
  }
  return wanted
}
