/** What each vendor of the RESO Web API demands: one entry a vendor, and no rule of a vendor anywhere else. */

export interface Vendor {
  title: string
  /** Hosts that are this vendor's alone. */
  hosts: readonly string[]
  /** The field that changes with every change of a record. */
  stamp: string
  /** Most records of a page: whole ones, with other resources in them, and as keys alone. */
  top: { records: number; expanded: number; keys: number }
  /** A field that every filter must fix with `eq`. */
  fixes: string | null
  /** The only fields that a filter may use; null: any. */
  searchable: readonly string[] | null
  /** Whether it takes `$orderby`; else answers come in the order of the stamp. */
  orders: boolean
  /**
   * How all keys are walked: by their order, each page asked for after the last key, or by the links of this resource, which
   * is none of `Property`'s ordinary pages.
   */
  walk: 'order' | { resource: string; prefer?: string }
  /** The field by which one record is asked for: `ListingKey`, where it can be searched. */
  asks: 'ListingKey' | 'ListingId'
  /** Whether `$count` tells how many records there are. */
  counts: boolean
  /**
   * Milliseconds before the last timestamp from which changes are asked for again: what was written meanwhile may show later than
   * its timestamp, and a record may change twice within one; caches of a vendor may be late by far more.
   */
  overlap: number
  /** The field that changes with the pictures of a record alone, where `stamp` does not; null: `stamp` does. */
  pictures: string | null
  /** After so many milliseconds without a reading changes are lost: removed records are no longer told. */
  memory: number
  /** The flag of a record that says whether it may be seen; a first load asks for those that may. */
  visible: string | null
  /** Ids begin with a mark of the vendor, which readers are not shown. */
  marksIds: boolean
  /** Why pictures of this vendor can't be shown; null: they can. */
  noPictures: string | null
  /** Where tokens are from; null: a token that does not change. */
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

/** Where nothing is published, two requests a second are what the others take. */
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
    // A removed record is told for seven days.
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
    // ModificationTimestamp stays where only the pictures changed.
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
    // Counting is to be asked for once only: two walks prove as much.
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
