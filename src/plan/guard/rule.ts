import type { Action } from '../change.ts'
import type { Older } from './older.ts'

/** Shares are percent; a floor is a number of listings that is never too many. */
export interface Limits {
  delete: { percent: number; floor: number }
  update: { percent: number; floor: number }
  /** A full delivery smaller than this percentage of the median of the last five is an accident. */
  shrink: number
  /** Least percentage of MLSNumbers shared with the last delivery. */
  overlap: number
  recreate: { percent: number; floor: number }
  /** A field that most listings had and that more than this percentage of them lose is a renamed column. */
  lostField: { percent: number; floor: number }
  onTrip: 'hold' | 'abort'
}

/** What the past says, from the store. */
export interface Past {
  /** Records of the last complete deliveries, five at most. */
  deliveries: readonly { records: number }[]
  lastKeys: BigUint64Array | null
  /** Keys in the delete calls of the last 24 hours that no approval covered. */
  deletes24h: number
  /** The delivery is an older one. */
  older: Older | null
  /** The service is called with other keys than in the last run whose list was like ours. */
  otherKeys: boolean
}

export type RuleName =
  | 'delivery'
  | 'remote'
  | 'older'
  | 'overlap'
  | 'shrink'
  | 'nothingLeft'
  | 'delete'
  | 'update'
  | 'recreate'
  | 'spelling'
  | 'writers'
  | 'lostField'
  | 'abort'

/** An accident that a rule found. */
export interface Trip {
  readonly rule: RuleName
  readonly sentence: string
  /** It is worth a word even where it holds nothing. */
  readonly always: boolean
  /** Which actions it is about. */
  holds(action: Action): boolean
}
