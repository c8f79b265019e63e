/**
 * `join`: a second table whose rows belong to the records by a key, such as the Media file of a RESO export. Rules read its columns as
 * `media:MediaURL`. If the table is missing or not whole, what comes from it stays as it was confirmed.
 */
import { z } from 'zod'
import { fieldRules } from '../../core/listing.ts'
import type { FieldName, Listing, MovingListing } from '../../core/listing.ts'
import { later } from '../../core/setting-kinds.ts'
import type { RecordFields } from '../format/format.ts'
import type { Paths } from './path.ts'
import { pathSchema, severalWords } from './rule-keys.ts'
import type { FieldMapping } from './rule-keys.ts'
import { wordKey } from './vocabulary.ts'

const column = z.string().min(1)
const tableSchema = later(() =>
  z.strictObject({
    source: z.string().min(1).describe('Where the table is, written like source of the feed'),
    member: z.string().min(1).optional().describe('The file to read from a ZIP archive'),
    key: column.describe('Column of the table that names the record'),
    by: pathSchema.describe('Path or column of the record with that value'),
    orderBy: column
      .optional()
      .describe('Column of the table by which the rows of a record are sorted, as numbers. Default: as they come'),
    where: z
      .record(column, severalWords)
      .optional()
      .describe('Column of the table → words. Rows with other words are left out, as by { MediaCategory: [Photo] }'),
  }),
)
export const joinSchema = z.record(
  z.string().regex(/^[a-z][a-z0-9]*$/, 'lower-case letters and digits: its columns are media:MediaURL'),
  tableSchema,
)
type Written = z.infer<typeof joinSchema>

/** A second table, and what the rules need of it. */
export interface Join extends z.infer<typeof tableSchema> {
  name: string
  /** The columns that rules read: all, and by field. */
  columns: readonly string[]
  columnsOf: readonly (readonly string[])[]
  /** The fields that they give, which stay as confirmed if the table is missing. */
  fields: readonly FieldName[]
  /** The value of a record that names its rows; '': it has none. */
  keyOf: (record: RecordFields) => string
}

/** The mark of a record whose rows of a table are not known. */
export const lackOf = (name: string): string => `@@${name}:lacks`

/** Fields that can be kept by themselves, as only their value depends on the table. */
const kept = fieldRules.flatMap(({ name, required }) => (required || name === 'Tours' ? [] : [name as string]))

const columnsIn = (rules: unknown, name: string): string[] => [
  ...new Set([...JSON.stringify(rules).matchAll(new RegExp(`"${name}:([^"]+)"`, 'g'))].map(([, path]) => path)),
]

/** The fields whose rules read a table. */
const readersOf = (fields: Record<string, FieldMapping>, name: string) =>
  (Object.keys(fields) as FieldName[]).filter((field) => columnsIn(fields[field], name).length > 0)

/** Problems: tables that no rule reads, and rules that must not read one. */
export function joinProblems(written: Written, fields: Record<string, FieldMapping>, others: unknown): string[] {
  return Object.keys(written).flatMap((name) => {
    const readers = readersOf(fields, name)
    const wrong = readers.filter((field) => !kept.includes(field))
    return [
      ...(readers.length === 0 ? [`join.${name}: no rule reads it, as Images: { from: '${name}:MediaURL' }`] : []),
      ...wrong.map(
        (field) => `fields.${field}: can't be read from ${name}: it could not stay as it is where that table lacks`,
      ),
      ...(columnsIn(others, name).length === 0
        ? []
        : [`join.${name}: is for rules of fields, not of columns, variants, where, hideAddress or removeWhen`]),
    ]
  })
}

/** The tables, and which fields of a record stay as confirmed as their table is missing. Throws `PathError`. */
export function compileJoins(written: Written | undefined, fields: Record<string, FieldMapping>, paths: Paths) {
  const joins = Object.entries(written ?? {}).map(([name, table]): Join => {
    const by = paths.compile(table.by)
    const keyOf = (record: RecordFields): string => {
      paths.prepare(record)
      return by.first(record)
    }
    const its = readersOf(fields, name)
    const columnsOf = its.map((field) => columnsIn(fields[field], name))
    return { ...table, name, columns: [...new Set(columnsOf.flat())], columnsOf, fields: its, keyOf }
  })
  return {
    joins,
    lacks: (record: RecordFields) => joins.flatMap(({ name, fields: its }) => (lackOf(name) in record ? its : [])),
  }
}

/** Replaces fields whose table is missing by what was confirmed. */
export function keepConfirmed(
  listing: Partial<Listing>,
  fields: readonly FieldName[],
  before: MovingListing | null,
): void {
  for (const field of fields) {
    delete listing[field]
    const value = before?.listing[field]
    if (value !== undefined) Object.assign(listing, { [field]: value })
  }
}

/** Whether a row counts, by the `where` of its table. */
export function rowCounts({ where = {} }: Join, cell: (column: string) => string): boolean {
  return Object.entries(where).every(([name, words]) => words.some((word) => wordKey(word) === wordKey(cell(name))))
}
