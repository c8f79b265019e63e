/** Tells which values of records can't be read, and are left out of their listings. */
import type { Delivered, Problem } from '../core/listing.ts'
import { many, printable, shorten } from '../core/text.ts'

/** How many fields, and reasons, are named. */
const mostNamed = 20

interface Counted {
  count: number
  /** The first one, with its place. */
  first: Problem & { at: string }
}

/** Counts them by field and reason, except in records that are skipped as unchanged: they are not read. */
export function unreadCount() {
  const reasons = new Map<string, Counted>()
  return {
    add({ at, unread = [] }: Extract<Delivered, { kind: 'listing' }>): void {
      for (const problem of unread) {
        const reason = `${problem.field}: ${problem.problem}`
        const counted = reasons.get(reason)
        if (counted !== undefined) counted.count++
        else if (reasons.size < mostNamed) reasons.set(reason, { count: 1, first: { ...problem, at } })
      }
    },
    /** One sentence for each. */
    notes: (): string[] =>
      [...reasons.values()].map(({ count, first }) => {
        const value = shorten(printable(first.value ?? ''), 60)
        return `${first.field} was left out of ${many(count, 'listing')}, as it can't be read: ${first.problem} (${first.at}: "${value}")`
      }),
  }
}
