/** What is kept of a live source between runs: its records as they were received last, and how far it was read. */

/** A record of the source by its key there. */
export interface KeptRecord {
  key: string
  /** Its timestamp of change, as it was received. */
  stamp: string
  /** The record, packed by the reader of the source. */
  body: Buffer
}

/** How far a live source was read. Times in milliseconds. */
export interface SourceProgress {
  /** Root, filter and feed type that the records were asked for with, as one value. If it changes, all begins anew. */
  scope: string
  /** When the first load of this scope began. */
  since: number
  /** The greatest timestamp received, as it was received; null: nothing was. */
  watermark: string | null
  /** When the first load ended; null: it is still under way. */
  loadedAt: number | null
  /** When all changes were read last. */
  readAt: number | null
  /** When all keys were compared last, and what they tell was carried out. */
  walkedAt: number | null
  /** How many keys that walk found. Left out: by an earlier version. */
  walkedKeys?: number
  /** How many changes of records came since. */
  changed?: number
  /** When the guard first let pass what a whole walk of this scope told; null: absence says nothing yet. */
  acceptedAt: number | null
}
