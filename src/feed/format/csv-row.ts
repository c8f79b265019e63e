import Papa from 'papaparse'
import { withoutControls } from './encoding.ts'
import { RecordError } from './format.ts'
import type { Dialect } from './format.ts'

/**
 * Parses one row into its cells. Throws `RecordError` for quotes that don't fit together. `bareQuotes`: a quote within a
 * quoted cell is taken for text where neither a delimiter nor the row's end follows it, as the splitter takes it; the number
 * of cells then tells whether it was right.
 */
export function rowParser(
  dialect: Dialect,
  bareQuotes: boolean,
  text: (raw: Buffer) => string,
): (raw: Buffer) => string[] {
  const parser = new Papa.Parser({
    delimiter: dialect.delimiter,
    newline: dialect.lineEnd,
    // papaparse knows no "without quotes"; NUL is never in a row by then.
    quoteChar: dialect.quote === '' ? '\u0000' : dialect.quote,
  })
  return (raw) => {
    const row = withoutControls(text(raw))
    const result: Papa.ParseResult<string[]> = parser.parse(row, 0, false)
    if (result.errors.some(({ code }) => !bareQuotes || code !== 'InvalidQuotes'))
      throw new RecordError('a quoted cell is not closed where it should be')
    if (result.data.length !== 1) throw new RecordError('the row falls into several')
    return result.data[0]
  }
}
