import { hidesPrice, tables, wordKey } from '../vocabulary.ts'
import { Unreadable } from './converter.ts'
import type { Converter } from './converter.ts'

const symbols = tables.currencySymbols

/**
 * A currency's symbol, from a code or from an amount with a code or symbol: `EUR`, `485000 USD`, `$1,200`. A bare amount
 * has none; an unknown code is a problem.
 */
export const currency: Converter = {
  yields: 'text',
  takes: ['choices'],
  needsFrom: true,
  build: (building) => {
    const choices = new Map(Object.entries(building.rule.choices ?? {}).map(([word, value]) => [wordKey(word), value]))
    const symbolOf = (word: string): string | undefined =>
      choices.get(wordKey(word)) ?? (/\p{Sc}/u.test(word) ? word : symbols.get(wordKey(word)))
    return (node, making) => {
      const found = building.text(node)
      if (found === undefined || hidesPrice(found)) return undefined
      const words = found.match(/[A-Z]{0,3}\p{Sc}|\p{L}{2,}/gu) ?? []
      const symbol = words.map(symbolOf).find((each) => each !== undefined)
      if (symbol !== undefined || words.length === 0) return symbol
      making.unmapped?.('CurrencySymbol', words.join(' '))
      return new Unreadable(found, 'needs a currency such as EUR or $; map this word with choices')
    }
  },
}
