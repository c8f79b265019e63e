/** Makes requests to one API in its vendor's form, and reads the records of the answers. */
import { FeedError } from '../../core/errors.ts'
import { printable, shorten } from '../../core/text.ts'
import { nameOf } from '../transport/address.ts'
import type { Gate, Page } from './gate.ts'
import type { ResoSettings } from './settings.ts'
import { vendorOf } from './vendors.ts'
import type { Vendor } from './vendors.ts'

/** A record with its key and timestamp; '': it has no readable one, which sorts before all. */
export interface Row {
  key: string
  stamp: string
  record: Readonly<Record<string, unknown>>
}

export interface RowPage extends Omit<Page, 'value'> {
  rows: readonly Row[]
}

/** A query for whole records, or for their keys alone. */
export interface Query {
  filter: readonly string[]
  what: 'records' | 'keys'
  order?: readonly string[]
  top?: number
}

/** Most pages in a row without a record. Some servers leave out what a licence lacks only once they have cut the pages. */
const mostEmpty = 1000

export class Api {
  readonly settings: ResoSettings
  readonly vendor: Vendor
  readonly gate: Gate
  readonly signal: AbortSignal
  /** Most records on a page. Tests make pages small. */
  readonly top: { records: number; keys: number }

  constructor(settings: ResoSettings, gate: Gate, signal: AbortSignal, top?: number) {
    this.settings = settings
    this.gate = gate
    this.signal = signal
    this.vendor = vendorOf(settings.vendor)
    const { records, expanded, keys } = this.vendor.top
    this.top = {
      records: top ?? (settings.expand === undefined ? records : expanded),
      keys: top ?? keys,
    }
  }

  /** The address of a query; `resource`: below the root. */
  url(query: Query, resource = 'Property'): URL {
    const { filter, expand, select } = this.settings
    const { stamp, visible, pictures } = this.vendor
    const own = ['ListingKey', stamp, ...(visible === null ? [] : ['ListingId', visible])]
    const isWhole = query.what === 'records'
    // Without the key in $select, one vendor gave addresses of media that lead nowhere.
    const fields = isWhole
      ? select && [...new Set([...own, 'ListingId', ...(pictures === null ? [] : [pictures]), ...select])]
      : own
    const conditions = [...(filter === undefined ? [] : [bracketed(filter)]), ...query.filter]
    const options: [string, string][] = []
    const add = (name: string, value: string | undefined): void => void (value && options.push([name, value]))
    add('$filter', conditions.join(' and '))
    add('$select', fields?.join(','))
    if (isWhole) add('$expand', expand?.join(','))
    if (this.vendor.orders && resource === 'Property') add('$orderby', query.order?.join(','))
    add('$top', String(query.top ?? (isWhole ? this.top.records : this.top.keys)))
    const url = new URL(resource, this.gate.root)
    // Not by URLSearchParams, which writes + for blanks: not every server reads that.
    url.search = options.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
    return url
  }

  /** A page with rows, or the last one: an empty page with a link is no end. */
  async ask(url: URL): Promise<RowPage> {
    let page = await this.gate.page(url, this.signal)
    for (let empty = 0; page.value.length === 0 && page.next !== null;) {
      if (++empty === mostEmpty)
        throw new FeedError(
          `${nameOf(url)} gives ${mostEmpty.toLocaleString('en-US')} pages in a row without a record, each with a link to another: the list would have no end`,
        )
      page = await this.gate.page(page.next, this.signal)
    }
    const { value, ...rest } = page
    return { ...rest, rows: value.map((record) => this.#row(record)) }
  }

  /** The record with this key or ListingId; null: the source does not have it. */
  async byId(id: string): Promise<Row | null> {
    const { rows } = await this.ask(this.url({ filter: [`${this.vendor.asks} eq ${quoted(id)}`], what: 'records' }))
    return rows.find(({ key, record }) => key === id || record[this.vendor.asks] === id) ?? null
  }

  /** How many records there are. Asked without other resources, which some servers count, too. */
  async count(): Promise<number> {
    const url = this.url({ filter: [], what: 'keys', top: 1 })
    url.search += '&$count=true'
    const { count } = await this.gate.page(url, this.signal)
    if (count === null)
      throw new FeedError(
        `${nameOf(this.gate.root)} does not say how many records there are ($count), as ${this.vendor.title} does: check vendor`,
      )
    return count
  }

  #row(record: Record<string, unknown>): Row {
    const { ListingKey: key, [this.vendor.stamp]: stamp } = record
    const keyText = typeof key === 'number' ? String(key) : key
    if (typeof keyText !== 'string' || keyText === '') throw this.unreadable('ListingKey', '')
    return { key: keyText, stamp: typeof stamp === 'string' && comparable(stamp) !== null ? stamp : '', record }
  }

  /** Throws if records came and none of them has a timestamp: then the vendor is another one. */
  assertDated(rows: readonly Row[]): void {
    if (rows.length > 0 && rows.every(({ stamp }) => stamp === ''))
      throw this.unreadable(this.vendor.stamp, rows[0].key)
  }

  /** Says that a record, perhaps named by its key, lacks what every record of the vendor has. */
  unreadable(field: string, key: string): FeedError {
    const named = key === '' ? '' : ` ${shorten(printable(key), 60)}`
    return new FeedError(
      `a record${named} of ${this.gate.root.host} has no readable ${field}, which ${this.vendor.title} gives in all of them: check vendor and select, or leave such records out with filter (${field} ne null)`,
    )
  }
}

/** A text as OData writes it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** A filter to be combined with others. */
const bracketed = (filter: string): string => (/\bor\b/i.test(filter) ? `(${filter})` : filter)

const instant = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,12}))?(Z|[+-]\d\d:?\d\d)?$/i

/**
 * A timestamp in a form that sorts as text by time, with every digit it came with; null: it is none. Servers keep hundredths or
 * ten-millionths of seconds, and rounding would skip records.
 */
export function comparable(stamp: string): string | null {
  const found = instant.exec(stamp)
  if (found === null) return null
  const [, seconds, fraction = '', zone = 'Z'] = found
  const at = Date.parse(`${seconds}${/^z$/i.test(zone) ? 'Z' : zone.replace(/(\d\d):?(\d\d)$/, '$1:$2')}`)
  if (Number.isNaN(at)) return null
  return `${new Date(at).toISOString().slice(0, 19)}.${fraction.padEnd(12, '0')}`
}

/** The order of two timestamps that `Api` has accepted, or ''. */
export function compareStamps(a: string, b: string): number {
  const [first, second] = [comparable(a) ?? '', comparable(b) ?? '']
  return first < second ? -1 : Number(first > second)
}

/** When a timestamp is, in milliseconds. One that names no zone is in UTC; `Date.parse` would take that of this machine. */
export const timeOf = (stamp: string): number => Date.parse(`${(comparable(stamp) ?? '').slice(0, 23)}Z`)

/** The next timestamp with as many digits. */
export function nextStamp(stamp: string): string {
  const [, seconds, fraction = '', zone = 'Z'] = instant.exec(stamp)!
  const [carry, ...digits] = String(BigInt(`1${fraction}`) + 1n)
  const whole = carry === '1' ? seconds : new Date(Date.parse(`${seconds}Z`) + 1000).toISOString().slice(0, 19)
  return `${whole}${fraction === '' ? '' : `.${digits.join('')}`}${zone}`
}
