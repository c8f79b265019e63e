import { saysNothing, squareFeetIn, squareFeetInAreaUnit, wordKey } from '../vocabulary.ts'
import type { Converter } from './converter.ts'
import { RuleError, Unreadable } from './converter.ts'
import { numberReader } from './number.ts'

/**
 * An area in the listing's AreaUnit, to two decimals: acres of a lot and square feet of a house become one unit (domain
 * trap 29). The unit is that written behind the number, else that of `unitFrom` in the record, else `unit` (`AreaUnit`: that
 * of the listing); where there is none at all, the area says nothing.
 */
export const area: Converter = {
  yields: 'number',
  takes: ['numbers', 'unit', 'unitFrom', 'zero', 'min', 'max'],
  needsFrom: true,
  build: (building) => {
    const { rule, preset } = building
    const read = numberReader(rule.numbers ?? preset.numbers)
    const unitFrom = rule.unitFrom === undefined ? null : building.select(rule.unitFrom)
    if (rule.unit === undefined && unitFrom === null) throw new RuleError('area needs unit or unitFrom')
    const isListings = rule.unit === 'AreaUnit'
    const namedUnit = rule.unit === undefined ? undefined : squareFeetIn.get(wordKey(rule.unit))
    if (rule.unit !== undefined && namedUnit === undefined && !isListings)
      throw new RuleError(`unknown unit of area "${rule.unit}"`)

    return (node, making) => {
      const found = building.text(node)
      if (found === undefined) return undefined
      const [, digits, written] = /^(.*?)\s*((?:\p{L}|[²'.])*(?:[\s.]*\p{L}[\p{L}²2.]*)*)$/u.exec(found) ?? [
        found,
        found,
        '',
      ]
      const value = read(digits.trim())
      if (value === null || value < 0) return new Unreadable(found, 'needs an area: a number, with a unit or without')
      if (value === 0 && rule.zero === 'missing') return undefined
      if (value > 0 && value < (rule.min ?? 0)) return new Unreadable(found, `needs an area of at least ${rule.min}`)
      if (value > (rule.max ?? 1e12)) return new Unreadable(found, `needs an area of at most ${rule.max ?? 1e12}`)
      const target = squareFeetInAreaUnit[making.listing.AreaUnit ?? 'Square Feet']
      const ownUnit = isListings ? target : namedUnit
      const word = written !== '' ? written : (unitFrom?.first(node) ?? '')
      const squareFeet = saysNothing(word) || wordKey(word) === 'unknown' ? ownUnit : squareFeetIn.get(wordKey(word))
      if (squareFeet === undefined) {
        return written === '' && (saysNothing(word) || wordKey(word) === 'unknown')
          ? undefined
          : new Unreadable(written === '' ? `${found} ${word}` : found, 'needs a unit such as square feet, acres or m²')
      }
      return squareFeet === target
        ? Math.round(value * 100) / 100
        : Math.round((value * squareFeet * 100) / target) / 100
    }
  },
}
