/** `when: { PropertyType: [Land] }` of groups of values: which kinds of property they are for. */
import { z } from 'zod'
import { later } from '../../core/setting-kinds.ts'
import { didYouMean } from './names.ts'
import { tables, wordKey } from './vocabulary.ts'

export const kindsSchema = later(() =>
  z.strictObject({
    PropertyType: z
      .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
      .describe('Only for listings of this PropertyType, or of these'),
  }),
)

/** The PropertyTypes that a group is for, as they are compared (`wordKey`); null: all. */
export function kindsOf(when: z.infer<typeof kindsSchema> | undefined): string[] | null {
  return when === undefined ? null : [when.PropertyType].flat().map(wordKey)
}

/** Kinds that no record has. `rules`: the JSON of the mapping's rules, which may name PropertyTypes of their own. */
export function unknownKinds(kinds: readonly string[], under: string, rules: string): string[] {
  const known = [...new Set(tables.propertyTypes().values())]
  return kinds
    .filter((kind) => !known.some((each) => wordKey(each) === kind) && !wordKey(rules).includes(kind))
    .map((kind) => `${under}: when.PropertyType "${kind}" is none that a rule gives${didYouMean(kind, known)}`)
}

/** Kinds of property for which a number of bedrooms is a fact. Other may be a home, too. */
const homeKinds = ['Single Family', 'Condo', 'Townhouse', 'Multi Family', 'Apartment', 'Manufactured', 'Other'].map(
  wordKey,
)
export const isHome = (kind: string): boolean => homeKinds.includes(wordKey(kind))
