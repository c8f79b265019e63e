/** What each vendor of the RESO Web API demands. Each has one entry, and its rules are nowhere else. */

export interface Vendor {
  title: string
  /** Hosts of this vendor alone. */
  hosts: readonly string[]
  /** The field that changes with every change of a record. */
  stamp: string
  /** Most records on a page: whole, with other resources expanded, and as keys alone. */
  top: { records: number; expanded: number; keys: number }
  /** A field that every filter must fix with `eq`. */
  fixes: string | null
  /** The only fields that a filter may use; null: any. */
  searchable: readonly string[] | null
  /** Whether it takes `$orderby`; else answers come in the order of the stamp. */
  orders: boolean
  /**
   * How all keys are walked. `order`: by key, each page after the last key of the one before. Else: by the links of this resource,
   * which differ from those of `Property`.
   */
  walk: 'order' | { resource: string; prefer?: string }
  /** The field by which one record is asked for: `ListingKey`, if that can be searched. */
  asks: 'ListingKey' | 'ListingId'
  /** Whether `$count` tells how many records there are. */
  counts: boolean
  /**
   * Milliseconds before the last timestamp from which changes are asked for again. A change may show later than its timestamp, a record
   * may change twice within one, and a vendor's caches may be late by far more.
   */
  overlap: number
  /** The field that changes when only a record's pictures do; null: `stamp` changes then, too. */
  pictures: string | null
  /** After so many milliseconds without a reading, changes are lost, as removed records are no longer told. */
  memory: number
  /** The flag that says whether a record may be shown. A first load asks for those that may. */
  visible: string | null
  /** Ids begin with a mark of the vendor, which is not shown to readers. */
  marksIds: boolean
  /** Why pictures of this vendor can't be shown; null: they can. */
  noPictures: string | null
  /** Where tokens come from; null: the token never changes. */
  token: { url: string | null; scope: string } | null
  limits: Limits
}

/** Requests, and bytes as they were sent, in a second, an hour and a day; Infinity: no such limit is published. */
export interface Limits {
  second: number
  minute: number
  hour: number
  day: number
  hourBytes: number
  dayBytes: number
}

const giga = 1_000_000_000
const minute = 60_000
const day = 86_400_000

/** For vendors that publish no limits: two requests a second, as the others allow. */
const unpublished: Limits = {
  second: 2,
  minute: Infinity,
  hour: Infinity,
  day: Infinity,
  hourBytes: Infinity,
  dayBytes: Infinity,
}

const generic: Vendor = {
  title: 'the RESO Web API',
  hosts: [],
  stamp: 'ModificationTimestamp',
  top: { records: 100, expanded: 100, keys: 100 },
  fixes: null,
  searchable: null,
  orders: true,
  walk: 'order',
  asks: 'ListingKey',
  counts: true,
  overlap: minute,
  pictures: null,
  memory: Infinity,
  visible: null,
  marksIds: false,
  noPictures: null,
  token: null,
  limits: unpublished,
}

export const vendors = {
  mlsgrid: {
    ...generic,
    title: 'MLS Grid',
    hosts: ['api.mlsgrid.com'],
    top: { records: 5000, expanded: 1000, keys: 5000 },
    fixes: 'OriginatingSystemName',
    searchable: [
      'OriginatingSystemName',
      'ModificationTimestamp',
      'StandardStatus',
      'PropertyType',
      'ListingId',
      'MlgCanView',
      'ListOfficeMlsId',
    ],
    orders: false,
    walk: { resource: 'Property' },
    asks: 'ListingId',
    counts: false,
    // Removed records are told for seven days.
    memory: 6 * day,
    visible: 'MlgCanView',
    marksIds: true,
    noPictures: 'its pictures are signed for one hour and one download, and are not for display',
    limits: { ...unpublished, hour: 7200, day: 40_000, hourBytes: 4 * giga, dayBytes: 60 * giga },
  },
  bridge: {
    ...generic,
    title: 'Bridge',
    hosts: ['api.bridgedataoutput.com'],
    // ModificationTimestamp does not change with the pictures.
    stamp: 'BridgeModificationTimestamp',
    top: { records: 200, expanded: 200, keys: 2000 },
    walk: { resource: 'Property/replication' },
    counts: false,
    limits: { ...unpublished, second: Infinity, minute: 334, hour: 5000 },
  },
  trestle: {
    ...generic,
    title: 'Trestle',
    hosts: ['api.cotality.com', 'api-trestle.corelogic.com', 'api-prod.corelogic.com'],
    top: { records: 1000, expanded: 1000, keys: 1000 },
    pictures: 'PhotosChangeTimestamp',
    token: { url: 'https://api.cotality.com/trestle/oidc/connect/token', scope: 'api' },
    limits: { ...unpublished, second: Infinity, minute: 180, hour: 7200 },
  },
  spark: {
    ...generic,
    title: 'Spark',
    hosts: ['replication.sparkapi.com', 'sparkapi.com'],
    top: { records: 1000, expanded: 1000, keys: 1000 },
    overlap: 20 * minute,
  },
  crea: {
    ...generic,
    title: 'CREA DDF',
    hosts: ['ddfapi.realtor.ca'],
    walk: { resource: 'PropertyReplication()' },
    // The vendor wants counts asked for only once. Two walks prove as much.
    counts: false,
    token: { url: 'https://identity.crea.ca/connect/token', scope: 'DDFApi_Read' },
  },
  utah: {
    ...generic,
    title: 'UtahRealEstate',
    hosts: ['resoapi.utahrealestate.com'],
    top: { records: 200, expanded: 200, keys: 200 },
  },
  generic: { ...generic, token: { url: null, scope: '' } },
} satisfies Record<string, Vendor>

export type VendorName = keyof typeof vendors

/** The vendor with a name. */
export const vendorOf = (name: VendorName): Vendor => vendors[name]
