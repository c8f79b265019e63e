/**
 * Compresses the listings in a file, sent or pending, to a third of their size. On PostgreSQL they are text, which it compresses
 * itself.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type Database from 'better-sqlite3'
import { column } from './connection.ts'

/** Text that nearly every listing contains. Never change it: without it, listings in stores can't be read. */
const dictionary = Buffer.from(
  '"DaysOnMarket":"UnitAreaPrice":"EstimatePrice":"DepositFee":"HOAMonth":"SpaceType":["RentPrice":"Location":"ExtensionColumn":[{"Key":"","value":""},{"Key":"Tours":["https://","SaleType":"for_rent","SaleType":"for_sale","Status":"Active","CurrencySymbol":"$","PropertyType":"Apartment","PropertyType":"House","Bedrooms":3,"Bathrooms":2,"Url":"https://www.","YearBuilt":20,"YearBuilt":19,"LotArea":"BuildingArea":1,"AreaUnit":"sqft","ParkingSpots":2,"Address":"1 Street","Address":" Avenue","City":"","State":"","ZIP":"","Latitude":"Longitude":-"SalePrice":"Description":"This home with a kitchen, bedroom and bathroom, a garage and the ","Images":["https://photos.",".jpeg","https://",".png","https://",".jpg","https://"],"MLSNumber":"',
)
/** Bytes. No listing is as long. A limit, so that a file that was tampered with can't fill the memory. */
const maxOutputLength = 2 ** 26

/** For texts of a few kB: no worse than zlib's defaults, in half the time and a tenth of the memory. */
const small = { windowBits: 13, memLevel: 5, chunkSize: 4096 }

/** Reused for the bytes of each text: a new buffer each time would be garbage that V8 does not see, and leaves for long. */
const bytes = Buffer.alloc(65_536)

export function pack(text: string): Buffer {
  // A character takes three bytes at most.
  const isSmall = text.length * 3 <= bytes.length
  return deflateRawSync(isSmall ? bytes.subarray(0, bytes.write(text)) : text, { dictionary, ...small })
}

/** The text of what is kept: packed, or plain as earlier versions left it. */
export function unpack(kept: Uint8Array | string): string
export function unpack(kept: Uint8Array | string | null): string | null
export function unpack(kept: Uint8Array | string | null): string | null {
  if (kept === null || typeof kept === 'string') return kept
  return inflateRawSync(kept, { dictionary, maxOutputLength }).toString('utf8')
}

/** The first version of the schema with packed listings. */
export const packedSince = 17

const batch = 1000

/**
 * Packs what earlier versions left as text, some rows in each transaction. If it is interrupted, the next opening goes on. `changing`
 * is called before each transaction.
 */
export function packAll(database: Database.Database, changing: () => void): void {
  const texts = database.prepare<[], { id: number; listing: string }>(
    `SELECT id, listing FROM payload WHERE listing IS NOT NULL LIMIT ${batch}`,
  )
  const save = database.prepare('UPDATE payload SET packed = ?, listing = NULL WHERE id = ? AND listing IS NOT NULL')
  const some = database.transaction((): number => {
    const rows = texts.all()
    for (const { id, listing } of rows) save.run(pack(listing), id)
    return rows.length
  })
  while (texts.get() !== undefined) {
    changing()
    some.immediate()
  }
}

/**
 * How many of the free pages (4 kB each) are given back at once. An eighth of the file stays free for what comes. 40 MB take less than
 * a second. Of a large store, whose runs take long anyway, it is a sixteenth: else it would take days to give back what a first load
 * of a million no longer needs.
 */
export function mostGivenBack(pages: number, free: number): number {
  const over = free - Math.ceil(pages / 8)
  return Math.max(0, Math.min(over, Math.max(10_000, Math.floor(pages / 16))))
}

/** Gives pages that deletes have left free back to the disk, some at a time. */
export function giveBack(database: Database.Database): void {
  const count = (name: string): number => column<number>(database, `PRAGMA ${name}`).get()!
  const pages = mostGivenBack(count('page_count'), count('freelist_count'))
  if (pages > 0) database.pragma(`incremental_vacuum(${pages})`)
}
