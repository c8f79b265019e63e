/**
 * `defaults`: values for records that lack a field, for all records or by kind of property. Unlike placeholders they are facts, and are
 * sent like the record's own values.
 */
import { z } from 'zod'
import { fieldRules } from '../../core/listing.ts'
import type { FieldName } from '../../core/listing.ts'
import { later } from '../../core/setting-kinds.ts'
import type { Value } from './converters/converter.ts'
import { inOrder, wrongDefault } from './field.ts'
import type { ByDefault } from './field.ts'
import { kindsOf, kindsSchema, unknownKinds } from './kinds.ts'
import { unknownFields } from './names.ts'
import { unfinished } from './unfinished.ts'

export const defaultsSchema = later(() => {
  const value = z.union([z.string(), z.number(), z.array(z.string())])
  const group = z
    .object({ when: kindsSchema.optional().describe('Which listings the group is for; default: all') })
    .catchall(value)
  return z.union([z.record(z.string(), value), z.array(group).min(1)])
})
export type Defaults = z.infer<typeof defaultsSchema>

interface Group {
  kinds: string[] | null
  values: Readonly<Record<string, Value>>
}

function groupsOf(written: Defaults): Group[] {
  if (!Array.isArray(written)) return [{ kinds: null, values: written }]
  return written.map(({ when, ...values }) => ({ kinds: kindsOf(when), values: values as Group['values'] }))
}

/** The groups of `defaults`, with further ones after them. */
export function withFurther(written: Defaults | undefined, further: Record<string, Value>): Defaults {
  return [written ?? [], further].flat()
}

/** The fields that every record gets from them. */
export function alwaysGiven(written: Defaults): ReadonlySet<string> {
  return new Set(groupsOf(written).flatMap(({ kinds, values }) => (kinds === null ? Object.keys(values) : [])))
}

/** The defaults of a field. The first one for the listing's kind counts. */
export function byDefaultOf(name: FieldName, written: Defaults): ByDefault[] {
  return groupsOf(written).flatMap(({ kinds, values }) =>
    values[name] === undefined ? [] : [{ kinds: kinds === null ? null : new Set(kinds), value: values[name] }],
  )
}

/** `rules`: the JSON of the mapping's rules, which may name PropertyTypes of their own. */
export function defaultsProblems(written: Defaults, rules: string): string[] {
  const order = inOrder({}).map(({ name }) => name)
  const early = order.slice(0, order.indexOf('PropertyType') + 1) as string[]
  return groupsOf(written).flatMap(({ kinds, values }) => [
    ...unknownFields(values, 'defaults'),
    ...('ExtensionColumn' in values ? ['defaults.ExtensionColumn: its columns are written under extension'] : []),
    ...unknownKinds(kinds ?? [], 'defaults', rules),
    ...fieldRules.flatMap((rule) => {
      const value = rule.type === 'extension' ? undefined : values[rule.name]
      if (value === undefined || value === unfinished) return []
      const isEarly = kinds !== null && early.includes(rule.name)
      const wrong = isEarly
        ? 'is read before the kind of property is known; give it for all'
        : wrongDefault(rule, value)
      return wrong === null ? [] : [`defaults.${rule.name}: ${wrong}`]
    }),
  ])
}
