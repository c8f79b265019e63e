/**
 * A preset: how one dialect of feeds spells listings, as data (DESIGN §4). One YAML file, no code.
 */
import { isMap, parseDocument } from 'yaml'
import { z } from 'zod'
import { ConfigError } from '../errors.ts'
import { issueSentence, located } from '../schema-words.ts'
import { createMapping } from './mapping.ts'
import { complianceShape } from './compliance-schema.ts'
import { fieldSchema, numbersSchema, statusesSchema, unknownFields } from './mapping-schema.ts'

const path = z.string().min(1)
const paths = z.union([path, z.array(path).min(1)])

const attribute = z
  .string()
  .regex(/^[^/@]+(?:\/[^/@]+)*\/@[^/@]+$/, 'a path from the root such as openimmo/uebertragung/@umfang')

/**
 * One of the listings that a record can be, where it has something in `when`: `fields` go over those of the preset, `suffix`
 * behind its MLSNumber. Both depend on nothing else, so that a number stays the same when the record's other listing comes
 * or goes.
 */
export type Variant = z.infer<typeof presetSchema>['variants'][number]

/** The schema of a preset file. */
export const presetSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'lower-case letters, digits and hyphens'),
  title: z.string().min(1).describe('What the format is called by the people who send it.'),
  format: z.enum(['xml', 'csv', 'rets-compact', 'blm']),
  record: path.optional().describe('XML: path of the record element from the root, such as Listings/Listing.'),
  counter: z
    .string()
    .regex(/^@[^\s=/]+$/, "an attribute of the root, such as '@listing_count'")
    .optional()
    .describe('XML: attribute of the root that says how many records there are; another number makes it incomplete.'),
  delimiter: z
    .string()
    .min(1)
    .max(4)
    .refine(
      (mark) => !mark.includes('\\'),
      'a tab is written "\\t" in double quotes; in others it is a backslash and a t',
    )
    .optional()
    .describe('CSV: the delimiter; found out where it is left out.'),
  quote: z.string().length(1).default('"').describe('CSV: the quote character.'),
  requiredHeaders: z.array(z.string()).default([]).describe('CSV: headers of which at least one must be there.'),
  columns: z
    .int()
    .min(2)
    .optional()
    .describe('CSV without a header row: columns are 1, 2, …; a row has at least so many.'),
  delivery: z.enum(['full', 'delta']).describe('full: absence from the file means gone; delta: it means nothing.'),
  header: z
    .record(z.string(), attribute)
    .optional()
    .describe('XML: attributes before the first record, name → path from the root; a record has them as @@name.'),
  written: attribute
    .optional()
    .describe('XML: the attribute before the first record that says when the file was written.'),
  deliveryFrom: z
    .strictObject({
      header: z.string(),
      full: z.array(z.string()).min(1),
      delta: z.array(z.string()).min(1),
    })
    .optional()
    .describe('Which words of a header attribute mean full and which delta; any other, or none: as delivery says.'),
  stub: z
    .strictObject({
      without: z.array(path).min(1),
      fields: z.record(z.string(), paths).default({}),
      extension: z.record(z.string(), paths).default({}),
    })
    .optional()
    .describe(
      'A record that has none of `without` tells only what changed. Where it says something under one of the paths of a field (or column), that field is what it says; all others stay as last confirmed.',
    ),
  numbers: numbersSchema.describe('How numbers are written. Decided here, never by looking at a number.'),
  dates: z.array(z.string().min(1)).min(1).default(['ISO']).describe('Forms of dates, such as ISO or D/M/YYYY.'),
  fields: z.record(z.string(), fieldSchema).describe('Listing field → path or rule.'),
  variants: z
    .array(
      z.strictObject({
        when: fieldSchema,
        suffix: z
          .string()
          .regex(/^[-\w.]*$/, 'letters, digits and - . _ only')
          .default(''),
        fields: z.record(z.string(), fieldSchema),
      }),
    )
    .default([])
    .describe('Where one record can be several listings: each one that has something in `when`, with its own fields.'),
  statuses: statusesSchema.default({}).describe('Status word → Active, PreOnMarket, Sold or remove.'),
  ...complianceShape,
  extension: z.record(z.string().min(1), fieldSchema).default({}).describe('Columns of ExtensionColumn: key → rule.'),
  extensionGroups: z
    .array(z.strictObject({ from: path, except: z.array(z.string()).default([]) }))
    .default([])
    .describe('XML: elements whose children each become a column under their own name.'),
})

/** A preset as read and checked; `file` is where it came from. */
export type Preset = z.infer<typeof presetSchema> & { file: string }

/**
 * Reads a preset. Throws `ConfigError` with every problem and its path: YAML, schema, and rules that can't
 * work (unknown fields, paths, converters' arguments).
 */
export function loadPreset(yamlText: string, file: string): Preset {
  const document = parseDocument(yamlText, { uniqueKeys: true })
  if (document.errors.length > 0)
    throw new ConfigError(
      file,
      document.errors.map((error) => error.message.split('\n')[0]),
    )
  if (!isMap(document.contents)) throw new ConfigError(file, ['a preset is a map of keys and values'])
  const value: unknown = document.toJS({ maxAliasCount: 100 })
  const checked = presetSchema.safeParse(value, { error: issueSentence, reportInput: true })
  if (!checked.success) {
    const problems = checked.error.issues.flatMap((issue) => located(issue))
    const lines = problems.map(({ path, problem }) => `${path.join('.')}: ${problem}`)
    throw new ConfigError(file, [...lines, ...unknownFields(fieldsOf(value))])
  }
  const problems = formatProblems(checked.data)
  if (problems.length > 0) throw new ConfigError(file, problems)
  const preset = { ...checked.data, file }
  // A preset that can't be compiled is wrong by itself, whatever a feed adds.
  createMapping(preset, {}, file)
  return preset
}

/** The fields of a preset that may be wrong elsewhere. */
function fieldsOf(value: unknown): Record<string, unknown> {
  const fields = z.looseObject({ fields: z.record(z.string(), z.unknown()) }).safeParse(value)
  return fields.success ? fields.data.fields : {}
}

/** Whether a header attribute is that of an element around the records, other than the root: only its first one would be read. */
function mayComeAgain(path: string, record = ''): boolean {
  const element = path.slice(0, path.lastIndexOf('/'))
  return element.includes('/') && record.startsWith(`${element}/`)
}

function formatProblems(preset: z.infer<typeof presetSchema>): string[] {
  const problems: string[] = []
  if (preset.format === 'xml' && preset.record === undefined) problems.push('record: an XML preset needs it')
  if (preset.format !== 'xml' && preset.record !== undefined) problems.push('record: is for XML only')
  if (preset.format !== 'xml' && preset.counter !== undefined) problems.push('counter: is for XML only')
  if (preset.format !== 'xml' && preset.header !== undefined) problems.push('header: is for XML only')
  for (const name of Object.keys(preset.header ?? {}).filter((one) => !/^(?!name$)[a-zA-Z][a-zA-Z0-9]*$/.test(one)))
    problems.push(`header.${name}: a name of letters and digits, and not "name", which is the record's own`)
  for (const [name, path] of Object.entries(preset.header ?? {}).filter(([, one]) => mayComeAgain(one, preset.record)))
    problems.push(`header.${name}: ${path} is of an element with records in it, which may come again and say otherwise`)
  if (preset.written !== undefined && (preset.format !== 'xml' || mayComeAgain(preset.written, preset.record)))
    problems.push('written: is for XML only, and an attribute that comes once')
  const { deliveryFrom } = preset
  if (deliveryFrom && preset.header?.[deliveryFrom.header] === undefined)
    problems.push(`deliveryFrom.header: there is no "${deliveryFrom.header}" in header`)
  if (preset.format !== 'csv' && preset.delimiter !== undefined) problems.push('delimiter: is for CSV only')
  if (preset.format !== 'csv' && preset.columns !== undefined) problems.push('columns: is for CSV only')
  if (preset.columns !== undefined && preset.requiredHeaders.length > 0) {
    problems.push('requiredHeaders: a file with columns by position has no headers')
  }
  if (new Set(preset.variants.map(({ suffix }) => suffix)).size < preset.variants.length) {
    problems.push('variants: each needs a suffix of its own, as two listings of a record need two numbers')
  }
  if (preset.format !== 'xml' && preset.extensionGroups.length > 0) problems.push('extensionGroups: is for XML only')
  return problems
}
