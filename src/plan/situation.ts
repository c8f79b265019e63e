import { compareKeys } from '../core/listing.ts'
import type { Listing } from '../core/listing.ts'
import { isSentinel } from '../core/sentinel.ts'
import type { Absence, DeliveredRow, ShownRow, SnapshotRow, PlanInputs, PlanSettings } from './inputs.ts'

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

/** A situation with what the decision depends on beside it. */
export interface Case extends Situation {
  /** The row, where it is this feed's. */
  mine: SnapshotRow | null
  ours: boolean
  settings: PlanSettings
  recall: PlanInputs['recall']
}

/** What is wanted for one MLSNumber, wherever it is kept. */
export interface WantedListing {
  content: string
  /** `DeliveredRow.position`; null: the snapshot's own. */
  position: number | null
  /** The mapping changed, not the record. */
  byMapping: boolean
  listing(): Listing
}

/** Whose a listing is, by the snapshot and by the marks on the service (DESIGN, "Ours means"). */

/** In this feed's snapshot, or marked as this feed's on the service. `mine`: the row, where it is this feed's. */
export function isOurs(
  { key, row, shown }: Situation,
  mine: SnapshotRow | null,
  { feed, ownership }: PlanSettings,
): boolean {
  // A test listing that a killed probe left is not what somebody made: the next probe takes it off.
  if (row === null && isSentinel(key)) return false
  if (ownership === 'mirror' && shown.length > 0) return true
  if (row !== null && row.owned && mine === null) return false
  if (ownership !== 'snapshot' && shown.some(({ owner }) => owner === feed)) return true
  // The mark says more than the row: another feed took the listing over, and this store, or this run, was not told.
  if (ownership !== 'snapshot' && shown.some(({ owner }) => owner !== null)) return false
  if (mine?.owned === true) return true
  if (mine?.flight !== 'create' || shown.length === 0) return false
  // A create without answer made what is there, unless the mark that it would bear is missing.
  return ownership === 'snapshot' || shown.some((item) => item.shown()?.unreadable.includes('ExtensionColumn') ?? true)
}
