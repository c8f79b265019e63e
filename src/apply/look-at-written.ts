/**
 * Looks at how the service shows what it has just confirmed. Seen at once, it is the service's own form of what was sent, and a
 * later change of it is drift (docs/service.md, S13). If it differs, somebody may have edited it between call and look: it is
 * sent once more and looked at immediately, while nobody else can have been at it.
 */
import { batches } from '../core/batches.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import { ServiceError } from '../core/errors.ts'
import type { FieldName, Shown } from '../core/listing.ts'
import { many } from '../core/text.ts'
import { clearedWith } from '../plan/change.ts'
import { cosmetic } from '../plan/guard/facts.ts'
import type { Create, Update } from '../plan/change.ts'
import type { Baseline } from '../store/store.ts'
import type { Stored } from '../workspace/workspace.ts'
import { keepingFacts, updateOne } from './calls.ts'
import { callsToLookAgain } from './context.ts'
import type { ApplyContext } from './context.ts'
import { listAgain } from './look-again.ts'
import { isOfAnotherFeed, isOfAnotherRun, isToShow, mayStillLand, outgoingOf, shownOtherwise } from './outcomes.ts'

type Written = Stored<Create | Update>
/** How a listing is shown; null: it is not there, or more than once. */
type Look = (mlsNumber: string) => Promise<Shown | null>
/** For each field, in how many listings. */
type Times = Partial<Record<FieldName, number>>

/**
 * Stores how each listing that was written is shown. Gives notes for people, as sentences. `isListed`: the list was walked after the
 * creates and updates of this run.
 */
export async function lookAtWritten(context: ApplyContext, isListed: boolean): Promise<string[]> {
  const { orders, service, store, feed, workspace, runtime } = context
  const writes = orders.counts.create + orders.counts.update
  if (writes === 0) return []
  const found = { forms: {} as Times, uncleared: {} as Times }
  const known = new Set(orders.forms)
  try {
    const { pages } = orders.listed
    const walks = isListed || callsToLookAgain(writes, pages) === pages
    if (walks && !isListed) await listAgain(context)
    const lookUp: Look = async (mlsNumber) => onlyOne(await service.lookUp(mlsNumber))
    const look: Look = walks ? async (mlsNumber) => onlyOne(workspace.shownAs(mlsNumber))?.shown() ?? null : lookUp
    for (const batch of batches(written(context), () => 500)) {
      const baselines: Baseline[] = []
      for (const stored of batch) {
        const baseline = await baselineOf(context, stored, look, lookUp, known, found)
        if (baseline !== null) baselines.push(baseline)
      }
      if (baselines.length > 0) await store.snapshot.setBaselines(feed.chatbot, baselines, runtime.clock.now())
    }
  } catch (error) {
    // The next run looks at the rest.
    if (!(error instanceof ServiceError)) throw error
  }
  const learnt = [...known].filter((field) => !orders.forms.has(field))
  if (learnt.length > 0) await store.learnt.addForms(feed.name, learnt)
  return [...notesOf(context, found)]
}

/** Creates and updates that are done, without those on which an earlier call may still land. */
function* written({ workspace }: ApplyContext): Generator<Written> {
  for (const kind of ['update', 'create'] as const) {
    for (const stored of workspace.changes(kind))
      if (stored.outcome?.result === 'done' && !stored.change.unsettled) yield stored
  }
}

const onlyOne = <Item>(items: readonly Item[]): Item | null => (items.length === 1 ? items[0] : null)

/** Looks at one listing, and sends it again if need be. Gives its baseline; null: none can be told. */
async function baselineOf(
  context: ApplyContext,
  stored: Written,
  look: Look,
  lookUp: Look,
  known: Set<FieldName>,
  found: { forms: Times; uncleared: Times },
): Promise<Baseline | null> {
  const { change } = stored
  const key = change.mlsNumber
  const written = await outgoingOf(context, change)
  const otherwise = (shown: Shown): FieldChange[] => shownOtherwise(context, written, shown)
  let shown = await look(key)
  // It is not shown once, or another feed has written it since.
  if (shown === null || isOfAnotherFeed(context, shown)) return null
  let fields = otherwise(shown)
  const cleared = new Set(clearedWith(change))
  // A field that this write was to clear and did not is only told: it is no reason to write again.
  const isToBeCleared = ({ field, to }: FieldChange): boolean => to === null && cleared.has(field)
  const isUnknown = (fieldChange: FieldChange): boolean => !known.has(fieldChange.field) && !isToBeCleared(fieldChange)
  let isSentTwice = false
  const before = change.kind === 'update' ? change.shownHash : context.foundBefore.get(key)
  const isAsBefore = before === shown.hash
  const isOdd = fields.some(isUnknown)
  // Without a mark nothing tells whether only a field was not cleared or the whole write was ignored.
  if (isOdd || (isAsBefore && fields.length > 0 && shown.by === undefined)) {
    // What was there before the first write may be in the service's own form already. Without marks a second one tells, but of no fact
    // that visitors rely on: if the service ignores both, a wrong price would stay for good.
    const isBare = change.cause === 'never-sent' && context.service.mark === null
    const isFirst = isBare && fields.every((fieldChange) => !isUnknown(fieldChange) || cosmetic.has(fieldChange.field))
    if (isOdd && isAsBefore && change.cause !== 'unseen' && !isFirst)
      return { key, hash: shown.hash, ignored: isToShow(context, change), isAtRest: false }
    // While an attempt of the first write may still land, a second one would prove nothing.
    if (await mayStillLand(context, key)) return null
    // What is shown may be from before this write, and need not be ours: only a second write of this run tells.
    const sent = asUpdate(change)
    for (const { field, to } of fields) if (to === null) cleared.add(field)
    const quiet = { ...context, progress: () => undefined }
    // Only a confirmed write can teach a form.
    const again = await keepingFacts(context, { ...stored, change: sent }, shown)
    if (!(await updateOne(quiet, again, [...cleared]))) return null
    isSentTwice = true
    shown = await lookUp(key)
    if (shown === null) return null
    fields = otherwise(shown)
  }
  const isIgnored = isOfAnotherRun(context, shown) || fields.some((now) => isUnknown(now) && staysAsItWas(change, now))
  if (fields.length > 0 && isIgnored) return { key, hash: shown.hash, ignored: true, isAtRest: false }
  for (const fieldChange of fields) {
    const times = isToBeCleared(fieldChange) ? found.uncleared : found.forms
    const before = times[fieldChange.field] ?? 0
    times[fieldChange.field] = before + 1
    // A listing of which both writes were ignored looks the same: one alone would make a form of somebody's edit.
    if (isSentTwice && before > 0) known.add(fieldChange.field)
  }
  return { key, hash: shown.hash, ignored: false, isAtRest: false }
}

/**
 * Whether a number or a choice is still shown as it was before the write that was to change it. A service may spell a text in its own
 * way, but no price: somebody puts the old one back, or the service does not take that field.
 */
function staysAsItWas({ kind, cause, fields }: Create | Update, { field, from, to }: FieldChange): boolean {
  if (kind === 'create' || !(['changed', 'mapping', 'drifted'] as string[]).includes(cause)) return false
  // It may begin to round what it showed to the letter before.
  const isRounded = cause === 'drifted' && Math.abs(Number(from) - Number(to)) <= Math.abs(Number(to)) / 100
  const isOther = typeof to === 'number' ? !isRounded : field === 'Status' || field === 'SaleType'
  return isOther && fields.some((was) => was.field === field && was.from === from)
}

/** The same change as an update, to send it again: the listing is there by now, and keeps what Create answered. */
function asUpdate(change: Create | Update): Update {
  if (change.kind === 'update') return change
  const none = { shownHash: null, fields: [], broken: [], again: false }
  return { ...change, ...none, kind: 'update', cause: 'changed' }
}

function* notesOf({ orders, feed }: ApplyContext, { forms, uncleared }: Record<'forms' | 'uncleared', Times>) {
  for (const [field, times] of Object.entries(uncleared))
    yield `${field} was cleared in ${many(times, 'listing')}, but the service still shows it; \`listing-sync probe --feed ${feed.name}\` learns how it clears a field, and the next update of the listing does so, where that can be done`
  for (const [field, times] of Object.entries(forms)) {
    if (!orders.forms.has(field as FieldName))
      yield `${field} is shown otherwise than sent in ${many(times, 'listing')}, right after it was sent: the service's own form, which is remembered and not sent again`
  }
}
