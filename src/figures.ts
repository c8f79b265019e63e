/**
 * Settings of a chatbot as they are written: their texts may hold figures of the feed, `{listings}`, `{cities}` and
 * `{minPrice}`. `{{word}}` stands for `{word}` itself; other braces, as in JSON, are text.
 */
import { z } from 'zod'
import { settingsSchema } from './service/settings.ts'
import type { FeedFigures } from './store/store.ts'
import { nearestName } from './text.ts'

export type FigureName = keyof FeedFigures

const figureNames: readonly string[] = ['listings', 'cities', 'minPrice'] satisfies FigureName[]
const braced = /\{\{(\w+)\}\}|\{([A-Za-z]\w*)\}/g

/** Settings before their figures are filled in. For zod's `error` give `issueSentence`. */
export const writtenSettings = settingsSchema(
  z.string().superRefine((text, context) => {
    const unknown = namesIn(text).filter((name) => !figureNames.includes(name))
    for (const name of new Set(unknown)) context.addIssue({ code: 'custom', message: unknownFigure(name) })
  }),
)

function unknownFigure(name: string): string {
  const nearest = nearestName(name, figureNames)
  const known =
    nearest === null ? `known are ${figureNames.map((one) => `{${one}}`).join(', ')}.` : `did you mean {${nearest}}?`
  return `{${name}} is no figure of the feed; ${known} For the text itself write {{${name}}}`
}

function namesIn(text: string): string[] {
  return [...text.matchAll(braced)].flatMap(([, , name]) => (name === undefined ? [] : [name]))
}

/** Whether the feed has to be looked at for this text. */
export function usesFigures(text: string): boolean {
  return namesIn(text).length > 0
}

/**
 * The text with its figures: counts as "1,234"; the price with its currency symbol, "$189,000", "EUR 189,000" or "$950.50",
 * two decimals where it is not whole. Or the figure that has no value now.
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

function priceText({ amount, currency }: { amount: number; currency: string }): string {
  const digits = Number.isInteger(amount) ? 0 : 2
  const number = amount.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return /[\p{L}.]$/u.test(currency) ? `${currency} ${number}` : `${currency}${number}`
}
