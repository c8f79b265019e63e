/**
 * One delivery through the feed stage as a run takes it: real bytes in a file, the real transport, format, mapping, store
 * and workspace; what became of every record, and what is said of the whole.
 */
import { presetAt, presetFileOf } from '../../src/config/presets.ts'
import { noDelivery } from '../../src/store/deliveries.ts'
import { systemClock } from '../../src/core/machine.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Listing } from '../../src/core/listing.ts'
import { formats } from '../../src/feed/format/formats.ts'
import { createMapping } from '../../src/feed/mapping/create-mapping.ts'
import type { MappingOptions } from '../../src/feed/mapping/preset.ts'
import { decompressed } from '../../src/feed/transport/decompress.ts'
import { file as fileTransport } from '../../src/feed/transport/file.ts'
import { transportSettings } from '../../src/feed/transport/settings.ts'
import type { Opened } from '../../src/feed/transport/transport.ts'
import { planSettings } from '../../src/plan/settings.ts'
import { dryMirror } from '../../src/run/mirror.ts'
import { receive } from '../../src/run/receive.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { openWorkspace } from '../../src/workspace/sqlite.ts'

export interface DeliveryOptions extends MappingOptions {
  preset: string
  encoding?: string
  /** Of a Content-Type header. */
  charset?: string
  maxRecordBytes?: number
  endsWithLineBreak?: boolean
}

export interface Delivery {
  /** Listings by MLSNumber, in the order of their numbers. */
  listings: Record<string, Listing>
  /** Rejects in the order of the delivery: MLSNumber (null: none) and problems, each beginning with its field. */
  rejects: { mlsNumber: string | null; problems: string[] }[]
  /** MLSNumbers of removals and records that `where` left out. */
  left: string[]
  complete: boolean
  reasons: string[]
  notes: string[]
}

/** Receives these bytes. Throws what the stage throws where they are no feed. */
export async function delivered(bytes: Buffer | string, options: DeliveryOptions): Promise<Delivery> {
  const { preset, charset = null, encoding, maxRecordBytes = 4_000_000, endsWithLineBreak, ...mapped } = options
  const transport = { ...transportSettings.parse({ encoding, endsWithLineBreak }), maxRecordBytes }
  const mapping = createMapping(presetAt(presetFileOf(preset, '.')), mapped)
  const folder = mkdtempSync(join(tmpdir(), 'listing-sync-delivery-'))
  const store = openStore(join(folder, 'store.db'))
  const workspace = openWorkspace()
  const { signal } = new AbortController()
  try {
    writeFileSync(join(folder, 'feed'), bytes)
    const opened = await fileTransport('feed', {
      directory: folder,
      ...transport,
      clock: { now: () => 0, sleep: () => Promise.resolve() },
      validators: null,
      scratch: folder,
      signal,
    })
    if (opened === 'not-modified') throw new Error('a file is never "not modified"')
    const feed = {
      name: 'north',
      chatbot: 'SN-1',
      source: 'feed',
      open: () => Promise.resolve({ ...opened, charset }),
      decompress: (source: Opened) => decompressed(source, { ...transportSettings.parse({}), scratch: folder }),
      format: formats[mapping.format],
      transport,
      mapping,
      plan: planSettings.parse({}),
    }
    const moment = { now: Date.parse('2026-11-21T12:00:00Z'), today: '2026-11-21', timezone: 'UTC' }
    const tools = { store, workspace, signal, runtime: { clock: systemClock }, progress: () => undefined }
    const past = { moment, validators: null, last: noDelivery }
    const { summary, notes } = await receive(feed, tools, past, dryMirror(feed, store))
    const rows = [...workspace.delivered()]
    const listings = rows.filter(({ kind }) => kind === 'listing').map((row) => [row.key, row.listing().listing])
    return {
      listings: Object.fromEntries(listings),
      rejects: [...workspace.rejects()].map(({ mlsNumber, problems }) => ({ mlsNumber, problems })),
      left: rows.filter(({ kind }) => kind === 'removal' || kind === 'filtered').map(({ key }) => key),
      complete: summary.complete,
      reasons: summary.reasons,
      notes,
    }
  } finally {
    workspace.close()
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Elements or cells by name that replace the usual ones of a record. */
export type Changes = Record<string, string>

/** One ZIF record, `path` → text of its element as it stands in the document (escaped by the caller). */
export function zillowHome(mlsNumber: string, changes: Changes = {}, more = ''): string {
  const values: Changes = {
    'Location/StreetAddress': '1 Main St',
    'Location/City': 'Springfield',
    'ListingDetails/Status': 'Active',
    'ListingDetails/Price': '250000',
    'ListingDetails/ListingUrl': 'https://homes.example/1',
    'ListingDetails/MlsId': mlsNumber,
    'ListingDetails/DateListed': '2026-11-11',
    'BasicDetails/PropertyType': 'Condo',
    'BasicDetails/Description': 'Two bedrooms',
    'BasicDetails/Bedrooms': '2',
    'BasicDetails/Bathrooms': '1.5',
    'BasicDetails/LivingArea': '900',
    'BasicDetails/LotSize': '0.1',
    'BasicDetails/YearBuilt': '1990',
    'RichDetails/NumParkingSpaces': '1',
    ...changes,
  }
  const groups = Map.groupBy(Object.entries(values), ([path]) => path.split('/')[0])
  const body = [...groups].map(([group, leaves]) => {
    const elements = leaves.map(([path, value]) => `<${path.split('/')[1]}>${value}</${path.split('/')[1]}>`)
    return `<${group}>${elements.join('')}</${group}>`
  })
  return `<Listing>${body.join('')}${more}</Listing>`
}

export function zillowDocument(...records: string[]): string {
  return `<?xml version="1.0"?>\n<Listings>\n${records.join('\n')}\n</Listings>\n`
}

const resoValues: Changes = {
  ListingId: '',
  StandardStatus: 'Active',
  PropertyType: 'Residential',
  ListPrice: '250000',
  BedroomsTotal: '2',
  BathroomsFull: '1',
  LivingArea: '900',
  LotSizeAcres: '0.1',
  YearBuilt: '1990',
  DaysOnMarket: '10',
  ParkingTotal: '1',
  City: 'Springfield',
  Country: 'US',
  PublicRemarks: 'Two bedrooms',
  ListingURL: 'https://homes.example/1',
}

/** The columns of `resoRow`. */
export const resoHeader = Object.keys(resoValues).join(',')

/** A row of a RESO CSV; cells stand as they are given (quoted by the caller). */
export function resoRow(mlsNumber: string, changes: Changes = {}): string {
  return Object.values({ ...resoValues, ListingId: mlsNumber, ...changes }).join(',')
}

/** A table of these rows below the usual header. */
export function resoTable(...rows: string[]): string {
  return `${[resoHeader, ...rows].join('\n')}\n`
}
