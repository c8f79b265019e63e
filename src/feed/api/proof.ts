/** Proofs that a list of keys is whole, and that a record is gone: types that only their proof can make. */
import { many } from '../../core/text.ts'

/** One walk over all keys, from the first page to the last. */
export interface Walked {
  /** Timestamps by key. */
  readonly keys: ReadonlyMap<string, string>
  /** How many keys came more than once, as rows moved while they were read. */
  readonly doubled: number
}

export interface Evidence {
  /** The walk, or two in a row. */
  readonly walks: readonly Walked[]
  /** How many records the server counted before and after; null: it can't be asked. */
  readonly counts: { before: number; after: number } | null
  /** Keys that changed during the walk; null: that was not asked, as the counts need no explanation. */
  readonly changed: ReadonlySet<string> | null
}

/**
 * Proof that these are all keys of the source: none came twice, and there are as many as the server counts, apart from what changed
 * meanwhile. If the server does not count, it takes two walks.
 */
export class WholeWalk {
  // oxlint-disable-next-line no-unused-private-class-members
  readonly #made = true
  /** Timestamps by key, of every walk. */
  readonly keys: ReadonlyMap<string, string>

  private constructor(walks: readonly Walked[]) {
    this.keys = new Map(walks.flatMap(({ keys }) => [...keys]))
  }

  static isOne(it: object): it is WholeWalk {
    return #made in it
  }

  /** The proof, or what is missing, as a clause. */
  static of({ walks, counts, changed }: Evidence): WholeWalk | { why: string } {
    if (walks.length === 0) return { why: 'no walk was made' }
    const doubled = Math.max(...walks.map((walk) => walk.doubled))
    if (doubled > 0)
      return {
        why: `${many(doubled, 'key')} came more than once, so others may have been passed over`,
      }
    if (counts === null)
      return walks.length > 1 ? new WholeWalk(walks) : { why: 'the source does not count, and was walked only once' }
    const { keys } = walks[walks.length - 1]
    const found = keys.size
    // A record that the walk lacks was added during the walk, or the walk missed it. Only the first does no harm.
    const came = [...(changed ?? [])].filter((key) => !keys.has(key)).length
    const lacking = Math.max(counts.before, counts.after) - found
    const surplus = found - Math.min(counts.before, counts.after)
    if (lacking > came || surplus > (changed?.size ?? 0))
      return {
        why: `${many(found, 'key')} came, and the source counts ${counts.before} before and ${counts.after} after`,
      }
    return new WholeWalk(walks)
  }
}

/**
 * How it was confirmed that a record which a walk lacks is gone: it was asked for by itself, or a second walk lacks it, too. Either
 * way it has not changed since the walk began.
 */
export type Sure = ({ readonly asked: 'not there' } | { readonly second: WholeWalk }) & {
  readonly changed: ReadonlySet<string>
}

/** Proof that a record is no longer in the source. */
export class Gone {
  // oxlint-disable-next-line no-unused-private-class-members
  readonly #made = true
  readonly key: string

  private constructor(key: string) {
    this.key = key
  }

  /** The proof; null: one of the walks has the record, or it changed meanwhile. */
  static of(walk: WholeWalk, key: string, sure: Sure): Gone | null {
    if (walk.keys.has(key) || sure.changed.has(key)) return null
    if ('second' in sure && (sure.second === walk || sure.second.keys.has(key))) return null
    return new Gone(key)
  }
}
