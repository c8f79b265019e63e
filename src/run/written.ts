/** Finds when a delivery was written, and whether that is before the last one was. */
import { instantShown, minuteIn } from '../core/zone.ts'
import type { Written } from '../feed/format/format.ts'
import { dateReader, instantOf } from '../feed/mapping/converters/date.ts'
import type { Moment } from '../feed/mapping/mapping.ts'
import type { Opened } from '../feed/transport/transport.ts'
import type { LastDelivery } from '../store/store.ts'
import type { Feed } from './tools.ts'

/** Milliseconds. A local time without a zone goes back by this much once a year. */
const daylightSaving = 3_600_000
/** Milliseconds. If one address leads to two machines, the same file has two times. */
const betweenMachines = 15 * 60_000
/** Milliseconds. What is earlier is a 0 that a program took for a date, as 0001-01-01 or 1970-01-01: it tells no time. */
const firstTime = Date.UTC(1971, 0)

const stamp = /^(\d{4})-?(\d\d)-?(\d\d)(?:[T -](\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?)? ?(Z|[+-]\d\d:?\d\d)?$/i

/**
 * When a delivery was written, by the document's word (`stated`: as in ISO 8601 or REAXML, or in a form of `dates`, to the minute),
 * else by the server's (Last-Modified). A time without a zone is in the feed's. null: neither gives a time that can be read.
 */
export function writtenOf(
  stated: string | null,
  { validators }: Pick<Opened, 'validators'>,
  timezone: string,
  dates: readonly string[],
): Written | null {
  const found = stated === null ? null : stamp.exec(stated.trim())
  if (found !== null) {
    const [, year, month, day, hour = '00', minute = '00', second = '00', zone] = found
    const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zoneOf(zone)}`)
    if (at >= firstTime && zone !== undefined) return { by: 'document', at, within: 0 }
    if (at >= firstTime) return { by: 'document', at: instantShown(at, timezone), within: daylightSaving }
  }
  const date = stated === null ? null : dateReader(dates)(stated.trim())
  if (date !== null) {
    const at = instantOf(date, date.minutes ?? 0, timezone)
    if (at >= firstTime) return { by: 'document', at, within: date.offset === null ? daylightSaving : 0 }
  }
  const at = Date.parse(validators.lastModified ?? '')
  return at >= firstTime ? { by: 'server', at, within: betweenMachines } : null
}

/** Whether one document says that it was written after another one. */
export const isAfter = (written: Written | null, other: Written | null): boolean =>
  written !== null && other !== null && written.at > other.at

/**
 * If a delivery was written before the last one: when each was, as people read it. null: it was not, or that can't be told. Only
 * times of the same kind and source are compared. A last time in the future came from a wrong clock, and is passed over.
 */
export function olderThan(
  last: LastDelivery['written'],
  written: Written | null,
  { source, identity }: Pick<Feed, 'source' | 'identity'>,
  { now, timezone }: Moment,
): { written: string; last: string } | null {
  if (written === null || last === null || written.by !== last.by || last.at > now) return null
  if (last.source !== source && last.source !== identity) return null
  if (written.at + written.within >= last.at) return null
  return { written: minuteIn(timezone, written.at), last: minuteIn(timezone, last.at) }
}

function zoneOf(zone: string | undefined): string {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 'Z'
  return zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`
}
