/**
 * Whether an answer agrees with a listing (docs/chatbot.md has the rule for users). The question asks for a line
 * `PRICE=…; STATUS=…`: if there is one, nothing else counts. Free text is read only for numbers and the interface's own words. A
 * negation, an unknown word or two values make it unclear: the reader may be unsure, but must not be wrong.
 */
import type { Listing } from '../core/listing.ts'
import { normalForm } from '../core/text.ts'
import type { Finding, Verdict } from './verification.ts'

export interface Reading {
  verdict: Verdict
  price: Finding | null
  status: Finding | null
}

type Status = Listing['Status'] | 'none'
/** What was said, and what it means; null: nothing that is understood. */
type Said<Meaning> = { text: string; means: Meaning } | null
interface Answer {
  price: Said<readonly number[] | 'none'>
  status: Said<Status>
  /** Whether free text is surely about this listing, so that another value is wrong. */
  isSure: { price: boolean; status: boolean }
}

const notOffered = 'no longer offered'

/** The rent of a listing for rent, else its sale price; null: unknown. */
export function priceOf({ SaleType, RentPrice, SalePrice }: Listing): number | null {
  const price = (SaleType === 'for_rent' ? RentPrice : SalePrice) ?? 0
  return price > 0 ? price : null
}

/** Reads an answer about a listing that is on the service. */
export function readAnswer(answer: string, listing: Listing): Reading {
  const reading = read(answer, listing)
  const [price, status] = [priceFinding(reading, listing), statusFinding(reading, listing)]
  const verdicts = [price?.verdict, status.verdict]
  // The price of a sold listing is rarely said.
  const isPriced = price === null || price.verdict === 'agrees' || listing.Status === 'Sold'
  if (verdicts.includes('disagrees')) return { verdict: 'disagrees', price, status }
  return { verdict: isPriced && status.verdict === 'agrees' ? 'agrees' : 'unclear', price, status }
}

/** Reads an answer about a deleted listing, which must not be offered. `last`: the listing as it was, as far as known. */
export function readAnswerOfGone(answer: string, last: Listing | { MLSNumber: string }): Reading {
  const { status, price, isSure } = read(answer, last)
  const isPriced = price !== null && price.means !== 'none'
  const finding = (verdict: Finding['verdict'], ...said: string[]): Reading => ({
    verdict,
    price: null,
    status: { verdict, wanted: notOffered, said },
  })
  if (status === null) return finding('unclear', ...(price === null ? [] : [price.text]))
  if (status.means === 'Sold') return finding('agrees', status.text)
  if (status.means === 'none') return isPriced ? finding('unclear', price.text) : finding('agrees', status.text)
  return finding(isSure.status ? 'disagrees' : 'unclear', ...(isPriced ? [price.text] : []), status.text)
}

function priceFinding({ price, isSure }: Answer, listing: Listing): Finding | null {
  const wanted = priceOf(listing)
  if (wanted === null) return null
  const finding = (verdict: Finding['verdict']): Finding => ({
    verdict,
    wanted: written(wanted, listing),
    said: price === null ? [] : [price.text],
  })
  if (price === null || price.means === 'none') return finding('unclear')
  if (price.means.some((amount) => isSame(amount, wanted))) return finding('agrees')
  return finding(isSure.price ? 'disagrees' : 'unclear')
}

function statusFinding({ status, isSure }: Answer, { Status: wanted }: Listing): Finding {
  if (status === null) return { verdict: 'unclear', wanted, said: [] }
  const other = isSure.status ? 'disagrees' : 'unclear'
  return { verdict: status.means === wanted ? 'agrees' : other, wanted, said: [status.text] }
}

/** Whether two amounts are the same. Cents are usually left out. */
const isSame = (amount: number, wanted: number): boolean =>
  amount === wanted || (Number.isInteger(amount) && Math.abs(amount - wanted) < 1)

function written(price: number, { CurrencySymbol, SaleType }: Listing): string {
  const digits = Number.isInteger(price) ? 0 : 2
  const amount = price.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  const separator = /[\p{L}.]$/u.test(CurrencySymbol) ? ' ' : ''
  return `${CurrencySymbol}${separator}${amount}${SaleType === 'for_rent' ? ' a month' : ''}`
}

/** Characters read of an answer. */
const longest = 20_000

type Named = Pick<Listing, 'MLSNumber'> & Partial<Listing>

function read(answer: string, listing: Named): Answer {
  const text = plain(answer.slice(0, longest))
  const currency = plain((listing.CurrencySymbol ?? '').slice(0, 20)).trim()
  return inLines(text, currency) ?? inFreeText(text, currency, listing)
}

/** The text with digits of every script as 0 to 9, one kind of blanks and apostrophes, and without Markdown. */
function plain(text: string): string {
  return normalForm(text, 'NFKC')
    .replaceAll(/[*`]/g, '')
    .replaceAll(/\p{Nd}/gu, asciiDigit)
    .replaceAll('\u066b', '.')
    .replaceAll('\u066c', ',')
    .replaceAll(/[’´]/g, "'")
    .replaceAll(/[^\S\n]/g, ' ')
}

/** Unicode has the ten digits of a script in a row, from 0. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!
  if (code < 0x80) return digit
  let value = 0
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++
  return String(value)
}

/** Reads the line that was asked for; null: there is none, or it is not filled in, as when the question is repeated. */
function inLines(text: string, currency: string): Answer | null {
  const found = text.split('\n').flatMap((line) => {
    const [, price, status] = /price ?[=:]([^\n;|]{0,80})[;|,] ?status ?[=:]([^\n;|]{0,80})/i.exec(line) ?? []
    if (price === undefined) return []
    const found = { price: amountOf(price, currency), status: statusOf(status) }
    return found.price === null && found.status === null ? [] : [found]
  })
  const [first, ...others] = found
  if (first === undefined) return null
  // Two lines that differ are about two homes, or contradict each other.
  const isOne = others.every((other) => JSON.stringify(other) === JSON.stringify(first))
  return { ...(isOne ? first : { price: null, status: null }), isSure: { price: true, status: true } }
}

const number = /\d+(?:(?:[.,']| (?=\d{3}(?!\d)))\d+)*/g
const period = /(?:\/|per|an?|each)? ?(?:month|mo|pcm|monthly)\b\.?/i

/** Reads an amount with nothing else but a currency and a month. */
function amountOf(text: string, currency: string): Said<readonly number[] | 'none'> {
  const shown = text.trim()
  if (/^none\.?$/i.test(shown)) return { text: shown, means: 'none' }
  const found = shown.match(number) ?? []
  const means = found.length === 1 ? readings(found[0]) : []
  const beside = shown
    .replace(found[0] ?? '', ' ')
    .replaceAll(/[A-Z]{0,3}\p{Sc}|(?<!\p{L})[A-Z]{2,3}(?!\p{L})/gu, ' ')
    .replace(currency, ' ')
    .replace(period, ' ')
  return means.length === 0 || /[\p{L}\p{N}%/]/u.test(beside) ? null : { text: shown, means }
}

/** Longer numbers are no amounts. */
const longestNumber = 30

/** Every number that digits and separators may mean: `1.200` is 1200 or 1.2; none for a date and the like. */
function readings(text: string): number[] {
  if (text.length > longestNumber) return []
  const groups = text.split(/[.,' ]/)
  const marks = text.replaceAll(/\d/g, '')
  if (marks === '') return [Number(text)]
  const last = groups.at(-1)!
  const found: number[] = []
  // Two digits between separators are Indian: 4,25,000.
  const isGrouped = groups[0].length <= 3 && last.length === 3 && groups.slice(1).every((each) => each.length <= 3)
  if (isGrouped && new Set(marks).size === 1) found.push(Number(groups.join('')))
  const isFraction = /[.,]$/.test(marks) && !marks.slice(0, -1).includes(marks.at(-1)!)
  if (isFraction) found.push(Number(`${groups.slice(0, -1).join('')}.${last}`))
  return found
}

const statuses: Readonly<Record<string, Status>> = {
  active: 'Active',
  preonmarket: 'PreOnMarket',
  sold: 'Sold',
  none: 'none',
}

/** Reads a status: a word of the interface and nothing else. */
function statusOf(text: string): Said<Status> {
  const shown = text.trim().replace(/[.!"'})\]]+$/, '')
  const word = shown.toLowerCase().replaceAll(/[ "'_-]/g, '')
  return Object.hasOwn(statuses, word) ? { text: shown, means: statuses[word] } : null
}

const negation =
  /(?<!\p{L})(?:not|no|never|none|nothing|neither|nor|without|former(?:ly)?|previous(?:ly)?|was|were|cannot|nicht|kein\p{L}*|ohne|pas|plus|sans|non|não|nao|sin|ni|niet|geen|nie|bez|не|нет|inte|ikke|ej)(?!\p{L})|n't(?!\p{L})/iu

/**
 * Reads values after the interface's names (`Price: …`, `Status is …`), and the price also as the only amount of the answer. Another
 * value counts as wrong only if its name begins a line of an answer that names the listing.
 */
function inFreeText(text: string, currency: string, listing: Named): Answer {
  const nothing: Answer = { price: null, status: null, isSure: { price: false, status: false } }
  if (negation.test(text)) return nothing
  const prices = labelled(text, 'price')
  const amounts = prices.map(({ value }) => amountOf(value, currency))
  const states = labelled(text, 'status')
  const words = states.map(({ value }) => statusOf(value))
  const isNamed = names(text, listing)
  return {
    price: prices.length > 0 ? only(amounts) : loneAmount(text, currency),
    status: states.length > 0 ? only(words) : loneStatus(text),
    isSure: {
      price: isNamed && prices.length > 0 && prices.every(({ isFirst }) => isFirst),
      status: isNamed && states.length > 0 && states.every(({ isFirst }) => isFirst),
    },
  }
}

/** What follows a name, up to the end of its clause. `isFirst`: the name begins a line, apart from marks. */
function labelled(text: string, name: 'price' | 'status'): { value: string; isFirst: boolean }[] {
  const own = name === 'price' ? '(?:sale|rent)? ?price' : 'status'
  const value = name === 'price' ? String.raw`[^\n;|)\]}]{1,60}` : String.raw`[^\n;|,.)\]}]{1,40}`
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}])(${own})"? ?(?:[:=|]|is(?!\p{L})) ?(${value})`, 'giu')
  return [...text.matchAll(pattern)].map(({ index, 2: found }) => {
    const line = text.slice(text.lastIndexOf('\n', index) + 1, index)
    // For a price, also what can only follow an amount ends the clause.
    const clause = name === 'price' ? found.split(/[.,](?:\s|$)|(?<=\d) ?[-–—(] /)[0] : found
    return { value: clause.replace(/^["'~ ]+|["' ]+$/g, ''), isFirst: !/[\p{L}\p{N}]/u.test(line) }
  })
}

/** The one thing that is said, however often; null: there are two, or one is not understood. */
function only<Meaning>(mentions: readonly Said<Meaning>[]): Said<Meaning> {
  const [first] = mentions
  return mentions.every((mention) => JSON.stringify(mention?.means) === JSON.stringify(first?.means)) ? first : null
}

/** The only amount of an answer, beside a currency. */
function loneAmount(text: string, currency: string): Said<readonly number[] | 'none'> {
  const mark = String.raw`(?:\p{Sc}|(?<!\p{L})(?:[A-Z]{3}${currency === '' ? '' : `|${escaped(currency)}`})(?!\p{L}))`
  const [before, after] = [new RegExp(`${mark} ?$`, 'u'), new RegExp(`^ ?${mark}`, 'u')]
  const found = [...text.matchAll(number)].flatMap(({ index, 0: digits }) => {
    const end = index + digits.length
    const [front] = before.exec(text.slice(Math.max(0, index - around), index)) ?? ['']
    const [back] = after.exec(text.slice(end, end + around)) ?? ['']
    return front === '' && back === '' ? [] : [{ whole: `${front}${digits}${back}`, end: end + back.length }]
  })
  if (found.length !== 1) return null
  const [{ whole, end }] = found
  // "$1.2M", "$235/sq ft" and "5 %" are other amounts.
  const behind = text.slice(end, end + around)
  if (/^(?:\p{L}|%| ?(?:k|m|mio|million|mln|mil|mi|tsd)(?!\p{L}))/iu.test(behind)) return null
  if (/^ ?(?:\/|per(?!\p{L})|pro(?!\p{L}))/iu.test(behind) && !new RegExp(`^ ?${period.source}`, 'i').test(behind))
    return null
  return amountOf(whole, currency)
}

/** How many characters from an amount its currency and its month may be. */
const around = 24

function loneStatus(text: string): Said<Status> {
  const found = new Set(
    [...text.matchAll(/(?<![\p{L}\p{N}])(?:Active|PreOnMarket|Sold)(?![\p{L}\p{N}])/gu)].map(String),
  )
  return found.size === 1 ? statusOf([...found][0]) : null
}

function names(text: string, { MLSNumber, Address }: Named): boolean {
  const folded = text.toLowerCase()
  const isIn = (name: string): boolean => name.length >= 3 && folded.includes(plain(name).toLowerCase())
  return isIn(MLSNumber.slice(0, 500)) || isIn((Address ?? '').slice(0, 500))
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
