import { compareKeys } from '../../core/listing.ts'
import type { KeptRecord, SourceProgress } from '../../core/records.ts'
import type { Gone } from './proof.ts'

/** What the store keeps of one live source. Each writing method writes its records and the progress together. */
export interface Mirror {
  progress(): Promise<SourceProgress | null>
  /** The timestamps of kept records, by key. */
  stamps(keys: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** All records, in pages sorted by key. */
  rows(): AsyncIterable<readonly KeptRecord[]>
  /** Forgets all records. */
  begin(progress: SourceProgress): Promise<void>
  keep(records: readonly KeptRecord[], progress: SourceProgress): Promise<void>
  /** Drops records, which takes a proof for each. */
  drop(gone: readonly Gone[], progress: SourceProgress): Promise<void>
}

/** A mirror for a run that must not write to the store: what it writes lies over `base`, in memory. */
export function overlaid(base: Pick<Mirror, 'progress' | 'stamps' | 'rows'>): Mirror {
  let progress: SourceProgress | null = null
  let isAnew = false
  /** What was written, by key; null: dropped. */
  const over = new Map<string, KeptRecord | null>()
  return {
    progress: async () => progress ?? (await base.progress()),
    async stamps(keys) {
      const found = new Map(isAnew ? [] : await base.stamps(keys))
      for (const key of keys) {
        const own = over.get(key)
        if (own === null) found.delete(key)
        else if (own !== undefined) found.set(key, own.stamp)
      }
      return found
    },
    async *rows() {
      const own = [...over].toSorted(([a], [b]) => compareKeys(a, b))
      let next = 0
      /** Written records before a key, or all that are left. */
      const before = (key: string | null): KeptRecord[] => {
        const start = next
        const isBefore = (other: string): boolean => key === null || compareKeys(other, key) < 0
        while (next < own.length && isBefore(own[next][0])) next++
        return own.slice(start, next).flatMap(([, record]) => record ?? [])
      }
      if (!isAnew)
        for await (const page of base.rows()) {
          yield page.flatMap((row) => {
            const earlier = before(row.key)
            return own[next]?.[0] === row.key ? [...earlier, own[next++][1] ?? []].flat() : [...earlier, row]
          })
        }
      const rest = before(null)
      if (rest.length > 0) yield rest
    },
    begin: async (next) => {
      progress = next
      isAnew = true
      over.clear()
    },
    keep: async (records, next) => {
      progress = next
      for (const record of records) over.set(record.key, record)
    },
    drop: async (gone, next) => {
      progress = next
      for (const { key } of gone) over.set(key, null)
    },
  }
}
