/**
 * Stubs: records with only the changes of a listing, such as a new price or a sale. An Update needs the whole listing, so the
 * rest comes from the last confirmed listing, not from defaults.
 */
import { z } from 'zod'
import type { Delivered, Listing, MovingListing, Problem } from '../../core/listing.ts'
import { later } from '../../core/setting-kinds.ts'
import type { RecordFields } from '../format/format.ts'
import type { Making } from './converters/converter.ts'
import { readField } from './field.ts'
import type { FieldStep } from './field.ts'
import { leaves } from './extension.ts'
import type { Columns } from './extension.ts'
import { unknownFields } from './names.ts'
import { childNames } from './path.ts'
import type { Paths, Select } from './path.ts'
import { pathSchema, pathsSchema } from './rule-keys.ts'

export const stubSchema = later(() =>
  z.strictObject({
    without: z.array(pathSchema).min(1),
    fields: z.record(z.string(), pathsSchema).default({}),
    extension: z.record(z.string(), pathsSchema).default({}),
  }),
)
type Stub = z.infer<typeof stubSchema>

type StubRule = NonNullable<ReturnType<typeof compileStub>>

/** `fields` and `columns` hold the paths by name. Throws `PathError`. */
export function compileStub(stub: Stub | undefined, paths: Paths) {
  if (stub === undefined) return null
  const select = (path: string): Select => paths.compile(path)
  const compiled = (written: Record<string, string | string[]>) =>
    new Map(Object.entries(written).map(([name, from]) => [name, [from].flat().map(select)] as const))
  return { without: stub.without.map(select), fields: compiled(stub.fields), columns: compiled(stub.extension) }
}

/** Problems of a preset's `stub`: it may only name fields and columns that have rules. */
export function stubProblems(stub: Stub | undefined, fields: object, extension: object): string[] {
  if (stub === undefined) return []
  return [
    ...unknownFields(stub.fields, 'stub.fields'),
    ...('MLSNumber' in stub.fields ? ['stub.fields.MLSNumber: it identifies the listing'] : []),
    ...Object.keys(stub.fields)
      .filter((name) => unknownFields({ [name]: '' }).length === 0 && !Object.hasOwn(fields, name))
      .map((name) => `stub.fields.${name}: the field has no rule under fields`),
    ...Object.keys(stub.extension)
      .filter((key) => !Object.hasOwn(extension, key))
      .map((key) => `stub.extension.${key}: there is no such column under extension`),
  ]
}

/** Whether a record lacks everything that every whole record has, or has it without text. */
export function isStub({ without }: StubRule, record: RecordFields): boolean {
  return without.every((path) => path.nodes(record).every((node) => leaves(node).length === 0))
}

/** The reject of a stub without a confirmed listing. */
export function unknownStub({ MLSNumber, Status }: Partial<Listing>, problems: Problem[], at: string): Delivered {
  const about = problems.filter(({ field }) => field === 'MLSNumber' || field === 'Status')
  const problem = 'is a partial record of a listing that was never confirmed; ask the sender for the whole record'
  return {
    kind: 'reject',
    at,
    mlsNumber: MLSNumber ?? null,
    problems: [...about, { field: 'record', value: Status ?? null, problem }],
  }
}

/**
 * Puts the values of a stub over the last confirmed listing. A field that it names without a readable value is removed, such
 * as a price that is now hidden; a required field stays.
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
  for (const step of steps) {
    const { rule } = step
    if (!tells(fields.get(rule.name), record)) continue
    const { placeholders } = completed.moving
    if (placeholders) completed.moving.placeholders = placeholders.filter((name) => name !== rule.name)
    if (!rule.required) delete listing[rule.name]
    readField(
      { ...step, byDefault: rule.required ? [{ kinds: null, value: listing[rule.name] as string }] : [] },
      record,
      completed,
      problems,
    )
  }
  return completed
}

/** The last confirmed columns, with those of the stub in their place. */
export function completeColumns({ columns }: StubRule, record: RecordFields, before: Listing, read: Columns): Columns {
  const names = new Set([...columns].filter(([, paths]) => tells(paths, record)).map(([key]) => key))
  const kept = (before.ExtensionColumn ?? []).filter(({ Key }) => !names.has(Key))
  const problems = read.problems.filter(({ key }) => names.has(key))
  return { entries: [...kept, ...read.entries.filter(({ Key }) => names.has(Key))], problems }
}

/** An element with only an attribute counts too: a price that must not be shown. */
function tells(paths: readonly Select[] | undefined, record: RecordFields): boolean {
  if (paths === undefined) return false
  return paths.some((path) =>
    path.nodes(record).some((node) => {
      return leaves(node).length > 0 || (typeof node !== 'string' && Object.keys(node).length > childNames(node).length)
    }),
  )
}
