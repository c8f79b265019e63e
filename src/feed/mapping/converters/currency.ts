import { z } from 'zod'
import { currencyOfCountry, currencyOfState, symbolOfCurrency } from '../countries.ts'
import { hidesPrice, wordKey } from '../vocabulary.ts'
import { RuleError, Unreadable } from './converter.ts'
import type { Converter } from './converter.ts'

interface CurrencyKeys {
  by?: 'country' | 'state'
}

/**
 * A currency's symbol, from a code or from an amount with a code or symbol: `EUR`, `485000 USD`, `$1,200`. A bare amount
 * has none; an unknown code is a problem. With `by: country` (ISO 3166, or a name) or `by: state` (of the US or Canada) it is that
 * place's; a word that is no such place says nothing.
 */
export const currency: Converter<CurrencyKeys> = {
  yields: 'text',
  takes: ['choices'],
  keys: {
    by: z
      .enum(['country', 'state'])
      .describe('currency: from is a country, or a state of the US or Canada; the value is the currency there'),
  },
  needsFrom: true,
  build: (building) => {
    const { by } = building.rule
    if (by !== undefined) {
      if (building.rule.choices !== undefined) throw new RuleError('choices does not apply to currency with by')
      const codeOf = by === 'country' ? currencyOfCountry : currencyOfState
      return (node) => {
        const code = codeOf(building.text(node) ?? '')
        return code === undefined ? undefined : symbolOfCurrency(code)
      }
    }
    const choices = new Map(Object.entries(building.rule.choices ?? {}).map(([word, value]) => [wordKey(word), value]))
    const symbolOf = (word: string): string | undefined =>
      choices.get(wordKey(word)) ?? (/\p{Sc}/u.test(word) ? word : symbolOfCurrency(word))
    return (node, making) => {
      const found = building.text(node)
      if (found === undefined || hidesPrice(found)) return undefined
      const words = found.match(/[A-Z]{0,3}\p{Sc}|\p{L}{2,}/gu) ?? []
      const symbol = words.map(symbolOf).find((each) => each !== undefined)
      // Several words without a number are a text in place of a price.
      const isText = words.length > 1 && !/\d/.test(found)
      if (symbol !== undefined || words.length === 0 || isText) return symbol
      making.unmapped?.('CurrencySymbol', words.join(' '))
      return new Unreadable(found, 'needs a currency such as EUR or $; map this word with choices')
    }
  },
}
