import type { FieldChange } from '../core/compare-listings.ts'
import { fieldNames, optionalFields } from '../core/listing.ts'
import type { FieldName, FieldValue, Listing } from '../core/listing.ts'

/** The fields in which two of our own listings differ, to the letter; volatile ones left out. */
export function changedFields(from: Listing, to: Listing, volatile: ReadonlySet<FieldName>): FieldChange[] {
  const changes: FieldChange[] = []
  for (const field of fieldNames) {
    if (volatile.has(field)) continue
    const before: FieldValue | undefined = from[field]
    const after: FieldValue | undefined = to[field]
    if (before === after || JSON.stringify(before) === JSON.stringify(after)) continue
    changes.push({ field, from: before ?? null, to: after ?? null })
  }
  return changes
}

/** Optional fields that must disappear: there before, not wanted now. */
export function disappearing(fields: readonly FieldChange[]): FieldName[] {
  return fields
    .filter((change) => change.to === null && optionalFields.includes(change.field))
    .map((change) => change.field)
}
