/** The rows of the decision table in which the feed does not hold the listing: it is absent, or said to be gone. */
import { minuteIn } from '../core/zone.ts'
import { DeleteAbsent, ForgetAbsent, hold } from './change.ts'
import type { Change, Hold } from './change.ts'
import { homeHashOf } from '../core/home-hash.ts'
import type { HomeHash } from '../core/home-hash.ts'
import type { DeliveredRow } from './inputs.ts'
import { AbsenceProof, tellsAbsence } from './proof.ts'
import type { Gone } from './proof.ts'
import { isSuspect, isUnderWay } from './situation.ts'
import type { Case } from './situation.ts'

/** A listing is young for so many milliseconds after its create: to take many of these off again is odd. */
const youth = 45 * 86_400_000

/** `stated`: the record that says that the listing is gone; null: none does, it is absent. */
export function leaving(one: Case, stated: DeliveredRow | null): Change | null {
  const change = leave(one, stated)
  // Nothing is shown that could be deleted: a later list may show it, and a delta says it only once.
  const isDecided = change !== null || (one.settings.deletes && one.settings.remote.complete && !mayStillLand(one))
  if (stated !== null && !isDecided) one.notes.push({ op: 'undecided', key: one.key })
  return change
}

function leave(one: Case, stated: DeliveredRow | null): Change | null {
  const { key, mine, ours, shown, notes, settings } = one
  if (mine !== null && !mine.owned && !ours) {
    // A row that is no listing of ours, only a call in flight or a refusal, goes once it can no longer matter.
    if (settings.remote.complete && !isUnderWay(mine, settings)) notes.push({ op: 'forget-flight', key })
    return null
  }
  // Only a full delivery says anything by absence.
  if (stated === null && settings.mode !== 'full') return ours && shown.length > 1 ? twiceShown(one, 'delete') : null
  const gone = goneOf(one, stated !== null)
  const { home } = gone
  const proof = AbsenceProof.of(settings, gone)
  const isProven = proof instanceof AbsenceProof
  // Noted whatever becomes of it: what holds it needs to know since when it is absent.
  const isNoted = ours || (!isProven && mine !== null && settings.agrees !== null)
  if (stated === null && isNoted && settings.deletes && tellsAbsence(settings)) notes.push({ op: 'absent', key })
  if (!ours) return isProven ? handedOver(one) : null
  if (shown.length > 1) return twiceShown(one, 'delete', home)
  const said = stated?.why ?? 'the feed says it is gone'
  if (shown.length === 0 && settings.remote.complete) {
    if (!isProven || mayStillLand(one)) return null
    const why = stated === null ? 'gone from the feed and from the service' : `${said}; no longer on the service`
    return new ForgetAbsent(proof, { why })
  }
  const isYoung = mine !== null && mine.bornAt !== null && settings.now - mine.bornAt < youth
  if (!isProven) {
    const why = `${stated === null ? 'absent from the feed' : said}, but ${proof.why}`
    return hold({ mlsNumber: key, held: 'delete' }, proof.cause, why, { until: proof.until, home, isYoung })
  }
  const isOurs = one.row !== null || shown.some(({ owner }) => owner === settings.feed)
  const absent = isOurs
    ? 'gone from the feed'
    : 'not in the feed, to which this chatbot belongs alone (ownership: mirror)'
  const deleted = new DeleteAbsent(proof, {
    why: stated === null ? absent : said,
    shownHash: shown[0].hash,
    // A call of an earlier run may still land on what is deleted now: whatever this delete is answered, its mark stays.
    unsettled: mayStillLand(one),
    isYoung,
  })
  const waiting = stated === null ? inGrace(one) : null
  return waiting === null
    ? deleted
    : hold(deleted, 'grace', `absent from the feed ${waiting} (limits.grace)`, { isYoung })
}

function goneOf({ key, seen, delivered, mine, shown, history }: Case, isStated: boolean): Gone {
  // A row that is only a mark of a call is none of the snapshot: nothing was delivered by it.
  const own = mine?.owned === true ? mine : null
  // Of a row that is no more than that, or was so until another call, only the service tells the home.
  const item = own !== null && own.content !== null ? null : shown[0]?.shown()
  return {
    mlsNumber: key,
    isStated,
    isDelivered: seen || delivered.length > 0,
    isShown: shown.length > 0,
    home: mine?.home ?? (item ? homeHashOf(item.fields) : null),
    snapshot: own?.id ?? null,
    remembered: history,
  }
}

/** How far a listing is in its grace, in words; null: it is over. */
function inGrace({ history: { absence }, settings: { limits, now, timezone } }: Case): string | null {
  const { runs, hours } = limits.grace
  const time = hours * 3_600_000
  const { runs: before, since } = absence ?? { runs: 0, since: now }
  if (before + 1 >= runs && (time === 0 || now - since >= time)) return null
  const until = `deleted after ${minuteIn(timezone, since + time)} at the earliest`
  return [...(runs > 1 ? [`for run ${before + 1} of ${runs}`] : []), ...(time > 0 ? [until] : [])].join(', ')
}

/** An earlier call may still make the listing, take it off once it is back, or overwrite it. */
function mayStillLand({ mine, settings }: Case): boolean {
  return mine !== null && (isUnderWay(mine, settings) || isSuspect(mine, settings))
}

/** Another feed took over what the row says is ours, and the feed holds it no more: it is the other's to keep or to delete. */
function handedOver({ key, mine, shown }: Case): Change | null {
  const other = shown.find(({ owner }) => owner !== null)?.owner
  if (mine === null || mine.flight !== null || other === undefined) return null
  const why = `feed ${other} of this chatbot has it`
  return { kind: 'forget', cause: 'other-feed', mlsNumber: key, why, home: null }
}

/** Nobody can tell which of the copies a call would hit. */
export function twiceShown({ key, shown, settings }: Case, held: 'delete' | null, home?: HomeHash): Hold {
  const why = `${shown.length} listings on the service have this MLSNumber: see listing-sync repair ${settings.feed}`
  return hold({ mlsNumber: key, held }, 'twice-shown', why, { home })
}
