import type { Operation } from './fields.ts'

/** One request as received, with the presence of keys, never their values. */
export interface JournalEntry {
  /** Number since the start or the last `resetCounts`, from 0. */
  index: number
  /** Milliseconds since the epoch. */
  at: number
  operation: Operation
  /** The body's JSON; undefined: not read, or not JSON. */
  body: unknown
  authorization: boolean
  sessionKey: boolean
  /** Name or kind of the fault, or null. */
  fault: string | null
  /** Whether the call succeeded; null: not carried out (yet). */
  success: boolean | null
}

/** At least the last `keep` requests; the counts cover all. */
export class Journal {
  readonly #keep: number
  readonly #entries: JournalEntry[] = []
  #counts = noCounts()
  #index = 0

  constructor(keep: number) {
    this.#keep = keep
  }

  get entries(): readonly JournalEntry[] {
    return this.#entries
  }

  get counts(): Readonly<Record<Operation, number>> {
    return { ...this.#counts }
  }

  add(entry: Omit<JournalEntry, 'index' | 'success'>): JournalEntry {
    const kept = { ...entry, index: this.#index++, success: null }
    this.#counts[entry.operation]++
    this.#entries.push(kept)
    if (this.#entries.length > 2 * this.#keep) this.#entries.splice(0, this.#entries.length - this.#keep)
    return kept
  }

  reset(): void {
    this.#entries.length = 0
    this.#counts = noCounts()
    this.#index = 0
  }
}

function noCounts(): Record<Operation, number> {
  return { Create: 0, Update: 0, List: 0, Delete: 0, Edit: 0, ClientAsk: 0 }
}
