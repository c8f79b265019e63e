/** How each vendor's API behaves, as far as it is documented or was seen. */

export interface Profile {
  /** Digits behind the second of a timestamp. */
  digits: number
  stamp: 'ModificationTimestamp' | 'BridgeModificationTimestamp'
  /** The timestamp that changes with the pictures alone; null: that of the record does. */
  pictures: 'PhotosChangeTimestamp' | null
  /** `$top` if none is given, and the most that is taken; more is an error. */
  page: { usual: number; most: number; expanded: number; keys: number }
  /** How the next page is named. */
  next: 'skip' | 'token' | 'dying'
  /** A full page has a link to a next one, also if that is empty. */
  linksFullPages: boolean
  /** Furthest row that `$skip` reaches. */
  deepest: number
  needs: string | null
  searchable: readonly string[] | null
  gzipOnly: boolean
  /** `$count=true` is answered; `joined`: with `$expand` it counts each joined row. */
  count: 'right' | 'none' | 'joined'
  /** Rows come in this order whatever is asked for; null: as asked. */
  fixedOrder: 'stamp' | null
  /** A resource with the keys of all records. */
  replication: { resource: string; most: number; link: 'body' | 'header' } | null
  token: { path: string; seconds: number } | null
  /** Requests in so many milliseconds. */
  limits: readonly { most: number; within: number }[]
  quotaHeaders: boolean
  /** A removed record is told by its flag for so long. */
  hides: number | null
  /** Words without blanks. */
  squeezed: boolean
  /** What an enum is compared with. */
  enums: 'text' | 'has'
  /** Pictures whose addresses end. */
  signsMedia: boolean
  /** Every id begins with it. */
  mark: string
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const generic: Profile = {
  digits: 3,
  stamp: 'ModificationTimestamp',
  pictures: null,
  page: { usual: 100, most: 1000, expanded: 1000, keys: 1000 },
  next: 'skip',
  linksFullPages: false,
  deepest: Infinity,
  needs: null,
  searchable: null,
  gzipOnly: false,
  count: 'right',
  fixedOrder: null,
  replication: null,
  token: { path: '/token', seconds: 3600 },
  limits: [],
  quotaHeaders: false,
  hides: null,
  squeezed: false,
  enums: 'text',
  signsMedia: false,
  mark: '',
}

export const profiles = {
  mlsgrid: {
    ...generic,
    page: { usual: 500, most: 5000, expanded: 1000, keys: 5000 },
    needs: 'OriginatingSystemName',
    searchable: [
      'OriginatingSystemName',
      'ModificationTimestamp',
      'StandardStatus',
      'PropertyType',
      'ListingId',
      'MlgCanView',
      'ListOfficeMlsId',
    ],
    gzipOnly: true,
    count: 'none',
    fixedOrder: 'stamp',
    token: null,
    limits: [
      { most: 2, within: second },
      { most: 7200, within: hour },
      { most: 40_000, within: day },
    ],
    hides: 7 * day,
    signsMedia: true,
    mark: 'ACT',
  },
  bridge: {
    ...generic,
    stamp: 'BridgeModificationTimestamp',
    page: { usual: 10, most: 200, expanded: 200, keys: 200 },
    deepest: 10_000,
    replication: { resource: 'Property/replication', most: 2000, link: 'header' },
    token: null,
    limits: [
      { most: 334, within: minute },
      { most: 5000, within: hour },
    ],
  },
  trestle: {
    ...generic,
    digits: 7,
    pictures: 'PhotosChangeTimestamp',
    page: { usual: 10, most: 1000, expanded: 1000, keys: 300_000 },
    next: 'dying',
    linksFullPages: true,
    count: 'joined',
    token: { path: '/trestle/oidc/connect/token', seconds: 28_800 },
    limits: [
      { most: 180, within: minute },
      { most: 7200, within: hour },
    ],
    quotaHeaders: true,
    squeezed: true,
  },
  spark: { ...generic, page: { usual: 10, most: 1000, expanded: 1000, keys: 1000 }, next: 'token', token: null },
  crea: {
    ...generic,
    digits: 2,
    page: { usual: 20, most: 100, expanded: 100, keys: 100 },
    deepest: 10_000,
    replication: { resource: 'PropertyReplication()', most: 100, link: 'body' },
    token: { path: '/connect/token', seconds: 3600 },
  },
  utah: { ...generic, page: { usual: 200, most: 200, expanded: 200, keys: 200 }, enums: 'has', token: null },
  generic,
} satisfies Record<string, Profile>

export type ProfileName = keyof typeof profiles
export const profileNames = Object.keys(profiles) as ProfileName[]
