/** Whose a listing is, by the snapshot and by the marks on the service (DESIGN, "Ours means"). */
import type { SnapshotRow } from '../run.ts'
import { isSentinel } from '../sentinel.ts'
import type { PlanSettings } from './plan.ts'
import type { Situation } from './walk.ts'

/** In this feed's snapshot, or marked as this feed's on the service. `mine`: the row, where it is this feed's. */
export function isOurs(
  { key, row, shown }: Situation,
  mine: SnapshotRow | null,
  { feed, ownership }: PlanSettings,
): boolean {
  // A test listing that a killed probe left is not what somebody made: the next probe takes it off.
  if (row === null && isSentinel(key)) return false
  if (ownership === 'mirror' && shown.length > 0) return true
  if (row !== null && row.owned && mine === null) return false
  if (ownership !== 'snapshot' && shown.some(({ owner }) => owner === feed)) return true
  // The mark says more than the row: another feed took the listing over, and this store, or this run, was not told.
  if (ownership !== 'snapshot' && shown.some(({ owner }) => owner !== null)) return false
  if (mine?.owned === true) return true
  if (mine?.flight !== 'create' || shown.length === 0) return false
  // A create without answer made what is there, unless the mark that it would bear is missing.
  return ownership === 'snapshot' || shown.some((item) => item.shown()?.unreadable.includes('ExtensionColumn') ?? true)
}
