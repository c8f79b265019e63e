/**
 * How a mapping is written down, in a preset and in a feed's configuration alike: data only, checked strictly.
 */
import { z } from 'zod'
import { fieldNames } from '../../core/listing.ts'
import type { FieldName } from '../../core/listing.ts'
import { editDistance } from '../../core/text.ts'
import { complianceShape } from './compliance-schema.ts'
import { tableNames } from './vocabulary.ts'
import type { TableName } from './vocabulary.ts'

/** The converters by name; `as` chooses one, and each takes only its own arguments (`converters/index.ts`). */
export const converterNames = [
  'text',
  'html',
  'codedText',
  'textAfter',
  'join',
  'key',
  'url',
  'number',
  'sum',
  'money',
  'area',
  'daysSince',
  'choice',
  'currency',
  'status',
  'street',
  'images',
  'tours',
  'flags',
] as const
export type ConverterName = (typeof converterNames)[number]

/** When an open house is: a slot for each node of `each`, from `date` with `start` and `end`, or from these two alone. */
export interface OpenHouseRule {
  each?: string
  date?: string
  start?: string
  end?: string
  /** What parts start from end where both are one text: ` to `. */
  separator?: string
  formats?: string[]
}

/** How numbers are written (vocab §8). */
export const numbersSchema = z
  .strictObject({ decimal: z.enum(['.', ',']), group: z.enum(['', '.', ',', ' ', "'"]) })
  .refine(({ decimal, group }) => decimal !== group, 'decimal and group must differ')
export type Numbers = z.infer<typeof numbersSchema>

/** How one value is got from a record. Every key beside the first group belongs to some converters only. */
export interface Rule {
  /** A path, or several: the first one that says something counts (`images`, `join`: all of them). */
  from?: string | string[]
  /** Nodes that the rule is tried in one after another, its paths starting there. */
  each?: string
  as?: ConverterName
  /** A constant. */
  value?: string | number
  /** A text with `{Field}` or `{path}` in it. */
  template?: string
  /** The rule counts only where these fields of the listing have this value. */
  when?: { SaleType?: 'for_sale' | 'for_rent'; Status?: 'Active' | 'PreOnMarket' | 'Sold' }
  /** More words that say nothing. */
  missing?: string[]

  table?: TableName
  choices?: Record<string, string>
  otherwise?: string
  keepWordAs?: string
  except?: string[]

  numbers?: Numbers
  zero?: 'missing'
  min?: number
  max?: number
  times?: number
  parts?: Rule[]

  units?: Record<string, string>
  unit?: string
  unitFrom?: string | string[]
  dimensions?: string
  range?: 'least'
  period?: string | string[]
  periods?: Record<string, string>
  per?: string
  formats?: string[]
  after?: string
  prefix?: string
  separator?: string
  split?: string | string[]
  /** Which of the values that `split` parts, from 1; with `split` where one text is read. */
  nth?: number
  orderBy?: string
  first?: string[]

  openHouses?: OpenHouseRule[]
  virtual?: string[]
}

const path = z.string().min(1)
const paths = z.union([path, z.array(path).min(1)])

const openHouseSchema: z.ZodType<OpenHouseRule> = z.strictObject({
  each: path.optional(),
  date: path.optional(),
  start: path.optional(),
  end: path.optional(),
  separator: z.string().min(1).optional(),
  formats: z.array(path).min(1).optional(),
})

/** One rule in its long form. */
export const ruleSchema: z.ZodType<Rule> = z.strictObject({
  from: paths.optional(),
  each: path.optional(),
  as: z.enum(converterNames).optional(),
  value: z.union([z.string().min(1), z.number()]).optional(),
  template: z.string().min(1).optional(),
  when: z
    .strictObject({
      SaleType: z.enum(['for_sale', 'for_rent']).optional(),
      Status: z.enum(['Active', 'PreOnMarket', 'Sold']).optional(),
    })
    .optional(),
  missing: z.array(z.string()).optional(),
  table: z.enum(tableNames).optional(),
  choices: z.record(z.string(), z.string()).optional(),
  otherwise: z.string().optional(),
  keepWordAs: z.string().min(1).optional(),
  except: z.array(z.string()).min(1).optional(),
  numbers: numbersSchema.optional(),
  zero: z.literal('missing').optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  times: z.number().optional(),
  get parts() {
    return z.array(ruleSchema).min(1).optional()
  },
  units: z.record(z.string(), z.string()).optional(),
  unit: z.string().min(1).optional(),
  unitFrom: paths.optional(),
  dimensions: z.string().min(1).optional(),
  range: z.literal('least').optional(),
  period: paths.optional(),
  periods: z.record(z.string(), z.string()).optional(),
  per: z.string().min(1).optional(),
  formats: z.array(z.string().min(1)).min(1).optional(),
  after: z.string().min(1).optional(),
  prefix: z.string().min(1).optional(),
  separator: z.string().optional(),
  split: paths.optional(),
  nth: z.int().min(1).optional(),
  orderBy: path.optional(),
  first: z.array(z.string()).optional(),
  openHouses: z.array(openHouseSchema).optional(),
  virtual: z.array(path).optional(),
})

/** What one field is made of: a path, a rule, or several of these, the first that yields a value counting. */
export type FieldMapping = string | Rule | (string | Rule)[]
export const fieldSchema: z.ZodType<FieldMapping> = z.union([
  path,
  ruleSchema,
  z.array(z.union([path, ruleSchema])).min(1),
])

/** What a status word means; by SaleType where a closed sale and a closed lease differ. */
const statusTarget = z.enum(['Active', 'PreOnMarket', 'Sold', 'remove'])
export const statusesSchema = z.record(
  z.string(),
  z.union([statusTarget, z.strictObject({ for_sale: statusTarget, for_rent: statusTarget })]),
)
export type StatusTarget = z.infer<typeof statusTarget>
export type Statuses = z.infer<typeof statusesSchema>

const scalar = z.union([z.string(), z.number(), z.boolean()])

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
  where: z
    .record(z.string(), z.union([scalar, z.array(scalar).min(1)]))
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

const knownFields: ReadonlySet<string> = new Set(fieldNames)

/** Whether a name is a field of the listing. */
export function isFieldName(name: string): name is FieldName {
  return knownFields.has(name)
}

/** A problem for each key that is no field of the listing. */
export function unknownFields(fields: Record<string, unknown>, under = 'fields'): string[] {
  const known: readonly string[] = fieldNames
  return Object.keys(fields)
    .filter((name) => !known.includes(name))
    .map((name) => `${under}.${name}: there is no such field of a listing${didYouMean(name, fieldNames)}`)
}

/** The known name nearest to a mistyped one, at most `edits` letters away, as a sentence's end; '' where none is near. */
export function didYouMean(
  name: string,
  known: Iterable<string>,
  edits = Math.max(2, Math.ceil(name.length / 3)),
): string {
  let best = ''
  let least = edits + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < least) {
      least = distance
      best = candidate
    }
  }
  return best === '' ? '' : `; did you mean ${best}?`
}
