/**
 * What must not compile: a change of what is gone without its own proof. `change.types.slow.test.ts` has the compiler read this
 * file, and each line that is marked as an error must be one.
 */
import { DeleteAbsent, ForgetAbsent, hold } from '../../src/plan/change.ts'
import type { Action, Change, Hold } from '../../src/plan/change.ts'
import { AbsenceProof } from '../../src/plan/proof.ts'
import { goneOf, wholeSides } from '../support/changes.ts'

const base = { mlsNumber: 'A1', why: 'gone from the feed' }
const details = { why: base.why, shownHash: 'h', unsettled: false, isYoung: false }

// Right: a listing that is gone has a proof.
const proof = AbsenceProof.of(wholeSides, goneOf('A1'))
export const gone: Change[] =
  proof instanceof AbsenceProof ? [new DeleteAbsent(proof, details), new ForgetAbsent(proof, details)] : []

// @ts-expect-error an object that only looks like a delete of what the feed says to be gone
export const stated: Change = { ...base, ...details, kind: 'delete', cause: 'feed-says-so' }
// @ts-expect-error an object that only looks like a delete by absence
export const bare: Change = { ...base, ...details, kind: 'delete', cause: 'absent' }
// @ts-expect-error an object that only looks like a forget by absence
export const forgotten: Change = { ...base, kind: 'forget', cause: 'absent', snapshot: 1, home: null }
// @ts-expect-error an object that only looks like a proof
export const faked: Change = new DeleteAbsent({ gone: goneOf('A1') }, details)
// @ts-expect-error nobody but `of` makes a proof
export const made = new AbsenceProof(goneOf('A1'))
// @ts-expect-error the answer of `of` may be that there is none
export const unproven: Change = new DeleteAbsent(proof, details)
// @ts-expect-error nor is a forget made of it
export const unlooked: Change = new ForgetAbsent(proof, details)
// @ts-expect-error a generic kind does not get round it
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export const generic = <K extends Action['kind']>(kind: K): Change => ({ ...base, ...details, kind, cause: 'absent' })
export function turned(held: Hold, absent: DeleteAbsent): void {
  // @ts-expect-error a change stays what it is
  held.kind = 'delete'
  // @ts-expect-error and so does its cause
  absent.cause = 'absent'
  // @ts-expect-error a hold spread into a delete is none
  const again: Change = { ...held, ...details, kind: 'delete', cause: 'absent' }
  // @ts-expect-error nor is a proven one, spread over another number
  // oxlint-disable-next-line typescript/no-misused-spread
  const other: Change = { ...absent, mlsNumber: 'B2' }
  void [again, other]
}
// @ts-expect-error what is held is an action, not another hold
export const twice = (held: Hold): Hold => hold(held, 'guard', 'again')
