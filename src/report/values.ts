/** Writes a field's values on one line for a person. */
import type { FieldChange } from '../core/compare-listings.ts'
import type { Home } from '../core/home.ts'
import { moneyText, numberText, percentText, timeText } from '../core/intl.ts'
import type { Reader } from '../core/intl.ts'
import type { ExtensionEntry, FieldName, FieldValue } from '../core/listing.ts'
import { many, printable, shorten } from '../core/text.ts'
import type { Report, ReportedChange } from './report.ts'

/** Most characters of a text that are shown. */
const longest = 60

/** What the form of values depends on: the reader, and the listing's own currency and unit. */
export interface ValueForm {
  reader: Reader
  home: Pick<Home, 'currency' | 'areaUnit'> | null
}

/** "$450,000 → $435,000 (−3.3%)"; for images "+2 −1 of 14"; for extra columns only the entries that differ. */
export function fieldChange({ field, from, to }: FieldChange, form: ValueForm): string {
  if (isImages(from) && isImages(to)) return imagesChange(from, to)
  if (isEntries(from) && isEntries(to)) return entriesChange(from, to)
  if (typeof from === 'string' && typeof to === 'string') return textChange(printable(from), printable(to))
  const change = `${fieldValue(field, from, form)} → ${fieldValue(field, to, form)}`
  const share = moneyFields.has(field) && typeof from === 'number' && typeof to === 'number'
  const percent = share ? percentText(from, to, form.reader) : ''
  return percent === '' ? change : `${change} (${percent})`
}

const monthly: ReadonlySet<FieldName> = new Set(['RentPrice', 'HOAMonth'])
const moneyFields: ReadonlySet<FieldName> = new Set([
  ...monthly,
  'SalePrice',
  'UnitAreaPrice',
  'EstimatePrice',
  'DepositFee',
])
const areaFields: ReadonlySet<FieldName> = new Set(['LotArea', 'BuildingArea'])
/** Numbers that are written without separators. */
const plainNumbers: ReadonlySet<FieldName> = new Set(['YearBuilt', 'Latitude', 'Longitude'])

/** ", held since Nov 20, 2026, 10:00 AM, 26 h" for a change that an earlier run held already; else nothing. */
export function heldFor({ finishedAt, reader }: Pick<Report, 'finishedAt' | 'reader'>, change: ReportedChange): string {
  const { kind, heldSince } = change
  if (kind !== 'hold' || heldSince === null) return ''
  return `, held since ${timeText(heldSince, reader)}, ${Math.floor((finishedAt - heldSince) / 3_600_000)} h`
}

/** A value on its own. */
export function fieldValue(field: FieldName, value: FieldValue | null, { reader, home }: ValueForm): string {
  if (value === null) return '(none)'
  if (typeof value === 'number') {
    if (plainNumbers.has(field)) return String(value)
    if (areaFields.has(field)) return areaText(value, home?.areaUnit ?? null, reader)
    if (!moneyFields.has(field)) return numberText(value, reader)
    return `${priceText(value, home?.currency ?? null, reader)}${monthly.has(field) ? '/month' : ''}`
  }
  if (typeof value === 'string') return quoted(value)
  if (isImages(value)) return many(value.length, 'image')
  return shorten(value.map(entry).join(', '), longest)
}

function priceText(amount: number, currency: string | null, reader: Reader): string {
  return moneyText(amount, currency === null ? null : shorten(printable(currency), 10), reader)
}

const units = { 'Square Feet': 'sq ft', 'Square Meters': 'm²' }

/** "1,850 sq ft". */
export function areaText(value: number, unit: Home['areaUnit'], reader: Reader): string {
  return unit === null ? numberText(value, reader) : `${numberText(value, reader)} ${units[unit]}`
}

/** "4216 Olive Street #16, Grundy Center"; '': its place is not known. */
export function placeText(home: Home | null): string {
  return [home?.address, home?.city]
    .map((part) => shorten(printable(part ?? ''), 2 * longest))
    .filter((part) => part !== '')
    .join(', ')
}

/** "for sale" or "for rent". */
export function saleText(home: Home | null): string {
  return home?.saleType == null ? '' : home.saleType === 'for_rent' ? 'for rent' : 'for sale'
}

/** "$190,400 → $184,690 (−3%)", "$920/month"; '': it has no price. */
export function homePrice(home: Home | null, reader: Reader): string {
  if (home === null) return ''
  const { from, to } = home.price
  const amountText = (amount: number): string =>
    `${priceText(amount, home.currency, reader)}${home.saleType === 'for_rent' ? '/month' : ''}`
  if (from === null || to === null || from === to) {
    const amount = to ?? from
    return amount === null ? '' : amountText(amount)
  }
  const percent = percentText(from, to, reader)
  return `${amountText(from)} → ${amountText(to)}${percent === '' ? '' : ` (${percent})`}`
}

/** The price before and after, where it changes; none: it does not. */
export function priceChange(home: Home | null, reader: Reader): string[] {
  const { from, to } = home?.price ?? { from: null, to: null }
  return from === null || to === null || from === to ? [] : [homePrice(home, reader)]
}

/** A field's name for a person: "Sale price" of SalePrice. */
export function fieldLabel(field: string): string {
  const known: Readonly<Record<string, string>> = { HOAMonth: 'HOA', ExtensionColumn: 'More columns', Url: 'Page' }
  const words = field.replaceAll(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, ' ').split(' ')
  return (
    known[field] ?? words.map((word, at) => (at > 0 && !/^[A-Z]{2}/.test(word) ? word.toLowerCase() : word)).join(' ')
  )
}

/** Shows long texts from shortly before their first difference, as their beginnings are mostly the same. */
function textChange(from: string, to: string): string {
  if (from === to) return `${quoted(from)}, only spacing or unseen characters differ`
  if (from.length <= longest && to.length <= longest) return `${quoted(from)} → ${quoted(to)}`
  let same = 0
  while (same < from.length && from[same] === to[same]) same++
  const start = same <= longest / 2 ? 0 : same - 10
  const part = (text: string) => `${start > 0 ? '…' : ''}${shorten(text.slice(start).toWellFormed(), longest)}`
  return `"${part(from)}" → "${part(to)}" (${from.length} → ${to.length} characters)`
}

function imagesChange(from: readonly string[], to: readonly string[]): string {
  const [before, after] = [new Set(from), new Set(to)]
  const added = to.filter((image) => !before.has(image)).length
  const removed = from.filter((image) => !after.has(image)).length
  if (added === 0 && removed === 0) return `another order of ${to.length}`
  const pieces = [added > 0 ? `+${added}` : '', removed > 0 ? `−${removed}` : '']
  return `${pieces.filter((part) => part !== '').join(' ')} of ${to.length}`
}

function entriesChange(from: readonly ExtensionEntry[], to: readonly ExtensionEntry[]): string {
  const before = new Map(from.map(({ Key, value }) => [Key, value]))
  const after = new Map(to.map(({ Key, value }) => [Key, value]))
  const changes: string[] = []
  for (const [key, value] of after) {
    const old = before.get(key)
    if (old === undefined) changes.push(`+${entry({ Key: key, value })}`)
    else if (old !== value) changes.push(`${printable(key)}: ${textChange(printable(old), printable(value))}`)
  }
  for (const key of before.keys()) if (!after.has(key)) changes.push(`−${printable(key)}`)
  return changes.length === 0 ? 'another order of the same entries' : shorten(changes.join(', '), 4 * longest)
}

function entry({ Key, value }: ExtensionEntry): string {
  return `${printable(Key)}=${printable(value)}`
}

function quoted(text: string): string {
  return `"${shorten(printable(text), longest)}"`
}

/** Whether a value is a list of images. An empty list counts as one: it is shown as a count in any case. */
function isImages(value: FieldValue | null): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isEntries(value: FieldValue | null): value is ExtensionEntry[] {
  return Array.isArray(value) && value.every((item) => typeof item !== 'string')
}
