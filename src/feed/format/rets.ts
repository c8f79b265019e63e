import { FeedError } from '../../core/errors.ts'
import { CsvHeader } from './csv-header.ts'
import { decoded } from './encoding.ts'
import { looksLikeHtml } from './foreign.ts'
import { RecordError } from './format.ts'
import type { Format, RawRecord, RecordFields } from './format.ts'
import { blocks, problemOf } from './raw.ts'
import { RetsSplitter } from './rets-splitter.ts'
import { decodeEntities } from './xml-record.ts'

/** COLUMNS as read; `framed`: whether the delimiter stands before its first and behind its last name. */
interface Columns {
  raw: string
  delimiter: string
  framed: [boolean, boolean]
  header: CsvHeader
}

/**
 * RETS COMPACT and COMPACT-DECODED, answers of a server as saved (feeds/formats.md §5): one row of COLUMNS, then rows of
 * DATA, their cells parted by DELIMITER. Throws `FeedError` where the server answered with an error or another kind of
 * document. A count that does not fit, MAXROWS and a missing </RETS> are reasons why the answer is not whole.
 * Records are views on the blocks read: copy `raw` to keep it longer than its batch.
 */
export const retsCompact: Format = (bytes, options) => {
  const source = decoded(bytes, options)
  const splitter = new RetsSplitter(options.maxRecordBytes)
  let columns: Columns | null = null

  function current(): Columns | null {
    if (splitter.columns === null) return null
    const raw = splitter.columns.toString('latin1')
    if (columns?.raw === raw && columns.delimiter === splitter.delimiter) return columns
    const cells = decodeEntities(source.text(splitter.columns)).split(splitter.delimiter)
    const framed: Columns['framed'] = [cells[0].trim() === '', (cells.at(-1) ?? '').trim() === '']
    const names = cells.slice(framed[0] ? 1 : 0, framed[1] ? -1 : undefined)
    columns = { raw, delimiter: splitter.delimiter, framed, header: new CsvHeader(names, options.requiredHeaders) }
    return columns
  }

  async function* records(): AsyncGenerator<RawRecord[]> {
    let begun = false
    for await (const block of blocks(source.bytes)) {
      if (!begun && looksLikeHtml(block.toString('latin1', 0, 1024))) {
        throw new FeedError('the document is an HTML page, not RETS')
      }
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
    context: () => JSON.stringify([current()?.header.names, current()?.framed, splitter.delimiter]),
    end: () => ({ reasons: splitter.reasons }),
    parse(record): RecordFields {
      const problem = problemOf(record)
      if (problem !== null) throw new RecordError(problem)
      const known = current()
      if (known === null) throw new RecordError('the row comes before COLUMNS')
      return known.header.fields(fitting(source.text(record.raw).split(known.delimiter), known).map(decodeEntities))
    },
  }
}

/**
 * The cells of a row. It should begin and end with the delimiter, but servers leave out either or both (libRETS): how many
 * cells there are shows which. Where the outer cells are empty that is not sure, and the row must be `framed` as COLUMNS
 * is. Throws `RecordError` where nothing fits.
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
    `the row has ${cells.length - Number(first) - Number(last)} cells where COLUMNS has ${header.size}`,
  )
}
