/** Names the cells of a row, by a header or by position, for every format whose records are rows. */
import { z } from 'zod'
import { FeedError } from '../../core/errors.ts'
import { andMore, many } from '../../core/text.ts'
import { RecordError, tooManyValues } from './format.ts'
import type { ReadOptions, RecordFields } from './format.ts'

export const requiredHeaders = () =>
  z.array(z.string()).default([]).describe('Headers of which at least one must be there.')
export const headerOptions = () => z.object({ requiredHeaders: requiredHeaders() })
export type HeaderOptions = z.output<ReturnType<typeof headerOptions>>

export interface Columns {
  /** Names of the columns, null for one that is left out; null: by position. */
  readonly names: readonly (string | null)[] | null
  readonly size: number
  /** The row as an object without prototype. Throws `RecordError` for a row that does not fit the table. */
  fields(cells: string[]): RecordFields
}

const unsafeNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Most cells kept under one name: a header that repeats one name would cost quadratic time for every row. */
const mostTwins = 20

/** The options that concern columns. */
type ColumnOptions = Pick<ReadOptions, 'reads' | 'maxFields'> & HeaderOptions

/**
 * The names of a header row, null for unnamed columns, whose cells are left out, and how a row's cells go under them.
 * Throws `FeedError` if it has none of `requiredHeaders`.
 */
export function headerColumns(header: string[], options: ColumnOptions) {
  const { requiredHeaders: required, reads, maxFields = Infinity } = options
  const names = header.map((cell) => {
    const name = cell.trim()
    return name === '' || unsafeNames.has(name) ? null : name
  })
  const named = names.filter((name) => name !== null)
  const known: ReadonlySet<string> = new Set(named)
  const hasTwins = known.size < named.length
  // The second cell with a name gets a name of its own, which a rule may read.
  const isRead = (name: string): boolean => hasTwins || reads === undefined || reads(name)
  const read = names.flatMap((name, column) => (name !== null && isRead(name) ? [{ name, column }] : []))
  const keys = new Set(named.map(matchingKey))
  if (required.length > 0 && !required.some((name) => keys.has(matchingKey(name)))) {
    const found = andMore(named.slice(0, 12).map(shown), named.length)
    throw new FeedError(
      `the header row has none of the columns ${required.map(shown).join(', ')}; it has ${found || 'no named column'}`,
    )
  }

  function addTwin(fields: RecordFields, name: string, cell: string): void {
    if (cell === fields[name] || cell.trim() === '') return
    if (fields[name] === '') {
      fields[name] = cell
      return
    }
    for (let number = 2; number <= mostTwins; number++) {
      const twin = `${name}_${number}`
      if (fields[twin] === cell) return
      if (fields[twin] !== undefined || known.has(twin)) continue
      fields[twin] = cell
      return
    }
  }

  return {
    names,
    size: names.length,
    /**
     * Missing trailing cells are absent. A repeated name holds the first non-empty cell; a different second one goes
     * under `name_2`. Throws `RecordError` for cells beyond the header.
     */
    fields(cells: string[]): RecordFields {
      if (cells.length === 1 && names.length > 1) {
        throw new RecordError(`the row has one cell where the header has ${names.length}`)
      }
      if (cells.length > names.length && cells.slice(names.length).some((cell) => cell.trim() !== '')) {
        throw new RecordError(`the row has ${cells.length} cells where the header has ${names.length}`)
      }
      if (named.length > maxFields && names.slice(0, cells.length).filter((name) => name !== null).length > maxFields)
        throw tooManyValues(maxFields)
      const fields: RecordFields = Object.create(null)
      for (const { name, column } of read) {
        if (column >= cells.length) break
        if (hasTwins && fields[name] !== undefined) addTwin(fields, name, cells[column])
        else fields[name] = cells[column]
      }
      return fields
    },
  }
}

/** Column names are compared without case, blanks and punctuation. */
function matchingKey(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 40))
}

/**
 * Columns of a file without a header row (Poliris): named 1, 2, … by position. Only the number of cells shows that the
 * table is this feed's, so a row with fewer than `least` is broken; writers add columns at the end. Throws `FeedError`
 * if `first`, the first row, has fewer.
 */
export function positionColumns(first: string[], least: number): Columns {
  if (first.length < least) {
    throw new FeedError(
      `the first row has ${many(first.length, 'cell')}, at least ${least} are expected: it is another table`,
    )
  }
  return {
    names: null,
    size: least,
    fields(cells) {
      if (cells.length < least) {
        throw new RecordError(`the row has ${many(cells.length, 'cell')}, at least ${least} are expected`)
      }
      const fields: RecordFields = Object.create(null)
      for (let index = 0; index < cells.length; index++) fields[String(index + 1)] = unquoted(cells[index])
      return fields
    },
  }
}

/** Blanks around the delimiter (`"a" !# "b"`, as some writers of Poliris put them) hide a cell's quotes. */
function unquoted(cell: string): string {
  const bare = cell.trim()
  return bare.length > 1 && bare.startsWith('"') && bare.endsWith('"') ? bare.slice(1, -1) : cell
}
