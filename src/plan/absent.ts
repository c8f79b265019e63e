/** The rows of the decision table in which the feed does not hold the listing: it is absent, or said to be gone. */
import { DeleteAbsent, ForgetAbsent, hold, holdBare, note, reasonOf, stepOf } from './change.ts'
import type { Change, DeleteStated, Hold, PlanStep } from './change.ts'
import type { DeliveredRow, SnapshotRow, PlanSettings } from './inputs.ts'
import { AbsenceProof } from './proof.ts'
import type { Case } from './situation.ts'

/** The feed does not hold this MLSNumber. Absence means something in a full, complete delivery only, and deletes need both proofs. */
export function absent(one: Case): PlanStep[] {
  const { key, seen, delivered, mine, ours, shown, settings } = one
  if (mine !== null && !mine.owned && !ours) return forgottenMark(key, mine, settings)
  if (settings.mode === 'delta' || !settings.deletes) return []
  const proof = AbsenceProof.of(settings, key, seen || delivered.length > 0)
  const isProven = AbsenceProof.isOne(proof)
  if (!ours) return isProven ? handedOver(one) : []
  const snapshot = mine?.id ?? null
  if (shown.length === 0) {
    if (!isProven || mayStillLand(mine, settings)) return []
    const why = 'gone from the feed and from the service'
    return [stepOf(new ForgetAbsent(proof, { why, reason: reasonOf('forget', 'absent'), snapshot }))]
  }
  if (shown.length > 1) return [stepOf(twiceShown(one, 'delete'))]
  if (!isProven)
    return [stepOf(holdBare(key, `absent from the feed, but ${proof.why}`, 'change', proof.cause, 'delete'))]
  const deleted = new DeleteAbsent(proof, {
    why: whyAbsent(one),
    reason: reasonOf('delete', 'absent'),
    shownHash: shown[0].hash,
    snapshot,
    unsettled: mayStillLand(mine, settings),
  })
  const { runs, time } = settings.grace
  if (runs <= 1 && time === 0) return [stepOf(deleted)]
  // Noted even where it is deleted now: the guard may hold that, and the next run must not start counting again.
  const noted = note({ op: 'absent', key })
  const waiting = inGrace(one)
  if (waiting === null) return [stepOf(deleted), noted]
  return [stepOf(hold(deleted, `absent from the feed ${waiting} (limits.grace)`, 'time', 'grace')), noted]
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
  if (shown.length > 1) return [stepOf(twiceShown(one, 'delete'))]
  const cause = 'feed-says-so'
  // A call of an earlier run may still land on what is deleted now: whatever this delete is answered, its mark stays.
  const unsettled = mayStillLand(mine, settings)
  if (shown.length === 1) {
    const stated: DeleteStated = {
      kind: 'delete',
      cause,
      mlsNumber: key,
      why,
      reason: reasonOf('delete', cause),
      shownHash: shown[0].hash,
      snapshot: mine?.id ?? null,
      unsettled,
    }
    return [stepOf(stated)]
  }
  if (mine === null || !settings.remote.complete || unsettled) return []
  return [stepOf(forgotten(key, cause, `${why}; no longer on the service`))]
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
  return [stepOf(forgotten(key, 'other-feed', `feed ${other} of this chatbot has it`))]
}

function forgotten(mlsNumber: string, cause: 'feed-says-so' | 'other-feed', why: string): Change {
  return { kind: 'forget', cause, mlsNumber, why, reason: reasonOf('forget', cause) }
}

/** Which of the copies a call would hit, nobody can tell. */
export function twiceShown({ key, shown, settings }: Case, held: 'delete' | null): Hold {
  const why = `${shown.length} listings on the service have this MLSNumber: see listing-sync repair ${settings.feed}`
  return holdBare(key, why, 'change', 'twice-shown', held)
}
