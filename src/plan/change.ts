/** What a plan consists of: what is to be done about one MLSNumber, or is not done now, and what ends that. */
import type { FieldChange } from '../core/compare-listings.ts'
import { shortHash } from '../core/hash.ts'
import { optionalFields } from '../core/listing.ts'
import type { FieldName, Listing } from '../core/listing.ts'
import type { FactKind } from './guard/facts.ts'
import type { Counted, Pair, Remembered } from './guard/hold.ts'
import type { HomeHash } from '../core/home-hash.ts'
import type { ShownRow } from './inputs.ts'
import type { AbsenceProof } from './proof.ts'

interface Base<Kind extends string, Cause extends string> {
  readonly kind: Kind
  /** Which row of the decision table it comes from; `why` says it to people, in a sentence. */
  readonly cause: Cause
  readonly mlsNumber: string
  readonly why: string
}

/** Where the wanted listing lies: at a position of the delivery, or in the snapshot row of this id. */
export type Wanted = { readonly delivered: number } | { readonly snapshot: number }

/** A change after which the service shows what is wanted. */
interface Wants<Kind extends string, Cause extends string> extends Base<Kind, Cause> {
  readonly wanted: Wanted
  /** Of what comes from the snapshot `contentOf` it whole, as of a listing that is delivered anew. */
  readonly whole?: string
  /** An earlier call for this listing may still land: what is shown first after this is not yet to be believed. */
  readonly unsettled: boolean
  /** What the service shows where the wanted listing has a placeholder: that stays. */
  readonly facts?: Partial<Listing> | undefined
}

/** A change that sends what is wanted. */
interface Sends<Kind extends string, Cause extends string> extends Wants<Kind, Cause> {
  /** Content hash of the wanted listing. */
  readonly content: string
  /** The service must be asked for this MLSNumber first. */
  readonly lookUp: boolean
  /** What changes; of a create against what was sent last, where that is known. */
  readonly fields: readonly FieldChange[]
  /** The kinds of fact that change beyond belief against what was sent last. */
  readonly broken: readonly FactKind[]
  /** Fields that stay as they were sent last, as the guard holds them. */
  readonly withheld: readonly FieldName[]
}

export interface Create extends Sends<'create', 'new' | 'gone-from-service'> {
  readonly home: HomeHash
  /** This feed took the listing off in the last 45 days, or another feed of the chatbot had it in the last run. */
  readonly isBack: boolean
  /** Confirmed lately and never shown since, so that the list may only lag behind. */
  readonly unseen: boolean
}

/** `unseen`: shown otherwise than it was sent, and nobody had looked at it since. */
export type UpdateCause = 'changed' | 'mapping' | 'drifted' | 'unseen' | 'never-sent' | 'settle' | 'refresh'

export interface Update extends Sends<'update', UpdateCause> {
  /** It drifted, was sent again, and drifted once more. */
  readonly again: boolean
  /** The item as the list showed it before or, where it is not shown now, a list before that; null: none did. */
  readonly shownHash: string | null
}

/** The service shows what is wanted already: only the snapshot learns of it. */
export interface Adopt extends Wants<'adopt', 'as-wanted' | 'settle'> {
  readonly shownHash: string
}

/** The snapshot forgets a listing that another feed took over. */
export type ForgetTaken = Base<'forget', 'other-feed'> & { readonly home: null }

/** What follows from a proof that a listing is gone: its MLSNumber is the proof's, so neither can be put on another listing. */
class OfProof<Details> {
  readonly cause: 'absent' | 'feed-says-so'
  readonly home: HomeHash
  /** The snapshot row; null: only its mark on the service makes the listing ours. */
  readonly snapshot: number | null
  readonly #proof: AbsenceProof

  constructor(proof: AbsenceProof, details: Details) {
    Object.assign(this, details)
    this.#proof = proof
    this.cause = proof.gone.isStated ? 'feed-says-so' : 'absent'
    this.home = proof.gone.home
    this.snapshot = proof.gone.snapshot
  }

  get mlsNumber(): string {
    return this.#proof.gone.mlsNumber
  }
}

const ByAbsence = OfProof as new <Details>(proof: AbsenceProof, details: Details) => OfProof<Details> & Details

interface Deletes {
  readonly why: string
  /** It was created in the last 45 days. */
  readonly isYoung: boolean
  /** The item as the list showed it: the delete must find it so once more. */
  readonly shownHash: string
  readonly unsettled: boolean
}

/** The delete of a listing that the feed no longer holds. */
export class DeleteAbsent extends ByAbsence<Deletes> {
  readonly kind = 'delete' as const
}

/** The snapshot forgets a listing that is gone from the feed and from the service. */
export class ForgetAbsent extends ByAbsence<Pick<Deletes, 'why'>> {
  readonly kind = 'forget' as const
}

/** What may be carried out. */
export type Action = Create | Update | Adopt | DeleteAbsent | ForgetAbsent | ForgetTaken

/**
 * What ends a hold: the guard lets go, or a person does; an answer of the service to a call under way; time; another state
 * of the feed, the service or the configuration. `nothing`: all is as it should be, since another feed has the listing.
 */
export type Until = 'approval' | 'answer' | 'time' | 'change' | 'nothing'

/** Why something is held, and what ends that. */
const untilOf = {
  guard: 'approval',
  grace: 'time',
  unproven: 'change',
  'other-number': 'time',
  unreadable: 'change',
  'in-flight': 'answer',
  'lost-store': 'time',
  'refused-before': 'time',
  'twice-delivered': 'change',
  'twice-shown': 'change',
  'other-feed': 'nothing',
  rival: 'change',
  'not-converging': 'change',
  drifted: 'change',
} as const satisfies Record<string, Until>
export type HoldCause = keyof typeof untilOf

export interface Hold extends Base<'hold', HoldCause> {
  /** What is held back; null where it can't be told, or lacks its proof. */
  readonly action: Action | null
  /** What would be done; null where nothing can be told, as of a record that can't be read. */
  readonly held: ActionKind | null
  readonly until: Until
  /**
   * Of a delete that can't be written down: it lacks its proof, or the service shows its listing twice; or of what is new and comes
   * more than once.
   */
  readonly home?: HomeHash
  /** Of a delete: it was created in the last 45 days. */
  readonly isYoung?: boolean
}

export type Change = Action | Hold
export type ChangeKind = Change['kind']
export type ActionKind = Action['kind']

/** Whether a delete waits that can't be written down. */
export const isUnwritten = (change: Change): change is Hold & { readonly held: 'delete'; readonly action: null } =>
  change.kind === 'hold' && change.held === 'delete' && change.action === null

/** The one way from an action to a hold. `of` is an MLSNumber alone where the action can't even be written down. */
export function hold(
  of: Action | { kind?: undefined; mlsNumber: string; held?: ActionKind | null },
  cause: HoldCause,
  why: string,
  { until = untilOf[cause], ...also }: Partial<Pick<Hold, 'until' | 'home' | 'isYoung'>> = {},
): Hold {
  const [action, held] = of.kind === undefined ? [null, of.held ?? null] : [of, of.kind]
  return { kind: 'hold', cause, mlsNumber: of.mlsNumber, why, action, held, until, ...also }
}

/** Whether it undoes what somebody did on the service. */
export const isPutRight = ({ kind, cause }: Pick<Change, 'kind' | 'cause'>): boolean =>
  kind === 'update' ? cause === 'drifted' || cause === 'unseen' : cause === 'gone-from-service'

/** As what an action counts for 24 hours once it is carried out: a home under another number neither leaves nor comes. */
export function countsOf(action: Action, pair: Pair | null = null): readonly Counted[] {
  const isRenumbered = pair === 'renumbered'
  if (action.kind === 'delete') return [isRenumbered ? 'renumber' : 'delete']
  const creates: readonly Counted[] = action.cause === 'new' && !action.isBack && !isRenumbered ? ['create'] : []
  return 'broken' in action ? [...creates, ...action.broken] : creates
}

/** Hash of kind, cause, fields and values: where it is the same again, so is what is to be done. */
export function reasonOf(change: Change): string {
  const of = change.kind === 'hold' && change.action !== null ? change.action : change
  const fields = of.kind === 'update' ? of.fields.map(({ field, to }) => [field, to]) : []
  const content = of.kind === 'create' || of.kind === 'update' ? of.content : null
  return shortHash(JSON.stringify([of.kind, of.cause, fields, content]))
}

/** The fields in which an update changes what is on the service; `isHeld`: those that the guard holds of one, or of a create, that goes on. */
export function fieldsOf(change: Change, isHeld = false): readonly FieldChange[] {
  const action = change.kind === 'hold' ? change.action : change
  if (action?.kind !== 'update' && !(isHeld && action?.kind === 'create')) return []
  return action.fields.filter(({ field }) => action.withheld.includes(field) === isHeld)
}

/** Optional fields that must disappear from the service with an update: there before, not wanted now. */
export const clearedWith = (change: Change): FieldName[] =>
  fieldsOf(change).flatMap(({ field, to }) => (to === null && optionalFields.includes(field) ? field : []))

export type Counts = Record<ChangeKind | 'unchanged' | 'reject', number>

export const noCounts = { create: 0, update: 0, delete: 0, adopt: 0, forget: 0, hold: 0, unchanged: 0, reject: 0 }

/** What the store should remember although nothing is called; written by `sync`, never by `diff`. */
export type Bookkeeping =
  /** Not for the store: a record of an MLSNumber that is new can't be read, and this home may be on the site under another one. */
  | { op: 'unreadable'; key: string; home: string; why: string }
  | { op: 'touch'; snapshot: number; position: number }
  /** How the service shows what we sent: a later change of it is drift. */
  | { op: 'baseline'; key: string; hash: string }
  /** `kept`, not for the store either: it was edited on the service, and stays so (`drift: keep`). */
  | { op: 'forget-flight' | 'absent' | 'returned' | 'still-there' | 'undecided' | 'kept'; key: string }

/** A change with what is remembered of its MLSNumber. */
export interface Planned {
  readonly change: Change
  readonly remembered: Remembered
}

/** More is to be done than to leave all as it is, and nobody has looked in this run. */
export interface Ask {
  readonly key: string
  /** The item as the snapshot has it; null: none. */
  readonly expected: ShownRow | null
  /** Of a listing of ours the snapshot can't tell. */
  readonly isUnclear: boolean
}

/** What a chunk of MLSNumbers comes to. */
export interface Steps {
  asks: Ask[]
  changes: Planned[]
  notes: Bookkeeping[]
  unchanged: number
}
