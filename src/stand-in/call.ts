import type { Said } from './answer.ts'
import type { Chatbots } from './chatbots.ts'
import type { Operation } from './fields.ts'
import type { Lag } from './lag.ts'
import type { Messages } from './messages.ts'
import type { StandInProfile } from './profile.ts'
import type { Rows } from './rows.ts'
import type { StandInSettings } from './settings.ts'

/** One call as received; `json` undefined: the body is not JSON. */
export interface Call {
  operation: Operation
  /** Number of the request since the start. */
  request: number
  authorization: string | undefined
  sessionKey: string | undefined
  contentType: string | undefined
  json: unknown
  /** Replaces the answer of ClientAsk. */
  say?: Said
}

export interface ServiceParts extends Pick<StandInSettings, 'keys' | 'sessions' | 'files'> {
  rows: Rows
  lag: Lag
  chatbots: Chatbots
  messages: Messages
  profile: StandInProfile
  /** Milliseconds since the epoch. */
  now: () => number
}
