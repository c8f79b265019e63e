/** The service's list items in the workspace, and what was sent of listings last. */
import type Database from 'better-sqlite3'
import { BitSet } from '../core/bit-set.ts'
import { homeFields } from '../core/home.ts'
import type { Shown } from '../core/listing.ts'
import type { ShownRow } from '../plan/inputs.ts'
import { inOneGo, paged } from './scratch-file.ts'
import { foldedNumber } from './spelling.ts'
import type { Workspace } from './workspace.ts'

const pageRows = 1000
/** More listings than that have hardly one number but for its spelling. */
const spellingsTried = 20
/** No service cuts numbers as short as that: it may be another home's. */
const leastCut = 10

type StoredShown = Omit<ShownRow, 'shown' | 'isFormer'> & { number: number; isFormer: number }

export function createShown(database: Database.Database) {
  // The service may show one MLSNumber twice (docs/service.md, S3): the number tells the items apart.
  let last = 0
  let asBefore = new BitSet()
  const add = database.prepare('INSERT INTO shown VALUES (?, ?, ?, ?, ?)')
  const addItem = database.prepare('INSERT INTO shown_item VALUES (?, ?)')
  const itemAt = database.prepare<[number], string>('SELECT item FROM shown_item WHERE number = ?').pluck()
  const page = database.prepare<[string, number], StoredShown>(
    `SELECT key, number, hash, owner, is_former AS isFormer FROM shown WHERE (key, number) > (?, ?) ORDER BY key, number LIMIT ${pageRows}`,
  )
  const itemsOf = database.prepare<[string], Pick<StoredShown, 'hash' | 'number'>>(
    'SELECT hash, number FROM shown WHERE key = ?',
  )
  function readItem(number: number): Shown | null {
    const item = itemAt.get(number)
    return item === undefined ? null : JSON.parse(item)
  }
  database.function('foldedNumber', { deterministic: true }, foldedNumber)
  let isFolded = false
  const fold = inOneGo(database, () => {
    database.exec(`CREATE TABLE IF NOT EXISTS spelling (folded TEXT NOT NULL, key TEXT NOT NULL, number INTEGER NOT NULL,
      PRIMARY KEY (folded, number)) STRICT, WITHOUT ROWID;
      DELETE FROM spelling; INSERT INTO spelling SELECT foldedNumber(key), key, number FROM shown`)
    isFolded = true
  })
  /** What was cut comes shortly before the whole. */
  const nearest = `SELECT folded, key, number FROM spelling WHERE folded <= ? ORDER BY folded DESC LIMIT ${spellingsTried}`
  const note = database.prepare('INSERT OR REPLACE INTO noted_listing VALUES (?, ?)')
  const noted = database.prepare<[string], string>('SELECT listing FROM noted_listing WHERE key = ?').pluck()
  return {
    noteListings: inOneGo(database, (listings: Parameters<Workspace['noteListings']>[0]) => {
      for (const listing of listings) note.run(listing.MLSNumber, JSON.stringify(listing, [...homeFields]))
    }),
    notedListing(key: string): ReturnType<Workspace['notedListing']> {
      const listing = noted.get(key)
      return listing === undefined ? null : JSON.parse(listing)
    },
    addShown: inOneGo(database, (rows: Parameters<Workspace['addShown']>[0]) => {
      for (const { item, keep } of rows) {
        last++
        add.run(item.mlsNumber, last, item.hash, item.owner, item.isFormer ? 1 : 0)
        if (keep) addItem.run(last, JSON.stringify(item.whole()))
      }
      isFolded = false
    }),
    spelledAs(mlsNumber: string): ReturnType<Workspace['spelledAs']> {
      if (!isFolded) fold()
      const sent = foldedNumber(mlsNumber)
      const near = database.prepare<[string], { folded: string; key: string; number: number }>(nearest).all(sent)
      return near.flatMap(({ folded, key, number }) => {
        const isCut = key.length >= leastCut && mlsNumber.startsWith(key)
        const shown = key !== mlsNumber && (folded === sent || isCut) ? readItem(number) : null
        return shown === null ? [] : { listed: key, shown }
      })
    },
    clearShown: inOneGo(database, () => {
      database.exec('DELETE FROM shown; DELETE FROM shown_item')
      last = 0
      isFolded = false
      asBefore = new BitSet()
    }),
    addShownAsBefore: (id: number) => asBefore.add(id),
    isShownAsBefore: (id: number) => asBefore.has(id),
    *shown(): Generator<ShownRow> {
      const rows = paged<StoredShown>(pageRows, (after) => page.all(after?.key ?? '', after?.number ?? 0))
      for (const { number, isFormer, ...row } of rows)
        yield { ...row, isFormer: isFormer === 1, shown: () => readItem(number) }
    },
    shownAs: (key: string) => itemsOf.all(key).map(({ hash, number }) => ({ hash, shown: () => readItem(number) })),
  }
}
