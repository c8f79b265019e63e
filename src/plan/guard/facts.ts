/** Facts that visitors rely on, and which changes of them are beyond belief: one listing may have such a change, not many at once. */
import type { FieldChange } from '../../core/compare-listings.ts'
import type { FieldName, Listing } from '../../core/listing.ts'
import { normalForm } from '../../core/text.ts'

export type FactKind = 'price' | 'class' | 'status' | 'place' | 'size' | 'emptied' | 'garbled'

interface Fact {
  /** Its fields. While the kind is held, they stay as they were sent last. */
  readonly fields: readonly FieldName[]
  /** It changes often, so as many listings may change it as may leave; of the other kinds fewer may (`allowed` in rules.ts). */
  readonly isOften?: true
  /** Words for "the price of 31 of 40 listings would change by more than 1.5 times" and "33 updates of prices". */
  readonly words: readonly [subject: string, predicate: string, plural: string]
  /** Whether a change is beyond belief. `before` is what was sent last, never what the service shows. */
  isBroken(before: Listing, after: Listing): boolean
  /** A coarse summary of its cosmetic fields: a hold stays the same hold while this does. */
  gist?(listing: Listing): unknown
}

/** Indexing and rounding change prices and areas, but seldom by more than this factor. */
const believable = 1.5
/** Kilometres. Geocoding the same home anew may move it this far. */
const nearby = 2
const rooms = 2
const years = 10
const squareFeetInSquareMeter = 10.7639
const kilometresInDegree = 111.2

/** A field that gives amounts their meaning, and these. If it changes, it and its changed amounts are held or sent together. */
const together: readonly FieldName[][] = [
  ['CurrencySymbol', 'SalePrice', 'RentPrice', 'UnitAreaPrice', 'HOAMonth', 'EstimatePrice', 'DepositFee'],
  ['SaleType', 'SalePrice', 'RentPrice'],
  ['AreaUnit', 'BuildingArea', 'LotArea', 'UnitAreaPrice'],
]
const texts = ['Description', 'Address', 'City', 'Location', 'PropertyType'] as const

export const facts: Readonly<Record<FactKind, Fact>> = {
  price: {
    fields: ['SalePrice', 'RentPrice'],
    words: ['the price', `change by more than ${believable} times`, 'prices'],
    isBroken: (before, after) =>
      (['SalePrice', 'RentPrice'] as const).some((field) => {
        // 0 and 1 stand for "no price" in many feeds: a price that comes for the first time breaks nothing.
        const [was, is] = [before[field] ?? 0, after[field] ?? 0]
        return was > 1 && (is <= 1 || isManyTimes(was, is))
      }),
  },
  class: {
    fields: ['CurrencySymbol', 'SaleType', 'AreaUnit', 'PropertyType'],
    words: ['the currency, unit or type, or sale or rent,', 'change', 'currency, unit, type, or sale or rent'],
    isBroken: (before, after) =>
      (['CurrencySymbol', 'SaleType', 'AreaUnit'] as const).some((field) => before[field] !== after[field]) ||
      plain(before.PropertyType) !== plain(after.PropertyType),
  },
  status: {
    fields: ['Status'],
    isOften: true,
    words: ['the status', 'change', 'status'],
    isBroken: (before, after) => before.Status !== after.Status,
  },
  place: {
    fields: ['Address', 'City', 'State', 'ZIP', 'Location', 'Latitude', 'Longitude'],
    words: ['the place', `disappear, or change to another city or by more than ${nearby} km`, 'places'],
    isBroken: (before, after) =>
      (isThere(before.City) && plain(before.City) !== plain(after.City ?? '')) ||
      (isThere(before.Address) && !isThere(after.Address)) ||
      isFar(before, after),
    // In tenths of a degree, some ten kilometres.
    gist: ({ Latitude, Longitude }) => [Latitude, Longitude].map((degrees) => Math.round((degrees ?? NaN) * 10)),
  },
  size: {
    fields: ['AreaUnit', 'BuildingArea', 'LotArea', 'Bedrooms', 'Bathrooms', 'YearBuilt'],
    words: [
      'the size, rooms or year',
      `change by more than ${believable} times, ${rooms} rooms or ${years} years`,
      'size, rooms or year',
    ],
    isBroken: (before, after) =>
      (['BuildingArea', 'LotArea'] as const).some((field) => {
        const was = inSquareFeet(before[field], before.AreaUnit)
        return was > 0 && isManyTimes(was, inSquareFeet(after[field], after.AreaUnit))
      }) ||
      (['Bedrooms', 'Bathrooms'] as const).some((field) => {
        const [was, is] = [before[field], after[field]]
        return was > 0 && (is === 0 || Math.abs(was - is) >= rooms)
      }) ||
      (before.YearBuilt > 0 && Math.abs(before.YearBuilt - after.YearBuilt) >= years),
  },
  emptied: {
    fields: ['Images', 'Description'],
    words: ['the photos or description', 'disappear', 'photos or descriptions'],
    isBroken: (before, after) =>
      ((before.Images?.length ?? 0) > 0 && (after.Images?.length ?? 0) === 0) ||
      (isThere(before.Description) && !isThere(after.Description)),
    gist: ({ Images, Description }) => [(Images?.length ?? 0) > 0, isThere(Description)],
  },
  garbled: {
    fields: texts,
    words: ['the text', 'become unreadable', 'texts'],
    isBroken: (before, after) =>
      texts.some((field) => isReadable(before[field] ?? '') && !isReadable(after[field] ?? '')),
    gist: (listing) => texts.map((field) => isReadable(listing[field] ?? '')),
  },
}

export const factKinds = Object.keys(facts) as readonly FactKind[]
export const isFact = (what: string): what is FactKind => Object.hasOwn(facts, what)

/** The kinds of fact that change beyond belief. */
export function factsBroken(before: Listing, after: Listing): FactKind[] {
  return factKinds.filter((kind) => facts[kind].isBroken(before, after))
}

/** Of the changed fields, those that stay while `kind` is held: its own, and those that belong together with them. */
export function fieldsOfFact(kind: FactKind, changes: readonly FieldChange[]): FieldName[] {
  const changed = changes.map(({ field }) => field)
  const held = new Set(changed.filter((field) => facts[kind].fields.includes(field)))
  // Two passes, as a field that one group adds (UnitAreaPrice) may bring in another group.
  for (const group of [...together, ...together])
    if (changed.includes(group[0]) && group.some((field) => held.has(field))) for (const field of group) held.add(field)
  return changed.filter((field) => held.has(field))
}

/** Fields whose exact value no visitor relies on. A hold stays the same hold when only these change. */
export const cosmetic: ReadonlySet<FieldName> = new Set([
  'Description',
  'Images',
  'Url',
  'Tours',
  'ExtensionColumn',
  'UnitAreaPrice',
  'Latitude',
  'Longitude',
])

const isManyTimes = (was: number, is: number): boolean => is <= 0 || Math.max(was / is, is / was) > believable
const inSquareFeet = (area: number, unit: Listing['AreaUnit']): number =>
  unit === 'Square Meters' ? area * squareFeetInSquareMeter : area
const isThere = (text: string | undefined): text is string => text !== undefined && text.trim() !== ''

/** Letters and digits alone: spelling and case are no change. */
const plain = (text: string): string =>
  normalForm(text, 'NFKD')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase()

/** Whether a home moved by more than `nearby`, or lost its position. */
function isFar(before: Listing, after: Listing): boolean {
  const [from, to] = [positionOf(before), positionOf(after)]
  if (from === null || to === null) return from !== null
  // Degrees of longitude by the shorter way round, also across the date line.
  const turn = ((((from.longitude - to.longitude) % 360) + 540) % 360) - 180
  const east = turn * Math.cos((from.latitude * Math.PI) / 180)
  return Math.hypot(from.latitude - to.latitude, east) * kilometresInDegree > nearby
}

/** 0, 0 stands for no position. */
function positionOf({ Latitude: latitude, Longitude: longitude }: Listing) {
  const isNone = latitude === undefined || longitude === undefined || (latitude === 0 && longitude === 0)
  return isNone ? null : { latitude, longitude }
}

/** Traces of a wrong encoding: pairs of UTF-8 read as Latin-1, replacement characters, question marks inside words. */
const traces = /\uFFFD|[ÃÂ][\u0080-\u00BF]|â(?:€|\u0080)|\p{L}\?{1,2}\p{L}|\?{4}/gu

/** Whether a text has at most one trace of a wrong encoding in a hundred characters. */
const isReadable = (text: string): boolean => (text.match(traces)?.length ?? 0) * 100 <= text.length
