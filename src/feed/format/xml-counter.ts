import { FeedError } from '../../errors.ts'

/**
 * The number of records that a document's root declares (`counter: '@listing_count'`, formats.md 0.1 fact 3). A document
 * that is cut where it still looks whole, or filled in by halves, is told by it.
 */
export class DeclaredCount {
  private readonly attribute: string
  private declared: string | null = null

  /** Throws `FeedError` where `counter` is no attribute, `@name`. */
  constructor(counter: string) {
    if (!/^@[^\s=/]+$/.test(counter)) {
      throw new FeedError(`the counter ${JSON.stringify(counter)} should be an attribute of the root, like @count`)
    }
    this.attribute = counter.slice(1)
  }

  /** Takes the root's start tag, `<name …>`. */
  root(tag: string): void {
    for (const [, name, value] of tag.matchAll(/([^\s=<>"']+)\s*=\s*("[^"]*"|'[^']*')/g)) {
      if (name === this.attribute) this.declared = value.slice(1, -1).trim()
    }
  }

  /** Why a document that holds so many records is not what its root says; null: it is, or the root says nothing. */
  doubt(records: number): string | null {
    if (this.declared === null || this.declared === '') return null
    const count = /^\d{1,15}$/.test(this.declared) ? Number(this.declared) : null
    if (count === null) return `the root's ${this.attribute} is not a number of records`
    return count === records
      ? null
      : `the root's ${this.attribute} is ${count}, but the document holds ${records} records`
  }
}
