/** Prepares an answer for reading: digits and blanks in one form, names of the listing marked. */
import type { Listing } from '../core/listing.ts'
import { normalForm } from '../core/text.ts'

/** Replaces names of the listing. A private character, which no real text contains. */
export const mention = '\ue000'

/** Characters read of an answer. */
const longest = 20_000
/** No answer repeats a longer name, and a pattern of one would be too large. */
const longestName = 500

export type Named = Pick<Listing, 'MLSNumber'> & Partial<Pick<Listing, 'Address' | 'ZIP' | 'CurrencySymbol'>>

/**
 * The answer with digits of every script as 0 to 9, without Markdown, with `mention` for the listing's MLSNumber and address,
 * and without other numbers: web and mail addresses, telephone numbers, the ZIP.
 */
export function readable(answer: string, { MLSNumber, Address, ZIP, CurrencySymbol }: Named): string {
  let text = normalForm(answer.slice(0, longest).replaceAll(mention, ' '), 'NFKC')
    .replaceAll(/[*`]/g, '')
    .replaceAll(/\p{Nd}/gu, asciiDigit)
    .replaceAll('\u066b', '.')
    .replaceAll('\u066c', ',')
    .replaceAll(/[’´]/g, "'")
    .replaceAll(/[^\S\n]/g, ' ')
    .replaceAll(/\bhttps?:\/\/\S+|\bwww\.\S+|[\w.+-]{1,64}@[\w.-]+/gi, ' ; ')
  for (const name of [...namesOf(MLSNumber, Address)].sort((a, b) => b.length - a.length))
    text = text.replaceAll(named(name, CurrencySymbol), ` ${mention} `)
  if (ZIP !== undefined && ZIP.length >= 4 && ZIP.length <= longestName)
    text = text.replaceAll(named(ZIP, CurrencySymbol), ' ; ')
  return text.replaceAll(/\+\d[\d ().-]{7,18}\d|\(?\b\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b/g, ' ; ')
}

/** Unicode has the ten digits of a script in a row, from 0. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!
  if (code < 0x80) return digit
  let value = 0
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++
  return String(value)
}

/** How an answer may name a listing; a number as short as "3" is not used. */
function namesOf(mlsNumber: string, address = ''): Set<string> {
  const names = new Set<string>()
  const number = plain(mlsNumber)
  if (/\d/.test(number) && (number.length >= 3 || /\p{L}/u.test(number))) names.add(number)
  const street = plain(address)
  if (/\d/.test(street) && /\p{L}/u.test(street)) {
    names.add(street)
    // A chatbot may write "12 Elm St." for "12 Elm Street".
    const short = /^\d\S* \p{L}{2,}/u.exec(street)?.[0] ?? /^\p{L}{3,}\S* \d\S*/u.exec(street)?.[0]
    if (short !== undefined) names.add(short)
  }
  return names
}

function plain(text: string): string {
  return normalForm(text.slice(0, longestName), 'NFKC').replaceAll(/\s+/g, ' ').replaceAll('’', "'").trim()
}

/** A name as whole words, unless a currency makes it an amount. */
function named(name: string, currency = '$'): RegExp {
  const word = escaped(name).replaceAll(' ', ' {1,3}')
  const money = `(?:\\p{Sc}|${escaped(plain(currency) || '$')})`
  return new RegExp(`(?<![\\p{L}\\p{N}]|${money} ?|\\d[.,'])${word}(?![\\p{L}\\p{N}]|[.,']\\d| ?${money})`, 'giu')
}

export function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
}

export interface Block {
  text: string
  /** A list item. */
  item: boolean
}

/** The paragraphs and list items of a text. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let open = false
  for (const line of text.split('\n')) {
    const item = /^ *(?:[-•–·]|\d{1,3}[.)]) /.test(line)
    if (line.trim() === '') open = false
    else if (open && !item) blocks.at(-1)!.text += `\n${line}`
    else {
      blocks.push({ text: line, item })
      open = true
    }
  }
  return blocks
}

/** A pattern that is written on several lines. */
export function onOneLine(pattern: string): string {
  return pattern.replaceAll(/\n\s*/g, '')
}
