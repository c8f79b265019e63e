/** Compares a wanted listing field by field with what the service shows. Pure. */
import { fieldRules, ownerKey, unescapeHtml } from './listing.ts'
import type { ExtensionEntry, FieldName, FieldRule, FieldValue, Listing, Shown } from './listing.ts'

const money = new Set<FieldName>(['SalePrice', 'UnitAreaPrice', 'HOAMonth', 'EstimatePrice', 'RentPrice', 'DepositFee'])
const coordinates = new Set<FieldName>(['Latitude', 'Longitude'])
/** List items have no member for these, so what the service holds there is unknown. */
const neverShown = new Set<FieldName>(['AreaUnit', 'Location'])

/**
 * The fields in which `shown` is not as `wanted`, in the order of `fieldRules`: `from` as shown, `to` as wanted, null where
 * absent. Not compared: AreaUnit and Location (no list item shows them), unreadable fields, and `volatile` ones.
 * Numbers may differ by 1e-9 of their size, money by half a hundredth, coordinates by 1e-6; texts in white space and HTML
 * escaping; entries of ExtensionColumn in their order (docs/service.md, S11 to S13).
 */
export function differences(
  wanted: Listing,
  shown: Shown,
  volatile: ReadonlySet<FieldName> = new Set(),
): FieldChange[] {
  const changes: FieldChange[] = []
  for (const rule of fieldRules) {
    const field = rule.name
    if (neverShown.has(field) || volatile.has(field) || shown.unreadable.includes(field)) continue
    const from = filled(shown.fields[field])
    const to = filled(field === 'ExtensionColumn' ? withoutOwner(wanted.ExtensionColumn) : wanted[field])
    if (!isSame(rule, from, to)) changes.push({ field, from, to })
  }
  return changes
}

/** Of `fields`, those in which two of our own listings differ, to the letter. */
export function changedFields(from: Listing, to: Listing, fields: Iterable<FieldName>): FieldChange[] {
  const changes: FieldChange[] = []
  for (const field of fields) {
    const before: FieldValue | undefined = from[field]
    const after: FieldValue | undefined = to[field]
    if (before === after || JSON.stringify(before) === JSON.stringify(after)) continue
    changes.push({ field, from: before ?? null, to: after ?? null })
  }
  return changes
}

/** What the service shows where `wanted` has a placeholder only: facts that somebody gave, which are kept. */
export function factsInPlace(wanted: Listing, placeholders: readonly FieldName[], shown: Shown): Partial<Listing> {
  const facts = fieldRules.flatMap((rule): [FieldName, FieldValue][] => {
    const { name } = rule
    if (!placeholders.includes(name) || shown.unreadable.includes(name)) return []
    const found = filled(shown.fields[name])
    return found === null || isSame(rule, found, filled(wanted[name])) ? [] : [[name, found]]
  })
  return Object.fromEntries(facts)
}

/** Empty texts and lists count as absent. */
function filled(value: FieldValue | undefined): FieldValue | null {
  return value === undefined || (typeof value !== 'number' && value.length === 0) ? null : value
}

/** The ownership entry is not content; only the client writes it. */
function withoutOwner(entries: ExtensionEntry[] | undefined): ExtensionEntry[] | undefined {
  return entries?.filter(({ Key }) => Key !== ownerKey)
}

function isSame(rule: FieldRule, from: FieldValue | null, to: FieldValue | null): boolean {
  if (from === null || to === null) return from === to
  if (typeof from === 'number' && typeof to === 'number') return Math.abs(from - to) <= tolerance(rule.name, from, to)
  return comparable(from) === comparable(to)
}

function tolerance(name: FieldName, a: number, b: number): number {
  const relative = 1e-9 * Math.max(Math.abs(a), Math.abs(b))
  if (money.has(name)) return 0.005 + relative
  return coordinates.has(name) ? 1e-6 + 1e-12 : relative
}

/** One text for all spellings of a value. */
function comparable(value: FieldValue): string {
  if (!Array.isArray(value)) return plain(String(value))
  if (value.every((item) => typeof item === 'string')) return JSON.stringify(value.map(plain))
  return JSON.stringify(value.map(({ Key, value }) => JSON.stringify([plain(Key), plain(value)])).sort())
}

function plain(text: string): string {
  return unescapeHtml(text).replaceAll(/\s+/g, ' ').trim()
}

/** A field that differs, as it is and as it should be; null: absent. */
export interface FieldChange {
  field: FieldName
  from: FieldValue | null
  to: FieldValue | null
  /** `to` is no fact, but one of the configuration's `placeholders`. */
  placeholder?: true
}
