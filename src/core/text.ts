/**
 * Makes text safe to show. Feeds, services and configurations may contain escape sequences, which move a terminal's
 * cursor, and bidirectional controls, which reorder a line (docs/faults.md, F144).
 */
import { stripVTControlCharacters } from 'node:util'

/** C0 without tab and line feed, DEL and C1, zero-width characters, line separators, bidirectional controls, byte order mark. */
// oxlint-disable-next-line no-control-regex
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** A percent-decoded part of an address; null: invalid encoding. */
export function percentDecoded(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

/** Whether an unescaped mark in a password ended the host early: then the real one stands behind an @ in a later part. */
export const hidesHost = ({ pathname, search, hash }: URL): boolean =>
  pathname.includes('@') || hash.includes('@') || /^[^=]*@/.test(search)

/** One printable line: no escape sequences, no control or bidirectional characters, white space as single blanks. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(unseen, '').replace(/\s+/g, ' ').trim().toWellFormed()
}

/** One word of a command that a person pastes into a shell, as it is if no shell would take it for more. */
export function shellWord(text: string): string {
  const word = printable(text)
  return /^[\p{L}\p{N}/\\:._@%+=,-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** A name as it is written in YAML: in quotes only where it would be read as something else, such as a number. */
export const yamlWord = (name: string): string =>
  /^(?!(true|false|null)$)[a-z][\w-]*$/i.test(name) ? name : `'${name.replaceAll("'", "''")}'`

/** What to do about a feed that only a mark on the service names. */
export const calledBefore = (feed: string): string => `if this feed was called so before: formerly: [${yamlWord(feed)}]`

/** `printable` for several lines, which keep their indentation. */
export function printableLines(text: string): string {
  return text
    .split('\n')
    .map((line) => `${/^ */.exec(line)?.[0] ?? ''}${printable(line)}`)
    .join('\n')
}

/** Text without escape sequences, control or bidirectional characters; line breaks and blanks stay. */
export function printableText(text: string): string {
  return stripVTControlCharacters(text).replace(unseen, '').toWellFormed()
}

/** JSON text in which the characters that `printable` removes stand as `\uXXXX`: it parses to the same value. */
export function escapeUnseen(json: string): string {
  return json.replace(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** One JSON document for a program, every entry on its line. */
export function jsonDocument(value: unknown): string {
  return `${escapeUnseen(JSON.stringify(value, null, 2))}\n`
}

/**
 * Combining marks behind the thirtieth of a run: Unicode's stream-safe form has no more, and no writing needs as many. Taken
 * a thousand at a time, as a run of millions would exceed the expression's own stack.
 */
const surplusMarks = /(?<=\p{M}{30})\p{M}{1,1000}/gu

/** All combining marks are among these, and the texts of most feeds hold none of them. */
const beyondLatin = /[\u0300-\uffff]/

/** Whether a text has marks that `normalForm` removes. */
export function hasSurplusMarks(text: string): boolean {
  return text.length > 30 && beyondLatin.test(text) && text.search(surplusMarks) >= 0
}

/** A normal form of Unicode, without surplus marks: it puts marks in order, which takes quadratic time for many of them. */
export function normalForm(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return text.replace(surplusMarks, '').normalize(form)
}

/** An instant (milliseconds since the epoch) as "2026-11-20 10:00 UTC". */
export function minuteOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** The text cut to `length` characters, the last of them an ellipsis. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`
}

/** "1 listing", "2 listings". */
export function many(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`
}

/** The first names of `count`, and how many more there are. */
export const andMore = (names: readonly string[], count: number, between = ', '): string =>
  names.join(between) + (count > names.length ? ` and ${count - names.length} more` : '')

/** A span of milliseconds: "72 hours"; below two hours minutes, below two minutes seconds. */
export function spanInWords(span: number): string {
  if (span < 120_000) return many(Math.round(span / 1000), 'second')
  const minutes = Math.round(span / 60_000)
  return minutes >= 120 ? `${Math.round(minutes / 60)} hours` : `${minutes} minutes`
}

/** A field's value in a sentence: "250,000", "1998", a text cut at 40 characters, "3 entries", "none". */
export function valueInWords(field: string, value: string | number | readonly unknown[] | null): string {
  if (value === null) return 'none'
  if (typeof value === 'number') return field === 'YearBuilt' ? String(value) : value.toLocaleString('en-US')
  return typeof value === 'string' ? shorten(value, 40) : many(value.length, 'entry', 'entries')
}

/** The known name nearest to a mistyped one, at most `edits` letters away; null: none. */
export function nearestName(
  name: string,
  known: readonly string[],
  edits = Math.max(2, Math.floor(name.length / 2)),
): string | null {
  let best: string | null = null
  let least = edits + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** Letters to insert, remove or replace on the way from one word to another (Levenshtein). */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[to.length]
}

/** "unknown key; did you mean …?", or all known names if none is similar. */
export function unknownName(name: string, known: readonly string[], what: string): string {
  const nearest = nearestName(name, known)
  return nearest === null
    ? `unknown ${what}; use one of ${known.join(', ')}`
    : `unknown ${what}; did you mean "${nearest}"?`
}
