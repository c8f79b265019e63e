/** Placeholders of a question file, `{{SalePrice}}` or, with thousands separated, `{{SalePrice | grouped}}`. */
import { UserError } from '../core/errors.ts'
import type { Listing } from '../core/listing.ts'

const placeholder = /\{\{\s*(\w+)\s*(\|\s*grouped\s*)?\}\}/g

/** The names that a text has placeholders for. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(placeholder)].map(([, name]) => name)
}

export type Values = Readonly<Record<string, string | number | boolean>>

/** What placeholders stand for: the listing's fields, `address`, and over them the test's own. */
export function valuesOf(listing: Listing | null, vars: Values): Values {
  if (listing === null) return vars
  const plain = Object.entries(listing).filter(
    (entry): entry is [string, string | number] => typeof entry[1] === 'string' || typeof entry[1] === 'number',
  )
  const { Address, City, State, ZIP } = listing
  const address = [Address, City, [State, ZIP].filter(Boolean).join(' ')].filter(Boolean).join(', ')
  return { ...Object.fromEntries(plain), ...(address !== '' && { address }), ...vars }
}

/**
 * The text with its placeholders filled; a value may have placeholders itself. Throws `UserError` that names listing and
 * field where one has no value.
 */
export function filled(text: string, values: Values, escape = (value: string): string => value, depth = 0): string {
  return text.replaceAll(placeholder, (_, name: string, grouped: string | undefined) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined || value === '' || depth > 3)
      throw new UserError(
        `${values.MLSNumber === undefined ? 'without a listing' : `listing ${values.MLSNumber}`}, {{${name}}} has no value`,
      )
    if (grouped !== undefined && !Number.isNaN(Number(value)))
      return escape(Number(value).toLocaleString('en-US', { maximumFractionDigits: 2 }))
    return escape(typeof value === 'string' ? filled(value, values, undefined, depth + 1) : String(value))
  })
}
