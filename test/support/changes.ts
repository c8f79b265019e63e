/** Changes as a plan makes them, from a few words. */
import { DeleteAbsent, ForgetAbsent, hold } from '../../src/plan/change.ts'
import type {
  Action,
  Adopt,
  Change,
  Create,
  DeleteStated,
  ForgetStated,
  Hold,
  Remembered,
  Update,
} from '../../src/plan/change.ts'
import { AbsenceProof, Look } from '../../src/plan/proof.ts'
import type { Gone, Sides } from '../../src/plan/proof.ts'

/** A full, whole delivery and a complete list: what is absent under them is proven so. */
export const wholeSides: Sides = {
  delivery: { complete: true, reasons: [] },
  mode: 'full',
  agrees: null,
  keyless: [],
  remote: { complete: true, reasons: [] },
  lookUps: null,
}

export const goneOf = (mlsNumber: string, changes: Partial<Gone> = {}): Gone => ({
  mlsNumber,
  isDelivered: false,
  home: null,
  absentSince: 1,
  wasAbsent: false,
  isApproved: false,
  ...changes,
})

/** Nothing is remembered of a change. */
export const nothing: Remembered = { counted: [], heldSince: null, holds: [] }

export function proofOf(mlsNumber: string): AbsenceProof {
  const proof = AbsenceProof.of(wholeSides, goneOf(mlsNumber))
  if (!AbsenceProof.isOne(proof)) throw new Error(proof.why)
  return proof
}

const base = (mlsNumber: string) => ({ mlsNumber, why: 'because' })
const sends = { wanted: { delivered: 1 }, content: 'content', lookUp: false, unsettled: false }

export const createOf = (mlsNumber: string, changes: Partial<Create> = {}): Create => ({
  ...base(mlsNumber),
  ...sends,
  kind: 'create',
  cause: 'new',
  unseen: false,
  firstLook: false,
  home: null,
  isBack: false,
  ...changes,
})

export const updateOf = (mlsNumber: string, changes: Partial<Update> = {}): Update => ({
  ...base(mlsNumber),
  ...sends,
  kind: 'update',
  cause: 'changed',
  shownHash: null,
  fields: [{ field: 'Bedrooms', from: 3, to: 4 }],
  clear: [],
  again: false,
  broken: [],
  withheld: [],
  ...changes,
})

export const deleteOf = (mlsNumber: string, changes: Partial<DeleteStated> = {}): DeleteStated => ({
  ...base(mlsNumber),
  kind: 'delete',
  cause: 'feed-says-so',
  look: Look.of(wholeSides, mlsNumber)!,
  shownHash: 'shown',
  snapshot: 1,
  unsettled: false,
  home: null,
  isYoung: false,
  ...changes,
})

export const deleteAbsentOf = (
  mlsNumber: string,
  snapshot: number | null = 1,
  home: string | null = null,
): DeleteAbsent =>
  new DeleteAbsent(proofOf(mlsNumber), {
    why: 'gone from the feed',
    shownHash: 'shown',
    snapshot,
    unsettled: false,
    home,
    isYoung: false,
  })

export const adoptOf = (mlsNumber: string): Adopt => ({
  ...base(mlsNumber),
  kind: 'adopt',
  cause: 'as-wanted',
  wanted: { delivered: 1 },
  shownHash: 'shown',
  unsettled: false,
})

export const forgetOf = (mlsNumber: string, cause: ForgetStated['cause'] = 'feed-says-so'): ForgetStated => ({
  ...base(mlsNumber),
  home: null,
  kind: 'forget',
  cause,
})

export const forgetAbsentOf = (mlsNumber: string): ForgetAbsent =>
  new ForgetAbsent(proofOf(mlsNumber), { why: 'gone', snapshot: 1, home: null })

export const holdOf = (action: Action, why = 'held'): Hold => hold(action, 'guard', why)

/** Whether the change asks for a look-up first. */
export const looksUp = (change: Change): boolean => 'lookUp' in change && change.lookUp
