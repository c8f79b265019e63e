import { saysNothing, squareFeetIn, squareFeetInAreaUnit, wordKey } from '../vocabulary.ts'
import { RuleError, Unreadable } from './converter.ts'
import type { Converter, Making } from './converter.ts'
import { numberReader, withUpperEnd } from './number.ts'

/**
 * An area in the listing's AreaUnit, to two decimals. Its own unit follows the number, or is that of `unitFrom` in the
 * record, or `unit` (`AreaUnit`: that of the listing); without any, the area is absent. With `dimensions`, `50x125` is the
 * product of two lengths in that unit; `units` maps a format's codes; with `range: least`, `2 - 4.99 acres` is 2 acres, with
 * `hide` nothing; `to` is the path of the upper end where it stands apart.
 */
export const area: Converter = {
  yields: 'number',
  takes: ['split', 'nth', 'numbers', 'unit', 'units', 'unitFrom', 'dimensions', 'range', 'to', 'zero', 'min', 'max'],
  needsFrom: true,
  build: (building) => {
    const { rule, preset } = building
    const read = numberReader(rule.numbers ?? preset.numbers)
    const unitFrom = rule.unitFrom === undefined ? null : building.firstOf(rule.unitFrom)
    if (rule.unit === undefined && unitFrom === null)
      throw new RuleError('area needs unit or unitFrom, for a number that names no unit')
    const unitNamed = (word: string | undefined): number | undefined => {
      const unit = word === undefined ? undefined : squareFeetIn().get(wordKey(word))
      if (word !== undefined && unit === undefined) throw new RuleError(`unknown unit of area "${word}"`)
      return unit
    }
    const codes = new Map(Object.entries(rule.units ?? {}).map(([code, word]) => [wordKey(code), unitNamed(word)]))
    const isListings = rule.unit === 'AreaUnit'
    const namedUnit = isListings ? undefined : unitNamed(rule.unit)
    const sideUnit = unitNamed(rule.dimensions)

    const textOf = withUpperEnd(building, read)
    const targetOf = ({ listing }: Making): number => squareFeetInAreaUnit[listing.AreaUnit ?? 'Square Feet']
    const converted = (value: number, squareFeet: number, target: number): number =>
      squareFeet === target ? Math.round(value * 100) / 100 : Math.round((value * squareFeet * 100) / target) / 100

    return (node, making) => {
      const found = textOf(node)
      if (found === undefined) return undefined
      if (sideUnit !== undefined && found.length <= longest) {
        const [length, width] = sidesOf(found).map(read)
        if (length && width && length > 0 && width > 0) return converted(length * width, sideUnit, targetOf(making))
      }
      const [digits, written] = numberAndUnit(found)
      if (rule.range === 'hide' && leastOf(digits) !== digits) return undefined
      const value = read((rule.range === 'least' ? leastOf(digits) : digits).trim())
      if (value === null || value < 0) return new Unreadable(found, 'needs an area: a number, with a unit or without')
      if (value === 0 && rule.zero === 'missing') return undefined
      if (value > 0 && value < (rule.min ?? 0)) return new Unreadable(found, `needs an area of at least ${rule.min}`)
      if (value > (rule.max ?? 1e12)) return new Unreadable(found, `needs an area of at most ${rule.max ?? 1e12}`)
      const target = targetOf(making)
      const ownUnit = isListings ? target : namedUnit
      const word = written !== '' ? written : (unitFrom?.(node) ?? '')
      const squareFeet =
        saysNothing(word) || wordKey(word) === 'unknown'
          ? ownUnit
          : (codes.get(wordKey(word)) ?? squareFeetIn().get(wordKey(word)))
      if (squareFeet === undefined) {
        if (written === '' && (saysNothing(word) || wordKey(word) === 'unknown')) return undefined
        making.unmapped?.(building.field?.name ?? 'ExtensionColumn', word)
        const text = written === '' ? `${found} ${word}` : found
        return new Unreadable(text, 'needs a unit such as square feet, acres or m²')
      }
      return converted(value, squareFeet, target)
    }
  },
}

/** The two lengths of `50x125`, `50' X 125 ft`; [] for anything else, such as three sides. */
function sidesOf(text: string): string[] {
  const match = /^([\d.,]+)\s*(?:'|ft\.?|feet)?\s*[x×]\s*([\d.,]+)\s*(?:'|ft\.?|feet)?$/i.exec(text)
  return match === null ? [] : [match[1], match[2]]
}

/** The lower number of `2 - 4.99`; other text is returned as it is. */
function leastOf(digits: string): string {
  return /^([\d.,]+)\s*(?:[-–]|to)\s*[\d.,]+$/.exec(digits.trim())?.[1] ?? digits
}

/** Longer text is no area, and regular expressions would take forever with it. */
const longest = 1000
const letter = /^\p{L}$/u
const never = Infinity

/**
 * Cuts the unit off the end of an area: the longest end made of words (`sq. ft.`, `m2`, `acres'`), which are letters, `²`, `'`
 * and dots, then words that begin with a letter and may contain a `2`, perhaps separated by blanks and dots. Without a regular
 * expression, which would try every way to cut a long word into words (ReDoS): all ends are tried at once, and kept is where
 * the longest of them begins that has come to each state.
 */
function numberAndUnit(found: string): [number: string, unit: string] {
  if (found.length > longest || /^[\d.,]+$/.test(found)) return [found, '']
  let [first, apart, word] = [never, never, never]
  let index = 0
  for (const character of found) {
    const isBlank = /\s/.test(character)
    if (!isBlank) first = Math.min(first, index)
    index += character.length
    const isLetter = letter.test(character)
    const isDot = character === '.'
    const isSmall = character === '²'
    const any = Math.min(first, apart, word)
    apart = isDot || isBlank ? any : never
    word = isLetter ? any : isDot || isSmall || character === '2' ? word : never
    if (!isLetter && !isDot && !isSmall && character !== "'") first = never
  }
  const start = Math.min(first, word, found.length)
  return [found.slice(0, start), found.slice(start)]
}
