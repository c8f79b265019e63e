/** The decision table of docs/design.md. `present.ts` has its rows for a listing, and `absent.ts` those for one that is gone. Pure. */
import { contentHash } from '../core/hash.ts'
import { caughtUp, listingAt } from '../core/listing.ts'
import type { MovingListing } from '../core/listing.ts'
import { andMore } from '../core/text.ts'
import { leaving } from './absent.ts'
import { hold } from './change.ts'
import type { Change } from './change.ts'
import { present } from './present.ts'
import type { Case, WantedListing } from './situation.ts'

/** Of so many records of one MLSNumber a hold says where they are: a wrong column may give all of them the same. */
const placesShown = 5

export interface Decision {
  situation: Case
  changes: readonly Change[]
  /** The feed holds it, and nothing has to change. */
  isUnchanged: boolean
  /** How many of its records repeat another one exactly. */
  duplicates: number
}

/** Decides what is to be done about one MLSNumber, and adds to `one.notes` what the store should remember. */
export function decide(situation: Case): Decision {
  const { key, delivered, seen, history, notes } = situation
  const wanted = wantedListings(situation)
  const changes = changesOf(situation, wanted)
  if (history.absence !== null && (seen || delivered.length > 0)) notes.push({ op: 'returned', key })
  const isThere = seen || delivered.some(({ kind }) => kind !== 'removal' && kind !== 'filtered')
  if (isThere && history.holds.some(({ part }) => part === 'delete')) notes.push({ op: 'still-there', key })
  const listings = delivered.filter(({ kind }) => kind === 'listing').length + (seen ? 1 : 0)
  const isUnchanged = wanted.length > 0 && changes.length === 0
  return { situation, changes, isUnchanged, duplicates: listings - wanted.length }
}

function changesOf(situation: Case, wanted: readonly WantedListing[]): Change[] {
  const { key, delivered, seen } = situation
  const reject = delivered.find(({ kind }) => kind === 'reject')
  const stated = delivered.find(({ kind }) => kind === 'removal' || kind === 'filtered') ?? null
  // A new listing's home may be on the site under another number, which stays until this one is clear.
  const isNew = !situation.ours && situation.shown.length === 0
  const holdEach = (why: string): Change[] =>
    wanted.map(({ home }) => hold({ mlsNumber: key }, 'twice-delivered', why, isNew ? { home } : {}))
  if (reject !== undefined && wanted.length === 0 && isNew && reject.home !== null) {
    const why = `its record (${reject.at}) can't be read: correct the feed`
    situation.notes.push({ op: 'unreadable', key, home: reject.home, why })
  }
  if (reject !== undefined)
    return holdEach(`another record of this MLSNumber (${reject.at}) can't be read: correct the feed`)
  if (wanted.length > 1 || (wanted.length === 1 && stated !== null)) {
    const places = [...delivered.map(({ at }) => at), ...(seen ? ['a record unchanged since the last run'] : [])]
    const where = andMore(places.slice(0, placesShown), places.length, '; ')
    return holdEach(`several records have this MLSNumber and differ (${where}): correct the feed`)
  }
  const change = wanted.length === 1 ? present(situation, wanted[0]) : leaving(situation, stated)
  return change === null ? [] : [change]
}

/** The listings delivered for this MLSNumber, each different one once. */
function wantedListings({ delivered, row, seen, settings, recall }: Case): WantedListing[] {
  const { now, today, volatile, mapping } = settings
  const readingOf = (read: () => MovingListing): Pick<WantedListing, 'listing' | 'placeholders'> => {
    let listing: MovingListing | undefined
    const once = (): MovingListing => (listing ??= read())
    return { listing: () => listingAt(once(), now, today), placeholders: () => once().moving.placeholders ?? [] }
  }
  const wanted = new Map<string, WantedListing>()
  if (seen && row !== null) {
    const reading = readingOf(() => caughtUp(recall(row.id)))
    const moved = row.movesAt !== null && row.movesAt <= now
    const content = moved ? contentHash(reading.listing(), volatile.fields) : row.content!
    wanted.set(content, { content, at: { snapshot: row.id }, home: row.home, byMapping: false, ...reading })
  }
  for (const record of delivered) {
    if (record.kind !== 'listing' || wanted.has(record.content!)) continue
    wanted.set(record.content!, {
      content: record.content!,
      at: { delivered: record.position },
      home: record.home,
      byMapping: row !== null && row.raw !== null && row.raw === record.raw && row.mapping !== mapping,
      ...readingOf(() => record.listing()),
    })
  }
  return [...wanted.values()]
}
