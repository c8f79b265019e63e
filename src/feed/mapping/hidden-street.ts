/** How a street that must be hidden is found in other texts, where it may be spelled otherwise. */
import { foldedStreet, streetSpellings } from '../../core/home-hash.ts'
import { percentDecoded } from '../../core/text.ts'

/** Shortest street searched for in other texts: `1 A` would be found everywhere. */
const shortest = 5
/** So much of a street is enough to find it. */
const longest = 200

export interface HiddenStreet {
  /** The text with an ellipsis in place of the street. */
  takenFrom(text: string): string
  /** Whether a column names the street. */
  isIn(value: string): boolean
}

/** Finds the street, without its unit, in each of its readings (`withoutUnit`); null: it is too short, or too usual a word. */
export function hiddenStreet(street: string | undefined): HiddenStreet | null {
  const found = street === undefined ? [] : withoutUnit(street).flatMap((bare) => hiddenReading(bare) ?? [])
  if (found.length === 0) return null
  return {
    takenFrom: (text) => found.reduce((left, reading) => reading.takenFrom(left), text),
    isIn: (value) => found.some((reading) => reading.isIn(value)),
  }
}

/**
 * Words are compared without case, accents and punctuation, and `12 Oak Street` is also `12 Oak St`, `Kölner Str. 5` also
 * `Kölner Straße 5`. In an address of the web, `12_oak` is enough.
 */
function hiddenReading(bare: string): HiddenStreet | null {
  if (bare.length < shortest) return null
  const keys = wordsOf(bare.slice(0, longest)).map(({ key }) => key)
  // The last word may be cut.
  if (bare.length > longest) keys.pop()
  const names = keys.filter((key) => !usual.has(key))
  if (names.length === 0) return null
  const whole = joined(keys).text
  const isEnough = names.some((name) => isNumber(name)) && names.some((name) => /^\p{L}{3,}$/u.test(name))
  const targets = isEnough ? [whole, joined(names).text] : [whole]
  // Where words are not set apart, the street may stand in the middle of one.
  const literal = /\p{Lo}/u.test(bare) ? bare.slice(0, longest).toLowerCase() : null
  return {
    takenFrom(text) {
      let [left, from] = ['', 0]
      for (const { start, end } of found(wordsOf(text), [whole])) {
        left += `${text.slice(from, start)}…`
        from = end
      }
      left += text.slice(from)
      return literal === null ? left : left.replaceAll(literal, '…')
    },
    isIn: (value) =>
      found(wordsOf(value), /^(?:https?:)?\/\//i.test(value) ? targets : [whole]).length > 0 ||
      (literal !== null && value.toLowerCase().includes(literal)),
  }
}

/**
 * `2/39 Main Road` and `39 Main Road #2` without their 2; in `Via Roma 39/2` the unit is behind. Where words stand before the slash
 * and behind it, as in `Cottage 2/39 Main Road` and `Via Roma 39/2 int. 4`: both readings, the longer one first.
 */
function withoutUnit(street: string): string[] {
  const [before] = /^[^/]{1,20}\/(?=\d.*\p{L}{2})/u.exec(street) ?? ['']
  return [...(/\p{L}{3}/u.test(before) ? [street] : []), street.slice(before.length)].map((spelling) =>
    spelling
      .replace(/\s(?:#|(?:apt|apartment|unit|suite|ste)\.?\s)\s*\S+$/i, '')
      .replace(/(\d\p{L}?)\/\d{1,4}\p{L}?$/u, '$1'),
  )
}

interface Word {
  /** Without case and accents, in its shortest spelling. */
  key: string
  start: number
  end: number
}

const isNumber = (key: string): boolean => /^\p{N}/u.test(key)
const usual: ReadonlySet<string> = new Set(streetSpellings.values())

const pieces = /(?:%[0-9a-fA-F]{2})+|\p{N}+|\p{Lu}+(?![\p{Ll}\p{M}])|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|[\p{L}\p{M}]/gu

/** Words and numbers; those of an address may be written as `%C3%B6`, or told apart by a capital only. */
function wordsOf(text: string): Word[] {
  const words: Word[] = []
  for (const { 0: piece, index } of text.matchAll(pieces)) {
    const plain = ascii.test(piece) ? piece.toLowerCase() : withoutAccents(piece)
    if (plain === '') continue
    words.push({
      key: streetSpellings.get(plain) ?? (plain.endsWith('strasse') ? plain.slice(0, -4) : plain),
      start: index,
      end: index + piece.length,
    })
  }
  return words
}

const ascii = /^[a-zA-Z0-9]+$/

function withoutAccents(piece: string): string {
  return foldedStreet(piece.startsWith('%') ? (percentDecoded(piece) ?? '') : piece).replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/**
 * Keys as one text, so that `Hauptstr.` is `Haupt Str.`; between numbers is a mark, so that `1 2` is not 12. `starts` and `ends`: which
 * key begins and which ends at a place of the text.
 */
function joined(keys: readonly string[]): { text: string; starts: Map<number, number>; ends: Map<number, number> } {
  const [starts, ends] = [new Map<number, number>(), new Map<number, number>()]
  const pieces: string[] = []
  let length = 0
  for (const [index, key] of keys.entries()) {
    const mark = index > 0 && isNumber(key) && isNumber(keys[index - 1]) ? '|' : ''
    pieces.push(mark, key)
    starts.set(length + mark.length, index)
    length += mark.length + key.length
    ends.set(length, index)
  }
  return { text: pieces.join(''), starts, ends }
}

/** Where the targets stand, in order. Native search, as a hostile text may repeat the street's beginning a million times. */
function found(words: readonly Word[], targets: readonly string[]): Pick<Word, 'start' | 'end'>[] {
  const { text, starts, ends } = joined(words.map(({ key }) => key))
  const places: Pick<Word, 'start' | 'end'>[] = []
  for (const target of targets) {
    for (let at = text.indexOf(target); at !== -1; at = text.indexOf(target, at + 1)) {
      const [first, last] = [words[starts.get(at) ?? -1], words[ends.get(at + target.length) ?? -1]]
      if (first !== undefined && last !== undefined && first.start >= (places.at(-1)?.end ?? 0))
        places.push({ start: first.start, end: last.end })
    }
  }
  return places
}
