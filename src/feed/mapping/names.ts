/** Names of the listing's fields, and messages for unknown names. */
import { fieldNames } from '../../core/listing.ts'
import type { FieldName } from '../../core/listing.ts'
import { nearestName } from '../../core/text.ts'

/** Whether a name is a field of the listing. */
export function isFieldName(name: string): name is FieldName {
  return (fieldNames as readonly string[]).includes(name)
}

/** A problem for each key that is not a listing field. */
export function unknownFields(fields: object, under = 'fields'): string[] {
  return Object.keys(fields)
    .filter((name) => !isFieldName(name))
    .map((name) => `${under}.${name}: a listing has no such field${didYouMean(name, fieldNames)}`)
}

/** "; did you mean …?" with the nearest known name, at most `edits` letters away; '' without one. */
export function didYouMean(name: string, known: Iterable<string>, edits?: number): string {
  const nearest = nearestName(name, [...known], edits ?? Math.max(2, Math.ceil(name.length / 3)))
  return nearest === null ? '' : `; did you mean ${nearest}?`
}
