/** Homes that a delta brings under MLSNumbers which are only spelled otherwise than before. */
import { batches } from '../core/batches.ts'
import { breathe } from '../core/breath.ts'
import { homeHashOf } from '../core/home-hash.ts'
import type { HomeHash } from '../core/home-hash.ts'
import type { Delivered, DeliverySummary, FieldName, Listing } from '../core/listing.ts'
import { foldedNumber, isSpelledAlike } from '../workspace/spelling.ts'
import { count } from './intake.ts'
import type { Intake, Source, Tools } from './intake.ts'
import type { SnapshotRow } from '../plan/inputs.ts'
import { pendingBeside } from './named.ts'

const batchSize = 500
/** New listings at most that are looked at. Where more come, the guard asks anyway. */
const mostNew = 20_000
/** What no edit changes. A home for sale and for rent may have two numbers that differ in a letter before them. */
const lasting: readonly FieldName[] = ['SaleType', 'PropertyType', 'Bedrooms', 'Bathrooms', 'BuildingArea', 'LotArea']
/** Of two flats of a house, shorter numbers than that may differ in what stands before them. */
const leastPrefixed = 5
/** Homes at most that may be alike at one address. Where more are, an address stands for many, and tells of none. */
const mostAlike = 100

interface Spelled {
  readonly key: string
  /** It is in the snapshot: a row that only notes a call or a refusal does not count. */
  readonly isKnown: boolean
  /** Where this delta has it; null: the snapshot or an earlier delta has it alone. */
  readonly position: number | null
}

/**
 * A delta says a listing under its new MLSNumber, and never that the old one is gone. If the home is the same, and the numbers are but
 * for their spelling (case, leading zeros, a prefix, blanks), it is one listing: gives that the old one is gone. That one is ours; or
 * an earlier delta brought it and it is not carried out yet (but what is older takes nothing of that back); or it stands in an earlier
 * file (`isLater`; null: there is one file). Two that one file has, or the snapshot, are two listings. `notes`: of what it says is
 * gone, and is ours in another spelling alone.
 */
export async function respelledIn(
  { name, chatbot, mapping }: Pick<Source, 'name' | 'chatbot' | 'mapping'>,
  { store, workspace }: Pick<Tools, 'store' | 'workspace'>,
  summary: DeliverySummary,
  isOlder: boolean,
  isLater: Intake['isLater'] | null,
): Promise<typeof noneRespelled> {
  const homes = new Set<HomeHash>()
  const alike = new Map<string, Spelled[]>()
  const add = (home: HomeHash, listing: Listing, spelled: Spelled): void => {
    homes.add(home)
    const place = JSON.stringify([home, ...lasting.map((field) => listing[field])])
    const some = alike.get(place)
    if (some === undefined) alike.set(place, [spelled])
    else some.push(spelled)
  }
  const isKnown = async (rows: readonly { key: string }[]): Promise<(key: string) => boolean> => {
    const keys = rows.map(({ key }) => key)
    const known = await store.snapshot.rowsOf(chatbot, keys)
    return (key) => known.get(key)?.owned === true
  }
  const news = new Set<string>()
  /** What it says is gone and is not ours, by the folded number. */
  const leaving = new Map<string, string>()
  for (const rows of batches(workspace.delivered(), () => batchSize)) {
    const isOurs = await isKnown(rows)
    for (const { key, kind, home } of rows) {
      if (isOurs(key)) continue
      if ((kind === 'removal' || kind === 'filtered') && leaving.size < mostNew) leaving.set(foldedNumber(key), key)
      if (kind !== 'listing' || home === null) continue
      if (news.add(key).size > mostNew) return noneRespelled
      homes.add(home)
    }
    await breathe()
  }
  for await (const { unnamed } of isOlder ? [] : pendingBeside({ name, chatbot }, { store, workspace })) {
    const isOurs = await isKnown(unnamed)
    for (const { key, delivered } of unnamed)
      for (const result of delivered) {
        const home = result.kind === 'listing' && !isOurs(key) ? homeHashOf(result.listing) : null
        if (result.kind !== 'listing' || home === null) continue
        if (news.add(key).size > mostNew) return noneRespelled
        add(home, result.listing, { key, isKnown: false, position: null })
      }
  }
  if (homes.size + leaving.size === 0) return noneRespelled
  for (const row of homes.size === 0 ? [] : workspace.delivered()) {
    const { key, position, kind, home } = row
    if (kind !== 'listing' || !homes.has(home)) continue
    add(home, row.listing().listing, { key, isKnown: !news.has(key), position })
  }
  const staying: [said: string, ours: string][] = []
  for await (const page of store.snapshot.rows(chatbot)) {
    const quiet = page.filter((row) => row.feed === name && row.owned && !workspace.isDelivered(row.key))
    for (const { key } of leaving.size === 0 ? [] : quiet) {
      const said = leaving.get(foldedNumber(key))
      if (said !== undefined) staying.push([said, key])
    }
    // A row that was last read by an older version may not know its home.
    const isHere = ({ home, mapping: by }: SnapshotRow): boolean =>
      home === null ? by !== mapping.version : homes.has(home)
    const ours = new Map(homes.size === 0 ? [] : quiet.filter(isHere).map((row) => [row.key, row]))
    const sent = ours.size === 0 ? [] : await store.snapshot.confirmed(chatbot, name, [...ours.keys()])
    for (const [key, { listing }] of sent) {
      const { id, home } = ours.get(key)!
      const place = home ?? homeHashOf(listing)
      if (homes.has(place)) add(place, listing, { key, isKnown: true, position: workspace.isSeen(id) ? 0 : null })
    }
  }
  const gone = new Map<string, Delivered>()
  for (const some of alike.values()) {
    if (some.length > mostAlike) continue
    const isAlone = new Set(some.map(({ key }) => key)).size === 2
    for (const { key, isKnown, position } of some) {
      const other = some.find(
        (coming) =>
          coming.position !== null &&
          !(isKnown && coming.isKnown) &&
          (position === null || isLater?.(coming.position, position) === true) &&
          isRespelled(key, coming.key, isAlone),
      )
      if (other === undefined) continue
      const why = `its home comes as ${other.key}, which is the same MLSNumber in another spelling`
      gone.set(key, { kind: 'removal', at: `the record of ${other.key}`, mlsNumber: key, why })
      for (const kind of position === null ? [] : workspace.takeBack(key, null)) {
        summary.records--
        count(summary, kind, -1)
      }
    }
  }
  return { gone: [...gone.values()], notes: stayingNotes(staying.filter(([, ours]) => !gone.has(ours))) }
}

export const noneRespelled: { gone: readonly Delivered[]; notes: readonly string[] } = { gone: [], notes: [] }

/** Without an address nothing tells that they are the same. */
function stayingNotes([first, ...others]: readonly [said: string, ours: string][]): string[] {
  if (first === undefined) return []
  const [said, ours] = first
  const more = others.length === 0 ? '' : `, as of ${others.length} more`
  return [
    `The feed says that ${said} is gone, which is not known here, and ${ours}, which differs from it in spelling alone, stays${more}: if they are one listing, have the feed name it as before, or send a whole delivery`,
  ]
}

/** Whether two MLSNumbers differ in their spelling alone. `isAlone`: of homes at that address that may be the same, there are these two. */
function isRespelled(mlsNumber: string, other: string, isAlone: boolean): boolean {
  const [before, now] = [foldedNumber(mlsNumber), foldedNumber(other)]
  if (mlsNumber === other || !isSpelledAlike(before, now)) return false
  if (before !== now && !isAlone && Math.min(before.length, now.length) < leastPrefixed) return false
  // Floor 1, flat 11 is not floor 11, flat 1.
  const [ends, end] = [digitsOf(mlsNumber), digitsOf(other)].toSorted((some, others) => others.length - some.length)
  return end.length < 2 || ends.slice(-end.length).join('-') === end.join('-')
}

const digitsOf = (mlsNumber: string): string[] =>
  (mlsNumber.match(/\d+/g) ?? []).map((digits) => digits.replace(/^0+/, ''))
