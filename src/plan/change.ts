import { shortHash } from '../hash.ts'
import { optionalFields } from '../listing.ts'
import type { Bookkeeping, CallKind, Cause, Change, ChangeKind } from '../run.ts'
import type { AbsenceProof, PlanStep } from './plan.ts'

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
