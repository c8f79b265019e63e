/** How one value is written in a preset and in a feed's configuration: the keys of a rule, data only. */
import { z } from 'zod'
import { tableNames } from './vocabulary.ts'

/** A path into a record (`path.ts`), or several that are tried in turn. */
export const pathSchema = z.string().min(1)
export const pathsSchema = z.union([pathSchema, z.array(pathSchema).min(1)])
const word = z.string().min(1)
const words = z.record(z.string(), z.string())

/** How numbers are written. Decided once for a preset or a rule, never by looking at a number. */
export const numbersSchema = z
  .strictObject({ decimal: z.enum(['.', ',']), group: z.enum(['', '.', ',', ' ', "'"]) })
  .refine(({ decimal, group }) => decimal !== group, 'decimal and group must differ')
export type Numbers = z.infer<typeof numbersSchema>

/** The keys that every rule may have. */
export const everyRule = {
  /** The first one that says something counts (`images`, `join`: all of them). */
  from: pathsSchema.optional(),
  /** Nodes that the rule is tried in one after another, its paths starting there. */
  each: pathSchema.optional(),
  /** The converter; its field's usual one where it is left out. */
  as: z.string().optional(),
  /** A constant. */
  value: z.union([word, z.number()]).optional(),
  /** A text with `{Field}` or `{path}` in it. */
  template: word.optional(),
  /** The rule counts only where these fields of the listing have this value. */
  when: z
    .strictObject({
      SaleType: z.enum(['for_sale', 'for_rent']).optional(),
      Status: z.enum(['Active', 'PreOnMarket', 'Sold']).optional(),
    })
    .optional(),
  /** More words that say nothing. */
  missing: z.array(z.string()).optional(),
}

/** Keys that mean the same to every converter that takes them; a converter may have others of its own (`Converter.keys`). */
export const converterKeys = {
  table: z.enum(tableNames).optional(),
  choices: words.optional(),
  otherwise: z.string().optional(),
  keepWordAs: word.optional(),
  except: z.array(z.string()).min(1).optional(),
  numbers: numbersSchema.optional(),
  zero: z.literal('missing').optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  times: z.number().optional(),
  /** Rules inside this one. */
  parts: z.array(z.unknown()).min(1).optional(),
  units: words.optional(),
  unit: word.optional(),
  unitFrom: pathsSchema.optional(),
  dimensions: word.optional(),
  range: z.literal('least').optional(),
  period: pathsSchema.optional(),
  periods: words.optional(),
  per: word.optional(),
  formats: z.array(word).min(1).optional(),
  after: word.optional(),
  prefix: word.optional(),
  separator: z.string().optional(),
  split: pathsSchema.optional(),
  /** Which of the values that `split` parts, from 1; with `split` where one text is read. */
  nth: z.int().min(1).optional(),
}

/** How one value is got from a record. */
export interface Rule extends Omit<z.output<z.ZodObject<typeof everyRule & typeof converterKeys>>, 'parts'> {
  parts?: Rule[]
  [own: string]: unknown
}

/** What one field is made of: a path, a rule, or several of these, the first that yields a value counting. */
export type FieldMapping = string | Rule | (string | Rule)[]

/** What a status word means; by SaleType where a closed sale and a closed lease differ. */
const statusTarget = z.enum(['Active', 'PreOnMarket', 'Sold', 'remove'])
export const statusesSchema = z.record(
  z.string(),
  z.union([statusTarget, z.strictObject({ for_sale: statusTarget, for_rent: statusTarget })]),
)
export type Statuses = z.infer<typeof statusesSchema>
