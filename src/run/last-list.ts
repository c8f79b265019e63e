/** When the service's whole list is due, and what is remembered of the last one. */
import { nextTurn } from '../core/turn.ts'

/** A list that was read whole, and after which every run ended clear. Times in milliseconds. */
export interface LastList {
  /** When its walk began. */
  readonly at: number
  readonly pages: number
  readonly listings: number
  /** All settings that it was read and judged by, as one value. */
  readonly basis: string
  /** The number of the last run that went by it. */
  readonly run: number
}

/** By feed. Only the process keeps them, so no store that was put back, copied or lost can bring one. */
export type LastLists = Map<string, LastList>

/** Seconds. By default a list that takes longer at the configured rate is not read by every run. */
const longList = 60
/** How often it is read then, in milliseconds: an edit on the service is seen after six hours at the latest. */
export const byDefault = 6 * 3_600_000

interface Paced {
  chatbot: string
  /** Calls a second. */
  rate: number
  /** How often the whole list is read, in milliseconds; 0: by every run; null: that depends on its length. */
  observe: number | null
}

/** When a list of so many pages that was read at `at` is due again, in milliseconds; null: every run reads it. */
export function nextList({ observe, rate, chatbot }: Paced, at: number, pages: number): number | null {
  const every = observe ?? (pages / rate > longList ? byDefault : 0)
  return every === 0 ? null : nextTurn(chatbot, at, every)
}
