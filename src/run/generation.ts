/** Which delivery this is: by its records, and by the time that it states for itself (fault-model F14). */
import type { Written } from '../feed/format/format.ts'
import type { Opened } from '../feed/transport/transport.ts'

/** A fingerprint of the records' bytes, whatever their order and whatever stands around them. */
export class RecordsDigest {
  #low = 0
  #high = 0
  #records = 0

  /** `hash`: of one record's bytes. */
  add(hash: string): void {
    let low = 0x811c9dc5
    let high = 0x9e3779b9
    for (let i = 0; i < hash.length; i++) {
      low = Math.imul(low ^ hash.charCodeAt(i), 0x01000193)
      high = Math.imul(high ^ hash.charCodeAt(i), 0x5bd1e995)
    }
    this.#low = (this.#low + low) >>> 0
    this.#high = (this.#high + (high ^ (high >>> 15))) >>> 0
    this.#records++
  }

  /** null: there was no record. */
  get value(): string | null {
    return this.#records === 0 ? null : `${this.#records}-${this.#high.toString(36)}-${this.#low.toString(36)}`
  }
}

/** Clocks without a zone are set back by as much once a year. */
const daylightSaving = 3_600_000
/** The same file on two machines that one address leads to has two times. */
const betweenMachines = 15 * 60_000

const stamp = /^(\d{4})-?(\d\d)-?(\d\d)(?:[T -](\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?)? ?(Z|[+-]\d\d:?\d\d)?$/i

/**
 * When a delivery says that it was written: the document (`said`, as ISO 8601 or REAXML have it), else the server (Last-Modified).
 * null: neither says it so that it can be read.
 */
export function writtenOf(said: string | null, { validators }: Pick<Opened, 'validators'>): Written | null {
  const found = said === null ? null : stamp.exec(said.trim())
  if (found !== null) {
    const [, year, month, day, hour = '00', minute = '00', second = '00', zone] = found
    const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zoneOf(zone)}`)
    if (!Number.isNaN(at)) return { by: 'document', at, within: zone === undefined ? daylightSaving : 0 }
  }
  const at = Date.parse(validators.lastModified ?? '')
  return Number.isNaN(at) ? null : { by: 'server', at, within: betweenMachines }
}

function zoneOf(zone: string | undefined): string {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 'Z'
  return zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`
}
