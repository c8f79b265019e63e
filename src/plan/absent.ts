/** The rows of the decision table in which the feed does not hold the listing: it is absent, or the feed says that it is gone. */
import { calledBefore } from '../core/text.ts'
import { hasPassed } from '../core/turn.ts'
import { minuteIn } from '../core/zone.ts'
import { DeleteAbsent, ForgetAbsent, hold } from './change.ts'
import type { Change, Hold } from './change.ts'
import { homeHashOf } from '../core/home-hash.ts'
import type { HomeHash } from '../core/home-hash.ts'
import type { DeliveredRow } from './inputs.ts'
import { AbsenceProof, tellsAbsence } from './proof.ts'
import type { Gone } from './proof.ts'
import { isInVain, isSuspect, isUnderWay, otherOwner } from './situation.ts'
import type { Case } from './situation.ts'

/** How long a listing is young after its create, in milliseconds. Many young ones that leave hint at an older delivery. */
const youth = 45 * 86_400_000

/** Decides about a listing that the feed does not hold. `stated`: the record that says that it is gone; null: it is absent. */
export function leaving(situation: Case, stated: DeliveredRow | null): Change | null {
  const change = leave(situation, stated)
  // A listing that is not shown now may be in a later list, and a delta does not say again that it is gone.
  const isDecided =
    change !== null || (situation.settings.deletes && situation.settings.remote.complete && !mayStillLand(situation))
  if (stated !== null && !isDecided) situation.notes.push({ op: 'undecided', key: situation.key })
  return change
}

function leave(situation: Case, stated: DeliveredRow | null): Change | null {
  const { key, mine, ours, shown, notes, settings } = situation
  if (mine !== null && !mine.owned && !ours) {
    // The row only notes a call in flight or a refusal. It goes once that can't matter any more.
    if (settings.remote.complete && !isUnderWay(mine, settings)) notes.push({ op: 'forget-flight', key })
    return null
  }
  // Absence means something in a full delivery only.
  if (stated === null && settings.mode !== 'full')
    return ours && shown.length > 1 ? twiceShown(situation, 'delete') : null
  const gone = goneOf(situation, stated !== null)
  const { home } = gone
  const proof = AbsenceProof.of(settings, gone)
  const isProven = proof instanceof AbsenceProof
  // Noted even if the delete is held: the hold needs to know since when the listing is absent.
  const isNoted = ours || (!isProven && mine !== null && settings.agrees !== null)
  if (stated === null && isNoted && settings.deletes && tellsAbsence(settings)) notes.push({ op: 'absent', key })
  if (!ours && stated?.kind === 'removal' && settings.mode === 'delta' && mine === null) return leftOver(situation)
  if (!ours) return isProven ? handedOver(situation) : null
  if (shown.length > 1) return twiceShown(situation, 'delete', home)
  const reason = stated?.why ?? 'the feed says it is gone'
  if (shown.length === 0 && settings.remote.complete) {
    if (!isProven || mayStillLand(situation)) return null
    const why = stated === null ? 'gone from the feed and from the service' : `${reason}; no longer on the service`
    return new ForgetAbsent(proof, { why })
  }
  const isYoung = mine !== null && mine.bornAt !== null && settings.now - mine.bornAt < youth
  if (!isProven) {
    const why = `${stated === null ? 'absent from the feed' : reason}, but ${proof.why}`
    return hold({ mlsNumber: key, held: 'delete' }, proof.cause, why, { isConflict: proof.isConflict, home, isYoung })
  }
  const isOurs = situation.row !== null || shown.some(({ owner }) => owner === settings.feed)
  const absent = isOurs
    ? 'gone from the feed'
    : 'not in the feed, to which this chatbot belongs alone (ownership: mirror)'
  const deleted = new DeleteAbsent(proof, {
    why: stated === null ? absent : reason,
    shownHash: shown[0].hash,
    // A call of an earlier run may still land after this delete, so its mark in the store stays whatever the answer.
    unsettled: mayStillLand(situation),
    isYoung,
  })
  const undone = undoneTimes(situation)
  if (undone !== null) {
    const why = `not converging: ${deleted.why}, and deleted ${undone} times, but the service goes on showing it: delete it on the chatbot; it is deleted again a week after the last time`
    return hold(deleted, 'not-converging', why)
  }
  const waiting = stated === null ? inGrace(situation) : null
  return waiting === null
    ? deleted
    : hold(deleted, 'grace', `absent from the feed${waiting} (limits.grace)`, { isYoung })
}

function goneOf({ key, seen, delivered, mine, shown, history, settings, recall }: Case, isStated: boolean): Gone {
  // A row that only notes a call is not of the snapshot.
  const own = mine?.owned === true ? mine : null
  // A row that was last read by an older version may not know its home. One without content never does: the item tells it.
  const place = () => {
    if (own === null || own.content === null) return shown[0]?.shown()?.fields
    return own.mapping === settings.mapping ? undefined : recall(own.id).listing
  }
  return {
    mlsNumber: key,
    isStated,
    isDelivered: seen || delivered.length > 0,
    isShown: shown.length > 0,
    home: mine?.home ?? homeHashOf(place() ?? {}),
    snapshot: own?.id ?? null,
    remembered: history,
  }
}

/** How often it was deleted, if that was often and in vain, and not long ago; null: it is to be deleted. */
function undoneTimes({ mine, history: { leftAt, deletes = 0 }, settings }: Case): number | null {
  if (leftAt === null || !isInVain(deletes, leftAt, settings.now)) return null
  // It may have been made again since, and a list that lags may still show it.
  const isLeft = mine === null || (mine.flight === 'delete' && !mine.owned)
  return isLeft && settings.remoteStartedAt >= leftAt + settings.settle ? deletes : null
}

/** What a listing waits for in its grace, in words; null: the grace is over, or a person has decided about the delete. */
function inGrace({ history: { absence, holds }, settings: { limits, now, timezone } }: Case): string | null {
  if (holds.some(({ part, decision }) => part === 'delete' && decision !== null)) return null
  const [runs, ms] = [limits.grace.runs, limits.grace.hours * 3_600_000]
  const { runs: before, since } = absence ?? { runs: 0, since: now }
  const more = before + 1 < runs ? ` for run ${before + 1} of ${runs}` : ''
  const rest =
    ms > 0 && !hasPassed(since, ms, now) ? `, deleted after ${minuteIn(timezone, since + ms)} at the earliest` : ''
  return more + rest || null
}

/** Whether an earlier call may still create, delete or overwrite the listing. */
function mayStillLand({ mine, settings }: Case): boolean {
  return mine !== null && (isUnderWay(mine, settings) || isSuspect(mine, settings))
}

/**
 * Holds what a delta says is gone while a feed that left has it, as a delta says it once: that feed may be this one, under a name
 * that is not yet written after `formerly`.
 */
function leftOver(situation: Case): Change | null {
  const other = situation.shown.length > 0 ? otherOwner(situation) : null
  if (other === null || situation.settings.configured.has(other)) return null
  return hold({ mlsNumber: situation.key, held: 'delete' }, 'other-feed', leftIn(other))
}

const leftIn = (other: string): string =>
  `gone from the feed, but in ${other}, a feed that no longer fills this chatbot (${calledBefore(other)})`

/** Forgets a listing that another feed has taken over and this feed no longer holds: that feed, if it is one, keeps or deletes it. */
function handedOver({ key, mine, shown, settings }: Case): Change | null {
  const other = shown.find(({ owner }) => owner !== null)?.owner ?? null
  if (mine === null || mine.flight !== null || other === null) return null
  if (!settings.configured.has(other)) return hold({ mlsNumber: key, held: 'forget' }, 'other-feed', leftIn(other))
  const why = `feed ${other} of this chatbot has it`
  return { kind: 'forget', cause: 'other-feed', mlsNumber: key, why, home: null }
}

/** Holds a listing that the service shows more than once: nobody can tell which copy a call would hit. */
export function twiceShown({ key, shown, ours, settings }: Case, held: 'delete' | null, home?: HomeHash): Hold {
  const todo = ours
    ? `see listing-sync repair ${settings.feed}`
    : "none is known as this feed's, so delete all but one on the chatbot"
  const why = `${shown.length} listings on the service have this MLSNumber: ${todo}`
  return hold({ mlsNumber: key, held }, 'twice-shown', why, { home })
}
