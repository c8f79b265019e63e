/** What `inspect` finds out about one source; printed as JSON, and the basis of the text and of `--init`. */
import type { Delivered, Listing, Problem } from '../core/listing.ts'

/** Sizes in bytes, after decompression. */
export interface DocumentFacts {
  /** Containers of the document, outermost first: `gzip`, `zip`. */
  container: string[]
  format: string
  /** `by`: how it is known. */
  encoding: { name: string; by: string }
  /** CSV: separators of cells and rows; null for other formats. */
  dialect: { delimiter: string; quote: string; lineEnd: '\n' | '\r' } | null
  /** XML: path of the record element; null for other formats. */
  record: string | null
  /** XML: elements beside the records that look like records, and have another name. */
  siblings: string[]
  bytes: number
  records: number
  /** null: unknown, as only the first records were read. */
  complete: boolean | null
  reasons: string[]
  /** Why a cut would not show in it, and what mends that; null: it would. */
  doubt: string | null
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
  /** Whether it may identify a listing: in every record another value of more than two characters. */
  isKey: boolean
  /** Listing fields made from it, or `ExtensionColumn`, or `record` (decides about the record). */
  usedFor: string[]
}

/** One record as it would be mapped; `missing`: required fields that it lacks, if the rest is complete. */
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

/** Words of the feed that no rule maps, most frequent first. */
export interface WordFacts {
  field: string
  words: { word: string; count: number }[]
  /** What to write in the configuration, for the first words. */
  write: string
}

/** A required field of the listing that records lack. */
export interface MissingFacts {
  field: string
  count: number
  /** How many of them are of which PropertyType, where that is known. */
  kinds: Record<string, number>
  /** What the preset reads it from. */
  reads: string[]
  /** If hardly any record has it: unused fields of the feed that may have it, by their names. */
  perhaps: string[]
  write: string
}

/** What a live source says of itself, and what its vendor's rules mean for a feed. */
export interface LiveFacts {
  /** Whose API it is. */
  title: string
  /** How many records the source has; null: it does not count. */
  all: number | null
  /** Sentences: what the licence or the vendor keeps from being shown. */
  licence: string[]
  /** Sentences: what the vendor's limits mean for the schedule. */
  schedule: string[]
}

export interface Findings {
  version: 1
  source: string
  /** Of a live source alone. */
  live?: LiveFacts
  document: DocumentFacts
  /** The preset used, and how it was chosen; null: none fits. */
  preset: (Fit & { chosen: 'found' | 'given' | 'configured' }) | null
  others: Fit[]
  /** Further settings that this feed needs, and why. */
  settings: { write: string; why: string }[]
  counts: { listings: number; removals: number; filtered: number; rejects: number; lackingFactsOnly: number }
  fields: FieldFacts[]
  /** Whether there are more fields than are listed. */
  moreFields: boolean
  /** Fields with values that nothing uses. */
  unused: string[]
  samples: Sample[]
  rejects: RejectFacts[]
  /** Values that can't be read and are left out of their listings. */
  leftOut: RejectFacts[]
  words: WordFacts[]
  moreWords: boolean
  removals: { why: string; count: number }[]
  missing: MissingFacts[]
  /** Flags that hide an address, and that no rule reads: an error, as the street would be shown. */
  hiding: { from: string; is: boolean }[]
  /** Sentences: what a whole document without a record means; second tables (`join`) that can't be had or are not whole. */
  notes: string[]
}
