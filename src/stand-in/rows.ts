import { createHash } from 'node:crypto'
import type { KeyType, StandInListing } from './fields.ts'

/** One listing. Never changed in place: every write makes a new object. */
export interface Row {
  readonly id: number
  /** What Create returned: the `NativeId`. */
  readonly identifier: string
  /** Number of the write that last touched it; later writes have higher numbers. */
  readonly changed: number
  readonly listing: Readonly<StandInListing>
}

/** One write; `row` null: removed. */
export interface RowChange {
  serialNumber: string
  id: number
  before: Row | null
  row: Row | null
}

interface Chatbot {
  rows: Map<number, Row>
  /** The rows in order of ID, until the next write. */
  inOrder: readonly Row[] | null
  idsByMlsNumber: Map<string, Set<number>>
  idsByIdentifier: Map<string, number>
  totalBefore: number
}

/** The listings of every chatbot, in memory. `onChange` is called after each write. */
export class Rows {
  readonly #chatbots = new Map<string, Chatbot>()
  readonly #onChange: (change: RowChange) => void
  #nextId = 1001
  #writes = 0

  constructor(onChange: (change: RowChange) => void) {
    this.#onChange = onChange
  }

  get nextId(): number {
    return this.#nextId
  }

  get serialNumbers(): string[] {
    return [...this.#chatbots.keys()]
  }

  /** In order of ID. The same array until the next write. */
  all(serialNumber: string): readonly Row[] {
    const chatbot = this.#chatbot(serialNumber)
    chatbot.inOrder ??= [...chatbot.rows.values()]
    return chatbot.inOrder
  }

  count(serialNumber: string): number {
    return this.#chatbot(serialNumber).rows.size
  }

  /** The number of rows before the last one was added or removed. */
  countBefore(serialNumber: string): number {
    return this.#chatbot(serialNumber).totalBefore
  }

  find(serialNumber: string, keyType: KeyType, key: string, caseInsensitive: boolean): Row[] {
    const chatbot = this.#chatbot(serialNumber)
    if (keyType === 'NativeId') return rowsOf(chatbot, [chatbot.idsByIdentifier.get(key) ?? -1])
    if (keyType === 'URL') return this.all(serialNumber).filter((row) => row.listing.Url === key)
    const found = rowsOf(chatbot, chatbot.idsByMlsNumber.get(fold(key)) ?? [])
    return found.filter((row) => caseInsensitive || row.listing.MLSNumber === key)
  }

  insert(serialNumber: string, listing: StandInListing, identifiers: keyof typeof identifierOf): Row {
    const id = this.#nextId++
    const identifier = identifierOf[identifiers](id, serialNumber)
    const row = { id, identifier, changed: ++this.#writes, listing: { ...listing } }
    this.#write(serialNumber, id, row)
    return row
  }

  replace(serialNumber: string, row: Row, listing: StandInListing): void {
    this.#write(serialNumber, row.id, { ...row, changed: ++this.#writes, listing: { ...listing } })
  }

  remove(serialNumber: string, row: Row): void {
    this.#write(serialNumber, row.id, null)
  }

  /** Restores a row from a file. */
  restore(serialNumber: string, id: number, row: Row | null): void {
    this.#writes = Math.max(this.#writes, row?.changed ?? 0)
    this.startIdsAt(id + 1)
    this.#write(serialNumber, id, row)
  }

  startIdsAt(id: number): void {
    this.#nextId = Math.max(this.#nextId, id)
  }

  #write(serialNumber: string, id: number, row: Row | null): void {
    const chatbot = this.#chatbot(serialNumber)
    const before = chatbot.rows.get(id) ?? null
    chatbot.inOrder = null
    if (!before !== !row) chatbot.totalBefore = chatbot.rows.size
    if (before) {
      chatbot.idsByMlsNumber.get(fold(before.listing.MLSNumber))?.delete(id)
      chatbot.idsByIdentifier.delete(before.identifier)
    }
    if (!row) {
      chatbot.rows.delete(id)
    } else {
      const key = fold(row.listing.MLSNumber)
      const ids = chatbot.idsByMlsNumber.get(key) ?? new Set()
      chatbot.idsByMlsNumber.set(key, ids.add(id))
      chatbot.idsByIdentifier.set(row.identifier, id)
      chatbot.rows.set(id, row)
    }
    this.#onChange({ serialNumber, id, before, row })
  }

  #chatbot(serialNumber: string): Chatbot {
    let chatbot = this.#chatbots.get(serialNumber)
    if (!chatbot) {
      chatbot = {
        rows: new Map(),
        inOrder: null,
        idsByMlsNumber: new Map(),
        idsByIdentifier: new Map(),
        totalBefore: 0,
      }
      this.#chatbots.set(serialNumber, chatbot)
    }
    return chatbot
  }
}

function rowsOf(chatbot: Chatbot, ids: Iterable<number>): Row[] {
  return [...ids].sort((a, b) => a - b).flatMap((id) => chatbot.rows.get(id) ?? [])
}

/** One form for the index, for both ways of matching; exact matches are selected afterwards. */
function fold(mlsNumber: string): string {
  return mlsNumber.toLowerCase()
}

/** What Create may return. */
const identifierOf = {
  id: (id: number) => String(id),
  guid: (id: number, serialNumber: string) => guid(serialNumber, id),
  /** The worst case: the ID of another listing. */
  'next-id': (id: number) => String(id + 1),
}

/** Looks unrelated to the ID, but is the same in every repetition of a test. */
function guid(serialNumber: string, id: number): string {
  const hex = createHash('sha256').update(`${serialNumber} ${id}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
