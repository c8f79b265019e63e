/** What the store keeps of a feed's live source, as the source knows it. */
import { overlaid } from '../feed/api/mirror.ts'
import type { Mirror } from '../feed/api/mirror.ts'
import type { Store, StoreReader } from '../store/store.ts'
import type { Feed } from './tools.ts'

export type { Mirror } from '../feed/api/mirror.ts'

type Named = Pick<Feed, 'name'>

function reading({ name }: Named, { records }: Pick<StoreReader, 'records'>): Parameters<typeof overlaid>[0] {
  return {
    progress: () => records.progress(name),
    stamps: (keys) => records.stamps(name, keys),
    rows: () => records.rows(name),
  }
}

/** For a run that writes: each page is in the store before the next one is asked for. */
export function mirror(feed: Named, store: Pick<Store, 'records'>): Mirror {
  const { records } = store
  return {
    ...reading(feed, store),
    begin: (progress) => records.begin(feed.name, progress),
    keep: (kept, progress) => records.keep(feed.name, kept, progress),
    drop: (gone, progress) =>
      records.drop(
        feed.name,
        gone.map(({ key }) => key),
        progress,
      ),
  }
}

/** For a dry run: what it would write stays in memory. */
export const dryMirror = (feed: Named, store: Pick<StoreReader, 'records'>): Mirror => overlaid(reading(feed, store))
