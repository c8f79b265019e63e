/** The rows of the decision table in which the feed holds exactly one listing for the MLSNumber. */
import { changedFields, differences, factsInPlace } from '../core/compare-listings.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import { fieldNames } from '../core/listing.ts'
import { nextTurn } from '../core/turn.ts'
import { valueInWords } from '../core/text.ts'
import { minuteIn } from '../core/zone.ts'
import type { Listing } from '../core/listing.ts'
import { twiceShown } from './absent.ts'
import { hold, isPutRight } from './change.ts'
import type { Adopt, Change, Create, Update, UpdateCause } from './change.ts'
import type { ShownRow, SnapshotRow } from './inputs.ts'
import { factsBroken } from './guard/facts.ts'
import { contentOf } from './guard/hold.ts'
import { isSuspect, isUnderWay, refusedBefore } from './situation.ts'
import type { Case, WantedListing } from './situation.ts'

interface Wanting extends Case {
  wanted: WantedListing
  /** What the service shows of it; null: nothing. */
  item: ShownRow | null
}

const day = 86_400_000

export function present(known: Case, wanted: WantedListing): Change | null {
  const { key, row, shown, settings } = known
  const other = otherOwner(known)
  // While a call of the other feed may still land, nobody knows what it leaves behind.
  const takesOver = other !== null && settings.outranks(other) && !isUnderWay(row, settings)
  if (other !== null && !takesOver) {
    const left = ` and is not in this configuration (formerly: [${other}] in a feed hands it over)`
    const why = `also in ${other}, a feed of this chatbot that has it`
    return hold({ mlsNumber: key }, 'other-feed', settings.configured.has(other) ? why : why + left)
  }
  if (shown.length > 1) return twiceShown(known, null)
  const one: Wanting = { ...known, wanted, item: shown[0] ?? null }
  const change = takesOver ? takenOver(one, other) : changeFor(one)
  return change && postponed(one, change)
}

/** The name of another feed that has this listing, by our own memory or by its mark on the service. */
function otherOwner({ row, mine, shown, settings }: Case): string | null {
  if (row !== null && mine === null && (row.owned || row.flight !== null)) return row.feed
  if (settings.ownership === 'snapshot') return null
  return shown.find((item) => item.owner !== null && item.owner !== settings.feed)?.owner ?? null
}

/** This feed comes before the one that has the listing. It is sent even where it is as wanted: the mark must change. */
function takenOver(one: Wanting, other: string): Change {
  const why = `taken over from feed ${other}, which comes later`
  if (one.item === null) return create(one, 'new', why)
  if (one.settings.ownership === 'snapshot') return adoptOrUpdate(one, one.item, 'never-sent', why)
  return update(one, 'never-sent', why, shownDifferences(one, one.item))
}

function changeFor(one: Wanting): Change | null {
  const { mine, item, ours, history, settings } = one
  if (mine !== null && mine.flight !== null) return settled(one, mine)
  if (mine !== null && mine.owned) return item === null ? lost(one, mine) : confirmed(one, mine, item)
  if (item === null) return create(one, 'new', 'new in the feed')
  const { leftAt } = history
  // To take over what the list may only still show would be to believe that it is there.
  if (leftAt !== null && settings.remoteStartedAt < leftAt + settings.settle)
    return inFlight(one, leftAt, 'deleted just now, and the list may still show it')
  const why = ours ? "on the service with this feed's mark, not in the store" : 'on the service, never sent by us'
  return adoptOrUpdate(one, item, 'never-sent', why)
}

/** Held until a list tells that began so long after the call that it landed. */
function inFlight(one: Wanting, calledAt: number, what: string): Change {
  const { settle, timezone } = one.settings
  const why = `${what}: decided by what is shown after ${minuteIn(timezone, calledAt + settle)}`
  return hold(create(one, 'new', why), 'in-flight', why)
}

/** A call was under way when we last knew: what the service shows settles it. */
function settled(one: Wanting, mine: SnapshotRow): Change | null {
  const { item, settings } = one
  const { flight, missedAt } = mine
  const unanswered = `an earlier ${flight} got no answer`
  if (item !== null) return adoptOrUpdate(one, item, 'settle', unanswered)
  if (flight === 'update') return lost(one, mine)
  if (isUnderWay(mine, settings)) {
    if (missedAt !== null || settings.remote.complete)
      return inFlight(one, missedAt ?? mine.flightAt!, `${unanswered} and may still land`)
    return create(one, 'new', `${unanswered}, and the list is incomplete: looked up`)
  }
  return create(one, 'new', flight === 'create' ? `${unanswered} and never showed` : 'deleted before, delivered again')
}

/** Ours and shown. */
function confirmed(one: Wanting, mine: SnapshotRow, item: ShownRow): Change | null {
  const { key, wanted, notes, settings } = one
  if (mine.content === null) return adoptOrUpdate(one, item, 'settle', 'what was sent last is not known')
  const news = newsOf(one, mine)
  if (news.length > 0) return changed(one, mine, news)
  if ('delivered' in wanted.at) notes.push({ op: 'touch', snapshot: mine.id, position: wanted.at.delivered })
  const isNew = mine.baseline !== item.hash
  if (isUnseen(mine) && isSuspect(mine, settings)) {
    // A delta says it only once.
    notes.push({ op: 'undecided', key })
    return null
  }
  const fields = isNew || mine.ignored ? shownDifferences(one, item) : []
  const edit = fields.length === 0 ? null : shownOtherwise(one, mine, item, fields)
  if (edit !== null) return edit
  const given = isNew ? factsShown(one) : undefined
  if (given !== undefined) {
    const why = `${Object.keys(given).join(', ')} was given on the service, where a placeholder was sent: it stays`
    return adopt(one, item, 'as-wanted', why)
  }
  // An edit that stays is not how the service shows what we sent: under another policy it is seen again.
  if (fields.length > 0 && !isUnseen(mine)) notes.push({ op: 'kept', key })
  else if (isNew || mine.ignored || mine.undone > 0) notes.push({ op: 'baseline', key, hash: item.hash })
  return refreshed(one, mine, item)
}

/** Nobody looked at it after it was sent, or whoever did saw it as it was before that. */
const isUnseen = ({ baseline, ignored }: SnapshotRow): boolean => baseline === null || ignored

/** What is done where a listing is not shown as it was sent; null: nothing. */
function shownOtherwise(one: Wanting, mine: SnapshotRow, item: ShownRow, fields: FieldChange[]): Change | null {
  const { drift, forms, now } = one.settings
  if (mine.ignored && mine.baseline === item.hash) {
    const [{ field, from, to }] = fields
    const why = `the service confirmed it and goes on showing ${field} as ${valueInWords(field, from)}, not ${valueInWords(field, to)}`
    const sendAgain = update(one, 'drifted', why, fields)
    if (now - mine.sentAt >= day) return sendAgain
    return hold(sendAgain, 'not-converging', `not converging: ${why}; sent again after a day`)
  }
  // Nobody looked at it after it was sent: a form of the service's own, if it is known for that, or somebody's edit.
  const isFirst = isUnseen(mine)
  if (isFirst && fields.every(({ field }) => forms.has(field))) return null
  // An earlier attempt of ours may have landed over it: no policy lets that stand.
  if (isFirst && (drift === 'overwrite' || mine.suspectUntil !== null))
    return update(one, 'unseen', 'shown otherwise than sent, and never looked at', fields)
  if (drift === 'keep') return null
  const why = wasPutRight(one) ? 'drifted on the service again after it was sent again' : 'drifted on the service'
  const sendAgain = update(one, 'drifted', why, fields)
  return drift === 'overwrite' ? sendAgain : hold(sendAgain, 'drifted', `${why} (drift: report)`)
}

function changed(one: Wanting, mine: SnapshotRow, news: FieldChange[]): Change {
  const { item, wanted, settings } = one
  const [cause, why] = wanted.byMapping
    ? (['mapping', 'the mapping changed'] as const)
    : (['changed', 'changed in the feed'] as const)
  // They take their turn although the guard may hold the news.
  const due = one.history.holds.length > 0 ? fieldsDue(one, mine) : null
  const step = update(one, cause, why, [...news, ...(due ?? [])])
  if (item === null || mine.baseline === item.hash || (!isUnseen(mine) && settings.drift !== 'overwrite')) return step
  // What somebody edited, or an unanswered attempt that landed late: it is put right though the guard may hold the news. An update
  // leaves alone what it is not told to clear, and what is shown after it would be taken for fields that cannot be cleared.
  const others = shownDifferences(one, item).filter(
    ({ field }) => !step.fields.some((change) => change.field === field),
  )
  return { ...step, fields: [...step.fields, ...others] }
}

/** The moving fields, and a mark with a former name of the feed, travel alone once in `volatile.refresh`. */
function refreshed(one: Wanting, mine: SnapshotRow, item: ShownRow): Change | null {
  const fields = fieldsDue(one, mine)
  if (fields === null) return null
  if (fields.length > 0) return update(one, 'refresh', 'fields that move by themselves are due', fields)
  return item.isFormer ? update(one, 'refresh', 'marked with a former name of its feed', []) : null
}

/** null: its turn has not come. */
function fieldsDue(
  { key, settings: { volatile, now }, recall, wanted }: Wanting,
  mine: SnapshotRow,
): FieldChange[] | null {
  if (nextTurn(key, mine.sentAt, volatile.refresh) > now) return null
  return changedFields(recall(mine.id).listing, wanted.listing(), volatile.fields)
}

/** Ours, delivered, and not shown. */
function lost(one: Wanting, mine: SnapshotRow): Change | null {
  const { remote, remoteStartedAt, settle } = one.settings
  if (remote.complete || mine.content === null) {
    const unseen = mine.baseline === null && remoteStartedAt < mine.sentAt + settle
    return create(one, 'gone-from-service', 'gone from the service', unseen)
  }
  // Update by MLSNumber is safe without having seen the listing: if it matches nothing, the listing is looked up.
  const news = newsOf(one, mine)
  return news.length > 0 || mine.flight !== null ? changed(one, mine, news) : null
}

function adoptOrUpdate(one: Wanting, item: ShownRow, cause: 'settle' | 'never-sent', why: string): Change {
  const fields = shownDifferences(one, item)
  if (fields.length === 0)
    return adopt(one, item, cause === 'settle' ? 'settle' : 'as-wanted', `${why}; already as wanted`)
  // An update hits every copy, and one that an incomplete list does not show may be another feed's.
  const lookUp = !one.settings.remote.complete && one.mine?.owned !== true
  return { ...update(one, cause, why, fields), lookUp }
}

/** What all changes to a wanted listing say. */
function about<C extends string>(one: Wanting, cause: C, why: string) {
  const { key, mine, wanted, settings } = one
  const { lostUntil, now } = settings
  // After a lost store nobody knows what was under way, so calls of the process that died may still land over this one.
  const unsettled = isUnderWay(mine, settings) || (lostUntil !== null && now < lostUntil)
  // No rule holds what moves by itself: a feed's listings would all be read for that.
  const isHeldAs = 'snapshot' in wanted.at && cause !== 'refresh'
  const whole = isHeldAs ? { whole: contentOf('update', wanted.listing(), settings.volatile.fields) } : {}
  return { cause, mlsNumber: key, why, wanted: wanted.at, ...whole, unsettled, facts: factsShown(one) }
}

/** The same of those that are sent. Facts are compared with what was sent last: of what was there before, the feed has said nothing yet. */
function sent<C extends (Create | Update)['cause']>(one: Wanting, cause: C, why: string, fields: FieldChange[]) {
  const { mine, wanted, recall } = one
  // A create that got no answer may be of what was sent before it.
  const isRetried = cause === 'new' && mine?.flight === 'create'
  const isNews = isRetried || ['changed', 'mapping', 'settle', 'gone-from-service'].includes(cause)
  const isKnown = isNews && mine !== null && mine.content !== null && mine.content !== wanted.content
  const broken = isKnown ? factsBroken(recall(mine.id).listing, wanted.listing()) : []
  return { ...about(one, cause, why), content: wanted.content, fields, broken, withheld: [] }
}

function adopt(one: Wanting, item: ShownRow, cause: Adopt['cause'], why: string): Adopt {
  return { kind: 'adopt', ...about(one, cause, why), shownHash: item.hash }
}

function create(one: Wanting, cause: Create['cause'], why: string, unseen = false): Create {
  const { row, mine, wanted, history, settings } = one
  return {
    kind: 'create',
    // What was taken off before begins anew.
    ...sent(one, cause, why, mine?.flight === 'delete' ? [] : newsOf(one, mine)),
    // One list that lacks what is known is weak evidence, also where a refusal alone is: it was shown before, if that was of an
    // update. What a lost store knew may be missing from one, too, even once the wait is over.
    lookUp: row !== null || !settings.remote.complete || settings.lostUntil !== null,
    home: wanted.home,
    isBack: history.leftAt !== null,
    unseen,
  }
}

function update(one: Wanting, cause: UpdateCause, why: string, fields: FieldChange[]): Update {
  const { mine, item } = one
  return {
    kind: 'update',
    ...sent(one, cause, why, fields),
    lookUp: false,
    shownHash: item?.hash ?? mine?.baseline ?? null,
    again: isPutRight({ kind: 'update', cause }) && wasPutRight(one),
  }
}

/** Facts that somebody gave on the service where a placeholder was sent; undefined: none. */
function factsShown({ wanted, item }: Wanting): Partial<Listing> | undefined {
  const placeholders = item === null ? [] : wanted.placeholders()
  const shown = placeholders.length === 0 ? null : item?.shown()
  const facts = shown ? factsInPlace(wanted.listing(), placeholders, shown) : {}
  return Object.keys(facts).length > 0 ? facts : undefined
}

/** Differences between wanted and shown. An item that is as its baseline was not kept: it is what was confirmed last. */
function shownDifferences(one: Wanting, item: ShownRow): FieldChange[] {
  const { row, wanted, settings } = one
  const shown = item.shown()
  if (shown !== null)
    return differences(wanted.listing(), shown, new Set([...settings.volatile.fields, ...wanted.placeholders()]))
  return newsOf(one, row)
}

/** What is put right so many times running is held, as something undoes it each time, and tried again so much later. */
const convergeWithin = 3
const tryAgainAfter = 7 * day

/** Longer than from one nightly run to the next. */
const lately = 1.5 * day

/** What it was sent for was put right lately: something else writes it, more likely than a person. */
function wasPutRight({ mine, settings }: Case): boolean {
  return mine !== null && mine.putRightAt !== null && settings.now - mine.putRightAt < lately
}

/** The change, or a hold where its time has not come. */
function postponed({ mine, row, wanted, settings }: Wanting, change: Change): Change {
  const { lostUntil, now, timezone } = settings
  const isCreate = change.kind === 'create'
  // A lost store forgot what was under way, or remembers what was long since decided: nothing is made before that has landed.
  if (isCreate && lostUntil !== null && lostUntil > now) {
    const until = minuteIn(timezone, lostUntil)
    const why = `the store was lost: creates wait until ${until}, as calls of the process that died may still land`
    return hold(change, 'lost-store', why)
  }
  const refused = refusedBefore(row, wanted.content, settings)
  if (refused !== null && (isCreate || change.kind === 'update')) return hold(change, 'refused-before', refused)
  const { undone = 0, putRightAt = null } = mine ?? {}
  if (change.kind === 'hold' || !isPutRight(change) || undone < convergeWithin) return change
  // Whoever undid it may have stopped meanwhile.
  if (putRightAt !== null && now - putRightAt >= tryAgainAfter) return change
  const remedy = 'find what undoes it on the chatbot and stop it; it is put right again a week after the last time'
  const why = `not converging: ${change.why}, though put right ${undone} times running: ${remedy}`
  return hold(change, 'not-converging', why)
}

/**
 * What changes since the row was sent last, but for what moves by itself. Where other fields are volatile than at that time its
 * content is another one, though nothing in it need have changed.
 */
function newsOf({ settings, recall, wanted }: Wanting, row: SnapshotRow | null): FieldChange[] {
  if (row === null || row.content === null || wanted.content === row.content) return []
  const lasting = fieldNames.filter((field) => !settings.volatile.fields.has(field))
  return changedFields(recall(row.id).listing, wanted.listing(), lasting)
}
