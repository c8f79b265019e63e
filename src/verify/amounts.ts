/** Amounts of money in free text, in any form that a language model may use. */
import { normalForm } from '../core/text.ts'
import { escaped, mention, onOneLine } from './answer-text.ts'

export interface Amount {
  /** As in the text, with its currency. */
  text: string
  /** All possible meanings: "1.200" is 1200 or 1.2. */
  values: readonly number[]
  /** How far a rounded value such as "1.2M" may be from the exact one; 0: all digits are given. */
  tolerance: number
  /** Next to a currency or a word such as "price". */
  money: boolean
}

const currencies =
  `\\p{Sc}|usd|eur|gbp|chf|brl|USD|EUR|GBP|CHF|CAD|AUD|NZD|BRL|MXN|SEK|NOK|DKK|PLN|CZK|HUF|RON|TRY|RUB|UAH|AED|SAR|INR|JPY|CNY|KRW|ZAR|SGD|HKD|ILS
  |元|円|원|Fr\\.?|kr\\.?|zł|Kč|Ft|lei|руб\\.?|р\\.|Rs\\.?`.replaceAll(/\s/g, '')
const currencyWords =
  'dollars?|bucks|euros?|pounds?|reais|pesos?|francs?|franken|kronor|kroner|dirhams?|rupees?|yen|yuan|rubles?|рубл\\p{L}*'
const price =
  onOneLine(`price[ds]?|asking|listed (?:at|for)|offered (?:at|for)|costs?|goes for|rent|rents for|rental|preis|kaufpreis|miete|kaltmiete|kostet|prix|loyer|precio|alquiler
  |renta|cuesta|preço|aluguel|valor|custa|prezzo|affitto|canone|prijs|huur|цена|аренда|стоимость|стоит|cena|czynsz|pris|hyra|hinta|vuokra|fiyat|kira|价格|售价|租金|価格|賃料|가격`)
/** Amounts with these words are not the current price. */
const otherPrices =
  onOneLine(`hoa|association|tax(?:es)?|deposit|down ?payment|payments?|fees?|insurance|estimate[ds]?|zestimate|mortgage|utilities|income|commission
  |originally|previous(?:ly)?(?: listed)?(?: at| for)?|formerly|(?:reduced|down|dropped|lowered|cut|fell) from|price (?:cut|drop|reduction) of|per (?:sq|square)
  |kaution|nebenkosten|hausgeld|provision|statt|vorher|charges|caution|dépôt|au lieu de|antes|fianza|comunidad|ibi|condom[ií]nio|iptu|spese|cauzione|servicekosten|borg`)
const units =
  onOneLine(`(?:sq|square|sf\\b|ft|feet|m2|sqm|qm|mq|acres?|hectares?|ha\\b|ares?\\b|km|miles?|min|minutes?|beds?\\b|bedrooms?|br\\b|ba\\b|baths?\\b|bathrooms?|rooms?|zimmer|quartos|dormitorios
  |habitaciones|chambres|pièces|spaces?|spots?|garage|cars?\\b|stor|floors?|units?|days?|weeks?|years?|photos?|images?|listings?|homes?|properties|%|percent|°)`)
const month =
  '(?: ?/ ?| ?per | ?a | ?each | ?pro | ?par | ?por | ?al | ?в )(?:mo\\b|month|monat|mois|mes|mês|mese|maand|месяц)| ?pcm\\b| ?monthly'

/** Words and letters for powers of ten. A small "m" may be metres and does not make a number money. */
const multipliers: [RegExp, number][] = [
  [/^ ?(?:k|tsd\.?|thousand|tausend|mil|mila|mille|тыс\.?|tys\.?|bin|tusen|duizend)(?![\p{L}\p{N}])/iu, 1e3],
  [
    /^ ?(?:mm?|mn|mio\.?|mi|mln\.?|млн\.?|mill?(?:ion|ón|ião|hão|hões|iones|ioni|ione|iões|ionen|ions)|mill\.|milyon|miljoen|миллион\p{L}*)(?![\p{L}\p{N}])/iu,
    1e6,
  ],
  [/^ ?(?:bn?|billion|mrd\.?|milliarden?|miliardi)(?![\p{L}\p{N}])/iu, 1e9],
  [/^ ?(?:lakhs?|lacs?)(?![\p{L}\p{N}])/iu, 1e5],
  [/^ ?(?:crores?|cr)(?![\p{L}\p{N}])/iu, 1e7],
  [/^ ?千/u, 1e3],
  [/^ ?[万萬]/u, 1e4],
  [/^ ?[億亿]/u, 1e8],
]

const digits = /\d+(?:(?:[.,']| (?=\d{3}(?!\d)))\d+)*/g

/**
 * Every amount in the text that may be a price, in order, without other numbers (areas, rooms, years, dates, parts of names)
 * and other money (fees, taxes, deposits, former prices, prices per area). `currency`: the listing's symbol. Pass the text
 * through `readable` first.
 */
export function amountsIn(text: string, currency = ''): Amount[] {
  const own = currency.trim() === '' ? '' : `|${escaped(normalForm(currency.slice(0, 20), 'NFKC').trim())}`
  const marks = {
    // Case matters: "Ft" is a currency, "ft" a foot.
    before: new RegExp(`(?<!\\p{L})(?:(?:US|R|C|A|NZ|HK)?(?:${currencies}${own})) ?$`, 'u'),
    after: new RegExp(`^(?: ?(?:${currencies}${own})(?!\\p{L})| (?:${currencyWords})(?!\\p{L})|,[-–—])`, 'u'),
  }
  return [...text.matchAll(digits)].flatMap((found) => {
    const before = text.slice(Math.max(0, found.index - 60), found.index)
    const amount = amountOf(found[0], before, text.slice(found.index + found[0].length).slice(0, 80), marks)
    return amount === null ? [] : [amount]
  })
}

const clause = '[^\\d\\n.!?;]{0,30}$'
const priceBefore = new RegExp(`(?<!\\p{L})(?:${price})(?!\\p{L})[^\\d\\n.!?;,]{0,24}$`, 'iu')
const otherBefore = new RegExp(`(?<!\\p{L})(?:${otherPrices})(?!\\p{L})${clause}`, 'iu')
const otherAfter = new RegExp(
  `^(?:${month})? ?(?:in |of |for )?(?:the )?(?:hoa|association|deposit|fees?\\b|(?:property )?tax|down\\b|kaution|nebenkosten)`,
  'iu',
)
const perUnit = new RegExp(`^ ?(?:/|per|a|pro|par|por|al|за|the) ?(?:${units}|night|day|week|year|annum|м2)`, 'iu')
const monthly = new RegExp(`^(?:${month})`, 'iu')
const unitAfter = new RegExp(`^[ -]?${units}`, 'iu')
const yearBefore =
  /(?:built|since|constructed|renovated|year|founded|baujahr|construit|construido|costruito|bouwjahr|in)[ :]*(?:in )?$/iu
const nameBefore = new RegExp(`(?:${mention}|\\p{Lu}[\\p{L}.']*) *$`, 'u')
const monthNames = /(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}*\.? ?$/iu

function amountOf(
  number: string,
  before: string,
  rest: string,
  marks: { before: RegExp; after: RegExp },
): Amount | null {
  const multiplier = multipliers.find(([pattern]) => pattern.test(rest))
  const word = multiplier?.[0].exec(rest)?.[0] ?? ''
  const after = rest.slice(word.length)
  const [markBefore, markAfter] = [marks.before.exec(before)?.[0] ?? '', marks.after.exec(after)?.[0] ?? '']
  const end = after.slice(markAfter.length)
  const marked = markBefore !== '' || markAfter !== ''
  if (otherBefore.test(before) || otherAfter.test(end) || perUnit.test(end)) return null
  if (/\bwas *(?:at *)?\p{Sc}? ?$/iu.test(before) && /^[^\n.!?]{0,20}\bnow\b/iu.test(end)) return null
  const isMonthly = monthly.test(end)
  if (!marked && !isMonthly && isOfAnotherThing(number, before, rest, word)) return null
  const follows = markBefore === '' && nameBefore.test(before) && !priceBefore.test(before)
  const values = readings(number, follows).map((value) => value * (multiplier?.[1] ?? 1))
  if (values.length === 0) return null
  const decimals = /[.,](\d+)$/.exec(number)?.[1].length ?? 0
  return {
    text: `${markBefore}${number}${word}${markAfter}`.trim(),
    values,
    tolerance: multiplier === undefined ? 0 : multiplier[1] * 0.5 * 10 ** -decimals,
    money: marked || isMonthly || (priceBefore.test(before) && isLikePrice(number, before, values)),
  }
}

/** "For rent to 2 persons", "for rent from 2027": the word alone does not make such numbers prices. */
function isLikePrice(number: string, before: string, values: readonly number[]): boolean {
  const isYear = /^(?:19|20)\d\d$/.test(number)
  return (
    values.some((value) => value >= 100) &&
    (!isYear || /(?:(?<!\p{L})(?:is|of|at|for|ist|es|est)|[é:è=]) *$/iu.test(before))
  )
}

function isOfAnotherThing(number: string, before: string, rest: string, word: string): boolean {
  if (unitAfter.test(rest)) return true
  // Scripts without blanks have letters beside every number.
  const joined = /(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}#:/@_-]$/u
  if (joined.test(before) || /\d[.,]$/.test(before)) return true
  // "12th", "4B", "11/21", "10:30", "425-0000".
  if (word === '' && /^(?:[\p{L}_]|[-/:]\d|\/)/u.test(rest)) return true
  return /^\d{4}$/.test(number) && (yearBefore.test(before) || monthNames.test(before) || /\d, ?$/.test(before))
}

/** Longer ones are no amounts, and each of their groups would be read with all that follow. */
const longestNumber = 100

/**
 * Every number that digits and separators may mean; none for a date and the like. `behindName`: after a street or another
 * name, the first group may belong to the name: "Elm Street 12 425 000 €".
 */
function readings(number: string, behindName: boolean): number[] {
  if (number.length > longestNumber) return []
  const groups = number.split(/[.,' ]/)
  const marks = number.replaceAll(/\d/g, '')
  if (marks === '') return [Number(number)]
  const found: number[] = []
  const last = groups.at(-1)!
  // Two digits between separators are Indian: 4,25,000.
  const isGrouped =
    groups[0].length <= 3 && last.length === 3 && groups.slice(1).every(({ length }) => length === 2 || length === 3)
  if (isGrouped && new Set(marks).size === 1) found.push(Number(groups.join('')))
  const isFraction = /[.,]$/.test(marks) && !marks.slice(0, -1).includes(marks.at(-1)!)
  if (isFraction) found.push(Number(`${groups.slice(0, -1).join('')}.${last}`))
  if (behindName && marks.startsWith(' ')) found.push(...readings(number.slice(number.indexOf(' ') + 1), true))
  return found
}

/** `exactly`: the amount is this price; `roughly`: it is too coarsely rounded to tell. */
export function isPrice(amount: Amount, wanted: number): 'exactly' | 'roughly' | 'no' {
  // Cents are usually left out.
  const whole = (value: number): boolean =>
    value === wanted || (Number.isInteger(value) && Math.abs(value - wanted) < 1)
  const nearest = Math.min(...amount.values.map((value) => Math.abs(value - wanted)))
  if (amount.values.some(whole)) return 'exactly'
  if (nearest > amount.tolerance + 1e-6) return 'no'
  return nearest <= wanted / 100 ? 'exactly' : 'roughly'
}
