/**
 * Whether an answer agrees with a listing. The rule (also in docs/chatbot.md):
 *
 * The price agrees where the wanted amount stands in what the answer says of the listing, in any form that people write
 * amounts in: with other digits, marks and currency signs, as "425k" or "1.2M", rounded by at most one percent where
 * such a word stands behind it. It disagrees only where an amount of money is tied to the listing and the wanted one is
 * missing. Else it is not said. Areas, years, telephone numbers, fees, taxes, former prices and the like are no prices.
 *
 * What the answer says of the listing is the paragraph or list item that names its MLSNumber or address; without an
 * amount there, the whole answer, in which several different amounts or a list of homes are tied to nothing.
 *
 * The status agrees where its word stands there, disagrees where only another one does, and is else not said: words are
 * known of English and a few more languages.
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

/** What a listing costs: its rent where it is for rent, else its sale price; null where that is not known. */
export function priceOf({ SaleType, RentPrice, SalePrice }: Listing): number | null {
  const price = (SaleType === 'for_rent' ? RentPrice : SalePrice) ?? 0
  return price > 0 ? price : null
}

/** Reads an answer about a listing that is on the service. */
export function readAnswer(answer: string, listing: Listing): Reading {
  const scope = scopeOf(answer, listing)
  const price = priceFinding(scope, listing)
  const status = statusFinding(scope, listing)
  const findings = [price, status].filter((one) => one !== null)
  // Of what is sold hardly anybody says the price, and the words of the status are not known in every language.
  const decisive = price === null || listing.Status === 'Sold' ? status : price
  const disagrees = findings.some(({ verdict }) => verdict === 'disagrees')
  const verdict = disagrees ? 'disagrees' : decisive.verdict === 'agrees' ? 'agrees' : 'not mentioned'
  return { verdict, price, status }
}

/**
 * Reads an answer about a listing that was deleted: it agrees where it says so, and disagrees where it tells the price that
 * the listing had (where that is not known, any price), or names it with a word that it is to be had. `last` is the
 * listing as it was, as far as that is known.
 */
export function readAnswerOfGone(answer: string, last: Listing | { MLSNumber: string }): Reading {
  const scope = scopeOf(answer, last)
  const { statuses } = statusIn(scope.text)
  const wanted = statusWords.Gone
  if (statuses.has('Gone') || statuses.has('Sold'))
    return { verdict: 'agrees', price: null, status: { verdict: 'agrees', wanted, said: [wanted] } }
  const lastPrice = 'SaleType' in last ? priceOf(last) : null
  const offered = scope.amounts.filter((one) =>
    lastPrice === null ? scope.named && one.money : isPrice(one, lastPrice) === 'exactly',
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

/** What the sentences that name the listing say of its being on offer. */
function offerWords(text: string): string[] {
  const naming = text.split(/(?<=[.!?;])\s|\n/).filter((sentence) => sentence.includes(mention))
  const { statuses, saleTypes } = statusIn(naming.join('\n'))
  return [...[...saleTypes].map((one) => saleWords[one]), ...[...statuses].map((one) => statusWords[one])]
}

const mostSaid = 3

/** The part of an answer that is about the listing. */
interface Scope {
  text: string
  /** The listing is named in the answer. */
  named: boolean
  amounts: Amount[]
  /** An amount of money in it can only be the listing's. */
  tied: boolean
  /** The amounts of the whole answer count too, as the listing's part is no more than a part of a text. */
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
  const money = amounts.filter((one) => one.money)
  const said = [...new Set(money.map(({ text }) => text))].slice(0, mostSaid)
  const finding = (verdict: Finding['verdict'], others = said): Finding => ({
    verdict,
    wanted: written(wanted, listing),
    said: others,
  })
  // A bare number is the price where nothing else is one, or where it is too large to be anything else.
  const candidates = amounts.filter((one) => one.money || money.length === 0 || wanted >= 10_000)
  const exact = candidates.find((one) => isPrice(one, wanted) === 'exactly')
  if (exact !== undefined) return finding('agrees', [exact.text])
  const isRough = candidates.some((one) => isPrice(one, wanted) === 'roughly')
  const isElsewhere = elsewhere.some((one) => one.money && isPrice(one, wanted) === 'exactly')
  const others = money.filter((one) => !otherMoney(listing).some((amount) => isPrice(one, amount) === 'exactly'))
  return finding(tied && !isRough && !isElsewhere && others.length > 0 ? 'disagrees' : 'not said')
}

/** Amounts that an answer may rightly tell of the listing beside its price. */
function otherMoney({ HOAMonth, DepositFee, UnitAreaPrice, EstimatePrice, RentPrice, SalePrice }: Listing): number[] {
  return [HOAMonth, DepositFee, UnitAreaPrice, EstimatePrice, RentPrice, SalePrice].filter(
    (amount) => amount !== undefined,
  )
}

function statusFinding({ text }: Scope, { SaleType, Status }: Listing): Finding {
  const { statuses, saleTypes } = statusIn(text)
  const wanted = `${saleWords[SaleType]}, ${Status}`
  const said = [...[...saleTypes].map((one) => saleWords[one]), ...[...statuses].map((one) => statusWords[one])]
  const isOtherSale = saleTypes.size > 0 && !saleTypes.has(SaleType)
  const others = [...statuses].filter((one) => one !== Status)
  // What is on offer need not be called "active"; what is sold may well be said to be gone.
  const fits = statuses.has(Status) || (statuses.size === 0 && Status === 'Active' && saleTypes.has(SaleType))
  const clashes = others.filter((one) => !(Status === 'Sold' && one === 'Gone'))
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
