import type { Dialect } from './format.ts'

const candidates = [',', '\t', ';', '|']
/** Rows of the sample that are compared. */
const comparedRows = 200

/** Finds out the dialect from the first 64 KB or so. A configured delimiter is taken as it is. */
export function dialectOf(sample: Buffer, delimiter: string | null, quote: string): Dialect {
  const text = sample.toString('latin1')
  const firstReturn = text.indexOf('\r')
  const lineEnd = !text.includes('\n') && firstReturn >= 0 && firstReturn < text.length - 1 ? '\r' : '\n'
  return { delimiter: delimiter ?? detectedDelimiter(text, quote, lineEnd), quote, lineEnd }
}

/** The candidate under which most rows have as many cells as the header; of equal ones, that with more cells. */
function detectedDelimiter(text: string, quote: string, lineEnd: string): string {
  let best = { delimiter: ',', alike: 0, cells: 1 }
  for (const delimiter of candidates) {
    const counts = cellCounts(text, delimiter, quote, lineEnd)
    const cells = counts[0] ?? 1
    if (cells < 2) continue
    const alike = counts.filter((count) => count === cells).length / counts.length
    if (alike > best.alike + 0.1 || (alike > best.alike - 0.1 && cells > best.cells)) best = { delimiter, alike, cells }
  }
  return best.delimiter
}

/** Cells of each row of the sample; its last, perhaps cut row is left out where there is another. */
function cellCounts(text: string, delimiter: string, quote: string, lineEnd: string): number[] {
  const counts: number[] = []
  let cells = 1
  let cellStart = true
  for (let index = 0; index < text.length && counts.length < comparedRows; index++) {
    const character = text[index]
    if (cellStart && quote !== '' && character === quote) {
      index = closingQuote(text, index, quote)
      cellStart = false
    } else if (character === delimiter) {
      cells++
      cellStart = true
    } else if (character === lineEnd) {
      // One-cell rows are notices and blank lines; they say nothing about the delimiter.
      if (cells > 1 || counts.length === 0) counts.push(cells)
      cells = 1
      cellStart = true
    } else cellStart = false
  }
  if (counts.length === 0) counts.push(cells)
  return counts
}

function closingQuote(text: string, opening: number, quote: string): number {
  let index = text.indexOf(quote, opening + 1)
  while (index >= 0 && text[index + 1] === quote) index = text.indexOf(quote, index + 2)
  return index < 0 ? text.length : index
}
