/** How one value in an answer compares with the synced one; `said`: what the answer has. */
export interface Finding {
  verdict: 'agrees' | 'disagrees' | 'unclear'
  wanted: string
  said: string[]
}

/** `unclear`: the answer says nothing certain of it. */
export type Verdict = 'agrees' | 'disagrees' | 'unclear' | 'no answer'

export interface VerifiedListing {
  mlsNumber: string
  /** `gone`: it was deleted, and the chatbot should not offer it. */
  expected: 'listed' | 'gone'
  verdict: Verdict
  /** null: not expected. */
  price: Finding | null
  status: Finding | null
  question: string
  /** null: no answer, or not asked. */
  answer: string | null
  /** null: the service doesn't say. */
  tokens: number | null
  /** Why there is no answer; null: there is one. */
  problem: string | null
}

/** The answers of a chatbot about listings (`verify`). They never change the result of a run. */
export interface Verification {
  /** Chat session. */
  session: number
  listings: VerifiedListing[]
  /** Questions sent. */
  asked: number
  agreed: number
  disagreed: number
  /** Unclear, or without an answer. */
  unanswered: number
  /** Of the answers that say so. */
  tokens: number
  /** Why asking ended early or did not begin; null: it did neither. */
  stopped: string | null
}
