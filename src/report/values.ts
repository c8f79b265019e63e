/** How a field's values stand on one line for a person. */
import type { FieldChange } from '../core/compare-listings.ts'
import type { ExtensionEntry, FieldValue } from '../core/listing.ts'
import { minuteOf, printable, shorten } from '../core/text.ts'
import type { Report, ReportedChange } from './report.ts'

/** Most characters of a text that are shown. */
const longest = 60

/** "450000 → 435000"; for images "+2 −1 of 14"; for extra columns only the entries that differ. */
export function fieldChange({ from, to }: FieldChange): string {
  if (isImages(from) && isImages(to)) return imagesChange(from, to)
  if (isEntries(from) && isEntries(to)) return entriesChange(from, to)
  if (typeof from === 'string' && typeof to === 'string') return textChange(printable(from), printable(to))
  return `${fieldValue(from)} → ${fieldValue(to)}`
}

/** ", held since 2026-11-20 10:00 UTC, 26 h" for a change that an earlier run held already; else nothing. */
export function heldFor({ finishedAt }: Pick<Report, 'finishedAt'>, { kind, heldSince }: ReportedChange): string {
  if (kind !== 'hold' || heldSince === null) return ''
  return `, held since ${minuteOf(heldSince)}, ${Math.floor((finishedAt - heldSince) / 3_600_000)} h`
}

/** A value on its own. */
export function fieldValue(value: FieldValue | null): string {
  if (value === null) return '(none)'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return quoted(value)
  if (isImages(value)) return `${value.length} ${value.length === 1 ? 'image' : 'images'}`
  return shorten(value.map(entry).join(', '), longest)
}

/** Long texts are shown from shortly before they first differ: their beginnings are mostly the same. */
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
  const parts = [added > 0 ? `+${added}` : '', removed > 0 ? `−${removed}` : '']
  return `${parts.filter((part) => part !== '').join(' ')} of ${to.length}`
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

/** An empty list is taken for images: nothing is lost by it, as it shows as a count. */
function isImages(value: FieldValue | null): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isEntries(value: FieldValue | null): value is ExtensionEntry[] {
  return Array.isArray(value) && value.every((item) => typeof item !== 'string')
}
