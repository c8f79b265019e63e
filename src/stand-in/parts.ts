import type { Said } from './answer.ts'
import type { Chatbots } from './chatbots.ts'
import type { Operation } from './fields.ts'
import type { Files } from './files.ts'
import type { Lag } from './lag.ts'
import type { Messages } from './messages.ts'
import type { StandInProfile } from './profile.ts'
import type { Rows } from './rows.ts'

/** One call as it came in. `json` is undefined where the body is not JSON. */
export interface Call {
  operation: Operation
  /** Number of the request since the start. */
  request: number
  authorization: string | undefined
  sessionKey: string | undefined
  contentType: string | undefined
  json: unknown
  /** What ClientAsk is to say in place of its own answer. */
  say?: Said
}

/** Keys that must be right where they are sent; one that is not configured is right whatever it is. */
export interface StandInKeys {
  secret?: string | undefined
  session?: string | undefined
}

export interface ServiceParts {
  rows: Rows
  lag: Lag
  chatbots: Chatbots
  messages: Messages
  keys: StandInKeys
  sessions: Sessions
  files: Files
  profile: StandInProfile
  /** Milliseconds since the epoch. */
  now: () => number
}

/** Which chatbot each session (its ID in digits) belongs to; null: any session is one of the only chatbot. */
export type Sessions = Readonly<Record<string, string>> | null
