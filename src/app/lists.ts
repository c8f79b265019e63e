/** Tells how often the service's whole list is read, for `check` and `status`. */
import type { FeedConfig } from '../config/config.ts'
import { byDefault } from '../run/last-list.ts'

/** Goes on after “is read whole”. */
export function listsInWords({ observe }: Pick<FeedConfig, 'observe'>): string {
  if (observe === null) return `by every run; once in ${lengthInWords(byDefault)} where that takes over a minute`
  return observe === 0 ? 'by every run' : `once in ${lengthInWords(observe)}`
}

const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

function lengthInWords(milliseconds: number): string {
  const [unit, length] = Object.entries(units).find(([, size]) => milliseconds % size === 0)!
  return `${milliseconds / length}${unit}`
}
