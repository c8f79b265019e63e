/**
 * Dates in the forms named by a preset, never guessed. `ISO` is a day or instant of ISO 8601, `RFC822` the form of e-mails
 * (`Thu, 21 Feb 2019 23:40:21 GMT`); any other name is a pattern of YYYY YY MMMM MMM MM M DD D HH H hh h mm ss A and literal text.
 */
import { daysBetween } from '../../../core/listing.ts'
import { instantShown } from '../../../core/zone.ts'
import type { RecordNode } from '../../format/format.ts'
import { saysNothing } from '../vocabulary.ts'
import { RuleError, Unreadable } from './converter.ts'
import type { Converter } from './converter.ts'

/** A date as written: calendar day and clock time; `offset` in minutes east of UTC, if it has one. */
export interface Written {
  year: number
  month: number
  day: number
  /** Minutes since midnight; null: no time. */
  minutes: number | null
  offset: number | null
}

const monthNames = 'january february march april may june july august september october november december'.split(' ')

const tokens: Record<string, string> = {
  YYYY: String.raw`(?<year>\d{4})`,
  YY: String.raw`(?<shortYear>\d{2})`,
  MMMM: String.raw`(?<monthName>\p{L}{3,9})`,
  MMM: String.raw`(?<monthName>\p{L}{3,9})`,
  MM: String.raw`(?<month>\d{2})`,
  M: String.raw`(?<month>\d{1,2})`,
  DD: String.raw`(?<day>\d{2})`,
  D: String.raw`(?<day>\d{1,2})`,
  HH: String.raw`(?<hour>\d{2})`,
  H: String.raw`(?<hour>\d{1,2})`,
  hh: String.raw`(?<hour>\d{2})`,
  h: String.raw`(?<hour>\d{1,2})`,
  mm: String.raw`(?<minute>\d{2})`,
  ss: String.raw`(?<second>\d{2})`,
  A: String.raw`(?<half>[AaPp]\.?[Mm]\.?)`,
}

const named: Readonly<Record<string, RegExp>> = {
  ISO: /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?:[T ](?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:\.\d+)?)?(?<offset>Z|[+-]\d{2}:?\d{2})?)?$/,
  RFC822:
    /^(?:[A-Z][a-z]{2}, ?)?(?<day>\d{1,2}) (?<monthName>[A-Z][a-z]{2}) (?<year>\d{4})(?: (?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2}))?(?: (?<offset>GMT|UTC|UT|Z|[+-]\d{4}))?)?$/,
}

/** Reads dates in these forms, tried in order; null: no form fits, or there is no such day. */
export function dateReader(formats: readonly string[]): (text: string) => Written | null {
  const forms = formats.map((format) => (Object.hasOwn(named, format) ? named[format] : patternOf(format)))
  return (text) => {
    for (const form of forms) {
      const groups = form.exec(text)?.groups
      const written = groups ? writtenOf(groups) : null
      if (written) return written
    }
    return null
  }
}

function patternOf(format: string): RegExp {
  let pattern = ''
  const seen = new Set<string>()
  for (const [part] of format.matchAll(/YYYY|YY|MMMM|MMM|MM|M|DD|D|HH|H|hh|h|mm|ss|A|[\s\S]/g)) {
    const token = tokens[part]
    if (token && /[YMD]/.test(part)) seen.add(part[0])
    pattern += token ?? part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  }
  if (seen.size < 3) throw new RuleError(`the date format "${format}" lacks a day, a month or a year`)
  return new RegExp(`^${pattern}$`, 'u')
}

function writtenOf(groups: Record<string, string | undefined>): Written | null {
  const year = groups.year === undefined ? 2000 + Number(groups.shortYear) : Number(groups.year)
  const month = groups.monthName === undefined ? Number(groups.month) : monthOf(groups.monthName)
  const day = Number(groups.day)
  const instant = new Date(Date.UTC(year, month - 1, day))
  if (month < 1 || month > 12 || instant.getUTCMonth() !== month - 1 || instant.getUTCDate() !== day) return null
  const minutes = minutesOf(groups)
  if (minutes !== null && Number.isNaN(minutes)) return null
  return { year, month, day, minutes, offset: offsetOf(groups.offset) }
}

function monthOf(name: string): number {
  return monthNames.findIndex((month) => month.startsWith(name.toLowerCase())) + 1
}

function minutesOf({ hour, minute = '0', second = '0', half }: Record<string, string | undefined>): number | null {
  if (hour === undefined) return null
  let hours = Number(hour)
  if (half !== undefined) {
    if (hours < 1 || hours > 12) return Number.NaN
    hours = (hours % 12) + (/^p/i.test(half) ? 12 : 0)
  }
  return hours > 24 || Number(minute) > 59 || Number(second) > 59 ? Number.NaN : hours * 60 + Number(minute)
}

function offsetOf(text: string | undefined): number | null {
  if (text === undefined) return null
  if (!/^[+-]/.test(text)) return 0
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

/** Minutes since midnight of `13:00`, `13:00:00`, `1:00 PM`, `1pm`; null: not a time. */
export function readTime(text: string): number | null {
  const match = /^(?<hour>\d{1,2})(?::(?<minute>\d{2})(?::(?<second>\d{2}))?)?\s*(?<half>[ap]\.?m\.?)?$/i.exec(
    text.trim(),
  )
  if (!match?.groups || (match.groups.minute === undefined && match.groups.half === undefined)) return null
  const minutes = minutesOf(match.groups)
  return minutes === null || Number.isNaN(minutes) ? null : minutes
}

export function dayOf({ year, month, day }: Written): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}

/** Days that programs write where they have none: a 0 read as a date (.NET, databases, spreadsheets, and Unix west of UTC). */
const zeroDays: ReadonlySet<string> = new Set([
  '0001-01-01',
  '1753-01-01',
  '1899-12-30',
  '1899-12-31',
  '1900-01-01',
  '1969-12-31',
])

/** Whether the date is none. */
export const isZero = (date: Written): boolean => date.year === 1970 || zeroDays.has(dayOf(date))

/** The instant (milliseconds) of a day and minutes in a time zone (IANA name), or by the written offset. */
export function instantOf(date: Written, minutes: number, timezone: string): number {
  const asUtc = Date.UTC(date.year, date.month - 1, date.day, 0, minutes)
  return date.offset === null ? instantShown(asUtc, timezone) : asUtc - date.offset * 60_000
}

/**
 * Days from a date in the record to today; the date is kept, since the number grows by itself. With `separator` the date is
 * made of all parts in `from` (MITS has month, day and year in attributes).
 */
export const daysSince: Converter = {
  yields: 'number',
  takes: ['formats', 'separator'],
  needsFrom: true,
  build: (building) => {
    const { from, rule } = building
    const { separator, formats = building.preset.dates } = rule
    const read = dateReader(formats)
    const inParts = (node: RecordNode): string | undefined => {
      const pieces = from.map((path) => path.first(node))
      return pieces.every(saysNothing) ? undefined : pieces.join(separator)
    }
    return (node, making) => {
      const found = separator === undefined ? building.text(node) : inParts(node)
      if (found === undefined || saysNothing(found)) return undefined
      const date = read(found)
      if (date && isZero(date)) return undefined
      if (!date || date.year < 1900) return new Unreadable(found, `needs a date written as ${formats.join(' or ')}`)
      making.moving.listedOn = dayOf(date)
      return daysBetween(making.moving.listedOn, making.moment.today)
    }
  },
}
