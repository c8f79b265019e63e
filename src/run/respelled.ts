/** Homes that a delta brings under MLSNumbers which are only spelled otherwise than ours. */
import { batches } from '../core/batches.ts'
import { breathe } from '../core/breath.ts'
import { changedFields } from '../core/compare-listings.ts'
import type { Delivered, FieldName } from '../core/listing.ts'
import type { DeliveredRow } from '../plan/inputs.ts'
import { foldedNumber, isSpelledAlike } from '../workspace/spelling.ts'
import type { Source, Tools } from './intake.ts'

const batchSize = 500
/** New listings at most that are looked at. Where more come, the guard asks anyway. */
const mostNew = 20_000
/** What no edit changes. A home for sale and for rent may have two numbers that differ in a letter before them. */
const lasting: readonly FieldName[] = ['SaleType', 'PropertyType', 'Bedrooms', 'Bathrooms', 'BuildingArea', 'LotArea']

/**
 * A delta says a listing under its new MLSNumber, and never that the old one is gone. If the home is the same, and the numbers are but
 * for their spelling (case, leading zeros, a prefix, blanks), it is one listing: gives that the old one is gone. Not where the delta
 * has the old number, too.
 */
export async function respelledIn(
  { name, chatbot }: Pick<Source, 'name' | 'chatbot'>,
  { store, workspace }: Pick<Tools, 'store' | 'workspace'>,
): Promise<Delivered[]> {
  const comes = new Map<string, DeliveredRow[]>()
  let count = 0
  for (const rows of batches(workspace.delivered(), () => batchSize)) {
    const keys = rows.map(({ key }) => key)
    const known = await store.snapshot.rowsOf(chatbot, keys)
    for (const row of rows) {
      if (row.kind !== 'listing' || row.home === null || known.has(row.key)) continue
      if (++count > mostNew) return []
      comes.set(row.home, [...(comes.get(row.home) ?? []), row])
    }
    await breathe()
  }
  const gone: Delivered[] = []
  if (count === 0) return gone
  for await (const page of store.snapshot.rows(chatbot)) {
    const alike = new Map<string, DeliveredRow>()
    for (const { id, key, feed, owned, home } of page) {
      if (feed !== name || !owned || home === null || workspace.isSeen(id) || workspace.isDelivered(key)) continue
      const other = comes.get(home)?.find((row) => isSpelledAlike(foldedNumber(key), foldedNumber(row.key)))
      if (other !== undefined) alike.set(key, other)
    }
    const before = alike.size === 0 ? [] : await store.snapshot.confirmed(chatbot, name, [...alike.keys()])
    for (const [key, { listing }] of before) {
      const other = alike.get(key)!
      if (changedFields(listing, other.listing().listing, lasting).length > 0) continue
      const why = `its home comes as ${other.key}, which is the same MLSNumber in another spelling`
      gone.push({ kind: 'removal', at: other.at, mlsNumber: key, why })
    }
  }
  return gone
}
