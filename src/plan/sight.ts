/** How the service shows a listing for the first time after our write, and what of it is its own spelling. */
import { fieldRules } from '../listing.ts'
import type { FieldValue } from '../listing.ts'
import type { PlanSettings } from './plan.ts'
import type { FieldChange, FirstSight, Recalled, ShownRow, SnapshotRow } from '../run.ts'

/** The baseline to remember; `fields`: what is shown otherwise than sent. */
export function firstSight(mine: SnapshotRow, item: ShownRow, fields: FieldChange[]): FirstSight {
  const echo: Recalled['echo'] = Object.fromEntries(fields.map(({ field, from }) => [field, from]))
  const uncleared = fields.filter(({ to }) => to === null).map(({ field }) => field)
  return { op: 'first-sight', snapshot: mine.id, hash: item.hash, echo, uncleared, first: true }
}

/** Numbers and choices that services seldom spell their own way; what can't be cleared (U4) is no edit either. */
export function isExact({ field, to }: FieldChange): boolean {
  const rule = fieldRules.find(({ name }) => name === field)
  return to !== null && rule !== undefined && (rule.type === 'number' || rule.choices !== undefined)
}

/** Leaves out what the service showed otherwise from the first: that is its own spelling, not drift. */
export function withoutEcho(fields: FieldChange[], echo: Recalled['echo']): FieldChange[] {
  const same = (a: FieldValue | null, b: FieldValue | null | undefined): boolean =>
    JSON.stringify(a) === JSON.stringify(b)
  return fields.filter(({ field, from }) => !(field in echo && same(from, echo[field])))
}

/** Whether a listing was sent when many were that had drifted. */
export function isSentAgain(mine: SnapshotRow | null, { driftedSince }: Pick<PlanSettings, 'driftedSince'>): boolean {
  return mine !== null && driftedSince !== null && mine.sentAt >= driftedSince
}
