import { many } from '../../core/text.ts'
import { headerColumns, headerOptions } from './columns.ts'
import type { HeaderOptions } from './columns.ts'
import { decoded } from './encoding.ts'
import { decodeEntities } from './entities.ts'
import { refuseOthers } from './foreign.ts'
import { RecordError, refuseBroken } from './format.ts'
import type { Format, RawRecord, ReadOptions, Reading, RecordFields } from './format.ts'
import { RetsSplitter } from './rets-splitter.ts'
import { xmlShape } from './xml-shape.ts'

/** `framed`: whether COLUMNS has the delimiter before its first and after its last name. */
interface Columns {
  raw: Buffer
  delimiter: string
  framed: [boolean, boolean]
  header: ReturnType<typeof headerColumns>
  /** What else the meaning of a row depends on (`Reading.context`). */
  context: string
}

/** RETS COMPACT and COMPACT-DECODED, answers of a server as saved. */
export const retsCompact: Format<HeaderOptions> = {
  title: 'RETS COMPACT',
  hasEndMark: true,
  nested: false,
  options: headerOptions,
  /** RETS STANDARD-XML, CREA's too, has its records in elements and is read as XML; an error has none of either. */
  detect(head) {
    const start = head.subarray(0, 64 * 1024)
    const text = start.toString('latin1')
    const isRows = /<(?:COLUMNS|DATA|DELIMITER)\b/i.test(text) || !/<(?!RETS\b|COUNT\b|MAXROWS\b)[a-z]/i.test(text)
    const isCompact = xmlShape(start).root?.toUpperCase() === 'RETS' && isRows
    return isCompact ? { options: { requiredHeaders: [] } } : null
  },
  read,
}

/**
 * One row of COLUMNS, then rows of DATA, cells separated by DELIMITER. Throws `FeedError` if the server answered with an
 * error or another kind of document. A wrong count, MAXROWS and a missing </RETS> are reasons why the answer is
 * incomplete. Records are views on the blocks read: copy `raw` to keep it longer than its batch.
 */
function read(bytes: AsyncIterable<Buffer>, options: ReadOptions & HeaderOptions): Reading {
  const source = decoded(bytes, options)
  const splitter = new RetsSplitter(options.maxRecordBytes)
  let columns: Columns | null = null

  function current(): Columns | null {
    const raw = splitter.columns
    if (raw === null) return null
    // The same bytes, not equal ones: asked for every row, and the columns may be long.
    if (columns?.raw === raw && columns.delimiter === splitter.delimiter) return columns
    const cells = decodeEntities(source.text(raw)).split(splitter.delimiter)
    const framed: Columns['framed'] = [cells[0].trim() === '', (cells.at(-1) ?? '').trim() === '']
    const names = cells.slice(framed[0] ? 1 : 0, framed[1] ? -1 : undefined)
    const header = headerColumns(names, options)
    const context = JSON.stringify([header.names, framed, splitter.delimiter])
    columns = { raw, delimiter: splitter.delimiter, framed, header, context }
    return columns
  }

  async function* records(): AsyncGenerator<RawRecord[]> {
    let begun = false
    for await (const block of source.blocks(undefined, () => splitter.waiting)) {
      if (!begun) refuseOthers(block, 'RETS', ['an HTML page', 'JSON'])
      begun = true
      const batch = splitter.push(block)
      current()
      if (batch.length > 0) yield batch
    }
    const last = splitter.end()
    if (last.length > 0) yield last
  }

  return {
    records: records(),
    context: () => current()?.context ?? '',
    end: () => ({ reasons: splitter.reasons }),
    parse(record): RecordFields {
      refuseBroken(record)
      const known = current()
      if (known === null) throw new RecordError('the row comes before COLUMNS')
      return known.header.fields(fitting(source.text(record.raw).split(known.delimiter), known).map(decodeEntities))
    },
  }
}

/**
 * The cells of a row. It should begin and end with the delimiter, but servers leave out either or both (libRETS): the number
 * of cells shows which. If outer cells are empty that is ambiguous, and the row must be `framed` like COLUMNS. Throws
 * `RecordError` if nothing fits.
 */
function fitting(cells: string[], { header, framed }: Columns): string[] {
  const extra = cells.length - header.size
  const first = cells[0].trim() === ''
  const last = (cells.at(-1) ?? '').trim() === ''
  const unsure = first && last && framed[0] && framed[1]
  if (extra === 2 && first && last) return cells.slice(1, -1)
  if (extra === 1 && first && !(last && framed[1])) return cells.slice(1)
  if (extra === 1 && last && !(first && framed[0])) return cells.slice(0, -1)
  if (extra === 0 && !unsure) return cells
  throw new RecordError(
    `the row has ${many(cells.length - Number(first) - Number(last), 'cell')} where COLUMNS has ${header.size}`,
  )
}
