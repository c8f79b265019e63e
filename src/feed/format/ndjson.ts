import { z } from 'zod'
import { FeedError } from '../../core/errors.ts'
import { decoded } from './encoding.ts'
import { refuseOthers } from './foreign.ts'
import { brokenRecord, refuseBroken, tooLong } from './format.ts'
import type { Format, RawRecord, ReadOptions, Reading } from './format.ts'
import { parseJsonRecord } from './json-record.ts'

const options = () => z.object({})
type LineOptions = z.output<ReturnType<typeof options>>

/** JSON with one record on each line. Nothing in the document shows that a line is the last one. */
export const ndjson: Format<LineOptions> = {
  title: 'NDJSON',
  hasEndMark: false,
  nested: true,
  options,
  detect(head) {
    const start = head.toString('latin1').trimStart()
    const [first = '', second = ''] = start.split(/[\r\n]+/, 2)
    return first.startsWith('{') && first.trimEnd().endsWith('}') && second.startsWith('{') ? { options: {} } : null
  },
  read,
}

/** A line that can't be read breaks its own record only. Records are views on the blocks read. */
function read(bytes: AsyncIterable<Buffer>, options: ReadOptions & LineOptions): Reading {
  const { maxRecordBytes } = options
  const source = decoded(bytes, options)
  const reasons: string[] = []
  let rest: Buffer = Buffer.alloc(0)
  let line = 0
  let isEmpty = true
  /** Whether the line that is being read is too long to be kept. */
  let isLong = false

  function recordOf(raw: Buffer): RawRecord[] {
    line++
    const at = `line ${line}`
    const isBroken = isLong || raw.length > maxRecordBytes
    isLong = false
    if (isBroken) return [brokenRecord(at, tooLong('the line', maxRecordBytes))]
    if (isBlank(raw)) return []
    if (isEmpty) refuseJson(raw.toString())
    isEmpty = false
    return [{ at, raw }]
  }

  function linesOf(block: Buffer): RawRecord[] {
    const records: RawRecord[] = []
    let window = rest.length === 0 ? block : Buffer.concat([rest, block])
    for (let end = window.indexOf(10); end >= 0; end = window.indexOf(10)) {
      records.push(...recordOf(window.subarray(0, end)))
      window = window.subarray(end + 1)
    }
    if (window.length > maxRecordBytes) isLong = true
    rest = isLong ? Buffer.alloc(0) : window
    return records
  }

  function lastLine(): RawRecord[] {
    if (isBlank(rest) && !isLong) return []
    const [record] = recordOf(rest)
    if (options.lengthProven()) return [record]
    const reason = `the document ends in line ${line}: no line break shows that it is whole`
    reasons.push(reason)
    return [brokenRecord(record.at, reason)]
  }

  async function* records(): AsyncGenerator<RawRecord[]> {
    let begun = false
    for await (const block of source.blocks(undefined, () => rest.length)) {
      if (!begun) {
        refuseOthers(block, 'NDJSON', ['an HTML page', 'XML'])
        if (/^\s*[^\s{]/.test(block.toString('latin1', 0, 4096)))
          throw new FeedError('the document is not NDJSON: its first line begins with no {')
      }
      begun = true
      const batch = linesOf(block)
      if (batch.length > 0) yield batch
    }
    const last = lastLine()
    if (last.length > 0) yield last
    if (isEmpty && reasons.length === 0) reasons.push('the document is empty')
  }

  return {
    records: records(),
    context: () => '',
    end: () => ({ reasons }),
    parse(record) {
      refuseBroken(record)
      return parseJsonRecord(source.text(record.raw))
    },
  }
}

/** Throws `FeedError` if a first line is that of a JSON document over several lines, or an envelope without a value of its own. */
function refuseJson(line: string): void {
  const isObject = line.trimEnd().endsWith('}')
  if (isObject && valuesIn(line) > 0) return
  throw new FeedError('the document is JSON, but its first line is no record; its format may be json, not ndjson')
}

/** The members of a line that are texts, numbers or the like; a broken line counts as a record. */
function valuesIn(line: string): number {
  try {
    return Object.values(parseJsonRecord(line))
      .flat()
      .filter((value) => typeof value === 'string').length
  } catch {
    return 1
  }
}

function isBlank(raw: Buffer): boolean {
  return raw.every((byte) => byte === 32 || byte === 13 || byte === 9)
}
