/** What the guard's rules measure by: shares, medians, how like the last delivery this one is. */
import type { Limits, Past } from './rule.ts'

/** Four listings are the least of which a share says anything. */
const leastOfShare = 4

/** How many of so many listings a share allows. */
export function allowance({ percent, floor }: { percent: number; floor: number }, of: number): number {
  return Math.max(floor, Math.floor((of * percent) / 100))
}

/** Whether so many listings drift that it is no person who edits them, but another program. */
export function isFight(drifted: number, ours: number): boolean {
  return drifted > allowance({ percent: 5, floor: 5 }, ours)
}

/**
 * A delivery that has little of the last one, and of which the last one had little: one that only grew has all of it.
 * Of three listings only a delivery that shares none is a stranger's.
 */
export function isForeign(shared: number, delivered: number, last: number, percent: number): boolean {
  if (last < leastOfShare) return percent > 0 && last === 3 && shared === 0
  return shared * 100 < Math.min(delivered, last) * percent
}

/**
 * Whether a delivery is so small that its absences are doubted. Where a person let some of them go, `letGo`, what would be
 * left of ours is the measure too: it was less than usual already. Where no earlier delivery is known, as after a lost store
 * or in a feed that was a delta before, what is ours is the measure alone.
 */
export function isShrunk(
  records: number,
  past: Pick<Past, 'deliveries'>,
  limits: Pick<Limits, 'shrink'>,
  letGo: number,
  ours: number,
): boolean {
  const median = usual(past) ?? (ours < leastOfShare ? 0 : ours)
  const measure = letGo === 0 ? median : Math.min(median, ours) - letGo
  return records < (measure * limits.shrink) / 100
}

/** The median of the last deliveries' records; null where none is known. */
export function usual({ deliveries }: Pick<Past, 'deliveries'>): number | null {
  return medianOf(deliveries.map(({ records }) => records))
}

function medianOf(numbers: number[]): number | null {
  if (numbers.length === 0) return null
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
