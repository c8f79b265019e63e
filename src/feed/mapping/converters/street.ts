import { saysNothing, wordKey } from '../vocabulary.ts'
import type { Converter } from './converter.ts'
import { readableLine } from './text.ts'

/**
 * A street address: the unit is put behind it where it is not there yet (`1185 Boylston St. #45`), and the city, state
 * and postal code are cut off where the feed repeats them (RESO UnparsedAddress may or may not hold them).
 * `unitFrom` names the path of the unit, or several. Every text of `from` is joined, so an address in parts can be given too.
 */
export const street: Converter = {
  yields: 'text',
  takes: ['unitFrom'],
  needsFrom: true,
  build: ({ from, rule, firstOf }) => {
    const unitFrom = rule.unitFrom === undefined ? null : firstOf(rule.unitFrom)
    const words = new Set((rule.missing ?? []).map((word) => word.toLowerCase()))
    return (node, { listing }) => {
      const parts = from
        .map((path) => readableLine(path.first(node)))
        .filter((part) => !saysNothing(part) && !words.has(part.toLowerCase()))
      if (parts.length === 0) return undefined
      const found = withoutCity(parts.join(' '), listing.City, listing.State, listing.ZIP)
      const unit = unitFrom === null ? '' : readableLine(unitFrom(node))
      return saysNothing(unit) ? found : withUnit(found, unit)
    }
  },
}

/** Cuts `, City, ST 12345` off the end of an address. */
export function withoutCity(address: string, city?: string, state?: string, zip?: string): string {
  if (city === undefined) return address
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

/** Puts a unit behind an address, once: `# 411`, `Apt 411` and `411` are one unit. */
export function withUnit(address: string, unit: string): string {
  const bare = unit.replace(designator, '').trim()
  if (bare === '' || bare === '0') return address
  const [whole, end] = [address.toLowerCase(), bare.toLowerCase()]
  if (whole.endsWith(end) && /[\s,#]/.test(whole.charAt(whole.length - end.length - 1))) return address
  const written = /^\p{L}{2,}\.?\s/u.test(unit) ? unit : `#${bare}`
  return `${address} ${written}`
}
