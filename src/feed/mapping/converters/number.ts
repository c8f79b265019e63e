import type { FieldName } from '../../../core/listing.ts'
import type { RecordNode } from '../../format/format.ts'
import type { Numbers } from '../rule-keys.ts'
import { isCurrencySymbol, symbolOfCurrency } from '../countries.ts'
import { monthlyFactors, hidesPrice, wordKey } from '../vocabulary.ts'
import { RuleError, Unreadable } from './converter.ts'
import type { Building, Converter } from './converter.ts'

/** What stands between thousands; a blank and an apostrophe have several forms. */
const marks = { '.': /\./g, ',': /,/g, ' ': /[ \u00a0\u202f]/g, "'": /['\u2019]/g } as const

/** Reads numbers with these separators; null: not such a number. */
export function numberReader({ decimal, group }: Numbers): (text: string) => number | null {
  const grouped = group === '' ? '' : `|\\d{1,3}(?:${marks[group].source}\\d{3})+`
  const form = new RegExp(`^[-+]?(?:(?:\\d+${grouped})(?:\\${decimal}\\d*)?|\\${decimal}\\d+)$`)
  // Most numbers are written so, and JavaScript reads them as they are.
  const plain = decimal === '.' ? /^\d{1,15}(?:\.\d{0,15})?$/ : /^\d{1,15}$/
  return (text) => {
    if (plain.test(text)) return Number(text)
    if (!form.test(text)) return null
    let digits = group === '' ? text : text.replaceAll(marks[group], '')
    if (decimal === ',') digits = digits.replace(',', '.')
    const value = Number(digits)
    return Number.isFinite(value) ? value : null
  }
}

/** Possible numbers of a field; anything else is junk (`Bedrooms 99999.0`). */
const limits: Partial<Record<FieldName, Limits>> = {
  Bedrooms: { least: 0, most: 999 },
  Bathrooms: { least: 0, most: 999 },
  ParkingSpots: { least: 0, most: 9999 },
  DaysOnMarket: { least: 0, most: 100_000 },
  Latitude: { least: -90, most: 90 },
  Longitude: { least: -180, most: 180 },
}
type Limits = Readonly<Record<'least' | 'most', number>>
const [usualLimits, limitsOfColumns]: Limits[] = [0, -Infinity].map((least) => ({ least, most: 1e12 }))

/** Why a number is impossible in its field; null: it is not. */
export function outOfLimits(field: FieldName | null, value: number): string | null {
  if (field === 'YearBuilt')
    return value === 0 || (value >= 1000 && value <= 2200) ? null : 'needs a year, 1000 to 2200, or 0'
  const { least, most } = field === null ? limitsOfColumns : (limits[field] ?? usualLimits)
  return value >= least && value <= most ? null : `needs a number from ${least} to ${most}`
}

const round = (value: number): number => Math.round((value + Number.EPSILON) * 100) / 100

/** A plain number; `choices` are words that stand for one (`Studio: '0'`, `no: '0'`). */
export const number: Converter = {
  yields: 'number',
  takes: ['split', 'nth', 'numbers', 'zero', 'min', 'max', 'times', 'choices'],
  needsFrom: true,
  build: (building) => {
    const { rule, field } = building
    const numbers = rule.numbers ?? building.preset.numbers
    const read = numberReader(numbers)
    const { times = 1, min = 0, max = 1e12 } = rule
    const bounded = rule.min !== undefined || rule.max !== undefined
    const words = numberWords(rule.choices ?? {})
    return (node) => {
      const found = building.text(node)
      if (found === undefined) return undefined
      const value = words.size === 0 ? read(found) : (words.get(wordKey(found)) ?? read(found))
      if (value === null) return new Unreadable(found, `needs a number written like ${example(numbers)}`)
      if (value === 0 && rule.zero === 'missing') return undefined
      if (bounded && (value < min || value > max)) return new Unreadable(found, `needs a number from ${min} to ${max}`)
      // As many digits as a number holds: 3 times 0.1 is 0.3.
      const product = times === 1 ? value : Number((value * times).toPrecision(15))
      const wrong = field && outOfLimits(field.name, product)
      if (wrong) return new Unreadable(found, times === 1 ? wrong : `times ${times} ${wrong}`)
      return product
    }
  },
}

function numberWords(choices: Record<string, string>): Map<string, number> {
  const words = new Map<string, number>()
  for (const [word, text] of Object.entries(choices)) {
    if (text.trim() === '' || !Number.isFinite(Number(text))) throw new RuleError(`"${text}" (${word}) is no number`)
    words.set(wordKey(word), Number(text))
  }
  return words
}

/**
 * The sum of the parts that are present: full, half and three-quarter bathrooms; garage and carport. If parts that are taken off are more
 * than the rest, there is none.
 */
export const sum: Converter = {
  yields: 'number',
  takes: ['parts', 'max'],
  needsFrom: false,
  build: ({ rule, field, inner }) => {
    if (!rule.parts) throw new RuleError('sum needs parts')
    const addends = rule.parts.map((part) => inner({ as: 'number', ...part }))
    return (node, making) => {
      let total: number | undefined
      for (const part of addends) {
        const value = part(node, making)
        if (value instanceof Unreadable) return value
        if (typeof value === 'number') total = (total ?? 0) + value
      }
      if (total === undefined || total < 0) return undefined
      if (rule.max !== undefined && total > rule.max) return new Unreadable(String(total), `needs at most ${rule.max}`)
      const wrong = field && outOfLimits(field.name, total)
      return wrong ? new Unreadable(String(total), wrong) : round(total)
    }
  },
}

const prices: ReadonlySet<FieldName> = new Set(['SalePrice', 'RentPrice', 'EstimatePrice'])
const currency = /^(?:[A-Z]{1,3}\$|\p{Sc}|[A-Z]{3}(?=[\s\d]))\s*|\s*(?:\p{Sc}|[A-Z]{3}|zł|Kč|kr)$/gu
const suffixes: Record<string, number> = { k: 1e3, m: 1e6, mm: 1e6, b: 1e9 }

/**
 * An amount of money, rounded to cents; with `period` (a path, or several) or `per` (a word) converted to an amount per
 * month. `periods` maps a format's codes; '' is a code without an amount per month.
 * An amount without a period in the record, or of a single payment (one time, seasonal), is absent. Words in place of a price, or
 * beside its number, are no price, nor is a range, in one text or `to` another path; with `range: least` its smaller end is.
 * A currency that is written at a price, by its code or a sign of its own, is the listing's, whatever the feed or its configuration
 * says for all.
 */
export const money: Converter = {
  yields: 'number',
  takes: ['split', 'nth', 'numbers', 'zero', 'period', 'periods', 'per', 'range', 'to', 'max', 'times'],
  needsFrom: true,
  build: (building) => {
    const { rule, field } = building
    const numbers = rule.numbers ?? building.preset.numbers
    const read = numberReader(numbers)
    const period = rule.period === undefined ? null : building.firstOf(rule.period)
    const periods = new Map(Object.entries(rule.periods ?? {}).map(([code, word]) => [wordKey(code), word]))
    const isPrice = field !== null && prices.has(field.name)
    const textOf = withUpperEnd(building, read)
    for (const word of [...(rule.per === undefined ? [] : [rule.per]), ...periods.values()]) {
      if (word !== '' && !monthlyFactors().has(wordKey(word))) throw new RuleError(`unknown period "${word}"`)
    }
    return (node, making) => {
      const found = textOf(node)
      if (found === undefined || hidesPrice(found)) return undefined
      const ends = rangeOf(found, read)
      if (ends !== null && rule.range !== 'least')
        return new Unreadable(found, 'is a range, which is no price to show; range: least takes its smaller end', true)
      const value = ends === null ? readAmount(found, read) : Math.min(...ends)
      if (value === null && isPrice && isText(found))
        return new Unreadable(found, 'is text in place of a price: the listing goes without', true)
      if (value === null || value < 0 || value > (rule.max ?? 1e12)) {
        return new Unreadable(found, `needs an amount of money written like ${example(numbers)}`)
      }
      // 0 and 1 stand for "no public price".
      if ((isPrice && (value === 0 || value === 1)) || (value === 0 && rule.zero === 'missing')) return undefined
      const { listing } = making
      const other =
        isPrice && listing.CurrencySymbol !== undefined ? otherCurrency(found, listing.CurrencySymbol) : null
      if (other !== null) {
        if (field?.name === 'EstimatePrice' || listing.SalePrice !== undefined)
          return new Unreadable(
            found,
            `is in ${other}, and the listing in ${listing.CurrencySymbol}: a listing has one currency`,
          )
        listing.CurrencySymbol = other
      }
      if (period === null && rule.per === undefined) return round(value * (rule.times ?? 1))
      const written = period?.(node) || rule.per
      const word = written === undefined ? '' : (periods.get(wordKey(written)) ?? written)
      if (word === '') return value === 0 ? 0 : undefined
      const factor = monthlyFactors().get(wordKey(word))
      if (factor === undefined) {
        making.unmapped?.(field?.name ?? 'ExtensionColumn', word)
        return new Unreadable(word, 'needs a period such as monthly, quarterly or yearly')
      }
      return factor === null ? undefined : round(value * factor * (rule.times ?? 1))
    }
  },
}

/** `TBA` is one, too, although it has the form of a currency's code. */
function isText(found: string): boolean {
  const isCode = /\d/.test(found) || symbolOfCurrency(found.trim()) !== undefined
  return found.length <= longestAmount && /\p{L}{2}/u.test(isCode ? found.replaceAll(currency, '') : found)
}

/** The symbol of the currency that is written at an amount, if it is certainly not the listed one; else null. */
function otherCurrency(text: string, listed: string): string | null {
  // Most amounts are a bare number.
  if (text.length > longestAmount || !/[\p{L}\p{Sc}]/u.test(text)) return null
  const own = isCurrencySymbol(listed) ? listed : symbolOfCurrency(listed)
  if (own === undefined) return null
  const codes = (text.match(/(?<![A-Z])[A-Z]{3}(?![A-Z])/g) ?? []).filter((code) => !commonWords.includes(code))
  const coded = new Set(codes.flatMap((code) => symbolOfCurrency(code) ?? []))
  if (coded.size > 0) return coded.size > 1 || coded.has(own) ? null : [...coded][0]
  const [dollars = '', letters] = /([A-Z]{1,2})\$/.exec(text) ?? []
  if (letters !== undefined) {
    const written = isCurrencySymbol(dollars) ? dollars : symbolOfCurrency(letters === 'C' ? 'CAD' : `${letters}D`)
    // C$ is also Nicaragua's.
    const isOwn = written === own || (letters === 'C' && own !== '$')
    return written === undefined || isOwn ? null : written
  }
  const signs = new Set(text.match(/\p{Sc}|zł|Kč/gu))
  const [sign = '$'] = signs
  // A bare $ or £ is that of any country.
  return signs.size === 1 && sign !== '$' && isCurrencySymbol(sign) && !own.endsWith(sign) ? sign : null
}

/** Codes of currencies (of Albania and Tonga) that are words as well. */
const commonWords: readonly string[] = ['ALL', 'TOP']

const between =
  /^(?:(?:between|from|von|entre|de)\s{1,3})?(.{1,60}?)\s{0,3}(?:[-–—]|\s(?:to|and|bis|und|a|à|et|y)\s)\s{0,3}(.{1,60})$/iu

/** There is one in every range. */
const betweenMark = /[-–—\s]/

/** Both ends of a range of amounts (`$400,000 - $600,000`, `Between 400k and 600k`); null: it is none. */
function rangeOf(text: string, read: (text: string) => number | null): [number, number] | null {
  if (text.length > longestAmount || !betweenMark.test(text)) return null
  const match = between.exec(text)
  const [least, most] = match === null ? [null, null] : [readAmount(match[1], read), readAmount(match[2], read)]
  return least === null || most === null ? null : [least, most]
}

/** The text of a rule, as a range where its `to` says more than that. */
export function withUpperEnd(
  building: Building,
  read: (text: string) => number | null,
): (node: RecordNode) => string | undefined {
  const { rule, text } = building
  if (rule.to === undefined) return text
  const upper = building.firstOf(rule.to)
  return (node) => {
    const [least, most] = [text(node), upper(node)]
    if (least === undefined || most === '' || least === most) return least
    const isSame = read(least) !== null && read(least) === read(most)
    return isSame ? least : `${least} - ${most}`
  }
}

/** Longer text is no amount; long runs of blanks would take `currency` quadratic time. */
const longestAmount = 200

/** Dashes in place of cents: `350.000,-`, `1'250'000.--`. The mark before them is the one before decimals. */
const noCents = /(?<=\d[.,])[-–—]{1,2}$/

function readAmount(text: string, read: (text: string) => number | null): number | null {
  if (text.length > longestAmount) return null
  const plain = read(text)
  if (plain !== null) return plain
  const bare = text.replaceAll(currency, '').trim().replace(noCents, '0')
  const suffix = /^(.*\d)\s*(k|mm?|b)$/i.exec(bare)
  if (!suffix) return read(bare)
  const value = read(suffix[1])
  return value === null ? null : value * suffixes[suffix[2].toLowerCase()]
}

function example({ decimal, group }: Numbers): string {
  return `1${group}234${decimal}5`
}
