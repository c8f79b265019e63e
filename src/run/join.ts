/** The rows of second tables (`join`) beside the records that they belong to. */
import { FeedError } from '../core/errors.ts'
import type { ReadBudget } from '../feed/format/budget.ts'
import { steps } from '../feed/format/budget.ts'
import type { RawRecord, Reading, RecordFields } from '../feed/format/format.ts'
import { RecordError } from '../feed/format/format.ts'
import { lackOf, rowCounts } from '../feed/mapping/join.ts'
import type { Join } from '../feed/mapping/join.ts'
import { rowPaths } from '../feed/mapping/path-row.ts'
import type { TransportEnd } from '../feed/transport/transport.ts'

/** How a second table is had. */
export interface JoinedTable extends Join {
  open(signal: AbortSignal, scratch: string): Promise<{ reading: Reading; end: () => TransportEnd }>
}

/** So much text of a table is held at once. */
const mostText = 256 * 1024 * 1024

/** The cells of a record's rows: for each row, those of `Join.columns`. */
type Rows = readonly (readonly string[])[]
interface Known {
  join: Join
  /** By key; null: the table is missing, or not whole. */
  rows: ReadonlyMap<string, Rows> | null
}

/** Reads the tables. A table that can't be had, or is not whole, is told in `notes` and never stops the feed. */
export async function readJoins(
  tables: readonly JoinedTable[],
  scratch: string,
  budget: ReadBudget,
): Promise<{ known: Known[]; notes: string[] }> {
  const known: Known[] = []
  const notes: string[] = []
  for (const table of tables) {
    const { rows, why } = await readTable(table, scratch, budget)
    known.push({ join: table, rows })
    if (rows === null)
      notes.push(
        `The table ${table.name} (join) is missing or not whole: ${why}. What listings have from it stays as it was`,
      )
  }
  return { known, notes }
}

async function readTable(table: JoinedTable, scratch: string, budget: ReadBudget) {
  const lacks = (why: string) => ({ rows: null, why })
  try {
    const { reading, end } = await table.open(budget.signal, scratch)
    const paths = rowPaths()
    const [key, order] = [paths.compile(table.key), table.orderBy === undefined ? null : paths.compile(table.orderBy)]
    const columns = table.columns.map((name) => paths.compile(name))
    const filters = new Map(Object.keys(table.where ?? {}).map((name) => [name, paths.compile(name)]))
    const found = new Map<string, { rank: number; cells: string[] }[]>()
    let text = 0
    let broken = ''
    const take = (record: RawRecord): void => {
      let row: RecordFields
      try {
        row = reading.parse(record)
      } catch (error) {
        if (!(error instanceof RecordError)) throw error
        broken ||= `${record.at}: ${error.message}`
        return
      }
      paths.prepare(row)
      const of = key.first(row)
      if (of === '' || !rowCounts(table, (name) => filters.get(name)?.first(row) ?? '')) return
      const cells = columns.map((select) => select.first(row))
      text += of.length + cells.reduce((sum, cell) => sum + cell.length, 0)
      const rank = order === null ? 0 : Number(order.first(row) || Infinity)
      const rows = found.get(of) ?? []
      rows.push({ rank: Number.isNaN(rank) ? Infinity : rank, cells })
      found.set(of, rows)
    }
    for await (const batch of reading.records) {
      for (const records of steps(batch)) {
        await budget.pause()
        budget.each(records, take)
        const late = budget.exceeded()
        if (late !== null) return lacks(late)
        if (text > mostText) return lacks(`it holds more than ${mostText} characters`)
      }
    }
    const { reasons, doubt } = end()
    const [why] = [...reasons, ...reading.end().reasons, ...(broken === '' ? [] : [broken]), ...(doubt ? [doubt] : [])]
    if (why !== undefined) return lacks(why)
    if (found.size === 0) return lacks('no row of it names a record')
    const sorted = [...found].map(([of, rows]) => {
      const inOrder = rows.toSorted((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
      return [of, inOrder.map(({ cells }) => cells)] as const
    })
    return { rows: new Map<string, Rows>(sorted), why: '' }
  } catch (error) {
    if (!(error instanceof FeedError)) throw error
    return lacks(error.message)
  }
}

/** A reading whose records have their rows beside them: part of what a record says, and of what it is known by. */
export function withJoins(reading: Reading, known: readonly Known[]): Reading {
  if (known.length === 0) return reading
  const own = new WeakMap<RawRecord, { outside: string | undefined; rows: (Rows | null)[] }>()
  const joined = (record: RawRecord): RawRecord => {
    if (record.problem !== undefined) return record
    let fields: RecordFields
    try {
      fields = reading.parse(record)
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      return record
    }
    const rows = known.map(({ join, rows }) => (rows === null ? null : (rows.get(join.keyOf(fields)) ?? [])))
    const made = { ...record, outside: JSON.stringify([record.outside ?? null, rows]) }
    own.set(made, { outside: record.outside, rows })
    return made
  }
  return {
    ...reading,
    records: (async function* () {
      for await (const batch of reading.records) yield batch.map(joined)
    })(),
    parse(record) {
      const of = own.get(record)
      if (of === undefined) return reading.parse(record)
      const { outside: _, ...bare } = record
      const fields = reading.parse(of.outside === undefined ? bare : { ...bare, outside: of.outside })
      for (const [index, { join }] of known.entries()) {
        const rows = of.rows[index]
        if (rows === null) fields[lackOf(join.name)] = 'true'
        else
          for (const [at, name] of join.columns.entries())
            fields[`${join.name}:${name}`] = rows.map((cells) => cells[at])
      }
      return fields
    },
  }
}
