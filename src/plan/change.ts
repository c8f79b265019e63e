/**
 * What a plan consists of. A change says what is to be done about one MLSNumber, and why; a hold says what is not done now,
 * and what ends that.
 */
import type { FieldChange } from '../core/compare-listings.ts'
import { shortHash } from '../core/hash.ts'
import type { FieldName } from '../core/listing.ts'
import type { Recalled } from './inputs.ts'
import type { AbsenceProof } from './proof.ts'

interface Base<Kind extends string, Cause extends string> {
  readonly kind: Kind
  /** Which row of the decision table it comes from; people read `why`. */
  readonly cause: Cause
  readonly mlsNumber: string
  /** One sentence for a person. */
  readonly why: string
  /** Hash of kind, cause, fields and values: what "the same reason again" compares. */
  readonly reason: string
}

/** Where the wanted listing lies: at a position of the delivery, or in the snapshot row of this id. */
export type Wanted = { readonly delivered: number } | { readonly snapshot: number }

interface Sends {
  readonly wanted: Wanted
  /** The service must be asked for this MLSNumber first. */
  readonly lookUp: boolean
  /** An earlier call for this listing may still land: what is shown first after the write is not yet to be believed. */
  readonly unsettled: boolean
}

export interface Create extends Base<'create', 'new' | 'gone-from-service'>, Sends {
  /** Confirmed lately and never shown since, so that the list may only lag behind. */
  readonly unseen: boolean
}

export type UpdateCause = 'changed' | 'mapping' | 'drifted' | 'never-sent' | 'settle' | 'refresh'

export interface Update extends Base<'update', UpdateCause>, Sends {
  readonly fields: readonly FieldChange[]
  /** Optional fields that must disappear from the service with this update. */
  readonly clear: readonly FieldName[]
  /** It had drifted before, and was sent again lately. */
  readonly again: boolean
}

interface Deletes<Cause extends string> extends Base<'delete', Cause> {
  /** The item as the list showed it: the delete must find it so once more. */
  readonly shownHash: string
  /** The snapshot row; null: only its mark on the service makes the listing ours. */
  readonly snapshot: number | null
  readonly unsettled: boolean
}

/** The feed itself says that the listing is gone. */
export type DeleteStated = Deletes<'feed-says-so'>

type AbsentDetails = Omit<Deletes<'absent'>, 'kind' | 'cause' | 'mlsNumber'>

/** The delete of a listing that the feed no longer holds. Its MLSNumber is its proof's, so neither can be put on another listing. */
export class DeleteAbsent implements Deletes<'absent'> {
  readonly kind = 'delete'
  readonly cause = 'absent'
  readonly #proof: AbsenceProof
  readonly why: string
  readonly reason: string
  readonly shownHash: string
  readonly snapshot: number | null
  readonly unsettled: boolean

  constructor(proof: AbsenceProof, details: AbsentDetails) {
    this.#proof = proof
    this.why = details.why
    this.reason = details.reason
    this.shownHash = details.shownHash
    this.snapshot = details.snapshot
    this.unsettled = details.unsettled
  }

  get mlsNumber(): string {
    return this.#proof.mlsNumber
  }
}

/** The service shows what is wanted already: only the snapshot learns of it. */
export interface Adopt extends Base<'adopt', 'as-wanted' | 'settle'> {
  readonly wanted: Wanted
  readonly shownHash: string
  readonly unsettled: boolean
}

/** The snapshot forgets a listing that the feed itself gave up, or that another feed took over. */
export type ForgetStated = Base<'forget', 'feed-says-so' | 'other-feed'>

/** The snapshot forgets a listing that is gone from the feed and from the service. */
export class ForgetAbsent implements Base<'forget', 'absent'> {
  readonly kind = 'forget'
  readonly cause = 'absent'
  readonly #proof: AbsenceProof
  readonly why: string
  readonly reason: string
  readonly snapshot: number | null

  constructor(proof: AbsenceProof, details: Pick<AbsentDetails, 'why' | 'reason' | 'snapshot'>) {
    this.#proof = proof
    this.why = details.why
    this.reason = details.reason
    this.snapshot = details.snapshot
  }

  get mlsNumber(): string {
    return this.#proof.mlsNumber
  }
}

/** What may be carried out. */
export type Action = Create | Update | DeleteStated | DeleteAbsent | Adopt | ForgetStated | ForgetAbsent

export type HoldCause =
  | 'guard'
  | 'grace'
  | 'unproven'
  | 'unreadable'
  | 'in-flight'
  | 'lost-store'
  | 'refused-before'
  | 'twice-delivered'
  | 'twice-shown'
  | 'other-feed'
  | 'not-converging'
  | 'drifted'

/**
 * What ends a hold: the guard lets go, or a person does; an answer of the service to a call under way; time; another state
 * of the feed, the service or the configuration. `nothing`: all is as it should be, since another feed has the listing.
 */
export type Until = 'approval' | 'answer' | 'time' | 'change' | 'nothing'

export interface Hold extends Base<'hold', HoldCause> {
  /** What is held back; null where it can't be told, or lacks its proof. */
  readonly action: Action | null
  /** What would be done; null where nothing can be told, as of a record that can't be read. */
  readonly held: ActionKind | null
  readonly until: Until
}

export type Change = Action | Hold
export type ChangeKind = Change['kind']
export type ActionKind = Action['kind']

/** Holding an action back is the one way from an action to a hold, and there is no way back but the next plan. */
export function hold(action: Action, why: string, until: Until, cause: HoldCause = 'guard'): Hold {
  const { mlsNumber, reason } = action
  return { kind: 'hold', cause, mlsNumber, why, reason, action, held: action.kind, until }
}

/** A hold of what can't even be written down as an action; `held`: what it would be, as far as that can be told. */
export function holdBare(
  mlsNumber: string,
  why: string,
  until: Until,
  cause: HoldCause,
  held: ActionKind | null = null,
): Hold {
  return { kind: 'hold', cause, mlsNumber, why, reason: reasonOf('hold', cause), action: null, held, until }
}

/** `content`: the hash of the wanted listing. */
export function reasonOf(
  kind: ChangeKind,
  cause: string,
  fields: readonly FieldChange[] = [],
  content: string | null = null,
): string {
  return shortHash(JSON.stringify([kind, cause, fields.map(({ field, to }) => [field, to]), content]))
}

/** The fields in which what is on the service would change, as far as the plan knows them. */
export function fieldsOf(change: Change): readonly FieldChange[] {
  const action = change.kind === 'hold' ? change.action : change
  return action?.kind === 'update' ? action.fields : []
}

export type Counts = Record<ChangeKind | 'unchanged' | 'reject', number>

/** The baseline of a listing: how the service shows what we sent. */
export interface FirstSight {
  op: 'first-sight'
  snapshot: number
  hash: string
  echo: Recalled['echo']
  /** Fields that were to disappear and are still shown; they are in `echo` too. */
  uncleared: FieldName[]
  /** false: an earlier baseline is only spelled anew. */
  first: boolean
  /** Somebody's edit that stays (`drift: keep`). */
  kept?: boolean
}

/** What the store should remember although nothing is called; written by `sync`, never by `diff`. */
export type Bookkeeping =
  | { op: 'touch'; snapshot: number; position: number }
  | FirstSight
  | { op: 'steady'; snapshot: number }
  | { op: 'forget-flight'; key: string }
  | { op: 'absent'; key: string }
  | { op: 'returned'; key: string }

/**
 * Numbers or choices shown otherwise than sent at first sight: the service's own form, if others show it too, else
 * somebody's edit. Which it is can only be said after the walk (`settleDoubts`).
 */
export interface Doubt {
  step: 'doubt'
  fields: FieldName[]
  /** Shown without this feed's mark, which every listing of ours carries: somebody else's row stands in its place. */
  unmarked: boolean
  /** It drifted, was sent again lately, and is shown otherwise once more: another program may be writing it. */
  again: boolean
  asEdit: PlanStep[]
  asForm: PlanStep[]
}

/** What a walk over the three sides yields, one MLSNumber after another. */
export type PlanStep =
  | { step: 'change'; change: Change }
  | Doubt
  | { step: 'unchanged' }
  | { step: 'bookkeeping'; entry: Bookkeeping }

export const stepOf = (change: Change): PlanStep => ({ step: 'change', change })

export const note = (entry: Bookkeeping): PlanStep => ({ step: 'bookkeeping', entry })

export const unchanged: PlanStep = { step: 'unchanged' }
