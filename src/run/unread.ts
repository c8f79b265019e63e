/** What records say of their listings that can't be read, and is left out of them. */
import type { Delivered, Problem } from '../core/listing.ts'
import { printable, shorten } from '../core/text.ts'

/** So many fields are named. */
const mostNamed = 20

interface Counted {
  count: number
  /** The first one, with its place. */
  first: Problem & { at: string }
}

/** Counts them by field. Records that are skipped as unchanged are not read, and not counted. */
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
    /** One sentence a field. */
    notes: (): string[] =>
      [...fields].map(([field, { count, first }]) => {
        const of = count === 1 ? '1 listing' : `${count} listings`
        const value = shorten(printable(first.value ?? ''), 60)
        return `${field} was left out of ${of}, as it can't be read: ${first.problem} (${first.at}: "${value}")`
      }),
  }
}
