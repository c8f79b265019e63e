/**
 * `placeholders`: values for new listings, where the interface requires one and the record has none. They are no facts: they are sent
 * in a Create only, marked in reports, and never replace a value that was confirmed or is shown.
 */
import { z } from 'zod'
import { fieldRules } from '../../core/listing.ts'
import type { FieldName, Listing, MovingListing, Problem } from '../../core/listing.ts'
import { later } from '../../core/setting-kinds.ts'
import { isFact, wrongDefault } from './field.ts'
import { isHome, kindsOf, kindsSchema, unknownKinds } from './kinds.ts'
import { unknownFields } from './names.ts'
import { wordKey } from './vocabulary.ts'

export const placeholdersSchema = later(() => {
  const group = z
    .object({ when: kindsSchema.optional().describe('Which listings the group is for; default: all') })
    .catchall(z.union([z.string(), z.number()]))
  return z.union([group, z.array(group).min(1)])
})
type Written = z.infer<typeof placeholdersSchema>

interface Group {
  /** The PropertyTypes (`wordKey`) that it is for; null: all. */
  kinds: string[] | null
  values: Readonly<Record<string, string | number>>
}

function groupsOf(written: Written): Group[] {
  return [written].flat().map(({ when, ...values }) => ({ kinds: kindsOf(when), values: values as Group['values'] }))
}

/** `rules`: the JSON of the mapping's rules, which may name PropertyTypes of their own. */
export function placeholderProblems(written: Written, given: ReadonlySet<string>, rules: string): string[] {
  return groupsOf(written).flatMap(({ kinds, values }) => [
    ...unknownFields(values, 'placeholders'),
    ...unknownKinds(kinds ?? [], 'placeholders', rules),
    ...fieldRules.flatMap((rule) => {
      const { name } = rule
      const wrong = values[name] === undefined ? null : wrongPlaceholder(rule, values[name], kinds, given.has(name))
      return wrong === null ? [] : [`placeholders.${name}: ${wrong}`]
    }),
  ])
}

function wrongPlaceholder(
  rule: (typeof fieldRules)[number],
  value: string | number,
  kinds: Group['kinds'],
  isDefault: boolean,
): string | null {
  if (isFact(rule.name)) return 'is never made up; give it with defaults or fields, where you know it'
  if (!rule.required) return 'is not required: a listing without it needs no placeholder'
  if (isDefault) return 'defaults gives it already'
  const isOfHomes = kinds === null || kinds.some(isHome)
  if (rule.name === 'Bedrooms' && isOfHomes)
    return 'of a home is a fact; a placeholder is for other kinds only, as in when: { PropertyType: [Land, Parking] }'
  return wrongDefault(rule, value)
}

/**
 * Fills fields that a listing lacks with what was confirmed last or with placeholders, and removes them from `problems`. Gives the names
 * of placeholder fields. null: the feed has no placeholders.
 */
export function compilePlaceholders(written: Written | undefined) {
  if (written === undefined) return null
  const groups = groupsOf(written)
  return (
    listing: Partial<Listing>,
    problems: Problem[],
    confirmed: (mlsNumber: string) => MovingListing | null,
  ): FieldName[] => {
    const kindless = groups.find(({ kinds, values }) => kinds === null && values['PropertyType'] !== undefined)
    const kind = wordKey(listing.PropertyType ?? String(kindless?.values['PropertyType'] ?? ''))
    const found = problems.flatMap((problem) => {
      const isFor = (group: { kinds: string[] | null }): boolean => group.kinds === null || group.kinds.includes(kind)
      const group = groups.find((group) => isFor(group) && group.values[problem.field] !== undefined)
      return problem.value === null && group !== undefined ? [{ problem, value: group.values[problem.field] }] : []
    })
    if (found.length === 0) return []
    const before = listing.MLSNumber === undefined ? null : confirmed(listing.MLSNumber)
    return found.flatMap(({ problem, value }) => {
      const field = problem.field as FieldName
      problems.splice(problems.indexOf(problem), 1)
      Object.assign(listing, { [field]: before?.listing[field] ?? value })
      return before === null || before.moving.placeholders?.includes(field) ? [field] : []
    })
  }
}
