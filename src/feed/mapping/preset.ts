/**
 * How a mapping is written down, as data. A preset says how one dialect of feeds spells listings: one YAML file, no code. A
 * feed's own options go over it.
 */
import { z } from 'zod'
import type { FormatOptions } from '../format/format.ts'
import { formats } from '../format/formats.ts'
import { complianceShape } from './compliance.ts'
import { groupsSchema } from './extension.ts'
import { numbersSchema, statusesSchema } from './rule-keys.ts'
import { fieldSchema } from './rule.ts'
import { stubSchema } from './stub.ts'
import { whereSchema } from './where.ts'

/**
 * One of the listings that a record can be, where it has something in `when`: `fields` go over those of the preset, `suffix`
 * behind its MLSNumber. Both depend on nothing else, so that a number stays the same when the record's other listing comes
 * or goes.
 */
export type Variant = z.infer<typeof presetSchema>['variants'][number]

/** The keys of every preset; the options of its format stand beside them (`Format.options`). */
export const presetSchema = z.object({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'lower-case letters, digits and hyphens'),
  title: z.string().min(1).describe('What the format is called by the people who send it.'),
  format: z.enum(Object.keys(formats)),
  delivery: z.enum(['full', 'delta']).describe('full: absence from the file means gone; delta: it means nothing.'),
  deliveryFrom: z
    .strictObject({
      header: z.string(),
      full: z.array(z.string()).min(1),
      delta: z.array(z.string()).min(1),
    })
    .optional()
    .describe('Which words of an entry of the header mean full and which delta; any other, or none: as delivery says.'),
  stub: stubSchema
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
  extensionGroups: groupsSchema
    .default([])
    .describe('Elements whose children each become a column under their own name.'),
})

/** A preset as read and checked; `file` is where it came from. */
export type Preset = z.infer<typeof presetSchema> & { formatOptions: FormatOptions; file: string }

/** The keys of a feed's configuration that are about the mapping; spread `shape` into the feed's own schema. */
export const mappingOptionsSchema = z.strictObject({
  fields: z
    .record(z.string(), fieldSchema)
    .optional()
    .describe('Listing field → path or rule. Replaces the rule of the preset for that field wholly.'),
  defaults: z
    .record(z.string(), z.union([z.string(), z.number(), z.array(z.string())]))
    .optional()
    .describe('Listing field → value, for records that lack the field.'),
  where: whereSchema
    .optional()
    .describe('Listing field or path → value or list of values. Records with another value are left out.'),
  statuses: statusesSchema.optional().describe('Status word of the feed → Active, PreOnMarket, Sold or remove.'),
  extension: z
    .record(z.string().min(1), fieldSchema)
    .optional()
    .describe('More columns of ExtensionColumn: key → path or rule.'),
  numbers: numbersSchema
    .optional()
    .describe("How this feed writes numbers where it is not the preset's way, such as { decimal: '.', group: '' }."),
  repair: z
    .enum(['double-utf8'])
    .optional()
    .describe('double-utf8: text that was encoded twice (CafÃ©) is mended, MLSNumbers too.'),
  delivery: z.enum(['full', 'delta']).optional().describe('full: absence means gone; delta: it means nothing.'),
  ...complianceShape,
  mlsPrefix: z
    .string()
    .regex(/^[A-Za-z0-9._/:-]{1,40}$/, 'takes 1 to 40 letters, digits and - . _ / :')
    .optional()
    .describe('Put before every MLSNumber of the feed, where the numbers of two boards collide in one chatbot.'),
})
export type MappingOptions = z.infer<typeof mappingOptionsSchema>
