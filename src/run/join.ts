/** Puts the rows of second tables (`join`) beside the records that they belong to. */
import { FeedError } from '../core/errors.ts'
import { many } from '../core/text.ts'
import type { ReadBudget } from '../feed/format/budget.ts'
import type { RawRecord, Reading, RecordFields } from '../feed/format/format.ts'
import { RecordError } from '../feed/format/format.ts'
import { lackOf, rowCounts } from '../feed/mapping/join.ts'
import type { Join } from '../feed/mapping/join.ts'
import { headersOf, rowPaths } from '../feed/mapping/path-row.ts'
import { reasonsOf } from '../feed/transport/transport.ts'
import type { TransportEnd } from '../feed/transport/transport.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** A second table, and how it is opened. */
export interface JoinedTable extends Join {
  open(signal: AbortSignal, scratch: string): Promise<{ reading: Reading; end: () => TransportEnd }>
}

type Scratch = Pick<Workspace, 'folder' | 'addJoined' | 'dropJoined' | 'joinedBeyond' | 'joinedOf'>

/** How many rows are written at once, and how many characters of rows may wait beside their records. */
const [rowsAtOnce, textAtOnce] = [1000, 1_000_000]

/** If so many records or more have a key, and none of them has a row, keys are likely to be written in different ways. */
const leastRowless = 3

/** The cells of a record's rows: for each row, those of `Join.columns`. */
type Rows = readonly (readonly string[])[]
interface Known {
  join: Join
  /** By key; null: the table is missing, or not whole. */
  rowsOf: ((key: string) => Rows) | null
}

/**
 * Reads the tables into the workspace. A table that can't be read, or is not whole, is told in `notes` and never stops the feed.
 * `maxRecordBytes`: how much the rows of one record may hold.
 */
export async function readJoins(
  tables: readonly JoinedTable[],
  scratch: Scratch,
  budget: ReadBudget,
  maxRecordBytes: number,
): Promise<{ known: Known[]; notes: string[] }> {
  const known: Known[] = []
  const notes: string[] = []
  for (const table of tables) {
    const why = await readTable(table, scratch, budget, maxRecordBytes)
    known.push({ join: table, rowsOf: why === null ? (key) => scratch.joinedOf(table.name, key) : null })
    if (why === null) continue
    scratch.dropJoined(table.name)
    notes.push(
      `The table ${table.name} (join) is missing or not whole: ${why}. What listings have from it stays as it was`,
    )
  }
  return { known, notes }
}

/** Reads a table; gives why it is not whole, or null. */
async function readTable(
  table: JoinedTable,
  scratch: Scratch,
  budget: ReadBudget,
  maxRecordBytes: number,
): Promise<string | null> {
  try {
    const { reading, end } = await table.open(budget.signal, scratch.folder)
    const paths = rowPaths()
    const [key, order] = [paths.compile(table.key), table.orderBy === undefined ? null : paths.compile(table.orderBy)]
    const columns = table.columns.map((name) => paths.compile(name))
    const filters = new Map(Object.keys(table.where ?? {}).map((name) => [name, paths.compile(name)]))
    const lacking = columnsLackedBy(table)
    let waiting: { key: string; rank: number; cells: string[] }[] = []
    let found = 0
    let broken = ''
    const write = (): void => {
      scratch.addJoined(table.name, waiting)
      found += waiting.length
      waiting = []
    }
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
      lacking.seen(row)
      const recordKey = key.first(row)
      if (recordKey === '' || !rowCounts(table, (name) => filters.get(name)?.first(row) ?? '')) return
      const rank = order === null ? 0 : Number(order.first(row) || Infinity)
      const cells = columns.map((select) => select.first(row))
      waiting.push({ key: recordKey, rank: Number.isNaN(rank) ? Infinity : rank, cells })
      if (waiting.length === rowsAtOnce) write()
    }
    for await (const batch of reading.records) {
      for (const records of budget.steps(batch)) {
        await budget.pause()
        budget.each(records, take)
        const late = budget.exceeded()
        if (late !== null) return late
      }
    }
    write()
    const ended = end()
    const reasons = [...reasonsOf(ended, { hasEndMark: false }), ...reading.end().reasons]
    const [why] = [...reasons, ...(broken === '' ? [] : [broken]), ...(ended.doubt ? [ended.doubt] : [])]
    if (why !== undefined) return why
    const lack = lacking.why()
    if (lack !== null) return lack
    if (found === 0) return 'no row of it names a record'
    const largest = scratch.joinedBeyond(table.name, maxRecordBytes)
    return largest === null
      ? null
      : `the rows of ${largest} hold more than ${maxRecordBytes} characters (maxRecordBytes)`
  } catch (error) {
    if (!(error instanceof FeedError)) throw error
    return error.message
  }
}

/** Which columns a table lacks that the rules, `orderBy` or `where` name. Of those of a field one is enough. */
function columnsLackedBy({ columnsOf, orderBy, where = {} }: JoinedTable) {
  const wanted = new Set([...columnsOf, ...[orderBy ?? [], ...Object.keys(where)].flat().map((name) => [name])])
  let isEmpty = true
  return {
    seen(row: RecordFields): void {
      isEmpty = false
      if (wanted.size === 0) return
      const names = Object.keys(row)
      for (const some of wanted) if (some.some((name) => headersOf(name, names).length > 0)) wanted.delete(some)
    },
    why(): string | null {
      const [some] = wanted
      return isEmpty || some === undefined ? null : `it has no column ${some.map((name) => `"${name}"`).join(' or ')}`
    },
  }
}

/**
 * A reading whose records have their rows beside them, as part of what they say and of the hash they are known by. Once all are
 * read, `notes` tells how many had no key: their rows are unknown, which is not the same as none. `isEarlier`: the tables may be those
 * of a later document. Then records without rows are no records that have none.
 */
export function withJoins(
  reading: Reading,
  { known, notes }: Awaited<ReturnType<typeof readJoins>>,
  isEarlier = false,
): Reading {
  if (known.length === 0) return reading
  const [keyless, keyed, found] = [known, known, known].map((tables) => tables.map(() => 0))
  const joinedAs = new WeakMap<RawRecord, { outside: string | undefined; rows: (Rows | null)[] }>()
  const joined = (record: RawRecord): RawRecord => {
    if (record.problem !== undefined) return record
    let fields: RecordFields
    try {
      fields = reading.parse(record)
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      return record
    }
    const rows = known.map(({ join, rowsOf }, index) => {
      const key = join.keyOf(fields)
      const rows = key === '' ? [] : (rowsOf?.(key) ?? [])
      ;(key === '' ? keyless : keyed)[index]++
      found[index] += rows.length
      return key === '' || rowsOf === null || (isEarlier && rows.length === 0) ? null : rows
    })
    const made = { ...record, outside: JSON.stringify([record.outside ?? null, rows]) }
    joinedAs.set(made, { outside: record.outside, rows })
    return made
  }
  async function* records(): AsyncGenerator<RawRecord[]> {
    for await (const batch of reading.records) {
      let [made, text]: [RawRecord[], number] = [[], 0]
      for (const record of batch) {
        const result = joined(record)
        made.push(result)
        text += result.outside?.length ?? 0
        if (text < textAtOnce) continue
        yield made
        ;[made, text] = [[], 0]
      }
      if (made.length > 0) yield made
    }
    for (const [index, { join, rowsOf }] of known.entries()) {
      if (rowsOf !== null && !isEarlier && found[index] === 0 && keyed[index] >= leastRowless)
        notes.push(
          `No record has a row in the table ${join.name} (join): ${join.by} and its column ${join.key} may be written in different ways`,
        )
      if (keyless[index] > 0) {
        const [have, their, they] = keyless[index] === 1 ? ['has', 'its', 'it has'] : ['have', 'their', 'they have']
        notes.push(
          `${many(keyless[index], 'record')} ${have} no ${join.by}, which names ${their} rows in the table ${join.name} (join). What ${they} from it stays as it was`,
        )
      }
    }
  }
  return {
    ...reading,
    records: records(),
    parse(record) {
      const before = joinedAs.get(record)
      if (before === undefined) return reading.parse(record)
      const { outside: _, ...bare } = record
      const fields = reading.parse(before.outside === undefined ? bare : { ...bare, outside: before.outside })
      for (const [index, { join }] of known.entries()) {
        const rows = before.rows[index]
        if (rows === null) fields[lackOf(join.name)] = 'true'
        else
          for (const [at, name] of join.columns.entries())
            fields[`${join.name}:${name}`] = rows.map((cells) => cells[at])
      }
      return fields
    },
  }
}
