import type { FieldChange } from '../core/compare-listings.ts'
import { shortHash } from '../core/hash.ts'
import { optionalFields } from '../core/listing.ts'
import type { FieldName } from '../core/listing.ts'
import type { CallKind, Recalled } from './inputs.ts'

type Details = Partial<Pick<Change, 'fields' | 'position' | 'snapshot' | 'clear' | 'lookUp' | 'shownHash'>>

/** A step that changes something; `why` is a sentence for a person, `content` the hash of the wanted listing. */
export function change<Kind extends ChangeKind>(
  kind: Kind,
  mlsNumber: string,
  cause: Kind extends 'delete' ? Exclude<Cause, 'absent'> : Cause,
  why: string,
  details: Details & { content?: string } = {},
): PlanStep {
  return changeOf(kind, mlsNumber, cause, why, details)
}

/** The delete of a listing of ours that the feed no longer holds. */
export function deleteAbsent(
  _: AbsenceProof,
  mlsNumber: string,
  why: string,
  details: { snapshot: number | null; shownHash: string },
): PlanStep {
  return changeOf('delete', mlsNumber, 'absent', why, details)
}

function changeOf(
  kind: ChangeKind,
  mlsNumber: string,
  cause: Cause,
  why: string,
  details: Details & { content?: string },
): PlanStep {
  const {
    content,
    fields = [],
    clear = [],
    position = null,
    snapshot = null,
    lookUp = false,
    shownHash = null,
  } = details
  const lost = fields.reduce(
    (mask, { field, to }) =>
      to === null && optionalFields.includes(field) ? mask | (1 << optionalFields.indexOf(field)) : mask,
    0,
  )
  const reason = shortHash(JSON.stringify([kind, cause, fields.map(({ field, to }) => [field, to]), content ?? null]))
  return {
    step: 'change',
    change: { kind, mlsNumber, why, fields, cause, position, snapshot, clear, lost, lookUp, shownHash, reason },
  }
}

/** A change that is not carried out now; `kind` is what it would have been. */
export function held(
  mlsNumber: string,
  cause: Cause,
  why: string,
  { kind, ...details }: Details & { kind?: CallKind } = {},
): PlanStep {
  const step = change('hold', mlsNumber, cause, why, details)
  if (step.step === 'change' && kind !== undefined) step.change.held = kind
  return step
}

export function note(entry: Bookkeeping): PlanStep {
  return { step: 'bookkeeping', entry }
}

export const unchanged: PlanStep = { step: 'unchanged' }

export type ChangeKind = 'create' | 'update' | 'delete' | 'adopt' | 'forget' | 'hold'

/** What a held change would have been. */
export type HeldKind = Exclude<ChangeKind, 'hold'>

/**
 * Which row of the decision table a change comes from. The guard, the exit status and the bookkeeping ask for it;
 * people read `why`.
 */
export type Cause =
  | 'new'
  | 'gone-from-service'
  | 'changed'
  | 'mapping'
  | 'drifted'
  | 'never-sent'
  | 'settle'
  | 'refresh'
  | 'as-wanted'
  | 'feed-says-so'
  | 'absent'
  | 'in-flight'
  | 'lost-store'
  | 'refused-before'
  | 'twice-delivered'
  | 'twice-shown'
  | 'other-feed'
  | 'not-converging'
  | 'unproven'
  | 'unreadable'
  | 'grace'
  | 'guard'

/** One difference between feed and service and what is to be done about it. */
export interface Change {
  kind: ChangeKind
  mlsNumber: string
  /** One sentence for a person. */
  why: string
  fields: FieldChange[]
  cause: Cause
  /** For a hold made by the guard: the change it would have been. */
  held?: HeldKind
  /** `DeliveredRow.position` of the wanted listing; null: the snapshot's own, or none is needed. */
  position: number | null
  /** `SnapshotRow.id`, where there is one. */
  snapshot: number | null
  /** Optional fields that must disappear from the service with this update. */
  clear: FieldName[]
  /** Optional fields that the snapshot has and the wanted listing lacks, as bits: the guard looks for renamed columns. */
  lost: number
  /** Create, update: the service must be asked for this MLSNumber first. */
  lookUp: boolean
  /** Create: confirmed lately and never shown since, so that the list may only lag behind (fault-model F86). */
  unseen?: boolean
  /** It had drifted before, and was sent again lately. */
  again?: boolean
  /** An earlier call for this listing may still land: what is shown first after the write is not yet to be believed. */
  unsettled?: boolean
  /** The item as shown: of an adoption, whose baseline it becomes, and of a delete, which must find it so once more. */
  shownHash: string | null
  /** Hash of kind, fields and values: the same reason three runs running is not converging. */
  reason: string
}

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

export type Counts = Record<
  'create' | 'update' | 'delete' | 'adopt' | 'forget' | 'hold' | 'unchanged' | 'reject',
  number
>

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

export declare const proven: unique symbol

/**
 * That a listing which was not delivered is gone: the delivery is full and whole, every MLSNumber in it could be read, and
 * the list of what the service has is complete. Only `leaving.ts` gives it out, and no delete by absence can be written
 * down without one.
 */
export interface AbsenceProof {
  readonly [proven]: true
}
