/** Which listings of a run the chatbot is asked about: few, spread over all, and the same for the same plan. */
import { shortHash } from '../hash.ts'
import type { Change, ReportedChange } from '../run.ts'

/** The first few by rank of what is added, however much that is. */
class Few<T> {
  readonly #most: number
  readonly #kept: { rank: string; item: T }[] = []

  constructor(most: number) {
    this.#most = most
  }

  add(rank: string, item: T): void {
    const last = this.#kept.at(-1)
    if (this.#most === 0 || (this.#kept.length >= this.#most && last !== undefined && last.rank <= rank)) return
    this.#kept.push({ rank, item })
    this.#kept.sort((a, b) => (a.rank < b.rank ? -1 : 1))
    if (this.#kept.length > this.#most) this.#kept.pop()
  }

  items(): T[] {
    return this.#kept.map(({ item }) => item)
  }
}

/** Most deleted listings that are asked about after a run. */
export const mostGone = 2
/** More are noted before the run, as not every delete need be carried out. */
const goneNoted = 20

/** Deletes of a plan that may be asked about once they are carried out. `seed`: the plan's digest. */
export function chooseLeaving(changes: Iterable<Change>, seed: string): Change[] {
  const few = new Few<Change>(goneNoted)
  for (const change of changes) if (change.kind === 'delete') few.add(shortHash(`${seed} ${change.mlsNumber}`), change)
  return few.items()
}

const telling: ReadonlySet<string> = new Set(['SaleType', 'Status', 'SalePrice', 'RentPrice'])

/**
 * MLSNumbers of at most `sample` listings that the run created or updated, in turn from updates of price or status, from
 * creates and from other updates.
 */
export function chooseChanged(changes: Iterable<ReportedChange>, sample: number, seed: string): string[] {
  const groups = [0, 1, 2].map(() => new Few<string>(sample))
  for (const { kind, mlsNumber, outcome, fields } of changes) {
    if (outcome?.result !== 'done' || (kind !== 'create' && kind !== 'update')) continue
    const group = kind === 'create' ? 1 : fields.some(({ field }) => telling.has(field)) ? 0 : 2
    groups[group].add(shortHash(`${seed} ${mlsNumber}`), mlsNumber)
  }
  const lists = groups.map((group) => group.items())
  const turns = Array.from({ length: sample }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1)))
  return turns.flat().slice(0, sample)
}
