import type { FieldName } from '../../core/listing.ts'
import type { Change } from '../change.ts'
import { disappearing } from '../own-difference.ts'

/** Counts what the guard's rules are about, while the plan goes by. Changes that an approval covers count apart. */
export class Tally {
  /** What a person lets in and lets go in this run: a delivery need not be like the last ones in these. */
  readonly approved = { creates: 0, absent: 0 }
  /** Planned deletes that are not yet in the ledger of the last 24 hours. */
  deletes = 0
  updates = 0
  recreates = 0
  /** Listings that drifted, were sent again lately, and drifted once more. */
  again = 0
  /**
   * Signs that the list may lack rows: listings of ours that it has not, MLSNumbers that it has twice, as when somebody
   * makes one anew while pages are read. Approved ones too: an approval is no reason to trust the list.
   */
  doubts = 0
  /** Updates that lose an optional field, by field. */
  readonly lost: Partial<Record<FieldName, number>> = {}

  letThrough(change: Change): void {
    if (change.kind === 'create') this.approved.creates++
    if (change.kind === 'delete' && change.cause === 'absent') this.approved.absent++
  }

  add(change: Change, alreadyInLedger: boolean): void {
    if (change.kind === 'delete' && !alreadyInLedger) this.deletes++
    if (change.kind === 'update') this.updates++
    if (change.kind === 'update' && change.again) this.again++
    if (change.kind === 'create' && change.cause === 'gone-from-service') this.recreates++
    for (const field of lostFields(change)) this.lost[field] = (this.lost[field] ?? 0) + 1
  }
}

/** Optional fields that a change loses. A drift takes away what others added; only the feed's own loss can be a renamed column. */
export function lostFields(change: Change): FieldName[] {
  if (change.kind !== 'update' || (change.cause !== 'changed' && change.cause !== 'mapping')) return []
  return disappearing(change.fields)
}
