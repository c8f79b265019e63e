import { saysNothing, wordKey } from '../vocabulary.ts'
import type { Converter } from './converter.ts'
import { readableLine } from './text.ts'

/**
 * A street address: the unit is added unless it is there (`1185 Boylston St. #45`), and city, state and postal code are cut
 * off (RESO UnparsedAddress may contain them). `unitFrom`: the paths of the unit. All texts of `from` are joined, so an
 * address may be in parts.
 */
export const street: Converter = {
  yields: 'text',
  takes: ['unitFrom'],
  needsFrom: true,
  build: ({ from, rule, firstOf, isMissing }) => {
    const unitFrom = rule.unitFrom === undefined ? null : firstOf(rule.unitFrom)
    return (node, { listing }) => {
      const lines = from.map((path) => readableLine(path.first(node))).filter((part) => !isMissing(part))
      if (lines.length === 0) return undefined
      const found = withoutCity(lines.join(' '), listing.City, listing.State, listing.ZIP)
      const unit = unitFrom === null ? '' : readableLine(unitFrom(node))
      return saysNothing(unit) ? found : withUnit(found, unit)
    }
  },
}

/** No town has a longer name, and to search for one in a long address would take quadratic time. */
const longestCity = 200

/** Cuts `, City, ST 12345` off the end of an address. */
export function withoutCity(address: string, city?: string, state?: string, zip?: string): string {
  if (city === undefined || city.length > longestCity || !address.includes(', ')) return address
  const at = address.toLowerCase().lastIndexOf(`, ${city.toLowerCase()}`)
  if (at <= 0) return address
  let rest = wordKey(address.slice(at + 2 + city.length))
  for (const part of [state, zip]) {
    const key = part === undefined ? '' : wordKey(part)
    if (key !== '' && rest.startsWith(key)) rest = rest.slice(key.length)
  }
  return /^(?:\d{5})?(?:\d{4})?$/.test(rest) ? address.slice(0, at) : address
}

const designator = /^(?:#|(?:unit|apartment|apt|suite|ste|no|number)\b\.?)\s*#?\s*/i

/** Adds a unit to an address, once: `# 411`, `Apt 411` and `411` are the same unit. */
export function withUnit(address: string, unit: string): string {
  const bare = unit.replace(designator, '').trim()
  if (bare === '' || bare === '0') return address
  const [whole, end] = [address.toLowerCase(), bare.toLowerCase()]
  if (whole.endsWith(end) && /[\s,#]/.test(whole.charAt(whole.length - end.length - 1))) return address
  const written = /^\p{L}{2,}\.?\s/u.test(unit) ? unit : `#${bare}`
  return `${address} ${written}`
}
