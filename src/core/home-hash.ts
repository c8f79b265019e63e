/**
 * Recognises a home under another MLSNumber by its address. A renumbered listing is gone and new in one delivery, and its home must
 * neither be shown twice nor vanish.
 */
import { shortHash } from './hash.ts'
import type { Place } from './listing.ts'
import { normalForm } from './text.ts'

/** Words that feeds spell out or shorten, with the spelling that is compared. */
export const streetSpellings: ReadonlyMap<string, string> = new Map(
  `street st, strasse str, avenue ave, av ave, road rd, drive dr, lane ln, boulevard blvd, court ct, circle cir, place pl,
  terrace ter, highway hwy, parkway pkwy, square sq, north n, south s, east e, west w, northeast ne, northwest nw,
  southeast se, southwest sw`
    .split(',')
    .map((pair) => pair.trim().split(' ') as [string, string]),
)
/** Words that may stand before the number of a unit. */
const unitWords: ReadonlySet<string> = new Set(['apartment', 'apt', 'unit', 'suite', 'ste', 'no', 'number'])

/** A hash of street, house, unit and town; null: the address names no house. */
export type HomeHash = string | null

export function homeHashOf({ Address, City, ZIP }: Place): HomeHash {
  const street = wordsOf(Address ?? '')
  // Without a number it is a street, and a hidden address is none. Where words are not set apart, one is both.
  const isOneWord = street.length < 2 && !street.some((word) => /\p{Lo}/u.test(word))
  if (isOneWord || !street.some((word) => /\p{Nd}/u.test(word))) return null
  const town = wordsOf(City ?? '').join(' ') || wordsOf(ZIP ?? '').join('')
  return shortHash(JSON.stringify([street, town]))
}

/** Without case and accents, as streets are compared. */
export function foldedStreet(text: string): string {
  return normalForm(text.toLowerCase().replaceAll('ß', 'ss'), 'NFKD').replaceAll(/\p{M}/gu, '')
}

function wordsOf(text: string): string[] {
  return foldedStreet(text)
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => streetSpellings.get(word) ?? word)
    .filter((word) => word !== '' && !unitWords.has(word))
}
