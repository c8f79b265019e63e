/**
 * A preset: how one dialect of feeds spells listings, as data (DESIGN §4). One YAML file, no code.
 */
import { z } from 'zod'
import { complianceShape } from './compliance-schema.ts'
import { fieldSchema, numbersSchema, statusesSchema } from './schema.ts'

const path = z.string().min(1)
const paths = z.union([path, z.array(path).min(1)])

export const attribute = z
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
