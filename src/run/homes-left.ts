/** Homes that are new in a feed while one that no longer fills the chatbot left them there under other MLSNumbers. */
import { calledBefore, many } from '../core/text.ts'
import type { Feed, Readers } from './tools.ts'

/** New listings at most that are looked at. A feed that got another name, and other numbers, shows by fewer. */
const mostNew = 1000
const examplesShown = 3

/** A sentence for each feed that left such homes. */
export async function homesLeft(
  { name, chatbot, configured }: Pick<Feed, 'name' | 'chatbot' | 'configured'>,
  { store, workspace }: Pick<Readers, 'store' | 'workspace'>,
): Promise<string[]> {
  const created = new Map<string, string>()
  for (const { change } of workspace.changes('create')) {
    if (change.home !== null) created.set(change.home, change.mlsNumber)
    if (created.size === mostNew) break
  }
  if (created.size === 0) return []
  const others = new Set<string>()
  for (const other of await store.runs.feeds())
    if (other !== name && !configured.has(other) && (await store.runs.last(other))?.chatbot === chatbot)
      others.add(other)
  if (others.size === 0) return []
  const candidates = new Map<string, { feed: string; mlsNumber: string }>()
  for await (const page of store.snapshot.rows(chatbot))
    for (const { key, feed, owned, home } of page) {
      const mlsNumber = home === null || !owned || !others.has(feed) ? undefined : created.get(home)
      if (mlsNumber !== undefined) candidates.set(key, { feed, mlsNumber })
    }
  // The store keeps the rows of what people have deleted since.
  const there: { feed: string; mlsNumber: string }[] = []
  for (const { key } of candidates.size > 0 ? workspace.shown() : []) {
    const one = candidates.get(key)
    if (one !== undefined) there.push(one)
  }
  return Array.from(
    Map.groupBy(there, ({ feed }) => feed),
    ([feed, homes]) => {
      const examples = homes.slice(0, examplesShown).map(({ mlsNumber }) => mlsNumber)
      const rest = homes.length > examplesShown ? ` and ${homes.length - examplesShown} more` : ''
      return `${many(homes.length, 'new listing')} ${homes.length === 1 ? 'is a home' : 'are homes'} that ${feed}, a feed that no longer fills this chatbot, left there under ${homes.length === 1 ? 'another MLSNumber' : 'other MLSNumbers'} (${calledBefore(feed)}): ${examples.join(', ')}${rest}`
    },
  )
}
