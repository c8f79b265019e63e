/**
 * Reads a list item in the form of the listing input (docs/service.md, "List item"), so that the two compare field by field.
 * An ambiguous value is named as unreadable, not guessed.
 */
import { shortHash } from '../core/hash.ts'
import { fieldRules, ownerKey, unescapeHtml } from '../core/listing.ts'
import type { ExtensionEntry, FieldName, FieldRule, FieldValue, Glimpse, Listing, Shown } from '../core/listing.ts'
import { readMark } from '../core/mark.ts'
import type { ServiceProfile } from './settings.ts'

/** A list item as parsed from JSON, unchecked. */
export type ListItem = Record<string, unknown>

const shownNames: Partial<Record<FieldName, string>> = { Latitude: 'LATITUDE', Longitude: 'LONGITUDE' }
const shownRules = fieldRules
  .filter(({ name }) => name !== 'AreaUnit')
  .map((rule) => ({ ...rule, shownName: shownNames[rule.name] ?? rule.name }))

/** A value that can't be read. */
const unreadable = Symbol('unreadable')
type Reading<T> = T | undefined | typeof unreadable

/**
 * Volatile fields are left out of the hash only. The reader returns null for an item without MLSNumber. `saleTypes`: how the
 * service is known to spell the sale types.
 */
export function createItemReader(
  volatile: ReadonlySet<FieldName>,
  saleTypes?: ServiceProfile['saleTypeShown'],
): (item: ListItem) => Glimpse | null {
  const hashedValues = valuesReader(
    shownRules.filter(({ name }) => !volatile.has(name)).map(({ shownName }) => shownName),
  )
  // Listings with nothing but the mark have the same text in a row, which is then read once.
  const readMarked = remembered(
    (value): { extension: Reading<ExtensionEntry[]>; owned: Pick<Shown, 'owner' | 'by'> } => {
      const extension = readExtension(value)
      return { extension, owned: ownerIn(extension) }
    },
  )
  return (item) => {
    const text = readText(item.MLSNumber)
    if (typeof text !== 'string') return null
    // The key of both sides: read as it was sent.
    const mlsNumber = unescapeHtml(text).trim()
    const { extension, owned } = readMarked(item.ExtensionColumn)
    const hash = shortHash(JSON.stringify(hashedValues(item)))
    return {
      mlsNumber,
      ...owned,
      hash,
      whole: () => ({
        mlsNumber,
        ...owned,
        hash,
        id: readId(item.ID),
        ...readFields(item, mlsNumber, extension, saleTypes),
      }),
    }
  }
}

/**
 * Reads members in the order of `names`; null: empty or missing. All items of a list have the same members in the same order, so
 * their places are found once. To look each up by name takes twice the time.
 */
function valuesReader(names: readonly string[]): (item: ListItem) => unknown[] {
  let members: readonly string[] = []
  let places: readonly number[] = names.map(() => -1)
  return (item) => {
    const own = Object.keys(item)
    if (own.some((name, place) => name !== members[place])) {
      members = own
      places = names.map((name) => own.indexOf(name))
    }
    const values = Object.values(item)
    return places.map((place) => (place < 0 ? null : values[place] || null))
  }
}

/** `read`, which keeps its last result and gives it again for the same value. */
function remembered<T>(read: (value: unknown) => T): (value: unknown) => T {
  let last: { value: unknown; found: T } | null = null
  return (value) => (last !== null && last.value === value ? last : (last = { value, found: read(value) })).found
}

function readFields(
  item: ListItem,
  mlsNumber: string,
  extension: Reading<ExtensionEntry[]>,
  saleTypes: ServiceProfile['saleTypeShown'],
): Pick<Shown, 'fields' | 'unreadable'> {
  const fields: Record<string, FieldValue> = {}
  const unreadableFields: FieldName[] = []
  for (const { shownName, ...rule } of shownRules) {
    const value = rule.type === 'extension' ? withoutOwner(extension) : readField(rule, item[shownName], saleTypes)
    if (value === unreadable) unreadableFields.push(rule.name)
    else if (value !== undefined) fields[rule.name] = value
  }
  fields.MLSNumber = mlsNumber
  if (fields.Latitude === 0 && fields.Longitude === 0) {
    delete fields.Latitude
    delete fields.Longitude
  }
  return { fields, unreadable: unreadableFields }
}

function readField(rule: FieldRule, value: unknown, saleTypes: ServiceProfile['saleTypeShown']): Reading<FieldValue> {
  if (rule.name === 'SaleType') return readSaleType(value, saleTypes)
  if (rule.type === 'number') return readNumber(value)
  if (rule.type === 'images') return readImages(value)
  return rule.choices ? readChoice(rule.choices, value) : readText(value)
}

/** The text as shown; empty means absent. */
function readText(value: unknown): Reading<string> {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return unreadable
  return value.trim() === '' ? undefined : value
}

function readId(value: unknown): number | null {
  const id = readNumber(value)
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : null
}

/** A number as decimal text, of any precision. */
function readNumber(value: unknown): Reading<number> {
  const text = readText(value)
  if (typeof text !== 'string') return text
  const number = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : unreadable
}

/** The display form is not documented; "For Sale" and "FOR_RENT" are likely. */
export function readSaleType(value: unknown, known?: ServiceProfile['saleTypeShown']): Reading<Listing['SaleType']> {
  const text = readText(value)
  if (typeof text !== 'string') return text
  if (text.trim() === known?.for_sale.trim()) return 'for_sale'
  if (text.trim() === known?.for_rent.trim()) return 'for_rent'
  const letters = text.toLowerCase().replaceAll(/[^a-z]/g, '')
  const sale = letters.includes('sale')
  const rent = letters.includes('rent') || letters.includes('lease')
  if (sale === rent) return unreadable
  return sale ? 'for_sale' : 'for_rent'
}

function readChoice(choices: readonly string[], value: unknown): Reading<string> {
  const text = readText(value)
  if (typeof text !== 'string') return text
  const folded = text.trim().toLowerCase()
  return choices.find((choice) => choice.toLowerCase() === folded) ?? unreadable
}

/** A JSON array, or separated addresses; every piece must be an address. */
function readImages(value: unknown): Reading<string[]> {
  const list = Array.isArray(value) ? value : readText(value)
  if (typeof list !== 'string') return Array.isArray(list) ? asTexts(list) : list
  // A separator may be part of an escaped address ("&amp;"): if the first attempt fails, unescape.
  for (const text of [list, unescapeHtml(list)]) {
    const parsed = parseArray(text)
    if (parsed) return asTexts(parsed)
    const pieces = text.split(/[,;|\s]+/).filter((piece) => piece !== '')
    if (pieces.length > 0 && pieces.every((piece) => /^https?:\/\/./i.test(piece))) return pieces
  }
  return unreadable
}

function asTexts(values: unknown[]): Reading<string[]> {
  if (!values.every((value) => typeof value === 'string')) return unreadable
  return values.length > 0 ? values : undefined
}

/** A serialised array of objects with `Key` and `value`, in any letter case. */
function readExtension(value: unknown): Reading<ExtensionEntry[]> {
  const list = Array.isArray(value) ? value : readText(value)
  if (typeof list !== 'string' && !Array.isArray(list)) return list
  const parsed = typeof list === 'string' ? (parseArray(list) ?? parseArray(unescapeHtml(list))) : list
  const entries = parsed?.map(asEntry)
  if (!entries?.every((entry) => entry !== null)) return unreadable
  return entries.length > 0 ? entries : undefined
}

function asEntry(value: unknown): ExtensionEntry | null {
  if (typeof value !== 'object' || value === null) return null
  const entry: Partial<ExtensionEntry> = {}
  const members = value as Record<string, unknown>
  for (const name in members) {
    const text = readText(members[name])
    if (text === unreadable) return null
    const folded = name.toLowerCase()
    if (folded === 'key') entry.Key = text ?? ''
    if (folded === 'value') entry.value = text ?? ''
  }
  return entry.Key === undefined ? null : { Key: entry.Key, value: entry.value ?? '' }
}

/** What the ownership mark says; contradictory marks count as none. */
function ownerIn(extension: Reading<ExtensionEntry[]>): Pick<Shown, 'owner' | 'by'> {
  let mark: string | null = null
  for (const { Key, value } of Array.isArray(extension) ? extension : []) {
    if (Key !== ownerKey) continue
    const text = unescapeHtml(value).trim()
    if (mark !== null && mark !== text) return { owner: null }
    mark = text
  }
  if (mark === null) return { owner: null }
  const { feed, stamp } = readMark(mark)
  return stamp === null ? { owner: feed || null } : { owner: feed || null, by: stamp }
}

function withoutOwner(extension: Reading<ExtensionEntry[]>): Reading<ExtensionEntry[]> {
  if (!Array.isArray(extension)) return extension
  const others = extension.filter(({ Key }) => Key !== ownerKey)
  return others.length > 0 ? others : undefined
}

function parseArray(text: string): unknown[] | null {
  if (!text.trimStart().startsWith('[')) return null
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed : null
  } catch {
    return null
  }
}
