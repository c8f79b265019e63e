/** How a street that must be hidden is found in other texts, where it may be spelled otherwise. */
import { streetSpellings } from '../../core/home-hash.ts'

/** Shortest street searched for in other texts: `1 A` would be found everywhere. */
const shortest = 5
/** So much of a street is enough to find it, and keeps the regular expression small. */
const longest = 200

/**
 * A pattern for the street without its unit, so that `2/39 Main Road` and `39 Main Road #2` match; null: too short to be searched for.
 * `12 Oak Street` is found as `12 Oak St`, too, as `12_oakStreet` in the address of a tour, and, as number and name tell enough, as
 * `12 Oak`. `Hauptstr. 5` is found as `Hauptstraße 5`.
 */
export function hiddenStreet(street: string | undefined): RegExp | null {
  const bare = street
    ?.replace(/\s(?:#|(?:apt|apartment|unit|suite|ste)\.?\s)\s*\S+$/i, '')
    .replace(/^[^/]{1,20}\/(?=\d)/, '')
    .toLowerCase()
  if (bare === undefined || bare.length < shortest) return null
  const words = bare.slice(0, longest).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const names = words.filter((word) => spellingsOf(word).length === 1)
  const isEnough = names.some((word) => /\d/.test(word)) && names.some((word) => /^\p{L}{3,}$/u.test(word))
  const parts = words.map((word, index) => {
    const gap =
      index === 0 ? '' : /\d$/.test(words[index - 1]) && /^\d/.test(word) ? `${between}{1,3}` : `${between}{0,3}`
    const spellings = spellingsOf(word)
    if (spellings.length === 1) return gap + withSharpS(word)
    return `(?:${gap}(?:${spellings.map(withSharpS).join('|')}))${isEnough ? '?' : ''}`
  })
  const end = bare.length > longest ? '' : `(?!${letter})`
  return parts.length === 0 ? null : new RegExp(`(?<!${letter})${parts.join('')}${end}`, 'giu')
}

const letter = String.raw`[\p{L}\p{M}\p{N}]`
const between = String.raw`[^\p{L}\p{M}\p{N}]`

/** All spellings of a word of a street, the longest first. */
function spellingsOf(word: string): string[] {
  const glued = /^(\p{L}{3,})(?:stra(?:ß|ss)e|str)$/u.exec(word)
  if (glued) return [`${glued[1]}strasse`, `${glued[1]}str`]
  const short = streetSpellings.get(word) ?? word
  const all = [short, ...[...streetSpellings].flatMap(([long, its]) => (its === short ? long : []))]
  return all.toSorted((a, b) => b.length - a.length)
}

const withSharpS = (word: string): string => word.replaceAll(/ß|ss/g, '(?:ß|ss)')
