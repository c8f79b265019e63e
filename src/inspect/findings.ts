/** What `inspect` finds out about one source: the JSON document as it is printed, and what the text and `--init` are made of. */
import type { Delivered, Listing, Problem } from '../core/listing.ts'

/** What the document is. Sizes in bytes, after decompression. */
export interface DocumentFacts {
  /** What is around the document, outermost first: `gzip`, `zip`; empty: nothing. */
  container: string[]
  format: string
  /** `by` says how it is known. */
  encoding: { name: string; by: string }
  /** CSV: what parts cells and rows; null for other formats. */
  dialect: { delimiter: string; quote: string; lineEnd: '\n' | '\r' } | null
  /** XML: path of the record element; null for other formats. */
  record: string | null
  bytes: number
  records: number
  /** null: only the first records were read, so it can't be told. */
  complete: boolean | null
  reasons: string[]
}

/** How well a preset fits; `score` from 0 to 100. */
export interface Fit {
  name: string
  title: string
  score: number
  reason: string
}

/** A field of the feed. `filled`: percent of the records, to one decimal. */
export interface FieldFacts {
  path: string
  filled: number
  examples: string[]
  /** Listing fields that are made of it, `ExtensionColumn` and `record` (decides about the record) among them. */
  usedFor: string[]
}

/** One record as it would be mapped; `missing`: required facts that it lacks, the rest being whole. */
export interface Sample {
  at: string
  kind: Delivered['kind']
  mlsNumber: string | null
  listing: Partial<Listing> | null
  missing: string[]
  why: string | null
  problems: Problem[]
}

/** Records that are rejected for one reason. */
export interface RejectFacts {
  field: string
  problem: string
  count: number
  examples: { at: string; mlsNumber: string | null; value: string | null }[]
}

/** The words of the feed that no rule maps to a field, the most frequent first. */
export interface WordFacts {
  field: string
  words: { word: string; count: number }[]
  /** What to write in the feed's configuration, for the first words. */
  write: string
}

/** A required field of the listing that records lack. */
export interface MissingFacts {
  field: string
  count: number
  write: string
}

export interface Findings {
  version: 1
  source: string
  document: DocumentFacts
  /** The preset that is used, and how it was chosen; null: none fits. */
  preset: (Fit & { chosen: 'found' | 'given' | 'configured' }) | null
  others: Fit[]
  /** Settings that this feed needs beside the preset, and why. */
  settings: { write: string; why: string }[]
  counts: { listings: number; removals: number; filtered: number; rejects: number; lackingFactsOnly: number }
  fields: FieldFacts[]
  /** Whether there are more fields than are listed. */
  moreFields: boolean
  /** Fields with something in them that nothing uses. */
  unused: string[]
  samples: Sample[]
  rejects: RejectFacts[]
  words: WordFacts[]
  moreWords: boolean
  removals: { why: string; count: number }[]
  missing: MissingFacts[]
}
