import type { Row, RowChange } from './rows.ts'

/** Keeps recent writes, so that List and answers can show rows as they were some requests ago (docs/faults.md, F86). */
export class Lag {
  #young: (RowChange & { request: number })[] = []

  /** Adds a write by request number `request`, and drops those older than `longest` requests. */
  note(change: RowChange, request: number, longest: number): void {
    this.#young = this.#young.filter((change) => change.request + longest >= request)
    this.#young.push({ ...change, request })
  }

  /** A write past the API is visible at once, so older writes to that row no longer matter. */
  settle(change: RowChange): void {
    this.#young = this.#young.filter((other) => other.id !== change.id || other.serialNumber !== change.serialNumber)
  }

  /** The chatbot's rows, in order of ID, without the writes of the `lag` requests before `request`. */
  rowsAsShown(rows: readonly Row[], serialNumber: string, request: number, lag: number): readonly Row[] {
    const undone = this.#young.filter(
      (change) => change.serialNumber === serialNumber && change.request + lag >= request,
    )
    if (undone.length === 0) return rows
    const shown = new Map(rows.map((row) => [row.id, row]))
    for (const change of undone.toReversed()) {
      if (change.before) shown.set(change.id, change.before)
      else shown.delete(change.id)
    }
    return [...shown.values()].sort((a, b) => a.id - b.id)
  }
}
