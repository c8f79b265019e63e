/**
 * Presets: a mapping as data. A preset describes one dialect of feeds in one YAML file, without code; a feed's options
 * override it.
 */
import { z } from 'zod'
import type { FormatOptions } from '../format/format.ts'
import { formats } from '../format/formats.ts'
import { complianceShape } from './compliance.ts'
import { defaultsSchema } from './defaults.ts'
import { groupsSchema } from './extension.ts'
import { joinSchema } from './join.ts'
import { numbersSchema, optional, severalWords, statusesSchema } from './rule-keys.ts'
import { placeholdersSchema } from './placeholders.ts'
import { fieldSchema } from './rule.ts'
import { stubSchema } from './stub.ts'
import { whereSchema } from './where.ts'

const columnsSchema = z.record(z.string().min(1), fieldSchema)

/**
 * One of several listings in a record, present if `when` has a value: `fields` override those of the preset, `suffix` is
 * added to the MLSNumber. Neither depends on the other listings, so the number stays the same when those come or go.
 */
export type Variant = z.infer<ReturnType<typeof presetSchema>>['variants'][number]

/** The keys of every preset, without those of its format (`Format.options`). Made on demand: presets that the build has read need none. */
export const presetSchema = () => (made ??= makeSchema())
let made: ReturnType<typeof makeSchema> | undefined

const makeSchema = () =>
  z.object({
    name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'lower-case letters, digits and hyphens'),
    title: z.string().min(1).describe('What the format is called by the people who send it.'),
    format: z.enum(Object.keys(formats)),
    delivery: z.enum(['full', 'delta']).describe('full: absence from the file means gone; delta: it means nothing.'),
    deliveryFrom: optional(
      z.strictObject({ header: z.string(), full: severalWords, delta: severalWords }),
      'Which words in the header mean full and which delta; without one of them, delivery applies.',
    ),
    stub: optional(
      stubSchema,
      'A record without any of `without` contains only changes. A field (or column) takes its value if one of its paths has one; all others stay as last confirmed.',
    ),
    names: optional(
      z.literal('loose'),
      'loose: names of elements count in any case (City is also CITY); those of columns always do.',
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
      .describe('Several listings in one record: each has its own fields and exists if `when` has a value.'),
    statuses: statusesSchema.default({}).describe('Status word → Active, PreOnMarket, Sold or remove.'),
    ...complianceShape,
    extension: columnsSchema.default({}).describe('Columns of ExtensionColumn: key → rule.'),
    extensionGroups: groupsSchema
      .default([])
      .describe('Elements whose children each become a column under their own name.'),
  })

/** A checked preset; `file`: its source. */
export type Preset = z.infer<ReturnType<typeof presetSchema>> & { formatOptions: FormatOptions; file: string }

/** The mapping keys of a feed's configuration, whose schema includes this `shape`. */
export const mappingOptionsSchema = z.strictObject({
  fields: optional(
    z.record(z.string(), fieldSchema),
    'Listing field → path or rule. Replaces the whole rule of the preset for that field.',
  ),
  defaults: optional(
    defaultsSchema,
    'Listing field → value, for records that lack the field, or a list of such groups with when: { PropertyType: [Land] }.',
  ),
  currency: optional(
    z.string().min(1),
    'Currency (ISO 4217, such as EUR) of records that name neither a currency nor a country.',
  ),
  placeholders: optional(
    placeholdersSchema,
    'Required field → value for new listings whose record lacks it, or a list of such groups with when: { PropertyType: [Land] }. A placeholder is no fact and never replaces one.',
  ),
  where: optional(
    whereSchema,
    'Listing field or path → value or list of values. Records with another value are left out.',
  ),
  statuses: optional(statusesSchema, 'Status word of the feed → Active, PreOnMarket, Sold or remove.'),
  extension: optional(columnsSchema, 'More columns of ExtensionColumn: key → path or rule.'),
  numbers: optional(
    numbersSchema,
    "How this feed writes numbers, if not like its preset, such as { decimal: '.', group: '' }.",
  ),
  repair: optional(
    z.enum(['double-utf8']),
    'double-utf8: repairs text that was encoded twice (CafÃ©), MLSNumbers too.',
  ),
  imageBase: optional(
    z
      .string()
      .regex(
        /^https?:\/\/[^\s/?#]+\/(?:\{MLSNumber\}|\$\{[^{}]*\}|[^\s?#{}])*$/,
        'takes an address such as https://photos.example/north/ or https://photos.example/{MLSNumber}/',
      ),
    'Address to put before images that the feed gives as file names. {MLSNumber} in it stands for the number of the listing.',
  ),
  join: optional(
    joinSchema,
    'More tables (CSV) whose rows belong to the records by a key, such as a Media file. Rules read them as media:MediaURL.',
  ),
  delivery: optional(z.enum(['full', 'delta']), 'full: absence means gone; delta: it means nothing.'),
  ...complianceShape,
  mlsPrefix: optional(
    z.string().regex(/^[A-Za-z0-9._/:-]{1,40}$/, 'takes 1 to 40 letters, digits and - . _ / :'),
    'Prefix for every MLSNumber of the feed, if the numbers of two boards collide in one chatbot.',
  ),
})
export type MappingOptions = z.infer<typeof mappingOptionsSchema>
