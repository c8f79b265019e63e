/** The keys of a rule, in presets and in a feed's configuration. */
import { z } from 'zod'
import { later } from '../../core/setting-kinds.ts'
import { tableNames } from './vocabulary.ts'

/** A key that may be left out. */
export function optional<Schema extends z.ZodType>(schema: Schema, description: string) {
  return schema.optional().describe(description)
}

/** A path into a record (`path.ts`). */
export const pathSchema = z.string().min(1)
export const pathsSchema = z.union([pathSchema, z.array(pathSchema).min(1)])
const word = z.string().min(1)
export const severalWords = z.array(z.string()).min(1)
const words = z.record(z.string(), z.string())

/** How numbers are written, decided for a preset or a rule, never by a number. */
export const numbersSchema = later(() =>
  z
    .strictObject({
      decimal: z.enum(['.', ',']).describe('What stands before the decimals'),
      group: z.enum(['', '.', ',', ' ', "'"]).describe('What stands between thousands; empty: nothing'),
    })
    .refine(({ decimal, group }) => decimal !== group, 'decimal and group must differ'),
)
export type Numbers = z.infer<typeof numbersSchema>

/** The keys that every rule may have. */
export const everyRule = () => ({
  from: pathsSchema
    .optional()
    .describe('Path of the value, or several: the first one with a value is used (images, join: all)'),
  each: pathSchema.optional().describe('XML: nodes in which the rule is tried in turn; its paths start there'),
  as: z.string().optional(),
  value: z.union([word, z.number()]).optional().describe('A constant'),
  template: word.optional().describe('Text with {Field} or {path} in it'),
  when: z
    .strictObject({
      SaleType: z.enum(['for_sale', 'for_rent']).optional().describe('Only for listings of this SaleType'),
      Status: z.enum(['Active', 'PreOnMarket', 'Sold']).optional().describe('Only for listings of this Status'),
      from: pathsSchema
        .optional()
        .describe('Path, or column, of a word of the record, or several: the first one with a value'),
      missing: severalWords.optional().describe('More words that mean absent there'),
      is: severalWords.optional().describe('Only if that word is one of these'),
      not: severalWords.optional().describe('Only if that word is none of these'),
    })
    .refine(({ from, is, not }) => (from === undefined) === (is === undefined && not === undefined), {
      error: 'from goes with is, not, or both',
    })
    .refine(({ from, missing }) => from !== undefined || missing === undefined, 'missing goes with from')
    .optional()
    .describe('The rule applies only if these fields of the listing have these values'),
  missing: z.array(z.string()).optional().describe('More words that mean absent'),
})

/** Keys shared by converters; a converter may have its own as well (`Converter.keys`). */
export const converterKeys = () => ({
  table: z.enum(tableNames).optional().describe('choice: a table of common words to look the value up in'),
  choices: words.optional().describe('choice, number, currency: word of the feed → value'),
  otherwise: z.string().optional().describe('choice: value for any other word'),
  keepWordAs: word.optional().describe("choice: ExtensionColumn entry that keeps the feed's own word"),
  except: severalWords.optional().describe('flags: names to leave out'),
  numbers: numbersSchema.optional().describe('How these numbers are written, if not like the rest of the feed'),
  zero: z.literal('missing').optional().describe('missing: 0 means that there is no value'),
  min: z.number().optional().describe('Least value; anything less rejects the record'),
  max: z.number().optional().describe('Largest value; anything more rejects the record'),
  times: z.number().optional().describe('Factor that the value is multiplied by'),
  parts: z.array(z.unknown()).min(1).optional().describe('sum: the rules whose values are added'),
  units: words.optional().describe("area: the feed's word for a unit → the unit"),
  unit: word.optional().describe('area: the unit of the value; AreaUnit: that of the listing'),
  unitFrom: pathsSchema.optional().describe('area: path of the unit; street: path of the number of the unit'),
  dimensions: word.optional().describe('area: the unit of sides, as in 50x125'),
  range: z
    .enum(['least', 'hide'])
    .optional()
    .describe(
      'area, money: what a range of two values gives. least: the smaller one; hide: no value (so does money without this key)',
    ),
  to: pathsSchema
    .optional()
    .describe('area, money: path of the upper end. If it has another value, the two are a range'),
  period: pathsSchema.optional().describe('money: path of the period that the amount is for'),
  periods: words.optional().describe("money: the feed's word for a period → the period"),
  per: word.optional().describe('money: the period that every amount is for'),
  formats: z.array(word).min(1).optional().describe('Forms of a date, such as D/M/YYYY'),
  after: word.optional().describe('textAfter: the mark before the text'),
  prefix: word.optional().describe('textAfter: what is put before the text'),
  separator: z.string().optional().describe('join, daysSince: what stands between the parts'),
  split: pathsSchema.optional().describe('Mark, or marks, at which a text is cut into several values'),
  nth: z.int().min(1).optional().describe('Which part of split to take, from 1'),
})

export interface Rule extends Omit<
  z.output<z.ZodObject<ReturnType<typeof everyRule> & ReturnType<typeof converterKeys>>>,
  'parts'
> {
  parts?: Rule[]
  [own: string]: unknown
}

/** A path, a rule, or several of these, of which the first with a value is used. */
export type FieldMapping = string | Rule | (string | Rule)[]

/** What a status word means; by SaleType if it differs between sales and leases. */
export const statusesSchema = later(() => {
  const target = z.enum(['Active', 'PreOnMarket', 'Sold', 'remove'])
  const bySaleType = z.strictObject({
    for_sale: target.describe('What the word means for a home for sale'),
    for_rent: target.describe('What the word means for a home for rent'),
  })
  return z.record(z.string(), z.union([target, bySaleType]))
})
export type Statuses = z.infer<typeof statusesSchema>
