/** The rows of the decision table in which the feed does not hold the listing: it is absent, or said to be gone. */
import { DeleteAbsent, ForgetAbsent, hold, note, reasonOf, stepOf } from './change.ts'
import type { DeleteStated, ForgetStated, Hold, PlanStep } from './change.ts'
import type { PartHeld } from './guard/hold.ts'
import { homeOf } from './guard/home.ts'
import type { DeliveredRow, PlanSettings, SnapshotRow } from './inputs.ts'
import { AbsenceProof, tellsAbsence } from './proof.ts'
import type { Gone } from './proof.ts'
import type { Case } from './situation.ts'

/**
 * The feed does not hold this MLSNumber. Only a full, complete delivery says anything by that, and a delete needs a complete
 * list as well.
 */
export function absent(one: Case): PlanStep[] {
  const { key, mine, ours, shown, settings } = one
  if (mine !== null && !mine.owned && !ours) return forgottenMark(key, mine, settings)
  if (settings.mode !== 'full' || !settings.deletes) return []
  const gone = goneOf(one)
  const proof = AbsenceProof.of(settings, gone)
  const isProven = AbsenceProof.isOne(proof)
  // Noted whatever becomes of it: what holds it needs to know since when it is absent.
  const noted = tellsAbsence(settings) ? [note({ op: 'absent', key })] : []
  if (!ours && isProven) return handedOver(one)
  if (!ours) return mine === null || settings.agrees === null ? [] : noted
  const { home } = gone
  const snapshot = mine?.id ?? null
  if (shown.length === 0) {
    if (!isProven || mayStillLand(mine, settings)) return noted
    const why = 'gone from the feed and from the service'
    const reason = reasonOf('forget', 'absent')
    return [stepOf(new ForgetAbsent(proof, { why, reason, snapshot, home, counts: [], released: [] })), ...noted]
  }
  if (shown.length > 1) return [stepOf(twiceShown(one, 'delete')), ...noted]
  if (!isProven) {
    const isUnreadable = proof.cause === 'unreadable'
    const parts: PartHeld[] = isUnreadable ? [{ part: 'delete', content: '', rules: [], ends: 'never' }] : []
    const why = `absent from the feed, but ${proof.why}`
    return [stepOf(hold({ mlsNumber: key, held: 'delete' }, why, proof.until, proof.cause, parts)), ...noted]
  }
  const isOurs = one.row !== null || shown.some(({ owner }) => owner === settings.feed)
  const why = isOurs ? 'gone from the feed' : 'not in the feed, to which this chatbot belongs alone (ownership: mirror)'
  const deleted = new DeleteAbsent(proof, deleteOf(one, 'absent', why, home))
  const waiting = inGrace(one)
  if (waiting === null) return [stepOf(deleted), ...noted]
  return [stepOf(hold(deleted, `absent from the feed ${waiting} (limits.grace)`, 'time', 'grace')), ...noted]
}

/** The listing as far as its absence goes. */
function goneOf({ key, seen, delivered, mine, shown, history, settings }: Case): Gone {
  // Of a row that is no more than the mark of a call, or was so until another call, only the service tells the home.
  const item = mine?.owned === true && mine.content !== null ? null : shown[0]?.shown()
  return {
    mlsNumber: key,
    isDelivered: seen || delivered.length > 0,
    home: mine?.home ?? (item ? homeOf(item.fields) : null),
    absentSince: mine?.owned === true ? (history.absence?.since ?? settings.now) : null,
    wasAbsent: history.absence !== null,
    isApproved: history.holds.some(({ part, decision }) => part === 'delete' && decision === 'approved'),
  }
}

/** A listing is young for so many milliseconds after its create: to take many of these off again is odd. */
const youth = 45 * 86_400_000

/** What a delete says, whatever tells that the listing is gone. */
function deleteOf({ mine, shown, settings }: Case, cause: 'absent' | 'feed-says-so', why: string, home: string | null) {
  return {
    why,
    reason: reasonOf('delete', cause),
    shownHash: shown[0].hash,
    // A row that is only a mark of a call is none of the snapshot: nothing was delivered by it.
    snapshot: mine?.owned === true ? mine.id : null,
    // A call of an earlier run may still land on what is deleted now: whatever this delete is answered, its mark stays.
    unsettled: mayStillLand(mine, settings),
    home,
    isYoung: mine !== null && mine.bornAt !== null && settings.now - mine.bornAt < youth,
    counts: ['delete'] as const,
    released: [],
  }
}

/** How far a listing is in its grace, in words; null: it is over. */
function inGrace({ history, settings }: Case): string | null {
  const { absence } = history
  const { runs, hours } = settings.limits.grace
  const time = hours * 3_600_000
  const seen = (absence?.runs ?? 0) + 1
  const since = absence?.since ?? settings.now
  if (seen >= runs && settings.now - since >= time) return null
  const times = runs > 1 ? `for run ${seen} of ${runs}` : ''
  const until = time > 0 ? `deleted after ${new Date(since + time).toISOString()} at the earliest` : ''
  return [times, until].filter((part) => part !== '').join(', ')
}

/** The feed says that this listing is gone: a status that means removal, or left out by `where`. */
export function gone(one: Case, leaving: DeliveredRow): PlanStep[] {
  const steps = leave(one, leaving)
  const { key, mine, settings } = one
  if (steps.some(({ step }) => step === 'change')) return steps
  // Nothing is shown that could be deleted: a later list may show it, and a delta says it only once.
  const isDecided = settings.deletes && settings.remote.complete && !mayStillLand(mine, settings)
  return isDecided ? steps : [...steps, note({ op: 'undecided', key })]
}

function leave(one: Case, leaving: DeliveredRow): PlanStep[] {
  const { key, mine, ours, shown, settings } = one
  const why = leaving.why ?? 'the feed says it is gone'
  if (mine !== null && !mine.owned && !ours) return forgottenMark(key, mine, settings)
  if (!settings.deletes) return []
  if (!ours) return handedOver(one)
  if (shown.length > 1) return [stepOf(twiceShown(one, 'delete'))]
  const cause = 'feed-says-so'
  if (shown.length === 1) {
    const stated: DeleteStated = {
      kind: 'delete',
      cause,
      mlsNumber: key,
      ...deleteOf(one, cause, why, goneOf(one).home),
    }
    return [stepOf(stated)]
  }
  if (mine === null || !settings.remote.complete || mayStillLand(mine, settings)) return []
  return [stepOf(forgotten(key, cause, `${why}; no longer on the service`, mine.home))]
}

/**
 * Whether it can be told by now what became of the call in flight: by a whole list that began late enough or, where lists
 * are not whole, by look-ups, of which the first showed nothing longer ago than `settle`.
 */
export function isSettled(mine: SnapshotRow, settings: PlanSettings): boolean {
  const landed = (mine.flightAt ?? 0) + settings.settle
  // A clock that was set back may have noted the look-up before the call.
  if (mine.missedAt !== null && settings.now > Math.max(mine.missedAt + settings.settle, landed)) return true
  return settings.remote.complete && settings.remoteStartedAt >= landed
}

/**
 * A create under way may still make a listing that only the row knows to be ours; a delete may still take off a listing that
 * comes back; an update, or an earlier attempt of an answered one, may still overwrite it.
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
  return [stepOf(forgotten(key, 'other-feed', `feed ${other} of this chatbot has it`, null))]
}

function forgotten(
  mlsNumber: string,
  cause: 'feed-says-so' | 'other-feed',
  why: string,
  home: string | null,
): ForgetStated {
  return { kind: 'forget', cause, mlsNumber, why, reason: reasonOf('forget', cause), home, counts: [], released: [] }
}

/** Nobody can tell which of the copies a call would hit. */
export function twiceShown({ key, shown, settings }: Case, held: 'delete' | null): Hold {
  const why = `${shown.length} listings on the service have this MLSNumber: see listing-sync repair ${settings.feed}`
  return hold({ mlsNumber: key, held }, why, 'change', 'twice-shown')
}
