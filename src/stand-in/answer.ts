import type { StandInListing } from './fields.ts'
import { fold, readQuestion, wordsOf } from './question.ts'
import type { Question, Range } from './question.ts'
import type { Row } from './rows.ts'
import type { ChatbotSettings } from './setting-fields.ts'

export interface Said {
  content: string
  noAnswer: boolean
}

/** So many listings are described; the others are only counted. */
const mostTold = 5

/**
 * The answer to a message from the chatbot's listings, always the same for the same message and listings. Always in English, as
 * there is no model behind it.
 */
export function answerTo(message: string, rows: readonly Row[], settings: ChatbotSettings): Said {
  const question = readQuestion(message)
  const { TalkToHumanResponseMessage, WelcomeMessage } = settings
  if (question.human && TalkToHumanResponseMessage) return { content: TalkToHumanResponseMessage, noAnswer: false }
  const found = search(rows, question)
  if (found.length > 0) {
    const line = found.length === 1 && asksForLine.test(message) ? `\n${lineOf(found[0].listing)}` : ''
    return { content: `${inWords(found)}${line}`, noAnswer: false }
  }
  if (question.greeting && question.words.length + question.places.length === 0) {
    return { content: WelcomeMessage ?? 'Hello! Ask me about the listings.', noAnswer: false }
  }
  return { content: 'I found no listing that fits.', noAnswer: true }
}

/** A model does as it is told where a message asks for a line to be filled in. */
const asksForLine = /PRICE=.*; ?STATUS=/

function lineOf(listing: Row['listing']): string {
  const value = priceOf(listing)
  return `PRICE=${value === undefined ? 'none' : value}; STATUS=${listing.Status ?? 'none'}`
}

function inWords(found: readonly Row[]): string {
  const intro = found.length === 1 ? '1 listing fits:' : `${found.length} listings fit:`
  const more = found.length - mostTold
  const lines = found.slice(0, mostTold).map(({ listing }) => `- ${sentence(listing)}`)
  return [intro, ...lines, ...(more > 0 ? [`and ${more} more.`] : [])].join('\n')
}

/** One listing with address, price, status and number, so that a caller can check them. */
function sentence(listing: Row['listing']): string {
  const { Address, City, State, ZIP, Bedrooms, Bathrooms, PropertyType, SaleType, Status, Url, MLSNumber } = listing
  const region = [State, ZIP].filter(Boolean).join(' ')
  const place = [Address, City, region].filter(Boolean).join(', ') || 'Address on request'
  const sale = { for_sale: 'for sale', for_rent: 'for rent' }[SaleType ?? ''] ?? SaleType ?? ''
  const facts = [
    [PropertyType, sale].filter(Boolean).join(' '),
    price(listing),
    Bedrooms === undefined ? '' : `${Bedrooms} ${Bedrooms === 1 ? 'bedroom' : 'bedrooms'}`,
    Bathrooms === undefined ? '' : `${Bathrooms} ${Bathrooms === 1 ? 'bathroom' : 'bathrooms'}`,
    Status && `status ${Status}`,
    `MLS number ${MLSNumber}`,
    Url,
  ]
  return `${place}: ${facts.filter(Boolean).join(', ')}`
}

function price(listing: Row['listing']): string {
  const value = priceOf(listing)
  if (value === undefined) return 'price on request'
  const amount = `${listing.CurrencySymbol ?? ''}${value.toLocaleString('en-US', { maximumFractionDigits: 2 })}`
  return listing.SaleType === 'for_rent' ? `${amount} a month` : amount
}

/**
 * The listings that fit a question, in the order of the answer. A listing named by its MLSNumber or address always fits;
 * otherwise every understood condition must hold, and sold listings only fit if asked for. None if nothing was understood.
 */
function search(rows: readonly Row[], question: Question): Row[] {
  const named = namedIn(question.folded, rows)
  if (named.length > 0) return named
  const tests = testsFor(question, rows)
  if (!tests) return []
  const found = rows.filter(({ listing }) => tests.every((test) => test(listing)))
  const { order } = question
  if (!order) return found
  const direction = order === 'cheapest' ? 1 : -1
  const priced = found.filter(({ listing }) => priceOf(listing) !== undefined)
  return priced.sort((a, b) => direction * ((priceOf(a.listing) ?? 0) - (priceOf(b.listing) ?? 0)))
}

/** The rent of a listing for rent, else its sale price. */
function priceOf(listing: Readonly<StandInListing>): number | undefined {
  return listing.SaleType === 'for_rent' ? listing.RentPrice : listing.SalePrice
}

/** Rows whose MLSNumber is in the message; if none, those whose address is. */
function namedIn(message: string, rows: readonly Row[]): Row[] {
  const numbered = standingIn(message, rows, ({ MLSNumber }) => (isTelling(MLSNumber) ? MLSNumber : ''))
  if (numbered.length > 0) return numbered
  const addressed = standingIn(message, rows, ({ Address }) => Address ?? '')
  const inCity = addressed.filter(({ listing }) => Boolean(listing.City) && holds(message, fold(listing.City ?? '')))
  return inCity.length > 0 ? inCity : addressed
}

/** A number as short as "3", or a word, may be in a message for other reasons. */
function isTelling(mlsNumber: string): boolean {
  return /\d/.test(mlsNumber) && (mlsNumber.length >= 3 || /\p{L}/u.test(mlsNumber))
}

/** The rows with a text that is in the message, but not within a longer such text. */
function standingIn(message: string, rows: readonly Row[], textOf: (listing: Row['listing']) => string): Row[] {
  const found = rows
    .map((row) => ({ row, text: fold(textOf(row.listing)) }))
    .filter(({ text }) => text !== '' && holds(message, text))
  const texts = [...new Set(found.map(({ text }) => text))].sort((a, b) => b.length - a.length)
  let rest = message
  const standing = new Set<string>()
  for (const text of texts) {
    if (holds(rest, text)) standing.add(text)
    rest = rest.replaceAll(text, ' ; ')
  }
  return found.filter(({ text }) => standing.has(text)).map(({ row }) => row)
}

/** Whether `part` is in `message` as whole words: "A-1" neither in "A-12" nor in "A-1-2". */
function holds(message: string, part: string): boolean {
  let from = message.indexOf(part)
  while (from >= 0) {
    const goesOnBefore = /[\p{L}\p{N}][-_./]?$/u.test(message.slice(Math.max(0, from - 3), from))
    const goesOnAfter = /^[-_./]?[\p{L}\p{N}]/u.test(message.slice(from + part.length, from + part.length + 3))
    if (!goesOnBefore && !goesOnAfter) return true
    from = message.indexOf(part, from + 1)
  }
  return false
}

type Test = (listing: Readonly<StandInListing>) => boolean

/** The conditions for a listing; null: nothing was understood. */
function testsFor(question: Question, rows: readonly Row[]): Test[] | null {
  const tests: Test[] = []
  const { saleType, status, bedrooms, bathrooms, price } = question
  if (saleType) tests.push((listing) => listing.SaleType === saleType)
  if (bedrooms) tests.push((listing) => isWithin(listing.Bedrooms, bedrooms))
  if (bathrooms) tests.push((listing) => isWithin(listing.Bathrooms, bathrooms))
  if (price) tests.push((listing) => isWithin(priceOf(listing), price))
  const vocabulary = new Set(rows.flatMap(({ listing }) => wordsOfListing(listing)))
  // "lovely" fits any home, but a number that no listing has means another home.
  const words = question.words.map(singular).filter((word) => vocabulary.has(word) || /\d/.test(word))
  const wanted = [...question.places.map(singular), ...words]
  if (wanted.length > 0) {
    tests.push((listing) => {
      const own = new Set(wordsOfListing(listing))
      return wanted.every((word) => own.has(word))
    })
  }
  if (tests.length === 0 && !status && !question.anything) return null
  return [...tests, (listing) => (status ? listing.Status === status : listing.Status !== 'Sold')]
}

function isWithin(value: number | undefined, { least, most }: Range): boolean {
  return value !== undefined && value >= least && value <= most
}

function wordsOfListing({ Address, City, State, ZIP, PropertyType, Location, SpaceType }: StandInListing): string[] {
  return wordsOf([Address, City, State, ZIP, PropertyType, Location, SpaceType].join(' ')).map(singular)
}

/** "condos" matches "condo". */
function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}
