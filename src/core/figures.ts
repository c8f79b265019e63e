/**
 * Figures of the feed in texts of chatbot settings: `{listings}`, `{cities}` and `{minPrice}`.
 * `{{word}}` stands for `{word}` itself; other braces, as in JSON, are text.
 */

export type FigureName = keyof FeedFigures

export const figureNames: readonly string[] = ['listings', 'cities', 'minPrice'] satisfies FigureName[]
const braced = /\{\{(\w+)\}\}|\{([A-Za-z]\w*)\}/g

export function namesIn(text: string): string[] {
  return [...text.matchAll(braced)].flatMap(([, , name]) => (name === undefined ? [] : [name]))
}

/** Whether the text contains a figure, so that the feed is needed for it. */
export function usesFigures(text: string): boolean {
  return namesIn(text).length > 0
}

/**
 * The text with its figures: counts as "1,234"; the price with its currency symbol, "$189,000", "EUR 189,000" or "$950.50",
 * two decimals if it is not whole. `lacking`: the figure that has no value now.
 */
export function withFigures(text: string, figures: FeedFigures): { text: string } | { lacking: FigureName } {
  const { minPrice } = figures
  if (minPrice === null && namesIn(text).includes('minPrice')) return { lacking: 'minPrice' }
  const shown: Record<string, string> = {
    listings: figures.listings.toLocaleString('en-US'),
    cities: figures.cities.toLocaleString('en-US'),
    minPrice: minPrice === null ? '' : priceText(minPrice),
  }
  return { text: text.replace(braced, (_, literal?: string, name?: string) => shown[name!] ?? `{${literal}}`) }
}

/** A text for `withFigures` that comes out as it is, braces and all. */
export function asWritten(text: string): string {
  return text.replaceAll(/\{(\w+)\}/g, '{{$1}}')
}

function priceText({ amount, currency }: { amount: number; currency: string }): string {
  const digits = Number.isInteger(amount) ? 0 : 2
  const number = amount.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return /[\p{L}.]$/u.test(currency) ? `${currency} ${number}` : `${currency}${number}`
}

/** Counted over the listings of a feed as last confirmed on the service, without those that are sold. */
export interface FeedFigures {
  listings: number
  /** Number of different cities. */
  cities: number
  /** The lowest SalePrice, or the lowest RentPrice if nothing with a price is for sale; in whole units. */
  minPrice: { amount: number; currency: string } | null
}
