/** A feed that fills another chatbot than in its last run: what is held was held there, and says nothing of this chatbot. */
import type { History } from '../plan/inputs.ts'
import type { HoldsReader, Store, StoreReader } from '../store/store.ts'
import type { Feed } from './tools.ts'

type Named = Pick<Feed, 'name' | 'chatbot'>

async function hasMoved({ name, chatbot }: Named, { runs }: StoreReader): Promise<boolean> {
  const filled = await runs.lastFilled(name)
  return filled !== null && filled !== chatbot
}

/** Ends all holds of a feed that has moved. */
export async function forgetHolds(feed: Named, store: Store, now: number): Promise<void> {
  if (await hasMoved(feed, store)) await store.holds.replace(feed.name, [], { now, isWhole: true, letGo: () => 0 })
}

/** The store as the next sync of a feed finds it: without these holds, if it has moved. */
export async function withoutHolds(feed: Named, store: StoreReader): Promise<StoreReader> {
  if (!(await hasMoved(feed, store))) return store
  const { holds, history } = store
  // No feed has an empty name.
  const nameOf = (name: string): string => (name === feed.name ? '' : name)
  const others: HoldsReader = {
    ...holds,
    held: (name, ...of) => holds.held(nameOf(name), ...of),
    count: (name) => holds.count(nameOf(name)),
    waiting: (name, now) => holds.waiting(nameOf(name), now),
    waitingByRule: (name, now) => holds.waitingByRule(nameOf(name), now),
    surviving: (name, now) => holds.surviving(nameOf(name), now),
    clocks: (name, now) => holds.clocks(nameOf(name), now),
    approvable: (name) => holds.approvable(nameOf(name)),
    approvals: (name, now) => holds.approvals(nameOf(name), now),
  }
  return { ...store, holds: others, history: { ...history, rows: (...of) => unheld(history.rows(...of)) } }
}

async function* unheld(pages: AsyncIterable<readonly History[]>): AsyncGenerator<readonly History[]> {
  for await (const page of pages)
    yield page.map(({ wasElsewhere: _elsewhere, ...rest }): History => ({ ...rest, holds: [], heldSince: null }))
}
