import type { Operation } from './fields.ts'

/** One request as it was received. Of the keys only their presence is noted, never their values. */
export interface JournalEntry {
  /** Number of the request since the start or the last `resetCounts`, from 0. */
  index: number
  /** Milliseconds since the epoch. */
  at: number
  operation: Operation
  /** The body's JSON; undefined where it was not read or is not JSON. */
  body: unknown
  authorization: boolean
  sessionKey: boolean
  /** Name (or else kind) of the fault that struck, or null. */
  fault: string | null
  /** What carrying the call out came to; null while (or where) it was not carried out. */
  success: boolean | null
}

/** The requests, the last `keep` of them at least; the counts cover all. */
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
