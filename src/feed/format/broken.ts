import type { RawRecord } from '../feed.ts'

/** A record that the splitter could not keep or trust. It holds no bytes; parsing it throws its problem. */
export interface BrokenRecord extends RawRecord {
  problem: string
}

export function brokenRecord(at: string, problem: string): BrokenRecord {
  return { at, raw: Buffer.alloc(0), problem }
}

/** The problem of a broken record; null for a record as it should be. */
export function problemOf(record: RawRecord & { problem?: string }): string | null {
  return record.problem ?? null
}
