/** The rows of the decision table in which the feed holds exactly one listing for the MLSNumber. */
import { differences } from '../core/compare-listings.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import { fieldNames, fieldRules, optionalFields } from '../core/listing.ts'
import type { FieldName, FieldValue, Listing } from '../core/listing.ts'
import { isSettled, twiceShown } from './absent.ts'
import { hold, holdBare, note, reasonOf, stepOf, unchanged } from './change.ts'
import type { Adopt, Change, Create, FirstSight, PlanStep, Update, UpdateCause } from './change.ts'
import type { ShownRow, SnapshotRow, PlanSettings, Recalled } from './inputs.ts'
import { factsBroken } from './guard/facts.ts'
import type { FactKind } from './guard/facts.ts'
import type { Case, WantedListing } from './situation.ts'

export function present(one: Case, wanted: WantedListing): PlanStep[] {
  const { key, mine, shown } = one
  const other = otherOwner(one)
  const takeOver = other !== null && one.settings.outranks(other) && mayTakeOver(one)
  if (other !== null && !takeOver)
    return [stepOf(holdBare(key, `also in ${other}: that feed of this chatbot has it`, 'nothing', 'other-feed'))]
  if (shown.length > 1) return [stepOf(twiceShown(one, null))]
  const item = shown.length === 1 ? shown[0] : null
  const finish = (step: PlanStep): PlanStep => {
    if (step.step === 'doubt') return { ...step, asEdit: step.asEdit.map(finish) }
    return step.step === 'change' ? stepOf(notConverging(one, refusedBefore(one, wanted, step.change))) : step
  }
  return (takeOver ? takenOver(one, wanted, other, item) : stepsFor(one, wanted, mine, item)).map(finish)
}

function stepsFor(one: Case, wanted: WantedListing, mine: SnapshotRow | null, item: ShownRow | null): PlanStep[] {
  if (mine !== null && mine.flight !== null) return settled(one, wanted, mine, item)
  if (mine !== null && mine.owned) return item === null ? lost(one, wanted, mine) : confirmed(one, wanted, mine, item)
  if (item === null) return fresh(one, wanted)
  const why = one.ours ? "on the service with this feed's mark, not in the store" : 'on the service, never sent by us'
  return adoptOrUpdate(one, wanted, item, 'never-sent', why)
}

/** The name of another feed that has this listing, by our own memory or by its mark on the service. */
function otherOwner({ row, mine, shown, settings }: Case): string | null {
  if (row !== null && mine === null && (row.owned || row.flight !== null)) return row.feed
  if (settings.ownership === 'snapshot') return null
  return shown.find((item) => item.owner !== null && item.owner !== settings.feed)?.owner ?? null
}

/** While a call of the other feed may still land, nobody knows what it leaves behind. */
function mayTakeOver({ row, settings }: Case): boolean {
  return row === null || row.flight === null || isSettled(row, settings)
}

/** This feed comes before the one that has the listing. It is sent even where it is as wanted: the mark must change. */
function takenOver(one: Case, wanted: WantedListing, other: string, item: ShownRow | null): PlanStep[] {
  const why = `taken over from feed ${other}, which comes later`
  if (item === null) return [stepOf(create(one, wanted, 'new', why, true))]
  if (one.settings.ownership === 'snapshot') return adoptOrUpdate(one, wanted, item, 'never-sent', why)
  return [stepOf(update(one, wanted, 'never-sent', why, shownDifferences(one, wanted, item)))]
}

/** A call was under way when we last knew: what the service shows settles it. */
function settled(one: Case, wanted: WantedListing, mine: SnapshotRow, item: ShownRow | null): PlanStep[] {
  const { settings } = one
  const { flight } = mine
  if (item !== null) return adoptOrUpdate(one, wanted, item, 'settle', `an earlier ${flight} got no answer`)
  if (flight === 'update') return lost(one, wanted, mine)
  if (!isSettled(mine, settings)) {
    const until = new Date(mine.flightAt! + settings.settle).toISOString()
    const why = `an earlier ${flight} got no answer and may still land: decided by a list begun after ${until}`
    return [stepOf(hold(create(one, wanted, 'new', why), why, 'answer', 'in-flight'))]
  }
  const why =
    flight === 'create' ? 'an earlier create got no answer and never showed' : 'deleted before, delivered again'
  // A list that hides a row by mistake must not make a second one: one absence is weak evidence.
  return [stepOf(create(one, wanted, 'new', why, true))]
}

/** Ours and shown. */
function confirmed(one: Case, wanted: WantedListing, mine: SnapshotRow, item: ShownRow): PlanStep[] {
  const { seen, settings, recall } = one
  if (mine.content === null) return adoptOrUpdate(one, wanted, item, 'settle', 'what was sent last is not known')
  if (wanted.content !== mine.content) return [changed(one, wanted, mine, item)]
  const notes: PlanStep[] = []
  if (!seen && 'delivered' in wanted.at)
    notes.push(note({ op: 'touch', snapshot: mine.id, position: wanted.at.delivered }))
  const fields = mine.baseline === item.hash ? [] : shownDifferences(one, wanted, item)
  // A first look that differs from what was sent does not end the streak: it may differ in another way each time.
  const atRest = mine.baseline !== null || fields.length === 0
  if (mine.streak > 0 && atRest) notes.push(note({ op: 'steady', snapshot: mine.id }))

  if (mine.baseline === null) {
    if (mine.suspectUntil !== null && settings.remoteStartedAt < mine.suspectUntil) return [unchanged, ...notes]
    if (mine.suspectUntil !== null && fields.length > 0) {
      return [stepOf(update(one, wanted, 'settle', 'an attempt that got no answer may have landed late', fields))]
    }
    const rest = [refreshed(one, wanted, mine), ...notes]
    // Of some of the listings nobody can tell the service's own form from edits of a person: nothing is learnt.
    if (fields.length === 0 || settings.remote.complete) rest.push(note(firstSight(mine, item, fields)))
    if (fields.length === 0 || settings.drift === 'keep') return rest
    const edit = drifted(one, wanted, 'shown otherwise than sent, unlike other listings', fields)
    // It was sent again for this very reason and is shown so once more: the service's form, of this listing alone.
    const isForm = edit.reason === mine.streakReason
    const again = isForm && isSentLately(mine, settings)
    const unmarked = settings.ownership !== 'snapshot' && item.owner !== settings.feed
    const doubted = isForm ? [] : fields.filter(isExact).map(({ field }) => field)
    if (!again && !unmarked && doubted.length === 0) return rest
    return [{ step: 'doubt', fields: doubted, unmarked, again, asEdit: [stepOf(edit)], asForm: rest }]
  } else if (mine.baseline !== item.hash) {
    const { echo } = recall(mine.id)
    const edits = withoutEcho(fields, echo)
    if (edits.length > 0 && settings.drift !== 'keep')
      return [stepOf(drifted(one, wanted, 'drifted on the service', edits))]
    const kept = { ...echo, ...Object.fromEntries(edits.map(({ field, from }) => [field, from])) }
    const sight = { ...firstSight(mine, item, []), echo: kept, first: false, kept: edits.length > 0 }
    notes.push(note(sight))
  }
  return [refreshed(one, wanted, mine), ...notes]
}

/** What is done about a difference that somebody made on the service: the feed is right, or a person decides. */
function drifted(one: Case, wanted: WantedListing, why: string, fields: FieldChange[]): Change {
  const sendAgain = update(one, wanted, 'drifted', why, fields)
  if (one.settings.drift === 'overwrite') return sendAgain
  return hold(sendAgain, `${why} (drift: report)`, 'change', 'drifted')
}

function changed(one: Case, wanted: WantedListing, mine: SnapshotRow, item: ShownRow | null): PlanStep {
  const fields = changesSince(mine, one, wanted)
  const step = wanted.byMapping
    ? update(one, wanted, 'mapping', 'the mapping changed', fields)
    : update(one, wanted, 'changed', 'changed in the feed', fields)
  const others = item === null ? [] : putThere(one, wanted, mine, item)
  return stepOf({ ...step, clear: [...new Set([...step.clear, ...others])] })
}

/**
 * Fields that we neither sent nor want: an unanswered attempt landed late, or somebody set them. An update leaves alone
 * what it is not told to clear, and the first sight after it would count them as fields that cannot be cleared.
 */
function putThere(one: Case, wanted: WantedListing, mine: SnapshotRow, item: ShownRow): FieldName[] {
  const { drift } = one.settings
  const isExpected = mine.baseline === null ? mine.suspectUntil === null : mine.baseline === item.hash
  if (isExpected || (mine.baseline !== null && drift !== 'overwrite')) return []
  return disappearing(withoutEcho(shownDifferences(one, wanted, item), one.recall(mine.id).echo))
}

/** The moving fields travel alone once in `volatile.refresh`. */
function refreshed(one: Case, wanted: WantedListing, mine: SnapshotRow): PlanStep {
  const { volatile, now } = one.settings
  if (!refreshDue(one.key, mine.sentAt, now, volatile.refresh)) return unchanged
  const fields = changedFields(one.recall(mine.id).listing, wanted.listing(), volatile.fields)
  return fields.length === 0
    ? unchanged
    : stepOf(update(one, wanted, 'refresh', 'fields that move by themselves are due', fields))
}

/** Ours, delivered, and not shown. */
function lost(one: Case, wanted: WantedListing, mine: SnapshotRow): PlanStep[] {
  const { remote, remoteStartedAt, settle } = one.settings
  if (remote.complete || mine.content === null) {
    const unseen = mine.baseline === null && remoteStartedAt < mine.sentAt + settle
    return [stepOf({ ...create(one, wanted, 'gone-from-service', 'gone from the service'), unseen })]
  }
  if (wanted.content === mine.content && mine.flight === null) return [unchanged]
  // Update by MLSNumber is safe without having seen the listing: if it matches nothing, the listing is looked up.
  return [changed(one, wanted, mine, null)]
}

/** Delivered, not ours, not shown. */
function fresh(one: Case, wanted: WantedListing): PlanStep[] {
  const { lostUntil, now } = one.settings
  // What the lost store knew may be missing from one list, so it is looked up even once the wait is over.
  const made = create(one, wanted, 'new', 'new in the feed', lostUntil !== null)
  if (lostUntil === null || lostUntil <= now) return [stepOf(made)]
  const until = new Date(lostUntil).toISOString()
  const why = `the store was lost: creates wait until ${until}, as calls of the process that died may still land`
  return [stepOf(hold(made, why, 'time', 'lost-store'))]
}

function adoptOrUpdate(
  one: Case,
  wanted: WantedListing,
  item: ShownRow,
  cause: 'settle' | 'never-sent',
  why: string,
): PlanStep[] {
  const fields = shownDifferences(one, wanted, item)
  // An update hits every copy, and one that an incomplete list does not show may be another feed's.
  const lookUp = !one.settings.remote.complete && one.mine?.owned !== true
  if (fields.length > 0) return [stepOf(update(one, wanted, cause, why, fields, lookUp))]
  const adopted = cause === 'settle' ? 'settle' : 'as-wanted'
  const adopt: Adopt = {
    kind: 'adopt',
    cause: adopted,
    mlsNumber: one.key,
    why: `${why}; already as wanted`,
    reason: reasonOf('adopt', adopted),
    wanted: wanted.at,
    shownHash: item.hash,
    unsettled: isUnsettled(one),
    counts: [],
    released: [],
  }
  return [stepOf(adopt)]
}

function create(
  one: Case,
  { at, content, home }: WantedListing,
  cause: 'new' | 'gone-from-service',
  why: string,
  doubtful = false,
): Create {
  const isBack = one.history.leftAt !== null
  return {
    kind: 'create',
    cause,
    mlsNumber: one.key,
    why,
    reason: reasonOf('create', cause, [], content),
    wanted: at,
    lookUp: doubtful || cause === 'gone-from-service' || !one.settings.remote.complete,
    unsettled: isUnsettled(one),
    unseen: false,
    home,
    isBack,
    counts: cause === 'new' && !isBack ? ['create'] : [],
    released: [],
  }
}

function update(
  one: Case,
  wanted: WantedListing,
  cause: UpdateCause,
  why: string,
  fields: FieldChange[],
  lookUp = false,
): Update {
  const { at, content } = wanted
  const broken = brokenBy(one, wanted, cause)
  const reason = reasonOf('update', cause, fields, content)
  return {
    kind: 'update',
    cause,
    mlsNumber: one.key,
    why,
    reason,
    wanted: at,
    lookUp,
    unsettled: isUnsettled(one),
    fields,
    clear: disappearing(fields),
    again: cause === 'drifted' && one.mine?.streakReason === reason && isSentLately(one.mine, one.settings),
    broken,
    withheld: null,
    counts: broken,
    released: [],
  }
}

/** Facts are compared with what was sent last. Of what was there before, the feed has said nothing yet. */
function brokenBy({ mine, recall }: Case, wanted: WantedListing, cause: UpdateCause): FactKind[] {
  const isNews = cause === 'changed' || cause === 'mapping' || cause === 'settle'
  if (!isNews || mine === null || !mine.owned || mine.content === null || mine.content === wanted.content) return []
  return factsBroken(recall(mine.id).listing, wanted.listing())
}

/** After a lost store nobody knows what was under way, so calls of the process that died may still land over this one. */
function isUnsettled({ mine, settings }: Case): boolean {
  const { lostUntil, now } = settings
  return (
    (mine !== null && mine.flight !== null && !isSettled(mine, settings)) || (lostUntil !== null && now < lostUntil)
  )
}

/** Differences between wanted and shown. An item that is as its baseline was not kept: it is what was confirmed last. */
function shownDifferences(one: Case, wanted: WantedListing, item: ShownRow): FieldChange[] {
  const shown = item.shown()
  if (shown !== null) return differences(wanted.listing(), shown, one.settings.volatile.fields)
  return one.row === null || wanted.content === one.row.content ? [] : changesSince(one.row, one, wanted)
}

const day = 86_400_000
/** Updates for the same reason in so many runs running, and the listing is held as not converging. */
const convergeWithin = 3

/** A refusal is not sent again until its content or the mapping changes, or a day has passed. */
function refusedBefore({ row, settings }: Case, { content }: WantedListing, change: Change): Change {
  if (change.kind !== 'create' && change.kind !== 'update') return change
  if (row === null || row.refusedAt === null || row.refusedContent !== content) return change
  if (row.refusedMapping !== settings.mapping || settings.now - row.refusedAt >= day) return change
  const at = new Date(row.refusedAt).toISOString()
  const why = `refused by the service at ${at} ("${row.refusedMessage}"): sent again when it changes, or after a day`
  return hold(change, why, 'time', 'refused-before')
}

/** The same update for the same reason, run after run, is held: something undoes it each time. */
function notConverging({ row }: Case, change: Change): Change {
  if (change.kind !== 'create' && change.kind !== 'update') return change
  if (row === null || row.streak < convergeWithin || row.streakReason !== change.reason) return change
  const why = `not converging: sent ${row.streak} times running for the same reason (${change.why})`
  return hold(change, why, 'change', 'not-converging')
}

/** The baseline to remember; `fields`: what is shown otherwise than sent. */
function firstSight(mine: SnapshotRow, item: ShownRow, fields: FieldChange[]): FirstSight {
  const echo: Recalled['echo'] = Object.fromEntries(fields.map(({ field, from }) => [field, from]))
  const uncleared = fields.filter(({ to }) => to === null).map(({ field }) => field)
  return { op: 'first-sight', snapshot: mine.id, hash: item.hash, echo, uncleared, first: true }
}

/** Numbers and choices, which services seldom spell their own way; a field that cannot be cleared is no edit. */
function isExact({ field, to }: FieldChange): boolean {
  const rule = fieldRules.find(({ name }) => name === field)
  return to !== null && rule !== undefined && (rule.type === 'number' || rule.choices !== undefined)
}

/** Leaves out what the service showed otherwise from the first: that is its own spelling, not drift. */
function withoutEcho(fields: FieldChange[], echo: Recalled['echo']): FieldChange[] {
  const same = (a: FieldValue | null, b: FieldValue | null | undefined): boolean =>
    JSON.stringify(a) === JSON.stringify(b)
  return fields.filter(({ field, from }) => !(field in echo && same(from, echo[field])))
}

/** Whether somebody's edit that comes back is more likely another program than a person. */
function isSentLately({ sentAt }: SnapshotRow, { now }: PlanSettings): boolean {
  return now - sentAt < day
}

/**
 * Whether a listing's moving fields are due to be sent again: once every `refresh`, at an instant that its key decides,
 * so that a feed loaded in one night is not sent again in one night.
 */
export function refreshDue(key: string, sentAt: number, now: number, refresh: number): boolean {
  const offset = Math.floor(keyShare(key) * refresh)
  return sentAt < Math.floor((now - offset) / refresh) * refresh + offset
}

/** A share from 0 up to, but not including, 1 that the key decides: equally spread, and the same each time. */
function keyShare(key: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  const mixed = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  return (mixed >>> 0) / 2 ** 32
}

/** Of `fields`, those in which two of our own listings differ, to the letter. */
function changedFields(from: Listing, to: Listing, fields: Iterable<FieldName>): FieldChange[] {
  const changes: FieldChange[] = []
  for (const field of fields) {
    const before: FieldValue | undefined = from[field]
    const after: FieldValue | undefined = to[field]
    if (before === after || JSON.stringify(before) === JSON.stringify(after)) continue
    changes.push({ field, from: before ?? null, to: after ?? null })
  }
  return changes
}

/** What changes since the row was sent last, but for what moves by itself. */
function changesSince(row: SnapshotRow, { settings, recall }: Case, wanted: WantedListing): FieldChange[] {
  const lasting = fieldNames.filter((field) => !settings.volatile.fields.has(field))
  return changedFields(recall(row.id).listing, wanted.listing(), lasting)
}

/** Optional fields that must disappear: there before, not wanted now. */
function disappearing(fields: readonly FieldChange[]): FieldName[] {
  return fields.filter(({ field, to }) => to === null && optionalFields.includes(field)).map(({ field }) => field)
}
