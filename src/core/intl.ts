/** Numbers, money and times as `Intl` writes them for the readers of a locale. */

import { printable } from './text.ts'

/** Whom a text is written for. */
export interface Reader {
  /** BCP 47, as "en-US". */
  readonly locale: string
  /** IANA zone of all times. */
  readonly timezone: string
}

/** Keeps formatters: making one takes as long as many uses of it. */
function kept<F>(make: (locale: string, of: string) => F): (locale: string, of?: string) => F {
  const made = new Map<string, F>()
  return (locale, of = '') => {
    const key = `${locale} ${of}`
    const formatter = made.get(key) ?? make(locale, of)
    made.set(key, formatter)
    return formatter
  }
}

const numbers = kept((locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 6 }))
const percents = kept(
  (locale) => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' }),
)
const whole = kept(
  (locale, currency) => new Intl.NumberFormat(locale, { style: 'currency', currency, maximumFractionDigits: 0 }),
)
const exact = kept((locale, currency) => new Intl.NumberFormat(locale, { style: 'currency', currency }))
const times = kept(
  (locale, timeZone) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone }),
)

export function numberText(value: number, { locale }: Pick<Reader, 'locale'>): string {
  return printable(numbers(locale).format(value))
}

const isoCode = /^[A-Z]{3}$/

/** An amount in whole units of a currency, which is an ISO code or any symbol: "$184,690", "€ 950.50". */
export function moneyText(amount: number, currency: string | null, { locale }: Pick<Reader, 'locale'>): string {
  const symbol = currency?.trim() ?? ''
  if (symbol === '') return numberText(amount, { locale })
  const isCode = isoCode.test(symbol)
  const formatter = (Number.isInteger(amount) ? whole : exact)(locale, isCode ? symbol : 'USD')
  if (isCode) return printable(formatter.format(amount))
  // The reader's locale decides where the symbol stands, the feed which symbol it is.
  const pieces = formatter.formatToParts(amount)
  return printable(pieces.map(({ type, value }) => (type === 'currency' ? symbol : value)).join(''))
}

/** "+3.2%" or "−3%"; '': nothing to compare with. */
export function percentText(from: number, to: number, { locale }: Reader): string {
  if (from <= 0 || from === to) return ''
  return printable(
    percents(locale)
      .format(to / from - 1)
      .replace('-', '−'),
  )
}

/** "Nov 21, 2026, 6:00 AM". Throws `RangeError` for an unknown zone. */
export function timeText(at: number, { locale, timezone }: Reader): string {
  return printable(times(locale, timezone).format(at))
}
