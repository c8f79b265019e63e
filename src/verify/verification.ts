/** The words of `verify`: what a chatbot says of listings, held against what was synced. Types only. */
/** Whether one thing that a chatbot was asked for stands in its answer as it was synced; `said`: what stands there. */
export interface Finding {
  verdict: 'agrees' | 'disagrees' | 'not said'
  wanted: string
  said: string[]
}

/** `not mentioned`: the answer says nothing of it that is understood; `no answer`: there was none. */
export type Verdict = 'agrees' | 'disagrees' | 'not mentioned' | 'no answer'

/** What the chatbot said of one listing. */
export interface VerifiedListing {
  mlsNumber: string
  /** `gone`: it was deleted, and the chatbot should not offer it. */
  expected: 'listed' | 'gone'
  verdict: Verdict
  /** null: nothing was to be said of it. */
  price: Finding | null
  status: Finding | null
  question: string
  /** null: there was no answer, or none was asked for. */
  answer: string | null
  tokens: number
  /** Why there is no answer; null where there is one. */
  problem: string | null
}

/** What a chatbot answered of the listings of one run (`verify`). It never changes the result of the run. */
export interface Verification {
  /** Chat session. */
  session: number
  listings: VerifiedListing[]
  /** Questions that were sent. */
  asked: number
  agreed: number
  disagreed: number
  /** Not mentioned, or without an answer. */
  unanswered: number
  tokens: number
  /** Why asking ended early or did not begin; null where it did not. */
  stopped: string | null
}
