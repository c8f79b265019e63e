/** The rows of the decision table in which the feed holds exactly one listing for the MLSNumber. */
import { changedFields, differences, factsInPlace } from '../core/compare-listings.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import { fieldNames } from '../core/listing.ts'
import { hasPassed, nextTurn } from '../core/turn.ts'
import { calledBefore, valueInWords } from '../core/text.ts'
import { minuteIn } from '../core/zone.ts'
import type { Listing } from '../core/listing.ts'
import { twiceShown } from './absent.ts'
import { hold, isPutRight } from './change.ts'
import type { Adopt, Change, Create, Update, UpdateCause } from './change.ts'
import type { ShownRow, SnapshotRow } from './inputs.ts'
import { factsBroken } from './guard/facts.ts'
import { contentOf } from './guard/hold.ts'
import { day, isInVain, isSuspect, isUnderWay, otherOwner, refusedBefore } from './situation.ts'
import type { Case, WantedListing } from './situation.ts'

interface Wanting extends Case {
  wanted: WantedListing
  /** What the service shows of it; null: nothing. */
  item: ShownRow | null
}

/** Decides about an MLSNumber for which the feed holds one listing; null: nothing is to be done. */
export function present(known: Case, wanted: WantedListing): Change | null {
  const { key, row, mine, shown, settings } = known
  const other = otherOwner(known)
  const isTaken = other !== null && (settings.outranks(other) || isLeft(known, other))
  // A call of the other feed that may still land could undo it.
  const takesOver = isTaken && !isUnderWay(row, settings)
  if (other !== null && !takesOver) {
    // `status` names what the store has of a feed that left, and knows nothing of one that only a mark names.
    const todo = row === mine ? calledBefore(other) : 'listing-sync status says what to do'
    // Two offices may number their homes alike: then this one is on no site, and nothing else says so.
    const isOtherHome = row?.feed === other && (row.home ?? wanted.home) !== (wanted.home ?? row.home)
    const why = settings.configured.has(other)
      ? `also in ${other}, a feed of this chatbot that has it${isOtherHome ? ' with another address (different homes need mlsPrefix)' : ''}`
      : `also in ${other}, a feed that no longer fills this chatbot (${todo})`
    return hold({ mlsNumber: key }, 'other-feed', why)
  }
  if (shown.length > 1) return twiceShown(known, null)
  const situation: Wanting = { ...known, wanted, item: shown[0] ?? null }
  const change = takesOver ? takenOver(situation, other) : changeFor(situation)
  return change && postponed(situation, change)
}

/**
 * Whether a feed that no longer fills this chatbot, and so would never let go of it, has it in the store alone: people deleted it,
 * or its mark is this feed's since, as after a backup was put back.
 */
function isLeft({ row, shown, settings }: Case, other: string): boolean {
  const { feed, configured, remote, lookUps, remoteStartedAt, settle } = settings
  if (configured.has(other) || !remote.complete || lookUps !== null) return false
  return row !== null && remoteStartedAt >= row.sentAt + settle && shown.every(({ owner }) => owner === feed)
}

/** Takes a listing over from a feed that comes later or has left. It is sent even if it is as wanted, as its mark must change. */
function takenOver(situation: Wanting, other: string): Change {
  const isLater = situation.settings.outranks(other)
  const why = `taken over from feed ${other}, which ${isLater ? 'comes later' : 'no longer fills this chatbot'}`
  if (situation.item === null) return create(situation, 'new', why)
  if (situation.settings.ownership === 'snapshot') return adoptOrUpdate(situation, situation.item, 'never-sent', why)
  return update(situation, 'never-sent', why, shownDifferences(situation, situation.item))
}

function changeFor(situation: Wanting): Change | null {
  const { mine, item, ours, history, settings } = situation
  if (mine !== null && mine.flight !== null) return settled(situation, mine)
  if (mine !== null && mine.owned) return item === null ? lost(situation, mine) : confirmed(situation, mine, item)
  if (item === null) return create(situation, 'new', 'new in the feed')
  const { leftAt } = history
  // The list may lag behind our own delete: what it still shows is not taken over.
  if (leftAt !== null && settings.remoteStartedAt < leftAt + settings.settle)
    return inFlight(situation, leftAt, 'deleted just now, and the list may still show it')
  const why = ours ? "on the service with this feed's mark, not in the store" : 'on the service, never sent by us'
  return adoptOrUpdate(situation, item, 'never-sent', why)
}

/** Holds a create until a list tells that began `settle` after the call: by then the call has landed, or never will. */
function inFlight(situation: Wanting, calledAt: number, what: string): Change {
  const { settle, timezone } = situation.settings
  const why = `${what}: decided by what is shown after ${minuteIn(timezone, calledAt + settle)}`
  return hold(create(situation, 'new', why), 'in-flight', why)
}

/** A call got no answer: what the service shows tells what became of it. */
function settled(situation: Wanting, mine: SnapshotRow): Change | null {
  const { item, settings } = situation
  const { flight, missedAt } = mine
  const unanswered = `an earlier ${flight} got no answer`
  if (item !== null) return adoptOrUpdate(situation, item, 'settle', unanswered)
  if (flight === 'update') return lost(situation, mine)
  if (isUnderWay(mine, settings)) {
    if (missedAt !== null || settings.remote.complete)
      return inFlight(situation, missedAt ?? mine.flightAt!, `${unanswered} and may still land`)
    return create(situation, 'new', `${unanswered}, and the list is incomplete: looked up`)
  }
  return create(
    situation,
    'new',
    flight === 'create' ? `${unanswered} and never showed` : 'deleted before, delivered again',
  )
}

/** The listing is ours, and the service shows it. */
function confirmed(situation: Wanting, mine: SnapshotRow, item: ShownRow): Change | null {
  const { key, wanted, notes, settings } = situation
  if (mine.content === null) return adoptOrUpdate(situation, item, 'settle', 'what was sent last is not known')
  const news = newsOf(situation, mine)
  if (news.length > 0) return changed(situation, mine, news)
  if ('delivered' in wanted.at) notes.push({ op: 'touch', snapshot: mine.id, position: wanted.at.delivered })
  const isNew = mine.baseline !== item.hash
  if (isUnseen(mine) && isSuspect(mine, settings)) {
    // So that it stays pending: a delta says it only once.
    notes.push({ op: 'undecided', key })
    return null
  }
  const fields = isNew || mine.ignored ? shownDifferences(situation, item) : []
  const edit = fields.length === 0 ? null : shownOtherwise(situation, mine, item, fields)
  if (edit !== null) return edit
  const given = isNew ? factsShown(situation) : undefined
  if (given !== undefined) {
    const why = `${Object.keys(given).join(', ')} was given on the service, where a placeholder was sent: it stays`
    return adopt(situation, item, 'as-wanted', why)
  }
  // An edit that stays is no baseline, so that it is seen again under another `drift`. A refresh would undo it.
  const isKept = fields.length > 0 && !isUnseen(mine)
  if (isKept) notes.push({ op: 'kept', key })
  else if (isNew || mine.ignored || mine.undone > 0) notes.push({ op: 'baseline', key, hash: item.hash })
  return isKept ? null : refreshed(situation, mine, item)
}

/** Whether no run has seen it as it was sent last: none has looked, or one still saw what was there before. */
const isUnseen = ({ baseline, ignored }: SnapshotRow): boolean => baseline === null || ignored

/** Whether the service confirmed the last write and goes on showing what was there before. */
const isIgnored = ({ mine, item }: Wanting): boolean => mine?.ignored === true && mine.baseline === item?.hash

/** What to do about a listing that is not shown as it was sent; null: nothing. */
function shownOtherwise(situation: Wanting, mine: SnapshotRow, item: ShownRow, fields: FieldChange[]): Change | null {
  const { drift, forms, now, ownership } = situation.settings
  if (isIgnored(situation)) {
    const [{ field, from, to }] = fields
    const why = `the service confirmed it and goes on showing ${field} as ${valueInWords(field, from)}, not ${valueInWords(field, to)}`
    // If the service shows no mark either, it may keep none: two writes of one run tell its own form.
    const keepsNone = ownership !== 'snapshot' && item.owner === null
    const sendAgain = update(situation, keepsNone ? 'unseen' : 'drifted', why, fields)
    // A nightly run begins a little earlier than what was sent the night before.
    if (hasPassed(mine.sentAt, day, now)) return sendAgain
    return hold(sendAgain, 'not-converging', `not converging: ${why}; sent again after a day`)
  }
  // Never looked at since it was sent, it may be the service's own form, if its fields are known for one, or somebody's edit.
  const isFirst = isUnseen(mine)
  if (isFirst && fields.every(({ field }) => forms.has(field))) return null
  // Under any `drift`, an earlier attempt of ours that landed late must not stay.
  if (isFirst && (drift === 'overwrite' || mine.suspectUntil !== null))
    return update(situation, 'unseen', 'shown otherwise than sent, and never looked at', fields)
  if (drift === 'keep') return null
  const why = wasPutRight(situation) ? 'drifted on the service again after it was sent again' : 'drifted on the service'
  const sendAgain = update(situation, 'drifted', why, fields)
  return drift === 'overwrite' ? sendAgain : hold(sendAgain, 'drifted', `${why} (drift: report)`)
}

function changed(situation: Wanting, mine: SnapshotRow, news: FieldChange[]): Change {
  const { item, wanted, settings } = situation
  // Volatile fields that are due go along, as they have to go even if the guard holds the news.
  const due = situation.history.holds.length > 0 ? fieldsDue(situation, mine) : null
  const fields = [...news, ...(due ?? [])]
  const step = wanted.byMapping
    ? update(situation, 'mapping', 'the mapping changed', fields)
    : update(situation, 'changed', 'changed in the feed', fields)
  if (item === null || mine.baseline === item.hash || (!isUnseen(mine) && settings.drift !== 'overwrite')) return step
  // The service shows an edit, or a late attempt of ours. That is put right even if the guard holds the news. Each field is named,
  // as an update clears only what it is told to; what stayed would be taken for fields that can't be cleared.
  const named = new Set(fields.map(({ field }) => field))
  const edited = shownDifferences(situation, item).filter(({ field }) => !named.has(field))
  return { ...step, fields: [...step.fields, ...edited] }
}

/** Once in `volatile.refresh`, volatile fields that changed, or a mark with a former name of the feed, make an update of their own. */
function refreshed(situation: Wanting, mine: SnapshotRow, item: ShownRow): Change | null {
  const fields = fieldsDue(situation, mine)
  if (fields === null) return null
  if (fields.length > 0) return update(situation, 'refresh', 'fields that move by themselves are due', fields)
  return item.isFormer ? update(situation, 'refresh', 'marked with a former name of its feed', []) : null
}

/** The volatile fields that changed; null: the turn of this listing has not come. */
function fieldsDue({ key, settings, recall, wanted }: Wanting, mine: SnapshotRow): FieldChange[] | null {
  const { volatile, now } = settings
  if (nextTurn(key, mine.sentAt, volatile.refresh) > now) return null
  return changedFields(recall(mine.id).listing, wanted.listing(), volatile.fields)
}

/** The listing is ours and delivered, but not shown. */
function lost(situation: Wanting, mine: SnapshotRow): Change | null {
  if (situation.settings.remote.complete || mine.content === null)
    return create(situation, 'gone-from-service', 'gone from the service')
  // An update by MLSNumber is safe although the listing was not seen: if it matches nothing, the listing is looked up.
  const news = newsOf(situation, mine)
  return news.length > 0 || mine.flight !== null ? changed(situation, mine, news) : null
}

function adoptOrUpdate(situation: Wanting, item: ShownRow, cause: 'settle' | 'never-sent', why: string): Change {
  const fields = shownDifferences(situation, item)
  if (fields.length === 0)
    return adopt(situation, item, cause === 'settle' ? 'settle' : 'as-wanted', `${why}; already as wanted`)
  return update(situation, cause, why, fields)
}

/** What all changes of a wanted listing have in common. */
function about<C extends string>(situation: Wanting, cause: C, why: string) {
  const { key, mine, wanted, settings } = situation
  const { lostUntil, now } = settings
  // After a lost store nobody knows what was under way: calls of the process that died may still land.
  const unsettled = isUnderWay(mine, settings) || (lostUntil !== null && now < lostUntil)
  // No rule holds a refresh, and hashing it would read every listing of the feed.
  const canBeHeld = 'snapshot' in wanted.at && cause !== 'refresh'
  const whole = canBeHeld ? { whole: contentOf('update', wanted.listing(), settings.volatile.fields) } : {}
  return { cause, mlsNumber: key, why, wanted: wanted.at, ...whole, unsettled, facts: factsShown(situation) }
}

/** The same of creates and updates. Facts count as broken only against what this feed sent last, never against what others put there. */
function sent<C extends (Create | Update)['cause']>(situation: Wanting, cause: C, why: string, fields: FieldChange[]) {
  const { mine, wanted, recall } = situation
  // A create that got no answer may be of a listing that had been sent before.
  const isRetried = cause === 'new' && mine?.flight === 'create'
  const isNews = isRetried || ['changed', 'mapping', 'settle', 'never-sent', 'gone-from-service'].includes(cause)
  const isKnown = isNews && mine !== null && mine.content !== null && mine.content !== wanted.content
  const broken = isKnown ? factsBroken(recall(mine.id).listing, wanted.listing()) : []
  return { ...about(situation, cause, why), content: wanted.content, fields, broken, withheld: [] }
}

function adopt(situation: Wanting, item: ShownRow, cause: Adopt['cause'], why: string): Adopt {
  return { kind: 'adopt', ...about(situation, cause, why), shownHash: item.hash }
}

function create(situation: Wanting, cause: Create['cause'], why: string): Create {
  const { row, mine, wanted, history, settings } = situation
  return {
    kind: 'create',
    // After our own delete there is nothing to compare with.
    ...sent(situation, cause, why, mine?.flight === 'delete' ? [] : newsOf(situation, mine)),
    // One list that lacks a known listing is weak evidence. A row of a refusal alone makes it known, too, as the refused call may
    // have been an update. A lost store may have known any listing.
    lookUp: row !== null || !settings.remote.complete || settings.lostUntil !== null,
    home: wanted.home,
    isBack: history.leftAt !== null,
  }
}

function update(situation: Wanting, cause: UpdateCause, why: string, fields: FieldChange[]): Update {
  const { mine, item, settings } = situation
  return {
    kind: 'update',
    ...sent(situation, cause, why, fields),
    // An update hits every copy of an MLSNumber, and an incomplete list may hide a copy that is another feed's.
    lookUp: item !== null && !settings.remote.complete && (mine?.owned !== true || otherOwner(situation) !== null),
    shownHash: item?.hash ?? mine?.baseline ?? null,
    // What the service ignored nobody has edited.
    again: isPutRight({ kind: 'update', cause }) && wasPutRight(situation) && !isIgnored(situation),
  }
}

/** Facts that somebody entered on the service where a placeholder was sent; undefined: none. */
function factsShown({ wanted, item }: Wanting): Partial<Listing> | undefined {
  const placeholders = item === null ? [] : wanted.placeholders()
  const shown = placeholders.length === 0 ? null : item?.shown()
  const facts = shown ? factsInPlace(wanted.listing(), placeholders, shown) : {}
  return Object.keys(facts).length > 0 ? facts : undefined
}

/** Differences between wanted and shown. An item that was not kept is as its baseline, so as it was confirmed last. */
function shownDifferences(situation: Wanting, item: ShownRow): FieldChange[] {
  const { row, wanted, settings } = situation
  const shown = item.shown()
  if (shown !== null)
    return differences(wanted.listing(), shown, new Set([...settings.volatile.fields, ...wanted.placeholders()]))
  return newsOf(situation, row)
}

/** Milliseconds: longer than from one nightly run to the next. */
const lately = 1.5 * day

/** Whether it was put right lately. If it is edited again so soon, a program is more likely than a person. */
function wasPutRight({ mine, settings }: Case): boolean {
  return mine !== null && mine.putRightAt !== null && settings.now - mine.putRightAt < lately
}

/** The change; or a hold, if the store was lost, the service refused it, or something undoes it each time. */
function postponed({ mine, row, wanted, settings }: Wanting, change: Change): Change {
  const { lostUntil, now, timezone } = settings
  const isCreate = change.kind === 'create'
  // A lost store has forgotten which calls are under way: nothing is created before they have landed.
  if (isCreate && lostUntil !== null && lostUntil > now) {
    const until = minuteIn(timezone, lostUntil)
    const why = `the store was lost, moved or put back: creates wait until ${until}, as calls that it does not know of may still land`
    return hold(change, 'lost-store', why)
  }
  const refused = refusedBefore(row, wanted.content, settings)
  if (refused !== null && (isCreate || change.kind === 'update')) return hold(change, 'refused-before', refused)
  const { undone = 0, putRightAt = null } = mine ?? {}
  if (change.kind === 'hold' || !isPutRight(change) || !isInVain(undone, putRightAt, now)) return change
  // What the service shows in its own form, it may also change by itself, as addresses of photos that are signed anew each day.
  const isOwn = change.kind === 'update' && change.fields.every(({ field }) => settings.forms.has(field))
  const remedy = isOwn
    ? `if the service itself changes ${change.fields.map(({ field }) => field).join(' or ')}, name that in volatile.fields, beside DaysOnMarket; else find what undoes it on the chatbot and stop it`
    : 'find what undoes it on the chatbot and stop it'
  const why = `not converging: ${change.why}, though put right ${undone} times running: ${remedy}; it is put right again a week after the last time`
  return hold(change, 'not-converging', why)
}

/** What the feed changed since the row was sent, but for volatile fields. `content` may differ all the same: others were volatile then. */
function newsOf({ settings, recall, wanted }: Wanting, row: SnapshotRow | null): FieldChange[] {
  if (row === null || row.content === null || wanted.content === row.content) return []
  const lasting = fieldNames.filter((field) => !settings.volatile.fields.has(field))
  return changedFields(recall(row.id).listing, wanted.listing(), lasting)
}
