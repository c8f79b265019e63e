import type { StandInListing } from './fields.ts'
import { fold, wordsOf } from './question.ts'
import type { Question, Range } from './question.ts'
import type { Row } from './rows.ts'

/**
 * The listings that fit a question, in the order in which they are told. A listing that is named (by its MLSNumber or its
 * address) fits whatever else is said; otherwise all that was understood must hold, and sold ones only if asked for. None
 * where nothing was understood.
 */
export function search(rows: readonly Row[], question: Question): Row[] {
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

/** What a listing costs: its rent if it is for rent, else its sale price. */
export function priceOf(listing: Readonly<StandInListing>): number | undefined {
  return listing.SaleType === 'for_rent' ? listing.RentPrice : listing.SalePrice
}

/** Those whose MLSNumber stands in the message; without such, those whose address does. */
function namedIn(message: string, rows: readonly Row[]): Row[] {
  const numbered = standingIn(message, rows, ({ MLSNumber }) => (isTelling(MLSNumber) ? MLSNumber : ''))
  if (numbered.length > 0) return numbered
  const addressed = standingIn(message, rows, ({ Address }) => Address ?? '')
  const inCity = addressed.filter(({ listing }) => Boolean(listing.City) && holds(message, fold(listing.City ?? '')))
  return inCity.length > 0 ? inCity : addressed
}

/** A number as short as "3" stands in a message for other reasons, and so may a word. */
function isTelling(mlsNumber: string): boolean {
  return /\d/.test(mlsNumber) && (mlsNumber.length >= 3 || /\p{L}/u.test(mlsNumber))
}

/** The rows with a text that stands in the message; what stands inside a longer such text does not count. */
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

/** Whether `part` stands in `message` as whole words: "A-1" neither in "A-12" nor in "A-1-2". */
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

/** What a listing must be; null where nothing was understood. */
function testsFor(question: Question, rows: readonly Row[]): Test[] | null {
  const tests: Test[] = []
  const { saleType, status, bedrooms, bathrooms, price } = question
  if (saleType) tests.push((listing) => listing.SaleType === saleType)
  if (bedrooms) tests.push((listing) => isWithin(listing.Bedrooms, bedrooms))
  if (bathrooms) tests.push((listing) => isWithin(listing.Bathrooms, bathrooms))
  if (price) tests.push((listing) => isWithin(priceOf(listing), price))
  const vocabulary = new Set(rows.flatMap(({ listing }) => wordsOfListing(listing)))
  // "lovely" may be said of any home, but a number that no listing has is one of another home.
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

/** "condos" asks for what is a "condo". */
function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}
