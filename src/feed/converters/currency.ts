import { tables, wordKey } from '../vocabulary.ts'
import type { Converter } from './converter.ts'
import { Unreadable } from './converter.ts'

const symbols = tables.currencySymbols

/**
 * A currency's symbol from its ISO code or from the amount that has the code or the symbol beside it: `EUR`, `485000 USD`,
 * `$1,200` (vocab §7, §8). A bare amount says nothing; an unknown code is a problem.
 */
export const currency: Converter = {
  yields: 'text',
  takes: ['choices'],
  needsFrom: true,
  build: (building) => {
    const choices = new Map(Object.entries(building.rule.choices ?? {}).map(([word, value]) => [wordKey(word), value]))
    return (node) => {
      const found = building.text(node)
      if (found === undefined) return undefined
      const word = /[A-Z]{0,3}\p{Sc}/u.exec(found)?.[0] ?? /\p{L}{2,}/u.exec(found)?.[0]
      if (word === undefined) return undefined
      const known = choices.get(wordKey(word)) ?? (/\p{Sc}/u.test(word) ? word : symbols.get(wordKey(word)))
      return known ?? new Unreadable(found, 'needs a currency such as EUR or $; map this word with choices')
    }
  },
}
