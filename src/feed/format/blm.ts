import { z } from 'zod'
import { FeedError } from '../../core/errors.ts'
import { many } from '../../core/text.ts'
import { headerColumns, headerOptions } from './columns.ts'
import { decoded, withoutControls } from './encoding.ts'
import { refuseOthers } from './foreign.ts'
import { RecordError, brokenRecord, refuseBroken, tooLong } from './format.ts'
import type { Format, RawRecord, ReadOptions, Reading } from './format.ts'

const options = () =>
  headerOptions().extend({
    written: z
      .string()
      .regex(/^\w+(?: \w+)*$/, 'the name of a line of #HEADER#, such as Generated Date')
      .optional()
      .describe('The line of #HEADER# that says when the file was written.'),
  })
type BlmOptions = z.output<ReturnType<typeof options>>

/** Header and definition are much shorter than this. */
const longestHead = 64 * 1024

/** BLM, Rightmove's bulk upload. */
export const blm: Format<BlmOptions> = {
  title: 'BLM',
  hasEndMark: true,
  nested: false,
  options,
  detect: (head) =>
    /^\s*#HEADER#/i.test(head.toString('latin1', 0, 4096)) ? { options: { requiredHeaders: [] } } : null,
  read,
}

/**
 * #HEADER# declares the separators, #DEFINITION# names the columns, #DATA# holds the records up to #END#. There are no
 * quotes; a record may span lines. Property Count, where it is declared, must be the number of records.
 * Records are views on the blocks read: copy `raw` to keep it longer than its batch.
 */
function read(bytes: AsyncIterable<Buffer>, options: ReadOptions & BlmOptions): Reading {
  const source = decoded(bytes, options)
  const reasons: string[] = []
  let head: ReturnType<typeof headOf> = null
  let count = 0
  let lost = false

  async function* records(): AsyncGenerator<RawRecord[]> {
    let rest: Buffer = Buffer.alloc(0)
    let ended = false
    for await (const block of source.blocks(undefined, () => rest.length)) {
      // The rest is still read, so that the transport can tell whether it is complete.
      if (ended) {
        seeAfterEnd(block)
        continue
      }
      rest = rest.length === 0 ? block : Buffer.concat([rest, block])
      if (head === null) {
        refuseOthers(rest, 'BLM', ['an HTML page', 'XML', 'JSON'])
        head = headOf(rest, options)
        if (head === null) continue
        rest = rest.subarray(head.size)
      }
      const batch: RawRecord[] = []
      rest = cut(rest, head.record, batch)
      if (batch.length > 0) yield batch
      const end = /^\s*#END#/i.exec(rest.toString('latin1', 0, 1024))
      ended = end !== null
      if (end !== null) seeAfterEnd(rest.subarray(end[0].length))
      if (!ended && rest.length > options.maxRecordBytes) {
        const why = `${tooLong(`record ${count + 1}`, options.maxRecordBytes)}; the rest was not read`
        reasons.push(why)
        lost = true
        yield [brokenRecord(`record ${count + 1}`, why)]
        break
      }
    }
    if (head === null) {
      if (!isBlank(rest)) throw new FeedError('the document is not BLM: it has no #HEADER#, #DEFINITION# and #DATA#')
      reasons.push('the document is empty')
      return
    }
    if (!ended && !lost) {
      reasons.push('the document ends before #END#')
      if (!isBlank(rest)) yield [brokenRecord(`record ${count + 1}`, 'the document ends in the middle of this record')]
    }
    if (head.count !== null && head.count !== count) {
      reasons.push(`the header counts ${many(head.count, 'property', 'properties')}, the document holds ${count}`)
    }
  }

  /** Two files may be joined, the second with further records. Old systems end a file with Ctrl-Z. */
  function seeAfterEnd(bytes: Buffer): void {
    const why = 'there is text after #END#'
    if (!reasons.includes(why) && !isBlank(bytes.filter((byte) => byte !== 0 && byte !== 26))) reasons.push(why)
  }

  /** Takes the complete records off the front of a window and returns the rest. */
  function cut(window: Buffer, end: string, found: RawRecord[]): Buffer {
    const mark = Buffer.from(end, 'latin1')
    let start = 0
    let next = window.indexOf(mark)
    while (next >= 0) {
      const raw = window.subarray(start, next)
      if (raw.toString('latin1', 0, 64).trimStart().toUpperCase().startsWith('#END#')) break
      if (!isBlank(raw)) {
        count++
        const isLong = raw.length > options.maxRecordBytes
        const at = `record ${count}`
        found.push(isLong ? brokenRecord(at, tooLong('it', options.maxRecordBytes)) : { at, raw })
      }
      start = next + mark.length
      next = window.indexOf(mark, start)
    }
    return window.subarray(start)
  }

  return {
    records: records(),
    written: () => head?.written ?? null,
    context: () => JSON.stringify([head?.columns.names, head?.field]),
    end: () => ({ reasons }),
    parse(record) {
      refuseBroken(record)
      if (head === null) throw new RecordError('the record comes before the definition')
      const cells = withoutLineBreak(withoutControls(source.text(record.raw))).split(
        source.text(Buffer.from(head.field, 'latin1')),
      )
      // Behind the last end of a field there is none.
      if (cells.length > head.least && cells.at(-1)!.trim() === '') cells.pop()
      // The end of a record within a text makes two short ones of it. That of a field shifts all that follows: another status or price.
      if (cells.length < head.least || cells.length > head.most) {
        throw new RecordError(`the record has ${many(cells.length, 'field')} where the definition has ${head.least}`)
      }
      return head.columns.fields(cells)
    },
  }
}

/** Reads the sections before the data; null: incomplete so far. Throws `FeedError` for anything else. */
function headOf(window: Buffer, options: ReadOptions & BlmOptions) {
  const text = window.toString('latin1', 0, longestHead)
  if (!/^\s*(?:#|$)/.test(text)) throw new FeedError('the document is not BLM: it does not begin with #HEADER#')
  const sections = /^\s*#HEADER#([^]*?)#DEFINITION#([^]*?)#DATA#/i.exec(text)
  if (sections === null) {
    if (window.length < longestHead) return null
    throw new FeedError('the document is not BLM: it has no #HEADER#, #DEFINITION# and #DATA#')
  }
  const field = declared(sections[1], 'EOF')
  const record = declared(sections[1], 'EOR')
  if (field === null || record === null || field === record) {
    throw new FeedError('the BLM header does not declare the ends of fields (EOF) and records (EOR)')
  }
  const names = sections[2].trim().split(record)[0].split(field)
  const count = /^[ \t]*Property Count[ \t]*:[ \t]*(\d{1,9})[ \t\r]*$/im.exec(sections[1])
  const columns = headerColumns(names, options)
  const least = columns.names.findLastIndex((name) => name !== null) + 1
  return {
    /** The declared ends of fields and records: bytes, as Latin-1. */
    field,
    record,
    /** Property Count; null where the file has none. */
    count: count === null ? null : Number(count[1]),
    written: options.written === undefined ? null : declared(sections[1], options.written),
    columns,
    /** Columns up to the last named one: every record has at least as many fields. */
    least,
    /** Columns with unnamed ones behind that, but for what stands behind the last end of a field. */
    most: Math.max(least, names.length - 1),
    /** Bytes up to the first record. */
    size: sections[0].length,
  }
}

/** A value as the header declares it: `EOF : '|'`; the quotes may be missing. */
function declared(header: string, name: string): string | null {
  const line = new RegExp(String.raw`^[ \t]*${name}[ \t]*:[ \t]*(\S[^\r\n]{0,30}?)[ \t]*$`, 'im').exec(header)
  return line === null ? null : line[1].replace(/^(['"])(.+)\1$/, '$2')
}

/** Without a regular expression: one anchored at the end starts again at every line break of a long run. */
function withoutLineBreak(text: string): string {
  let [start, end] = [0, text.length]
  while (/[\r\n]/.test(text.charAt(start))) start++
  while (end > start && /[\r\n]/.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(raw: Uint8Array): boolean {
  return raw.every((byte) => byte === 32 || (byte >= 9 && byte <= 13))
}
