/**
 * What must not compile: a change by absence without its own proof. `change.types.slow.test.ts` has the compiler read this file, and
 * each line that is marked as an error must be one.
 */
import { DeleteAbsent, hold } from '../../src/plan/change.ts'
import type { Action, Change, DeleteStated, Hold } from '../../src/plan/change.ts'
import { AbsenceProof, Look } from '../../src/plan/proof.ts'
import { goneOf, wholeSides } from '../support/changes.ts'

const base = { mlsNumber: 'A1', why: 'gone from the feed' }
const details = { ...base, shownHash: 'h', snapshot: 1, unsettled: false, home: null, isYoung: false }

// Right: what the feed says itself needs a look at the service; an absent listing has a proof.
const look = Look.of(wholeSides, 'A1')
export const stated: Change[] = look ? [{ ...details, look, kind: 'delete', cause: 'feed-says-so' }] : []
const proof = AbsenceProof.of(wholeSides, goneOf('A1'))
export const absent: Change[] = AbsenceProof.isOne(proof) ? [new DeleteAbsent(proof, details)] : []

// @ts-expect-error a delete of what nobody looked for
export const unseen: Change = { ...details, kind: 'delete', cause: 'feed-says-so' }
// @ts-expect-error the answer of `of` may be that nobody looked
export const perhaps: Change = { ...details, look, kind: 'delete', cause: 'feed-says-so' }
// @ts-expect-error an object that only looks like a look
export const pretended: Change = { ...details, look: {}, kind: 'delete', cause: 'feed-says-so' }
// @ts-expect-error an object that only looks like a delete by absence
export const bare: Change = { ...details, kind: 'delete', cause: 'absent' }
// @ts-expect-error an object that only looks like a forget by absence
export const forgotten: Change = { ...base, kind: 'forget', cause: 'absent', snapshot: 1 }
// @ts-expect-error an object that only looks like a proof
export const faked: Change = new DeleteAbsent({ mlsNumber: 'A1', absentSince: 1 }, details)
// @ts-expect-error nobody but `of` makes a proof
export const made = new AbsenceProof(goneOf('A1'))
// @ts-expect-error the answer of `of` may be that there is none
export const unlooked: Change = new DeleteAbsent(proof, details)
// @ts-expect-error a generic kind does not get round it
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export const generic = <K extends Action['kind']>(kind: K): Change => ({ ...details, kind, cause: 'absent' })
export function turned(held: Hold, said: DeleteStated, gone: DeleteAbsent): void {
  // @ts-expect-error a change stays what it is
  held.kind = 'delete'
  // @ts-expect-error and so does its cause
  said.cause = 'absent'
  // @ts-expect-error a hold spread into a delete is none
  const again: Change = { ...held, ...details, kind: 'delete', cause: 'absent' }
  // @ts-expect-error nor is a proven one, spread over another number
  // oxlint-disable-next-line typescript/no-misused-spread
  const other: Change = { ...gone, mlsNumber: 'B2' }
  void [again, other]
}
// @ts-expect-error what is held is an action, not another hold
export const twice = (held: Hold): Hold => hold(held, 'guard', 'again')
