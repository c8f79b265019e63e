/** Tells which values of records can't be read, and are left out of their listings. */
import type { Delivered, Problem } from '../core/listing.ts'
import { many, printable, shorten } from '../core/text.ts'

/** How many fields are named. */
const mostNamed = 20

interface Counted {
  count: number
  /** The first one, with its place. */
  first: Problem & { at: string }
}

/** Counts them by field, except in records that are skipped as unchanged: they are not read. */
export function unreadCount() {
  const fields = new Map<string, Counted>()
  return {
    add({ at, unread = [] }: Extract<Delivered, { kind: 'listing' }>): void {
      for (const problem of unread) {
        const counted = fields.get(problem.field)
        if (counted !== undefined) counted.count++
        else if (fields.size < mostNamed) fields.set(problem.field, { count: 1, first: { ...problem, at } })
      }
    },
    /** One sentence for each field. */
    notes: (): string[] =>
      [...fields].map(([field, { count, first }]) => {
        const value = shorten(printable(first.value ?? ''), 60)
        return `${field} was left out of ${many(count, 'listing')}, as it can't be read: ${first.problem} (${first.at}: "${value}")`
      }),
  }
}
