import type { RawRecord } from './format.ts'

/**
 * Joins small blocks until they are worth scanning: a network gives a few kilobytes at a time, and a long record that is
 * scanned anew for each of them would cost its length squared.
 */
export async function* blocks(bytes: AsyncIterable<Buffer>, atLeast = 256 * 1024): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let size = 0
  for await (const part of bytes) {
    parts.push(part)
    size += part.length
    if (size < atLeast) continue
    yield parts.length === 1 ? part : Buffer.concat(parts)
    parts = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(parts)
}

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
