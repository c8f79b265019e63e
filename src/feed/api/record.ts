/** Makes records as they are kept: without members of the protocol, and without addresses that expire. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { KeptRecord } from '../../core/records.ts'
import type { Row } from './query.ts'
import type { Vendor } from './vendors.ts'

type Fields = Record<string, unknown>

/** Signed addresses have their expiry, or their signature, in the query. */
const signed =
  /[?&](?:x-amz-(?:expires|signature|security-token)|x-goog-(?:expires|signature)|expires|expiry|exp|signature|sig|se)=/i

/**
 * A record as it is kept. Pictures are sorted by number (`Order` is text with some vendors, where "10" comes before "2"). Addresses that
 * expire are left out, as they would be shown dead. `@@ListingNumber`: the ListingId without the mark that some vendors put before
 * every id. `@@Licensed`: whether MlgCanUse has a use that shows listings to people.
 */
export function kept({ key, stamp, record }: Row, vendor: Vendor): KeptRecord {
  const fields = withoutProtocol(record) as Fields
  if (vendor.noPictures !== null) delete fields.Media
  if (Array.isArray(fields.Media)) {
    // Some servers send null in place of a picture that was taken off.
    const lasting = (fields.Media as (Fields | null)[]).flatMap((picture) => {
      const address = picture?.MediaURL
      return picture !== null && typeof address === 'string' && !signed.test(address) ? [picture] : []
    })
    fields.Media = lasting.toSorted((a, b) => place(a) - place(b))
  }
  const { ListingId: id } = fields
  if (vendor.marksIds && typeof id === 'string') fields['@@ListingNumber'] = id.slice(markOf(id, key).length)
  const { MlgCanUse: uses } = fields
  if (vendor.visible !== null && Array.isArray(uses) && uses.length > 0)
    fields['@@Licensed'] = uses.includes('IDX') || uses.includes('VOW')
  return { key, stamp, body: deflateRawSync(JSON.stringify(fields)) }
}

const place = ({ Order: order }: Fields): number => {
  const number = order === null || order === undefined || order === '' ? NaN : Number(order)
  return Number.isNaN(number) ? Number.MAX_SAFE_INTEGER : number
}

/** The vendor's mark: the letters that both the id and the key begin with. */
function markOf(id: string, key: string): string {
  const letters = /^[A-Za-z]+/.exec(id)?.[0] ?? ''
  let length = 0
  while (length < letters.length && letters[length] === key[length]) length++
  return length < id.length ? letters.slice(0, length) : ''
}

/** A field of which only a part came, with a link to the rest; null: there is none. */
export function fieldInPart({ record }: Row): string | null {
  const isLink = (name: string): boolean => name.endsWith('nextLink') && /.@(odata\.)?nextLink$/.test(name)
  const link = Object.keys(record).find((name) => isLink(name) && Boolean(record[name]))
  return link?.split('@')[0] ?? null
}

function withoutProtocol(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutProtocol)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).filter(([name]) => !name.includes('@'))
  return Object.fromEntries(entries.map(([name, member]) => [name, withoutProtocol(member)]))
}

/** A kept record as JSON, on one line. */
export const unpacked = ({ body }: Pick<KeptRecord, 'body'>): Buffer => inflateRawSync(body)
