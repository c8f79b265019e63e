/** Counts records whose text has more combining marks in a row than are kept, for the report. */
import { isAscii } from 'node:buffer'
import { mlsNumberOf } from '../../core/listing.ts'
import type { Delivered } from '../../core/listing.ts'
import { hasSurplusMarks, many, shorten } from '../../core/text.ts'
import type { RawRecord, RecordFields, RecordNode } from '../format/format.ts'

/** A quick test on bytes that settles most records: in ASCII each mark is an escape (`&#x301;`, `\u0301`). */
export function mayHoldMarks({ raw, outside }: RawRecord): boolean {
  return outside !== undefined || !isAscii(raw) || hasMany(raw, 0x26) || hasMany(raw, 0x5c)
}

/** Whether this byte, `&` or a backslash, stands in it more than thirty times. */
function hasMany(raw: Buffer, byte: number): boolean {
  let many = 0
  for (let at = raw.indexOf(byte); at >= 0 && many <= 30; at = raw.indexOf(byte, at + 1)) many++
  return many > 30
}

export class SurplusMarks {
  #records = 0
  #first = ''

  /** `delivered`: the result of the record, for its MLSNumber. */
  look(fields: RecordFields, delivered: Delivered): void {
    if (!hasSurplus(fields)) return
    this.#records++
    if (this.#records > 1) return
    const number = mlsNumberOf(delivered)
    this.#first = number === null ? delivered.at : `MLSNumber ${shorten(number, 40)}`
  }

  /** A sentence for the report, if there are any. */
  notes(): string[] {
    if (this.#records === 0) return []
    // One that is as before is not read again.
    const records = many(this.#records, 'new or changed record holds', 'new or changed records hold')
    return [
      `${records} a letter with more than 30 combining marks, first ${this.#first}; the marks beyond were left out`,
    ]
  }
}

function hasSurplus(node: RecordNode): boolean {
  if (typeof node === 'string') return hasSurplusMarks(node)
  for (const name in node) {
    const child = node[name]
    if (Array.isArray(child) ? child.some(hasSurplus) : hasSurplus(child)) return true
  }
  return false
}
