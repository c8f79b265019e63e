/** The rows of the decision table in which the feed holds exactly one listing for the MLSNumber. */
import { differences, factsInPlace } from '../core/compare-listings.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import { fieldNames, optionalFields } from '../core/listing.ts'
import { valueInWords } from '../core/text.ts'
import type { FieldName, FieldValue, Listing } from '../core/listing.ts'
import { isSettled, twiceShown } from './absent.ts'
import { hold, isPutRight, note, reasonOf, stepOf, unchanged } from './change.ts'
import type { Adopt, Change, Create, PlanStep, Update, UpdateCause } from './change.ts'
import type { ShownRow, SnapshotRow } from './inputs.ts'
import { factsBroken } from './guard/facts.ts'
import type { FactKind } from './guard/facts.ts'
import type { Case, WantedListing } from './situation.ts'

export function present(one: Case, wanted: WantedListing): PlanStep[] {
  const { key, mine, shown } = one
  const other = otherOwner(one)
  const takeOver = other !== null && one.settings.outranks(other) && mayTakeOver(one)
  if (other !== null && !takeOver)
    return [
      stepOf(hold({ mlsNumber: key }, `also in ${other}, a feed of this chatbot that has it`, 'nothing', 'other-feed')),
    ]
  if (shown.length > 1) return [stepOf(twiceShown(one, null))]
  const item = shown.length === 1 ? shown[0] : null
  const steps = takeOver ? takenOver(one, wanted, other, item) : stepsFor(one, wanted, mine, item)
  const finish = (change: Change): Change => notConverging(one, refusedBefore(one, wanted, lostStore(one, change)))
  return steps.map((step) => (step.step === 'change' ? stepOf(finish(step.change)) : step))
}

function stepsFor(one: Case, wanted: WantedListing, mine: SnapshotRow | null, item: ShownRow | null): PlanStep[] {
  if (mine !== null && mine.flight !== null) return settled(one, wanted, mine, item)
  if (mine !== null && mine.owned) return item === null ? lost(one, wanted, mine) : confirmed(one, wanted, mine, item)
  if (item === null) return [stepOf(create(one, wanted, 'new', 'new in the feed'))]
  if (mayBeDeleted(one)) return [stepOf(deletedJustNow(one, wanted))]
  const why = one.ours ? "on the service with this feed's mark, not in the store" : 'on the service, never sent by us'
  return adoptOrUpdate(one, wanted, item, 'never-sent', why)
}

/** It was taken off so lately that the list may show what is gone. To take it over would be to believe that it is there. */
function mayBeDeleted({ history, settings }: Case): boolean {
  return history.leftAt !== null && settings.remoteStartedAt < history.leftAt + settings.settle
}

function deletedJustNow(one: Case, wanted: WantedListing): Change {
  const until = new Date(one.history.leftAt! + one.settings.settle).toISOString()
  const why = `deleted just now, and the list may still show it: decided by what is shown after ${until}`
  return hold(create(one, wanted, 'new', why), why, 'answer', 'in-flight')
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
  return [stepOf(update(one, wanted, 'never-sent', why, shownDifferences(one, wanted, item), item))]
}

/** A call was under way when we last knew: what the service shows settles it. */
function settled(one: Case, wanted: WantedListing, mine: SnapshotRow, item: ShownRow | null): PlanStep[] {
  const { settings } = one
  const { flight } = mine
  if (item !== null) return adoptOrUpdate(one, wanted, item, 'settle', `an earlier ${flight} got no answer`)
  if (flight === 'update') return lost(one, wanted, mine)
  if (!isSettled(mine, settings)) {
    if (mine.missedAt === null && !settings.remote.complete) {
      const why = `an earlier ${flight} got no answer, and the list is incomplete: looked up`
      return [stepOf({ ...create(one, wanted, 'new', why), firstLook: true, counts: [] })]
    }
    const until = new Date((mine.missedAt ?? mine.flightAt!) + settings.settle).toISOString()
    const why = `an earlier ${flight} got no answer and may still land: decided by what is shown after ${until}`
    return [stepOf(hold(create(one, wanted, 'new', why), why, 'answer', 'in-flight'))]
  }
  const why =
    flight === 'create' ? 'an earlier create got no answer and never showed' : 'deleted before, delivered again'
  // A list that hides a row by mistake must not make a second one: one absence is weak evidence.
  return [stepOf(create(one, wanted, 'new', why, true))]
}

/** Ours and shown. */
function confirmed(one: Case, wanted: WantedListing, mine: SnapshotRow, item: ShownRow): PlanStep[] {
  const { key, seen, settings } = one
  if (mine.content === null) return adoptOrUpdate(one, wanted, item, 'settle', 'what was sent last is not known')
  if (hasNews(one, wanted, mine)) return [changed(one, wanted, mine, item)]
  const notes: PlanStep[] = []
  if (!seen && 'delivered' in wanted.at)
    notes.push(note({ op: 'touch', snapshot: mine.id, position: wanted.at.delivered }))
  const mayChange = isUnseen(mine, item) && mine.suspectUntil !== null && settings.remoteStartedAt < mine.suspectUntil
  // A delta says it only once.
  if (mayChange) return [unchanged, ...notes, note({ op: 'undecided', key })]

  const fields = mine.baseline === item.hash && !mine.ignored ? [] : shownDifferences(one, wanted, item)
  const edit = fields.length === 0 ? null : shownOtherwise(one, wanted, mine, item, fields)
  if (edit !== null) return [stepOf(edit), ...notes]
  const facts = mine.baseline === item.hash ? {} : factsShown(wanted, item)
  const given = Object.keys(facts).join(', ')
  if (given !== '') {
    const why = `${given} was given on the service, where a placeholder was sent: it stays`
    return [stepOf(adopt(one, wanted, item, 'as-wanted', why, facts)), ...notes]
  }
  if (mine.baseline !== item.hash || mine.ignored || mine.undone > 0)
    notes.push(note({ op: 'baseline', key, hash: item.hash, kept: fields.length > 0 && !isUnseen(mine, item) }))
  return [refreshed(one, wanted, mine), ...notes]
}

/** Nobody looked at it after it was sent, and it is not shown as it was before that. */
const isUnseen = ({ baseline, ignored }: SnapshotRow, { hash }: ShownRow): boolean =>
  baseline === null || (ignored && baseline !== hash)

/** What is done where a listing is not shown as it was sent; null: nothing. */
function shownOtherwise(
  one: Case,
  wanted: WantedListing,
  mine: SnapshotRow,
  item: ShownRow,
  fields: FieldChange[],
): Change | null {
  const { drift, forms, now } = one.settings
  if (mine.ignored && mine.baseline === item.hash) {
    const [{ field, from, to }] = fields
    const why = `the service confirmed it and goes on showing ${field} as ${valueInWords(from)}, not ${valueInWords(to)}`
    const sendAgain = update(one, wanted, 'drifted', why, fields, item)
    if (now - mine.sentAt >= day) return sendAgain
    return hold(sendAgain, `not converging: ${why}; sent again after a day`, 'change', 'not-converging')
  }
  // Nobody looked at it after it was sent: a form of the service's own, if it is known for that, or somebody's edit.
  const isFirst = isUnseen(mine, item)
  if (isFirst && fields.every(({ field }) => forms.has(field))) return null
  // An earlier attempt of ours may have landed over it: no policy lets that stand.
  if (isFirst && (drift === 'overwrite' || mine.suspectUntil !== null))
    return update(one, wanted, 'unseen', 'shown otherwise than sent, and never looked at', fields, item)
  if (drift === 'keep') return null
  const why = wasPutRight(one) ? 'drifted on the service again after it was sent again' : 'drifted on the service'
  const sendAgain = update(one, wanted, 'drifted', why, fields, item)
  return drift === 'overwrite' ? sendAgain : hold(sendAgain, `${why} (drift: report)`, 'change', 'drifted')
}

/** Where other fields are volatile than when it was sent, its content is another one, though nothing in it need have changed. */
function hasNews(one: Case, wanted: WantedListing, mine: SnapshotRow): boolean {
  return wanted.content !== mine.content && changesSince(mine, one, wanted).length > 0
}

function changed(one: Case, wanted: WantedListing, mine: SnapshotRow, item: ShownRow | null): PlanStep {
  const fields = changesSince(mine, one, wanted)
  const step = wanted.byMapping
    ? update(one, wanted, 'mapping', 'the mapping changed', fields, item)
    : update(one, wanted, 'changed', 'changed in the feed', fields, item)
  const others = item === null ? [] : putThere(one, wanted, mine, item)
  return stepOf({ ...step, clear: [...new Set([...step.clear, ...others])] })
}

/**
 * Fields that we neither sent nor want: an unanswered attempt landed late, or somebody set them. An update leaves alone
 * what it is not told to clear, and what is shown after it would be taken for fields that cannot be cleared.
 */
function putThere(one: Case, wanted: WantedListing, mine: SnapshotRow, item: ShownRow): FieldName[] {
  const isSeen = !isUnseen(mine, item)
  if (mine.baseline === item.hash || (isSeen && one.settings.drift !== 'overwrite')) return []
  return disappearing(shownDifferences(one, wanted, item))
}

/** The moving fields, and a mark with a former name of the feed, travel alone once in `volatile.refresh`. */
function refreshed(one: Case, wanted: WantedListing, mine: SnapshotRow): PlanStep {
  const { volatile, now } = one.settings
  if (!refreshDue(one.key, mine.sentAt, now, volatile.refresh)) return unchanged
  const fields = changedFields(one.recall(mine.id).listing, wanted.listing(), volatile.fields)
  const [item] = one.shown
  if (fields.length > 0)
    return stepOf(update(one, wanted, 'refresh', 'fields that move by themselves are due', fields, item))
  return item.isFormer
    ? stepOf(update(one, wanted, 'refresh', 'marked with a former name of its feed', [], item))
    : unchanged
}

/** Ours, delivered, and not shown. */
function lost(one: Case, wanted: WantedListing, mine: SnapshotRow): PlanStep[] {
  const { remote, remoteStartedAt, settle } = one.settings
  if (remote.complete || mine.content === null) {
    const unseen = mine.baseline === null && remoteStartedAt < mine.sentAt + settle
    return [stepOf({ ...create(one, wanted, 'gone-from-service', 'gone from the service'), unseen })]
  }
  if (!hasNews(one, wanted, mine) && mine.flight === null) return [unchanged]
  // Update by MLSNumber is safe without having seen the listing: if it matches nothing, the listing is looked up.
  return [changed(one, wanted, mine, null)]
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
  if (fields.length > 0) return [stepOf(update(one, wanted, cause, why, fields, item, lookUp))]
  const facts = factsShown(wanted, item)
  return [
    stepOf(adopt(one, wanted, item, cause === 'settle' ? 'settle' : 'as-wanted', `${why}; already as wanted`, facts)),
  ]
}

/** What all changes to a wanted listing say. */
function changeOf<Kind extends string, Cause extends string>(
  one: Case,
  { at }: WantedListing,
  kind: Kind,
  cause: Cause,
  why: string,
) {
  return { kind, cause, mlsNumber: one.key, why, wanted: at, unsettled: isUnsettled(one), released: [] }
}

function adopt(
  one: Case,
  wanted: WantedListing,
  item: ShownRow,
  cause: Adopt['cause'],
  why: string,
  facts: Partial<Listing>,
): Adopt {
  return {
    ...changeOf(one, wanted, 'adopt', cause, why),
    reason: reasonOf('adopt', cause),
    shownHash: item.hash,
    ...(Object.keys(facts).length > 0 && { facts }),
    counts: [],
  }
}

/** Facts that somebody gave on the service where a placeholder was sent. */
function factsShown(wanted: WantedListing, item: ShownRow | null): Partial<Listing> {
  const placeholders = wanted.placeholders()
  const shown = placeholders.length === 0 ? null : (item?.shown() ?? null)
  return shown === null ? {} : factsInPlace(wanted.listing(), placeholders, shown)
}

function create(
  one: Case,
  wanted: WantedListing,
  cause: 'new' | 'gone-from-service',
  why: string,
  doubtful = false,
): Create {
  const { remote, lostUntil } = one.settings
  const isBack = one.history.leftAt !== null
  return {
    ...changeOf(one, wanted, 'create', cause, why),
    reason: reasonOf('create', cause, [], wanted.content),
    // What a lost store knew may be missing from one list, so it is looked up even once the wait is over.
    lookUp: doubtful || cause === 'gone-from-service' || !remote.complete || lostUntil !== null,
    unseen: false,
    firstLook: false,
    home: wanted.home,
    isBack,
    counts: cause === 'new' && !isBack ? ['create'] : [],
  }
}

function update(
  one: Case,
  wanted: WantedListing,
  cause: UpdateCause,
  why: string,
  fields: FieldChange[],
  item: ShownRow | null,
  lookUp = false,
): Update {
  const broken = brokenBy(one, wanted, cause)
  const facts = factsShown(wanted, item)
  return {
    ...changeOf(one, wanted, 'update', cause, why),
    reason: reasonOf('update', cause, fields, wanted.content),
    lookUp,
    shownHash: item?.hash ?? one.mine?.baseline ?? null,
    ...(Object.keys(facts).length > 0 && { facts }),
    fields,
    clear: disappearing(fields),
    again: isPutRight({ kind: 'update', cause }) && wasPutRight(one),
    broken,
    withheld: null,
    counts: broken,
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
  const { fields } = one.settings.volatile
  if (shown !== null) return differences(wanted.listing(), shown, new Set([...fields, ...wanted.placeholders()]))
  return one.row === null || wanted.content === one.row.content ? [] : changesSince(one.row, one, wanted)
}

const day = 86_400_000
/** What is put right so many times running, and edited again each time, is held. */
const convergeWithin = 3

/** What it was sent for was put right lately: something else writes it, more likely than a person. */
function wasPutRight({ mine, settings }: Case): boolean {
  return mine !== null && mine.putRightAt !== null && settings.now - mine.putRightAt < day
}

/** What is put right run after run is held: something undoes it each time. */
function notConverging({ mine }: Case, change: Change): Change {
  const undone = mine?.undone ?? 0
  if (change.kind === 'hold' || !isPutRight(change) || undone < convergeWithin) return change
  return hold(
    change,
    `not converging: ${change.why}, though put right ${undone} times running`,
    'change',
    'not-converging',
  )
}

/** A lost store forgot what was under way, or remembers what was long since decided: nothing is made before that has landed. */
function lostStore({ settings }: Case, change: Change): Change {
  const { lostUntil, now } = settings
  if (change.kind !== 'create' || lostUntil === null || lostUntil <= now) return change
  const until = new Date(lostUntil).toISOString()
  const why = `the store was lost: creates wait until ${until}, as calls of the process that died may still land`
  return hold(change, why, 'time', 'lost-store')
}

/** A refusal is not sent again until its content or the mapping changes, or a day has passed. */
function refusedBefore({ row, settings }: Case, { content }: WantedListing, change: Change): Change {
  if (change.kind !== 'create' && change.kind !== 'update') return change
  if (row === null || row.refusedAt === null || row.refusedContent !== content) return change
  if (row.refusedMapping !== settings.mapping || settings.now - row.refusedAt >= day) return change
  const at = new Date(row.refusedAt).toISOString()
  const why = `refused by the service at ${at} ("${row.refusedMessage}"): sent again when it changes, or after a day`
  return hold(change, why, 'time', 'refused-before')
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
