import type { ReadOptions, Reading } from '../../src/feed/format/format.ts'
import { formats } from '../../src/feed/format/formats.ts'
import type { Mapping } from '../../src/feed/mapping/mapping.ts'

/** A document as a feed of this mapping reads it; nothing outside it says its encoding, and all of it came. */
export function readingOf(
  { format, formatOptions, reads }: Pick<Mapping, 'format' | 'formatOptions' | 'reads'>,
  bytes: AsyncIterable<Buffer>,
  options: Partial<ReadOptions> = {},
): Reading {
  const usual = { encoding: null, charset: null, maxRecordBytes: 1_000_000, lengthProven: () => true }
  return formats[format].read(bytes, { ...formatOptions, ...usual, reads, ...options })
}
