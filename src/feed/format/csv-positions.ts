import { FeedError } from '../../core/errors.ts'
import { RecordError } from './format.ts'
import type { RecordFields } from './format.ts'

/** What a row's cells are called and whether they can be a record of this feed. */
export interface CsvColumns {
  /** Name of each column, null for one that is left out; null: by position. */
  readonly names: readonly (string | null)[] | null
  readonly size: number
  /** The row as an object without prototype. Throws `RecordError` for a row that is none of this table. */
  fields(cells: string[]): RecordFields
}

/**
 * Columns of a file without a header row (Poliris, formats.md §15): named 1, 2, … by their place. What says that the table
 * is this feed's is the number of its cells, so a row with fewer than `least` is broken; writers add columns at the end.
 */
export class CsvPositions implements CsvColumns {
  readonly names = null
  readonly size: number

  /** `first` are the cells of the first row. Throws `FeedError` where they are fewer than `least`. */
  constructor(first: string[], least: number) {
    this.size = least
    if (first.length < least) {
      throw new FeedError(
        `the first row has ${first.length} cell(s), at least ${least} are expected: it is another table`,
      )
    }
  }

  fields(cells: string[]): RecordFields {
    if (cells.length < this.size) {
      throw new RecordError(`the row has ${cells.length} cells, at least ${this.size} are expected`)
    }
    const fields: RecordFields = Object.create(null)
    for (let index = 0; index < cells.length; index++) fields[String(index + 1)] = unquoted(cells[index])
    return fields
  }
}

/** Blanks around the delimiter (`"a" !# "b"`, as some writers of Poliris put them) keep a cell's quotes from being seen. */
function unquoted(cell: string): string {
  const bare = cell.trim()
  return bare.length > 1 && bare.startsWith('"') && bare.endsWith('"') ? bare.slice(1, -1) : cell
}
