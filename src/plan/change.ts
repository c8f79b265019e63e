/** What a plan consists of: changes, each of one MLSNumber. An action is to be carried out; a hold is not, and says what ends it. */
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
  /** Which row of the decision table it comes from. `why` tells people the same. */
  readonly cause: Cause
  readonly mlsNumber: string
  readonly why: string
}

/** Where the wanted listing lies: at a position of the delivery, or in the snapshot row of this id. */
export type Wanted = { readonly delivered: number } | { readonly snapshot: number }

/** A change after which the service shows what is wanted. */
interface Wants<Kind extends string, Cause extends string> extends Base<Kind, Cause> {
  readonly wanted: Wanted
  /** `contentOf` the whole listing, if it comes from the snapshot: the guard can't read that one from the workspace. */
  readonly whole?: string
  /** An earlier call for this listing may still land, so what is shown right after this change proves nothing. */
  readonly unsettled: boolean
  /** Facts that the service shows where the wanted listing has placeholders. They stay. */
  readonly facts?: Partial<Listing> | undefined
}

/** A change that sends what is wanted. */
interface Sends<Kind extends string, Cause extends string> extends Wants<Kind, Cause> {
  /** Content hash of the wanted listing. */
  readonly content: string
  /** The service must be asked for this MLSNumber before the call. */
  readonly lookUp: boolean
  /** What changes. Of a create: against what was sent last, if that is known. */
  readonly fields: readonly FieldChange[]
  /** The kinds of fact that change beyond belief against what was sent last. */
  readonly broken: readonly FactKind[]
  /** Fields that the guard holds: they are sent as they were sent last. */
  readonly withheld: readonly FieldName[]
}

export interface Create extends Sends<'create', 'new' | 'gone-from-service'> {
  readonly home: HomeHash
  /** This feed took the listing off in the last 45 days, or another feed of the chatbot had it in the last run. */
  readonly isBack: boolean
}

/** `unseen`: shown otherwise than it was sent, and nobody had looked at it since. */
export type UpdateCause = 'changed' | 'mapping' | 'drifted' | 'unseen' | 'never-sent' | 'settle' | 'refresh'

export interface Update extends Sends<'update', UpdateCause> {
  /** It drifted, was sent again, and drifted once more. */
  readonly again: boolean
  /** Hash of the item as the list shows it, else as an earlier list did; null: none has. */
  readonly shownHash: string | null
}

/** The service already shows what is wanted: only the snapshot is told. */
export interface Adopt extends Wants<'adopt', 'as-wanted' | 'settle'> {
  readonly shownHash: string
}

/** The snapshot forgets a listing that another feed has taken over. */
export type ForgetTaken = Base<'forget', 'other-feed'> & { readonly home: null }

/** An action that needs a proof that the listing is gone. The MLSNumber is the proof's, so that it can't be put on another listing. */
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
  /** Hash of the item as the list showed it. It must be found the same before the delete. */
  readonly shownHash: string
  readonly unsettled: boolean
  /** The MLSNumber under which its home comes now; '': one of several; left out: none comes. */
  readonly becomes?: string
}

/** The delete of a listing that the feed no longer holds. */
export class DeleteAbsent extends ByAbsence<Deletes> {
  readonly kind = 'delete' as const
}

/** The snapshot forgets a listing that is gone from the feed and from the service. */
export class ForgetAbsent extends ByAbsence<Pick<Deletes, 'why'>> {
  readonly kind = 'forget' as const
}

export type Action = Create | Update | Adopt | DeleteAbsent | ForgetAbsent | ForgetTaken

/** Holds of these causes somebody has to end, unless the hold says otherwise: feed, service or configuration have to change. */
const todo = ['unproven', 'unreadable', 'twice-delivered', 'twice-shown', 'rival', 'not-converging', 'drifted'] as const
type Waits = 'guard' | 'grace' | 'other-number' | 'in-flight' | 'lost-store' | 'refused-before' | 'other-feed'
export type HoldCause = Waits | (typeof todo)[number]

export interface Hold extends Base<'hold', HoldCause> {
  /** What is held; null: it can't be told, or its proof is missing. */
  readonly action: Action | null
  /** What would be done, also if `action` is null; null: it can't be told, as of a record that can't be read. */
  readonly held: ActionKind | null
  /** Somebody has to act. Else the guard or an approval lets go, time or an answer of the service ends it, or nothing has to. */
  readonly isConflict: boolean
  /** The home of a delete without an `action`, or of a new listing that is delivered more than once. The guard pairs homes by it. */
  readonly home?: HomeHash
  /** Of a delete: it was created in the last 45 days. */
  readonly isYoung?: boolean
}

export type Change = Action | Hold
export type ChangeKind = Change['kind']
export type ActionKind = Action['kind']

/** Whether a change is a delete that waits and has no action, as its proof is missing or its listing is shown twice. */
export const isUnwritten = (change: Change): change is Hold & { readonly held: 'delete'; readonly action: null } =>
  change.kind === 'hold' && change.held === 'delete' && change.action === null

/** Makes a hold of an action or, if the action can't be made, of its MLSNumber. Nothing else makes holds. */
export function hold(
  of: Action | { kind?: undefined; mlsNumber: string; held?: ActionKind | null },
  cause: HoldCause,
  why: string,
  also: Partial<Pick<Hold, 'isConflict' | 'home' | 'isYoung'>> = {},
): Hold {
  const [action, held] = of.kind === undefined ? [null, of.held ?? null] : [of, of.kind]
  const isConflict = (todo as readonly HoldCause[]).includes(cause)
  return { kind: 'hold', cause, mlsNumber: of.mlsNumber, why, action, held, isConflict, ...also }
}

/** Whether a change undoes what somebody did on the service. */
export const isPutRight = ({ kind, cause }: Pick<Change, 'kind' | 'cause'>): boolean =>
  kind === 'update' ? cause === 'drifted' || cause === 'unseen' : cause === 'gone-from-service'

/** The kinds that an action counts as once carried out. A renumbered home counts neither as leaving nor as new. */
export function countsOf(action: Action, pair: Pair | null = null): readonly Counted[] {
  const isRenumbered = pair === 'renumbered'
  if (action.kind === 'delete') return [isRenumbered ? 'renumber' : 'delete']
  const creates: readonly Counted[] = action.cause === 'new' && !action.isBack && !isRenumbered ? ['create'] : []
  return 'broken' in action ? [...creates, ...action.broken] : creates
}

/** Hash of kind, cause, fields and values. While it is the same, so is what is to be done. */
export function reasonOf(change: Change): string {
  const of = change.kind === 'hold' && change.action !== null ? change.action : change
  const fields = of.kind === 'update' ? of.fields.map(({ field, to }) => [field, to]) : []
  const content = of.kind === 'create' || of.kind === 'update' ? of.content : null
  return shortHash(JSON.stringify([of.kind, of.cause, fields, content]))
}

/** The fields that an update changes on the service. `isHeld`: instead those that the guard holds of an update or create that goes on. */
export function fieldsOf(change: Change, isHeld = false): readonly FieldChange[] {
  const action = change.kind === 'hold' ? change.action : change
  if (action?.kind !== 'update' && !(isHeld && action?.kind === 'create')) return []
  return action.fields.filter(({ field }) => action.withheld.includes(field) === isHeld)
}

/** Optional fields that an update must remove from the service: there before, not wanted now. */
export const clearedWith = (change: Change): FieldName[] =>
  fieldsOf(change).flatMap(({ field, to }) => (to === null && optionalFields.includes(field) ? field : []))

export type Counts = Record<ChangeKind | 'unchanged' | 'reject', number>

export const noCounts = { create: 0, update: 0, delete: 0, adopt: 0, forget: 0, hold: 0, unchanged: 0, reject: 0 }

/** What the store should remember without a call. `sync` writes it, `diff` never does. */
export type Bookkeeping =
  /** For pairs of homes only. The record of a new MLSNumber can't be read; or a delete stays held of which this run can't tell. */
  | { op: 'unreadable' | 'stays-held'; key: string; home: string; why: string }
  | { op: 'touch'; snapshot: number; position: number }
  /** How the service shows what we sent: a later change of it is drift. */
  | { op: 'baseline'; key: string; hash: string }
  /** `undecided`: what a delta says of it stays pending. `kept`, only counted: an edit on the service that stays (`drift: keep`). */
  | { op: 'forget-flight' | 'absent' | 'returned' | 'still-there' | 'undecided' | 'kept'; key: string }

export interface Planned {
  readonly change: Change
  readonly remembered: Remembered
}

/** What must be looked up before this MLSNumber can be changed: this run has not looked at it on the service. */
export interface Ask {
  readonly key: string
  /** The item as the snapshot has it; null: it has none. */
  readonly expected: ShownRow | null
  /** The snapshot can't tell how our listing is shown. */
  readonly isUnclear: boolean
}

/** What is to be done for a chunk of MLSNumbers. */
export interface Steps {
  asks: Ask[]
  changes: Planned[]
  notes: Bookkeeping[]
  unchanged: number
}
