/** Changes as a plan makes them, from a few words. */
import { DeleteAbsent, ForgetAbsent, hold } from '../../src/plan/change.ts'
import type { Action, Adopt, Change, Create, ForgetTaken, Hold, Update } from '../../src/plan/change.ts'
import { nothingRemembered } from '../../src/plan/guard/hold.ts'
import { AbsenceProof } from '../../src/plan/proof.ts'
import type { Gone, Sides } from '../../src/plan/proof.ts'

/** A full, whole delivery and a complete list: what is absent under them is proven so. */
export const wholeSides: Sides = {
  now: 10,
  delivery: { complete: true, reasons: [] },
  mode: 'full',
  agrees: null,
  deletes: true,
  keyless: [],
  remote: { complete: true, reasons: [] },
  lookUps: null,
}

export const goneOf = (mlsNumber: string, changes: Partial<Gone> = {}): Gone => ({
  mlsNumber,
  isStated: false,
  isDelivered: false,
  isShown: true,
  home: null,
  snapshot: 1,
  remembered: { absence: { runs: 1, since: 1 }, holds: [] },
  ...changes,
})

/** Nothing is remembered of a change. */
export const nothing = nothingRemembered

export function proofOf(mlsNumber: string, changes: Partial<Gone> = {}): AbsenceProof {
  const proof = AbsenceProof.of(wholeSides, goneOf(mlsNumber, changes))
  if (!(proof instanceof AbsenceProof)) throw new Error(proof.why)
  return proof
}

const base = (mlsNumber: string) => ({ mlsNumber, why: 'because' })
const none = { fields: [], broken: [], withheld: [] }
const sends = { wanted: { delivered: 1 }, content: 'content', lookUp: false, unsettled: false, ...none }

export const createOf = (mlsNumber: string, changes: Partial<Create> = {}): Create => ({
  ...base(mlsNumber),
  ...sends,
  kind: 'create',
  cause: 'new',
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
  again: false,
  ...changes,
})

const deleted = { why: 'because', shownHash: 'shown', unsettled: false, isYoung: false }

/** As the feed itself says that it is gone. */
export const deleteOf = (
  mlsNumber: string,
  { home = null, ...changes }: Partial<Pick<DeleteAbsent, 'home' | 'isYoung' | 'unsettled' | 'becomes'>> = {},
): DeleteAbsent => new DeleteAbsent(proofOf(mlsNumber, { isStated: true, home }), { ...deleted, ...changes })

export const deleteAbsentOf = (
  mlsNumber: string,
  snapshot: number | null = 1,
  home: string | null = null,
): DeleteAbsent => new DeleteAbsent(proofOf(mlsNumber, { snapshot, home }), { ...deleted, why: 'gone from the feed' })

export const adoptOf = (mlsNumber: string): Adopt => ({
  ...base(mlsNumber),
  kind: 'adopt',
  cause: 'as-wanted',
  wanted: { delivered: 1 },
  shownHash: 'shown',
  unsettled: false,
})

/** As the feed itself says that it is gone. */
export const forgetOf = (mlsNumber: string, home: string | null = null): ForgetAbsent =>
  new ForgetAbsent(proofOf(mlsNumber, { isStated: true, home }), { why: 'because' })

/** Of what another feed took over. */
export const takenOf = (mlsNumber: string): ForgetTaken => ({
  ...base(mlsNumber),
  home: null,
  kind: 'forget',
  cause: 'other-feed',
})

export const forgetAbsentOf = (mlsNumber: string): ForgetAbsent => new ForgetAbsent(proofOf(mlsNumber), { why: 'gone' })

export const holdOf = (action: Action, why = 'held'): Hold => hold(action, 'guard', why)

/** Whether the change asks for a look-up first. */
export const looksUp = (change: Change): boolean => 'lookUp' in change && change.lookUp
