/** How a delivery ends. If its format has no end mark, two that end alike are hardly cut. */
import type { Past } from './recall.ts'
import type { Feed, Readers } from './tools.ts'

type Tools = Pick<Readers, 'store' | 'workspace'>

/** How many of the last parsed records are remembered. If a delivery grew by more, its end can't be compared. */
const endKept = 1000

/** Follows the records, to know with which the delivery ends. */
export function endOf() {
  const end = {
    /** The snapshot row of the last record that was known by its bytes; null: none was. */
    row: null as number | null,
    /** The MLSNumbers of records parsed after it, as far as they are remembered. */
    keys: [] as string[],
    seen(id: number): void {
      end.row = id
      end.keys = []
    },
    parsed(key: string | null): void {
      if (key === null) return
      end.keys.push(key)
      if (end.keys.length === 2 * endKept) end.keys = end.keys.slice(-endKept)
    },
  }
  return end
}

type End = ReturnType<typeof endOf>

/**
 * Whether a delivery ends like the one before: the last record of the earlier one is in this one, and the last listing of ours in
 * this one was in the earlier one. Two that were cut at different places never do.
 */
export async function endsLike(
  { chatbot, name }: Pick<Feed, 'chatbot' | 'name'>,
  { store, workspace }: Tools,
  { lastKey, completeAt, mapping }: Past['last'],
  end: End,
): Promise<boolean> {
  // Without a last key this is the first delivery, or an earlier version of the program read the one before.
  if (lastKey === null) return completeAt === null && mapping === null
  if (lastKey === '' || isEmpty(end)) return lastKey === '' && isEmpty(end)
  const ids = await store.snapshot.ids(chatbot, name, [...end.keys, lastKey])
  const before = ids.get(lastKey)
  const holdsLast = workspace.isDelivered(lastKey) || (before !== undefined && workspace.isSeen(before))
  const own = end.keys.findLast((key) => ids.has(key)) ?? (await keyOf(store, end.row))
  return holdsLast && own !== null && !(await store.history.isAbsent(chatbot, name, own))
}

const isEmpty = ({ row, keys }: End): boolean => row === null && keys.length === 0

export async function lastKeyOf({ store }: Tools, { row, keys }: End): Promise<string> {
  return keys.at(-1) ?? (await keyOf(store, row)) ?? ''
}

async function keyOf(store: Tools['store'], row: number | null): Promise<string | null> {
  return row === null ? null : (await store.snapshot.recall([row])).get(row)!.listing.MLSNumber
}
