/** Homes that are new in a feed while one that no longer fills the chatbot left them there under other MLSNumbers. */
import { andMore, calledBefore, many } from '../core/text.ts'
import type { Feed, Readers } from './tools.ts'

/** New listings at most that are looked at. A feed that got another name, and other numbers, shows by fewer. */
const mostNew = 1000
const examplesShown = 3

/** A sentence for each feed that left such homes. */
export async function homesLeft(
  { name, chatbot, configured }: Pick<Feed, 'name' | 'chatbot' | 'configured'>,
  { store, workspace }: Pick<Readers, 'store' | 'workspace'>,
): Promise<string[]> {
  const created: { home: string; mlsNumber: string }[] = []
  for (const { change } of workspace.changes('create')) {
    if (change.home !== null) created.push({ home: change.home, mlsNumber: change.mlsNumber })
    if (created.length === mostNew) break
  }
  if (created.length === 0) return []
  const others = new Set<string>()
  for (const other of await store.runs.feeds())
    if (other !== name && !configured.has(other) && (await store.runs.last(other))?.chatbot === chatbot)
      others.add(other)
  if (others.size === 0) return []
  const homes = new Set(created.map(({ home }) => home))
  const candidates = new Map<string, { feed: string; home: string }>()
  for await (const page of store.snapshot.rows(chatbot))
    for (const { key, feed, owned, home } of page)
      if (home !== null && homes.has(home) && owned && others.has(feed)) candidates.set(key, { feed, home })
  // The store keeps the rows of what people have deleted since. Flats without a number may have one address.
  const left = new Map<string, string>()
  for (const { key } of candidates.size > 0 ? workspace.shown() : []) {
    const candidate = candidates.get(key)
    if (candidate !== undefined) left.set(candidate.home, candidate.feed)
  }
  const atLeast = created.length === mostNew ? 'at least ' : ''
  return Array.from(
    Map.groupBy(
      created.filter(({ home }) => left.has(home)),
      ({ home }) => left.get(home)!,
    ),
    ([feed, there]) => {
      const examples = there.slice(0, examplesShown).map(({ mlsNumber }) => mlsNumber)
      return `${atLeast}${many(there.length, 'new listing')} ${there.length === 1 ? 'is a home' : 'are homes'} that ${feed}, a feed that no longer fills this chatbot, left there under ${there.length === 1 ? 'another MLSNumber' : 'other MLSNumbers'} (${calledBefore(feed)}): ${andMore(examples, there.length)}`
    },
  )
}
