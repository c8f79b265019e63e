/**
 * Records that tell only what changed of a listing: its new price, or that it was sold. Update wants the
 * whole listing, so the rest comes from the listing that was confirmed last; defaults would blank it.
 */
import { z } from 'zod'
import type { Delivered, Listing, MovingListing, Problem } from '../../core/listing.ts'
import type { RecordFields } from '../format/format.ts'
import type { Making } from './converters/converter.ts'
import { readField } from './field.ts'
import type { FieldStep } from './field.ts'
import { leaves } from './extension.ts'
import type { Columns } from './extension.ts'
import type { KnownListing } from './mapping.ts'
import { unknownFields } from './names.ts'
import { childNames } from './path.ts'
import type { Paths, Select } from './path.ts'
import { pathSchema, pathsSchema } from './rule-keys.ts'

export const stubSchema = z.strictObject({
  without: z.array(pathSchema).min(1),
  fields: z.record(z.string(), pathsSchema).default({}),
  extension: z.record(z.string(), pathsSchema).default({}),
})
type Stub = z.infer<typeof stubSchema>

/** A preset's `stub`, compiled. */
export interface StubRule {
  without: readonly Select[]
  /** What a field or a column is told by, by its name. */
  fields: ReadonlyMap<string, readonly Select[]>
  columns: ReadonlyMap<string, readonly Select[]>
}

/** Throws `PathError` where a path can't be read. */
export function compileStub(stub: Stub | undefined, paths: Paths): StubRule | null {
  if (stub === undefined) return null
  const select = (path: string): Select => paths.compile(path)
  const compiled = (written: Record<string, string | string[]>) =>
    new Map(Object.entries(written).map(([name, from]) => [name, [from].flat().map(select)] as const))
  return { without: stub.without.map(select), fields: compiled(stub.fields), columns: compiled(stub.extension) }
}

/** What can't work in a preset's `stub`: its names must be of fields and columns that have rules. */
export function stubProblems({
  stub,
  fields,
  extension,
}: {
  stub?: Stub
  fields: object
  extension: object
}): string[] {
  if (stub === undefined) return []
  const rule = (name: string, of: object): boolean => Object.hasOwn(of, name)
  return [
    ...unknownFields(stub.fields, 'stub.fields'),
    ...('MLSNumber' in stub.fields ? ['stub.fields.MLSNumber: it is how the listing is found'] : []),
    ...Object.keys(stub.fields)
      .filter((name) => unknownFields({ [name]: '' }).length === 0 && !rule(name, fields))
      .map((name) => `stub.fields.${name}: the field has no rule under fields`),
    ...Object.keys(stub.extension)
      .filter((key) => !rule(key, extension))
      .map((key) => `stub.extension.${key}: there is no such column under extension`),
  ]
}

/** Whether a record has none of what every whole record has, or has it without a text in it. */
export function isStub({ without }: StubRule, record: RecordFields): boolean {
  return without.every((path) => path.nodes(record).every((node) => leaves(node).length === 0))
}

/** The reject of a stub that there is nothing to complete with. */
export function unknownStub({ MLSNumber, Status }: Partial<Listing>, problems: Problem[], at: string): Delivered {
  const about = problems.filter(({ field }) => field === 'MLSNumber' || field === 'Status')
  const problem =
    'is a stub, and there is no confirmed listing that it could be news of; have the sender send the whole record'
  return {
    kind: 'reject',
    at,
    mlsNumber: MLSNumber ?? null,
    problems: [...about, { field: 'record', value: Status ?? null, problem }],
  }
}

/** The listing confirmed last, if the stub's number could be read and there is one. */
export function knownOf({ MLSNumber }: Partial<Listing>, known: KnownListing): MovingListing | null {
  return MLSNumber === undefined ? null : known(MLSNumber)
}

/**
 * Starts again from the listing confirmed last, with what the stub tells over it. A field that it tells nothing readable
 * of goes, as a price that is hidden from now on; one that the interface requires stays.
 */
export function complete(
  { fields }: StubRule,
  steps: readonly FieldStep[],
  record: RecordFields,
  making: Making,
  before: MovingListing,
  problems: Problem[],
): Making {
  const completed: Making = { ...making, listing: { ...before.listing }, moving: { ...before.moving } }
  const { listing } = completed
  for (const { rule, read } of steps) {
    if (!tells(fields.get(rule.name), record)) continue
    if (!rule.required) delete listing[rule.name]
    readField(
      { rule, read, byDefault: rule.required ? (before.listing[rule.name] as string) : undefined },
      record,
      completed,
      problems,
    )
  }
  return completed
}

/** The columns confirmed last, with those that the stub tells in place of theirs. */
export function completeColumns({ columns }: StubRule, record: RecordFields, before: Listing, read: Columns): Columns {
  const names = new Set([...columns].filter(([, paths]) => tells(paths, record)).map(([key]) => key))
  const kept = (before.ExtensionColumn ?? []).filter(({ Key }) => !names.has(Key))
  const problems = read.problems.filter(({ key }) => names.has(key))
  return { entries: [...kept, ...read.entries.filter(({ Key }) => names.has(Key))], problems }
}

/** An element without a text but with an attribute tells something, too: a price that may not be shown. */
function tells(paths: readonly Select[] | undefined, record: RecordFields): boolean {
  if (paths === undefined) return false
  return paths.some((path) =>
    path.nodes(record).some((node) => {
      if (leaves(node).length > 0) return true
      return typeof node !== 'string' && Object.keys(node).length > childNames(node).length
    }),
  )
}
