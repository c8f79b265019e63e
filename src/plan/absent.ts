/** The rows of the decision table in which the feed does not hold the listing: it is absent, or said to be gone. */
import { change, deleteAbsent, held, note } from './change.ts'
import type { Cause, AbsenceProof, PlanStep } from './change.ts'
import type { DeliveredRow, SnapshotRow, PlanSettings } from './inputs.ts'
import type { Case } from './situation.ts'

/** The feed does not hold this MLSNumber. Absence means something in a full, complete delivery only, and deletes need both proofs. */
export function absent(one: Case): PlanStep[] {
  const { key, mine, ours, shown, settings } = one
  if (mine !== null && !mine.owned && !ours) return forgottenMark(key, mine, settings)
  if (settings.mode === 'delta' || !settings.deletes) return []
  const snapshot = mine?.id ?? null
  const proof = absenceProof(settings)
  if (!ours) return 'cause' in proof ? [] : handedOver(one)
  if (shown.length === 0) {
    const certain = !('cause' in proof) && !mayStillLand(mine, settings)
    return certain ? [change('forget', key, 'absent', 'gone from the feed and from the service', { snapshot })] : []
  }
  if (shown.length > 1) return [twiceShown(one)]
  if ('cause' in proof)
    return [held(key, proof.cause, `absent from the feed, but ${proof.why}`, { snapshot, kind: 'delete' })]
  const { runs, time } = settings.grace
  if (runs <= 1 && time === 0)
    return [underWay(deleteAbsent(proof, key, whyAbsent(one), { snapshot, shownHash: shown[0].hash }), one)]
  // Noted even where it is deleted now: the guard may hold that, and the next run must not start counting again.
  const noted = note({ op: 'absent', key })
  const waiting = inGrace(one)
  if (waiting === null)
    return [underWay(deleteAbsent(proof, key, whyAbsent(one), { snapshot, shownHash: shown[0].hash }), one), noted]
  return [held(key, 'grace', `absent from the feed ${waiting} (limits.grace)`, { snapshot, kind: 'delete' }), noted]
}

/** What proves that an absent listing is gone, or what is missing for it. */
function absenceProof({ delivery, unreadable, remote }: PlanSettings): AbsenceProof | { cause: Cause; why: string } {
  if (!delivery.complete) return { cause: 'unproven', why: `the delivery is incomplete: ${delivery.reasons[0]}` }
  if (unreadable > 0)
    return { cause: 'unreadable', why: `${unreadable} delivered without a readable MLSNumber may be this one` }
  if (!remote.complete) return { cause: 'unproven', why: `the service's list is incomplete: ${remote.reasons[0]}` }
  return {} as AbsenceProof
}

function whyAbsent({ row, shown, settings }: Case): string {
  const isOurs = row !== null || shown.some(({ owner }) => owner === settings.feed)
  return isOurs ? 'gone from the feed' : 'not in the feed, to which this chatbot belongs alone (ownership: mirror)'
}

/** How far a listing is in its grace, in words; null: it is over. */
function inGrace({ absence, settings }: Case): string | null {
  const { runs, time } = settings.grace
  const seen = (absence?.runs ?? 0) + 1
  const since = absence?.since ?? settings.now
  if (seen >= runs && settings.now - since >= time) return null
  const times = runs > 1 ? `for run ${seen} of ${runs}` : ''
  const until = time > 0 ? `deleted after ${new Date(since + time).toISOString()} at the earliest` : ''
  return [times, until].filter((part) => part !== '').join(', ')
}

/** The feed says that this listing is gone: a status that means removal, or left out by `where`. */
export function gone(one: Case, leaving: DeliveredRow): PlanStep[] {
  const { key, mine, ours, shown, settings } = one
  const why = leaving.why ?? 'the feed says it is gone'
  if (mine !== null && !mine.owned && !ours) return forgottenMark(key, mine, settings)
  if (!settings.deletes) return []
  if (!ours) return handedOver(one)
  if (shown.length > 1) return [twiceShown(one)]
  if (shown.length === 1) {
    const details = { snapshot: mine?.id ?? null, shownHash: shown[0].hash }
    return [underWay(change('delete', key, 'feed-says-so', why, details), one)]
  }
  if (mine === null || !settings.remote.complete || mayStillLand(mine, settings)) return []
  return [change('forget', key, 'feed-says-so', `${why}; no longer on the service`, { snapshot: mine.id })]
}

/** A call of an earlier run may still land on what is deleted now: whatever this delete is answered, its mark stays. */
function underWay(step: PlanStep, { mine, settings }: Case): PlanStep {
  if (mayStillLand(mine, settings) && step.step === 'change') step.change.unsettled = true
  return step
}

/** Whether a list begun when this run's was can say what became of the call in flight. */
export function isSettled(mine: SnapshotRow, settings: PlanSettings): boolean {
  return settings.remote.complete && settings.remoteStartedAt >= (mine.flightAt ?? 0) + settings.settle
}

/**
 * A create under way may still make a listing that only the row knows to be ours; a delete may take one that comes back, and
 * an update, or an attempt of it before the one that was answered, may spoil it.
 */
function mayStillLand(mine: SnapshotRow | null, settings: PlanSettings): boolean {
  if (mine === null) return false
  const isUnsettled = mine.flight !== null && !isSettled(mine, settings)
  return isUnsettled || (mine.suspectUntil !== null && settings.remoteStartedAt < mine.suspectUntil)
}

/** A row that is no listing of ours, only a call in flight or a refusal, goes once it can no longer matter. */
function forgottenMark(key: string, mine: SnapshotRow, settings: PlanSettings): PlanStep[] {
  const certain = settings.remote.complete && (mine.flight === null || isSettled(mine, settings))
  return certain ? [note({ op: 'forget-flight', key })] : []
}

/** Another feed took over what the row says is ours, and the feed holds it no more: it is the other's to keep or to delete. */
function handedOver({ key, mine, shown }: Case): PlanStep[] {
  const other = shown.find(({ owner }) => owner !== null)?.owner
  if (mine === null || !mine.owned || mine.flight !== null || other === undefined) return []
  return [change('forget', key, 'other-feed', `feed ${other} of this chatbot has it`, { snapshot: mine.id })]
}

function twiceShown({ key, shown, settings }: Case): PlanStep {
  return held(
    key,
    'twice-shown',
    `${shown.length} listings on the service have this MLSNumber: see listing-sync repair ${settings.feed}`,
    { kind: 'delete' },
  )
}
