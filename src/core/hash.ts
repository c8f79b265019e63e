import { hash } from 'node:crypto'
import { fieldNames } from './listing.ts'
import type { FieldName, Listing } from './listing.ts'

/** 128 bits of SHA-256 as 22 characters: short for a million rows, and too long to collide by accident. */
export function shortHash(data: string | Buffer): string {
  return hash('sha256', data, 'base64url').slice(0, 22)
}

/** 32 bits of SHA-256: enough to notice a changed secret, too few to guess it. */
export function fingerprint(secrets: readonly (string | null)[]): number {
  return Number.parseInt(hash('sha256', JSON.stringify(secrets)).slice(0, 8), 16)
}

/** Hash of a listing's content in fixed field order, without the volatile fields. */
export function contentHash(listing: Listing, volatile: ReadonlySet<FieldName>): string {
  const values: unknown[] = []
  for (const name of fieldNames) if (!volatile.has(name)) values.push(listing[name] ?? null)
  return shortHash(JSON.stringify(values))
}

/** A share from 0 up to, but not including, 1 that the key decides: equally spread, and the same each time. */
export function keyShare(key: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  const mixed = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  return (mixed >>> 0) / 2 ** 32
}
