import { compareKeys } from '../listing.ts'
import type { Absence, DeliveredRow, ShownRow, SnapshotRow } from '../run.ts'
import type { PlanInputs } from './plan.ts'

/** All that the three sides say of one MLSNumber. */
export interface Situation {
  key: string
  delivered: DeliveredRow[]
  row: SnapshotRow | null
  /** The delivery held the very bytes of this feed's snapshot row. */
  seen: boolean
  shown: ShownRow[]
  absence: Absence | null
}

/** Walks the sorted sides together, once, one MLSNumber at a time. */
export function* situations(inputs: PlanInputs, feed: string): Generator<Situation> {
  const delivered = new Groups(inputs.delivered)
  const snapshot = new Groups(inputs.snapshot)
  const shown = new Groups(inputs.shown)
  const absences = new Groups(inputs.absences)
  for (;;) {
    let key: string | null = null
    for (const side of [delivered, snapshot, shown, absences]) {
      if (side.key !== null && (key === null || compareKeys(side.key, key) < 0)) key = side.key
    }
    if (key === null) return
    const row = snapshot.take(key)[0] ?? null
    const seen = row !== null && row.owned && row.feed === feed && inputs.seen(row.id)
    const absence = absences.take(key)[0] ?? null
    yield { key, delivered: delivered.take(key), row, seen, shown: shown.take(key), absence }
  }
}

const none: never[] = []

/** Reads a sorted side one group of equal keys at a time. */
class Groups<Row extends { key: string }> {
  #rows: Iterator<Row>
  #next: Row | null = null

  constructor(rows: Iterable<Row>) {
    this.#rows = rows[Symbol.iterator]()
    this.#advance()
  }

  get key(): string | null {
    return this.#next === null ? null : this.#next.key
  }

  take(key: string): Row[] {
    if (this.#next === null || this.#next.key !== key) return none
    const group: Row[] = []
    while (this.#next !== null && this.#next.key === key) {
      group.push(this.#next)
      this.#advance()
    }
    return group
  }

  #advance(): void {
    const { done, value } = this.#rows.next()
    this.#next = done ? null : value
  }
}
