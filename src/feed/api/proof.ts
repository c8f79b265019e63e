/** What shows that a list of keys is whole, and that a record is gone: types that are made by their proof alone. */

/** One walk over all keys that began at its first page and got to its end. */
export interface Walked {
  /** Timestamps by key. */
  readonly keys: ReadonlyMap<string, string>
  /** Keys that came more than once: rows moved while they were read. */
  readonly doubled: number
}

export interface Evidence {
  /** The walk, or two in a row. */
  readonly walks: readonly Walked[]
  /** How many records there were before and after by the server's own count; null: it can't be asked. */
  readonly counts: { before: number; after: number } | null
  /** Keys that changed while it was walked; null: that was not asked, as nothing has to be explained. */
  readonly changed: ReadonlySet<string> | null
}

/**
 * That these are all keys of the source: nothing came twice, and as many as the server counts, but for what changed meanwhile;
 * where it does not count, two walks are needed.
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
    if (doubled > 0) return { why: `${doubled} keys came more than once, so others may have been passed over` }
    if (counts === null)
      return walks.length > 1 ? new WholeWalk(walks) : { why: 'the source does not count, and was walked only once' }
    const { keys } = walks[walks.length - 1]
    const found = keys.size
    // A record that the walk lacks came while it was walked, or was passed over: only the first is no harm.
    const came = [...(changed ?? [])].filter((key) => !keys.has(key)).length
    const lacking = Math.max(counts.before, counts.after) - found
    const surplus = found - Math.min(counts.before, counts.after)
    if (lacking > came || surplus > (changed?.size ?? 0))
      return { why: `${found} keys came, and the source counts ${counts.before} before and ${counts.after} after` }
    return new WholeWalk(walks)
  }
}

/**
 * How it was made sure that a record which a walk lacks is gone: it was asked for by itself, or a second walk lacks it, too. Either
 * way it is not among those that changed since the walk began.
 */
export type Sure = ({ readonly asked: 'not there' } | { readonly second: WholeWalk }) & {
  readonly changed: ReadonlySet<string>
}

/** That a record is no longer among those of the source. */
export class Gone {
  // oxlint-disable-next-line no-unused-private-class-members
  readonly #made = true
  readonly key: string

  private constructor(key: string) {
    this.key = key
  }

  /** null: one of the walks has it, or it changed meanwhile. */
  static of(walk: WholeWalk, key: string, sure: Sure): Gone | null {
    if (walk.keys.has(key) || sure.changed.has(key)) return null
    if ('second' in sure && (sure.second === walk || sure.second.keys.has(key))) return null
    return new Gone(key)
  }
}
