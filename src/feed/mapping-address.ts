/**
 * What goes with an address that may not be shown (`hideAddress`, vocab §12). What may not be shown in one place
 * must not be shown in another: titles, headlines and descriptions name the street, too.
 */
import type { ExtensionEntry, Listing } from '../listing.ts'

/** Shortest street that is looked for in other texts: `1 A` would be found everywhere. */
const shortest = 5
/** So much of a street is enough to find it; an expression of a whole description is too large to be one. */
const longest = 200

/** What to look for in other texts: the street without its unit, so that `2/39 Main Road` and `39 Main Road #2` are one. */
export function hiddenStreet(street: string | undefined): string | null {
  const bare = street
    ?.replace(/\s(?:#|(?:apt|apartment|unit|suite|ste)\.?\s)\s*\S+$/i, '')
    .replace(/^[^/]{1,20}\/(?=\d)/, '')
    .toLowerCase()
  return bare === undefined || bare.length < shortest ? null : bare.slice(0, longest)
}

/** Takes street and coordinates off a listing; where other texts name the street, an ellipsis stands for it. */
export function hideAddress(listing: Partial<Listing>, street: string | null): void {
  for (const name of ['Address', 'Latitude', 'Longitude'] as const) delete listing[name]
  if (street === null) return
  const pattern = new RegExp(street.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`), 'gi')
  for (const name of ['Description', 'Location'] as const) {
    const text = listing[name]?.replaceAll(pattern, '…')
    if (text === '…') delete listing[name]
    else if (text !== undefined) listing[name] = text
  }
}

/** Columns that name the street are left out with it. */
export function withoutStreet(entries: ExtensionEntry[], street: string | null): ExtensionEntry[] {
  return street === null ? entries : entries.filter(({ value }) => !value.toLowerCase().includes(street))
}
