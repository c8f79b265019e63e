import { FeedError } from '../../core/errors.ts'
import type { CsvColumns } from './csv-positions.ts'
import { RecordError } from './format.ts'
import type { RecordFields } from './format.ts'

const unsafeNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Different cells under one name that are kept: a header of nothing but one name must not cost its square for every row. */
const mostTwins = 20

/** The names of a header row and how a row's cells go under them. */
export class CsvHeader implements CsvColumns {
  /** Name of each column; null: unnamed, and its cells are left out. */
  readonly names: readonly (string | null)[]
  private readonly known: ReadonlySet<string>
  private readonly hasTwins: boolean

  /** `cells` are the header row's. Throws `FeedError` where they hold none of `required` (feed.ts, `requiredHeaders`). */
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

/** The matching rule of feeds/vocab.md. */
function matchingKey(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 40))
}
