import { addListed } from '../apply/look-again.ts'
import type { Glimpse, RemoteSummary } from '../core/listing.ts'
import type { LookUps } from '../plan/proof.ts'
import type { Feed, Readers } from './tools.ts'

/** What the service shows, in figures; the items are in the workspace. */
export interface Listed extends RemoteSummary {
  /** When the last walk over the pages began, or the look-ups instead of one, in milliseconds. */
  readonly startedAt: number
  /** What was looked up instead of reading the list; then the figures are those of the last list. null: the list was read. */
  readonly lookUps: LookUps | null
  /** Listings that bear this feed's mark. */
  readonly marked: number
  /** The stores that wrote these marks, each with its latest run. */
  readonly writers: ReadonlyMap<string, number>
}

/** More stores than ever fill a chatbot. A limit, so that made-up marks can't fill the memory. */
const mostWriters = 100

/** Walks the service's pages into the workspace. An item that is as its baseline is not kept, only noted as such. */
export async function observe(feed: Feed, { store, service, workspace, progress }: Readers): Promise<Listed> {
  let marked = 0
  let listings = 0
  const writers = new Map<string, number>()
  /** The last item's mark. Items in a row with the same mark share one object (`remembered` in service/canonical.ts). */
  let latest: Glimpse['by']
  const known = await store.snapshot.knownItems(feed.chatbot, feed.name)
  const isAsBefore = ({ hash, owner, isFormer }: Glimpse): boolean => {
    if (owner !== feed.name || isFormer) return false
    const [id] = known.find(hash)
    // The second of two with one baseline is kept, so that both are seen.
    return id !== undefined && workspace.addShownAsBefore(id)
  }
  const remote = await service.observe({
    reset() {
      workspace.clearShown()
      marked = 0
      listings = 0
      writers.clear()
      latest = undefined
    },
    async add(items) {
      const others = items.filter((item) => !isAsBefore(item))
      if (others.length > 0) await addListed(others, feed.chatbot, store.snapshot, workspace)
      for (const { owner, by } of items) {
        if (owner !== feed.name) continue
        marked++
        if (by === undefined || by === latest || (writers.size === mostWriters && !writers.has(by.store))) continue
        latest = by
        writers.set(by.store, Math.max(by.run, writers.get(by.store) ?? 0))
      }
      listings += items.length
      progress('listings', listings, null)
    },
  })
  known.end()
  return { ...remote, lookUps: null, marked, writers }
}
