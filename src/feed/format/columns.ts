/** What the cells of a row are called: by a header, or by their place. For every format whose records are rows. */
import { z } from 'zod'
import { FeedError } from '../../core/errors.ts'
import { RecordError } from './format.ts'
import type { RecordFields } from './format.ts'

/** The preset keys of formats with a header. */
export const requiredHeaders = z.array(z.string()).default([]).describe('Headers of which at least one must be there.')
export const headerOptions = z.object({ requiredHeaders })
export type HeaderOptions = z.output<typeof headerOptions>

/** What a row's cells are called and whether they can be a record of this feed. */
export interface Columns {
  /** Name of each column, null for one that is left out; null: by position. */
  readonly names: readonly (string | null)[] | null
  readonly size: number
  /** The row as an object without prototype. Throws `RecordError` for a row that is none of this table. */
  fields(cells: string[]): RecordFields
}

const unsafeNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Different cells under one name that are kept: a header of nothing but one name must not cost its square for every row. */
const mostTwins = 20

/** The names of a header row and how a row's cells go under them. */
export class HeaderColumns implements Columns {
  /** Name of each column; null: unnamed, and its cells are left out. */
  readonly names: readonly (string | null)[]
  private readonly known: ReadonlySet<string>
  private readonly hasTwins: boolean

  /** `cells` are the header row's. Throws `FeedError` where they hold none of `required`. */
  constructor(cells: string[], required: string[]) {
    this.names = cells.map((cell) => {
      const name = cell.trim()
      return name === '' || unsafeNames.has(name) ? null : name
    })
    const named = this.names.filter((name) => name !== null)
    this.known = new Set(named)
    this.hasTwins = this.known.size < named.length
    if (required.length === 0) return
    const keys = new Set(named.map(matchingKey))
    if (required.some((name) => keys.has(matchingKey(name)))) return
    const found = named.slice(0, 12).map(shown).join(', ') + (named.length > 12 ? ` and ${named.length - 12} more` : '')
    throw new FeedError(
      `the header row has none of the columns ${required.map(shown).join(', ')}; it has ${found || 'no named column'}`,
    )
  }

  get size(): number {
    return this.names.length
  }

  /**
   * The row as an object without prototype. Missing trailing cells are absent. A name that is there twice holds the first
   * cell with something in it; a different second one goes under `name_2`. Throws `RecordError` for cells beyond the header.
   */
  fields(cells: string[]): RecordFields {
    if (cells.length === 1 && this.names.length > 1) {
      throw new RecordError(`the row has one cell where the header has ${this.names.length}`)
    }
    if (cells.length > this.names.length && cells.slice(this.names.length).some((cell) => cell.trim() !== '')) {
      throw new RecordError(`the row has ${cells.length} cells where the header has ${this.names.length}`)
    }
    const fields: RecordFields = Object.create(null)
    const columns = Math.min(cells.length, this.names.length)
    for (let column = 0; column < columns; column++) {
      const name = this.names[column]
      if (name === null) continue
      if (this.hasTwins && fields[name] !== undefined) this.addTwin(fields, name, cells[column])
      else fields[name] = cells[column]
    }
    return fields
  }

  private addTwin(fields: RecordFields, name: string, cell: string): void {
    if (cell === fields[name] || cell.trim() === '') return
    if (fields[name] === '') {
      fields[name] = cell
      return
    }
    for (let number = 2; number <= mostTwins; number++) {
      const twin = `${name}_${number}`
      if (fields[twin] === cell) return
      if (fields[twin] !== undefined || this.known.has(twin)) continue
      fields[twin] = cell
      return
    }
  }
}

/** How names of columns are compared: without case, blanks and marks. */
function matchingKey(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 40))
}

/**
 * Columns of a file without a header row (Poliris): named 1, 2, … by their place. What says that the table
 * is this feed's is the number of its cells, so a row with fewer than `least` is broken; writers add columns at the end.
 */
export class PositionColumns implements Columns {
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
