/** Names of the listing's fields, and what is said of a name that is not known. */
import { fieldNames } from '../../core/listing.ts'
import type { FieldName } from '../../core/listing.ts'
import { nearestName } from '../../core/text.ts'

/** Whether a name is a field of the listing. */
export function isFieldName(name: string): name is FieldName {
  return (fieldNames as readonly string[]).includes(name)
}

/** A problem for each key that is no field of the listing. */
export function unknownFields(fields: object, under = 'fields'): string[] {
  return Object.keys(fields)
    .filter((name) => !isFieldName(name))
    .map((name) => `${under}.${name}: there is no such field of a listing${didYouMean(name, fieldNames)}`)
}

/** The known name nearest to a mistyped one, at most `edits` letters away, as a sentence's end; '' where none is near. */
export function didYouMean(
  name: string,
  known: Iterable<string>,
  edits = Math.max(2, Math.ceil(name.length / 3)),
): string {
  const nearest = nearestName(name, [...known], edits)
  return nearest === null ? '' : `; did you mean ${nearest}?`
}
