import type { Feed, Readers } from './tools.ts'

/** Of these MLSNumbers those of which the delivery says something: a record that can't be read says nothing. */
export async function toldOf(
  { name, chatbot }: Pick<Feed, 'name' | 'chatbot'>,
  { store, workspace }: Pick<Readers, 'store' | 'workspace'>,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const ids = await store.snapshot.ids(chatbot, name, keys)
  const isSeen = (key: string): boolean => ids.has(key) && workspace.isSeen(ids.get(key)!)
  return new Set(keys.filter((key) => isSeen(key) || workspace.deliveredAs(key).length > 0))
}
