/**
 * Whether an answer agrees with a listing. The rule (also in docs/chatbot.md):
 *
 * The price agrees if the answer has the expected amount for the listing, in any usual form: other digits, separators and
 * currency signs, "425k" or "1.2M", with such a word rounded by at most one percent. It disagrees only if another amount of
 * money clearly belongs to the listing and the expected one is missing. Otherwise it is not said. Areas, years, telephone
 * numbers, fees, taxes, former prices and the like are not prices.
 *
 * The part about the listing is the paragraph or list item with its MLSNumber or address; without an amount there, the whole
 * answer, in which several different amounts or a list of homes belong to no listing.
 *
 * The status agrees if its word is there, disagrees if only another one is, and otherwise is not said. Words are known in
 * English and a few more languages.
 */
import type { Listing } from '../core/listing.ts'
import { amountsIn, isPrice } from './amounts.ts'
import type { Amount } from './amounts.ts'
import { blocksOf, mention, readable } from './answer-text.ts'
import { statusIn } from './status-words.ts'
import type { Finding, Verdict } from './verification.ts'

export interface Reading {
  verdict: Verdict
  price: Finding | null
  status: Finding | null
}

const statusWords = { Active: 'Active', PreOnMarket: 'PreOnMarket', Sold: 'Sold', Gone: 'no longer offered' } as const
const saleWords = { for_sale: 'for sale', for_rent: 'for rent' } as const

/** The rent of a listing for rent, else its sale price; null: unknown. */
export function priceOf({ SaleType, RentPrice, SalePrice }: Listing): number | null {
  const price = (SaleType === 'for_rent' ? RentPrice : SalePrice) ?? 0
  return price > 0 ? price : null
}

/** Reads an answer about a listing that is on the service. */
export function readAnswer(answer: string, listing: Listing): Reading {
  const scope = scopeOf(answer, listing)
  const price = priceFinding(scope, listing)
  const status = statusFinding(scope, listing)
  const findings = [price, status].filter((finding) => finding !== null)
  // The price of a sold listing is rarely said, and status words are not known in every language.
  const decisive = price === null || listing.Status === 'Sold' ? status : price
  const disagrees = findings.some(({ verdict }) => verdict === 'disagrees')
  const verdict = disagrees ? 'disagrees' : decisive.verdict === 'agrees' ? 'agrees' : 'not mentioned'
  return { verdict, price, status }
}

/**
 * Reads an answer about a deleted listing: it agrees if it says so, and disagrees if it gives the former price (any price if
 * that is unknown) or calls the listing available. `last`: the listing as it was, as far as known.
 */
export function readAnswerOfGone(answer: string, last: Listing | { MLSNumber: string }): Reading {
  const scope = scopeOf(answer, last)
  const { statuses } = statusIn(scope.text)
  const wanted = statusWords.Gone
  if (statuses.has('Gone') || statuses.has('Sold'))
    return { verdict: 'agrees', price: null, status: { verdict: 'agrees', wanted, said: [wanted] } }
  const lastPrice = 'SaleType' in last ? priceOf(last) : null
  const offered = scope.amounts.filter((amount) =>
    lastPrice === null ? scope.named && amount.money : isPrice(amount, lastPrice) === 'exactly',
  )
  const said = [...new Set(offered.map(({ text }) => text))].slice(0, mostSaid)
  if (said.length === 0) said.push(...offerWords(scope.text))
  const verdict = said.length > 0 ? 'disagrees' : 'not said'
  return {
    verdict: verdict === 'disagrees' ? verdict : 'not mentioned',
    price: null,
    status: { verdict, wanted, said },
  }
}

/** Words for being on offer in sentences that name the listing. */
function offerWords(text: string): string[] {
  const naming = text.split(/(?<=[.!?;])\s|\n/).filter((sentence) => sentence.includes(mention))
  const { statuses, saleTypes } = statusIn(naming.join('\n'))
  return [...[...saleTypes].map((type) => saleWords[type]), ...[...statuses].map((status) => statusWords[status])]
}

const mostSaid = 3

/** The part of an answer that is about the listing. */
interface Scope {
  text: string
  /** The listing is named in the answer. */
  named: boolean
  amounts: Amount[]
  /** Any amount of money in it belongs to the listing. */
  tied: boolean
  /** Amounts elsewhere in the answer, if the listing's part is only a part of a text. */
  elsewhere: Amount[]
}

function scopeOf(answer: string, listing: Parameters<typeof readable>[1]): Scope {
  const text = readable(answer, listing)
  const blocks = blocksOf(text)
  const read = (part: string): Amount[] => amountsIn(part, listing.CurrencySymbol)
  const naming = blocks.filter((block) => block.text.includes(mention))
  const own = naming.map((block) => block.text).join('\n')
  const amounts = read(own)
  const isItem = naming.length > 0 && naming.every(({ item }) => item)
  if (amounts.some(({ money }) => money))
    return { text: own, named: true, amounts, tied: true, elsewhere: isItem ? [] : read(text) }
  const all = read(text)
  const named = naming.length > 0
  const priced = blocks.filter((block) => block.item && read(block.text).some(({ money }) => money))
  const different = new Set(all.filter(({ money }) => money).map(({ values }) => values[0])).size
  const tied = priced.length < 2 && (named || different === 1)
  return { text: named && isItem ? own : text, named, amounts: all, tied, elsewhere: [] }
}

function priceFinding({ amounts, tied, elsewhere }: Scope, listing: Listing): Finding | null {
  const wanted = priceOf(listing)
  if (wanted === null) return null
  const money = amounts.filter((amount) => amount.money)
  const said = [...new Set(money.map(({ text }) => text))].slice(0, mostSaid)
  const finding = (verdict: Finding['verdict'], others = said): Finding => ({
    verdict,
    wanted: written(wanted, listing),
    said: others,
  })
  // A bare number counts as the price if there is no other, or if it is too large for anything else.
  const candidates = amounts.filter((amount) => amount.money || money.length === 0 || wanted >= 10_000)
  const exact = candidates.find((amount) => isPrice(amount, wanted) === 'exactly')
  if (exact !== undefined) return finding('agrees', [exact.text])
  const isRough = candidates.some((amount) => isPrice(amount, wanted) === 'roughly')
  const isElsewhere = elsewhere.some((amount) => amount.money && isPrice(amount, wanted) === 'exactly')
  const others = money.filter((amount) => !otherMoney(listing).some((other) => isPrice(amount, other) === 'exactly'))
  return finding(tied && !isRough && !isElsewhere && others.length > 0 ? 'disagrees' : 'not said')
}

/** Other correct amounts of the listing. */
function otherMoney({ HOAMonth, DepositFee, UnitAreaPrice, EstimatePrice, RentPrice, SalePrice }: Listing): number[] {
  return [HOAMonth, DepositFee, UnitAreaPrice, EstimatePrice, RentPrice, SalePrice].filter(
    (amount) => amount !== undefined,
  )
}

function statusFinding({ text }: Scope, { SaleType, Status }: Listing): Finding {
  const { statuses, saleTypes } = statusIn(text)
  const wanted = `${saleWords[SaleType]}, ${Status}`
  const said = [...[...saleTypes].map((type) => saleWords[type]), ...[...statuses].map((status) => statusWords[status])]
  const isOtherSale = saleTypes.size > 0 && !saleTypes.has(SaleType)
  const others = [...statuses].filter((status) => status !== Status)
  // A listing on offer need not be called "active"; a sold one may be called gone.
  const fits = statuses.has(Status) || (statuses.size === 0 && Status === 'Active' && saleTypes.has(SaleType))
  const clashes = others.filter((status) => !(Status === 'Sold' && status === 'Gone'))
  if (isOtherSale || (clashes.length > 0 && !fits)) return { verdict: 'disagrees', wanted, said }
  if ((fits && clashes.length === 0) || (Status === 'Sold' && statuses.has('Gone')))
    return { verdict: 'agrees', wanted, said }
  return { verdict: 'not said', wanted, said }
}

function written(price: number, { CurrencySymbol, SaleType }: Listing): string {
  const amount = price.toLocaleString('en-US', { maximumFractionDigits: 2 })
  const separator = /[\p{L}.]$/u.test(CurrencySymbol) ? ' ' : ''
  return `${CurrencySymbol}${separator}${amount}${SaleType === 'for_rent' ? ' a month' : ''}`
}
