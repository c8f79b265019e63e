/** Homes that a delta brings under MLSNumbers which are only spelled otherwise than ours. */
import { batches } from '../core/batches.ts'
import { breathe } from '../core/breath.ts'
import type { Delivered } from '../core/listing.ts'
import { foldedNumber, isSpelledAlike } from '../workspace/spelling.ts'
import type { Source, Tools } from './intake.ts'

const batchSize = 500
/** New listings at most that are looked at. Where more come, the guard asks anyway. */
const mostNew = 20_000

/**
 * A delta says a listing under its new MLSNumber, and never that the old one is gone. If the home is the same, and the numbers are but
 * for their spelling (case, leading zeros, a prefix, blanks), it is one listing: gives that the old one is gone. Not where the delta
 * has the old number, too.
 */
export async function respelledIn(
  { name, chatbot }: Pick<Source, 'name' | 'chatbot'>,
  { store, workspace }: Pick<Tools, 'store' | 'workspace'>,
): Promise<Delivered[]> {
  const homes = new Map<string, { key: string; at: string }[]>()
  let count = 0
  for (const rows of batches(workspace.delivered(), () => batchSize)) {
    const wanted = rows.filter(({ kind, home }) => kind === 'listing' && home !== null)
    const known = await store.snapshot.rowsOf(
      chatbot,
      wanted.map(({ key }) => key),
    )
    for (const { key, at, home } of wanted) {
      if (known.has(key)) continue
      if (++count > mostNew) return []
      homes.set(home!, [...(homes.get(home!) ?? []), { key, at }])
    }
    await breathe()
  }
  const gone: Delivered[] = []
  if (homes.size === 0) return gone
  for await (const page of store.snapshot.rows(chatbot))
    for (const { id, key, feed, owned, home } of page) {
      if (feed !== name || !owned || home === null || workspace.isSeen(id)) continue
      const comes = homes.get(home)?.find((other) => isSpelledAlike(foldedNumber(key), foldedNumber(other.key)))
      if (comes === undefined || workspace.isDelivered(key)) continue
      const why = `its home comes as ${comes.key}, which is the same MLSNumber in another spelling`
      gone.push({ kind: 'removal', at: comes.at, mlsNumber: key, why })
    }
  return gone
}
