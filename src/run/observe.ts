import type { RemoteSummary } from '../core/listing.ts'
import type { Feed, Readers } from './tools.ts'

/** What the service shows, in figures; the items are in the workspace. */
export interface Listed extends RemoteSummary {
  /** When the walk over the pages began that the rest goes by, in milliseconds. */
  readonly startedAt: number
  /** Listings that bear this feed's mark. */
  readonly marked: number
}

/** Walks the service's pages into the workspace; what is as its baseline is kept without its fields. */
export async function observe(feed: Feed, { store, service, workspace, progress }: Readers): Promise<Listed> {
  let marked = 0
  let listings = 0
  const remote = await service.observe({
    reset() {
      workspace.clearShown()
      marked = 0
      listings = 0
    },
    async add(items) {
      const keys = items.map(({ mlsNumber }) => mlsNumber)
      const baselines = await store.snapshot.baselines(feed.chatbot, keys)
      workspace.addShown(items.map((shown) => ({ shown, keep: baselines.get(shown.mlsNumber) !== shown.hash })))
      for (const shown of items) if (shown.owner === feed.name) marked++
      listings += items.length
      progress('listings', listings, null)
    },
  })
  return { ...remote, marked }
}
