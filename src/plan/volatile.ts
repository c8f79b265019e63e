import type { FieldName, Listing } from '../listing.ts'
import { keyShare } from './keys.ts'

/**
 * Whether a listing's moving fields are due to be sent again: once every `refresh`, at an instant that its key decides,
 * so that a feed loaded in one night is not sent again in one night (DESIGN, "Fields that move by themselves").
 */
export function refreshDue(key: string, sentAt: number, now: number, refresh: number): boolean {
  const offset = Math.floor(keyShare(key) * refresh)
  return sentAt < Math.floor((now - offset) / refresh) * refresh + offset
}

/** The volatile fields that differ between what was sent and what would be sent now. */
export function movedFields(sent: Listing, wanted: Listing, volatile: ReadonlySet<FieldName>): FieldName[] {
  return [...volatile].filter((field) => JSON.stringify(sent[field]) !== JSON.stringify(wanted[field]))
}
