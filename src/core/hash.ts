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
