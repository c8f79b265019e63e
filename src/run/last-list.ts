/** When the service's list is read whole, and what is known of the last one that was. */
import { nextTurn } from '../core/turn.ts'

/** A list that was read whole, after which every run ended clear. Times in milliseconds. */
export interface LastList {
  /** When its walk began. */
  readonly at: number
  readonly pages: number
  readonly listings: number
  /** What the list was read and judged by, as one value. */
  readonly basis: string
  /** The number of the last run that went by it. */
  readonly run: number
}

/** By feed. The process keeps them and no store does, so nothing that was put back, copied or lost can bring one. */
export type LastLists = Map<string, LastList>

/** A list that takes longer than so many seconds at the configured rate is by default not read by every run. */
const longList = 60
/** How often it is read then, in milliseconds: an edit on the service is seen within a quarter of a day. */
export const byDefault = 6 * 3_600_000

interface Paced {
  chatbot: string
  /** Calls a second. */
  rate: number
  /** How often the whole list is read, 0 for by every run, in milliseconds; null: it depends on how long it is. */
  observe: number | null
}

/** When a list of so many pages, read at `at`, is due again, in milliseconds; null: by every run. */
export function nextList({ observe, rate, chatbot }: Paced, at: number, pages: number): number | null {
  const every = observe ?? (pages / rate > longList ? byDefault : 0)
  return every === 0 ? null : nextTurn(chatbot, at, every)
}
