/**
 * `repair`: brings MLSNumbers that the service shows more than once down to one copy. It makes one call at a time, and looks up
 * before and after each. While a call may still land (`settle`), its MLSNumber is left alone. If a repair ends after all copies
 * were deleted and before one was created, the row is gone or in flight, and the next sync creates the listing.
 */
import { ServiceError, UsageError, UserError } from '../core/errors.ts'
import { contentHash } from '../core/hash.ts'
import { listingAt, movesAt } from '../core/listing.ts'
import type { Shown } from '../core/listing.ts'
import { dayIn } from '../core/zone.ts'
import { homeHashOf } from '../core/home-hash.ts'
import { allowed as allowedToLeave } from '../plan/guard/rules.ts'
import { deletesOf, findDuplicates, strangerAmong } from './copies.ts'
import type { Duplicate, Way } from './copies.ts'
import type { Answer } from '../service/service.ts'
import { lastRunOf } from './recall.ts'
import type { Feed, Writers } from './tools.ts'

/** What became of one delete or create, and why no more. `left`: no call was made. */
export interface RepairOutcome {
  call: 'delete' | 'create'
  keyType: 'NativeId' | 'MLSNumber'
  key: string
  result: 'done' | 'left' | 'unknown' | 'failed'
  error: string | null
}

/** The result of a repair. Times in milliseconds. */
export interface Repaired {
  feed: string
  chatbot: string
  startedAt: number
  finishedAt: number
  duplicates: (Duplicate & { outcomes: RepairOutcome[] })[]
  /** A person was asked and said no: nothing was done. */
  refused: boolean
  /** Why it ended before it was through, as a sentence. */
  error: string | null
}

/** What a person is asked about. */
export interface RepairPlan {
  duplicates: Duplicate[]
  deletes: number
  /** How many deletes limits.share still allows within 24 hours. */
  allowed: number
}

/** How often a deleted copy is looked for, and how many milliseconds apart: a list may lag a little. */
const lookUps = 3
const pause = 2000

/**
 * One repair under the chatbot's lease. `agree` is asked before anything is deleted. What goes wrong with feed, service or store is
 * in the result. Throws only for defects, and what `agree` throws.
 */
export async function repair(
  feed: Feed,
  writers: Writers,
  agree: (plan: RepairPlan) => Promise<boolean>,
): Promise<Repaired> {
  const { store, runtime, signal } = writers
  const { name, chatbot } = feed
  const startedAt = runtime.clock.now()
  const about = { feed: name, chatbot, startedAt, finishedAt: startedAt }
  const repaired: Repaired = { ...about, duplicates: [], refused: false, error: null }
  const lease = await store.lease(chatbot, startedAt)
  const stop = (): void => writers.abandon('stopped by a signal')
  signal.addEventListener('abort', stop, { once: true })
  try {
    const stamp = await store.runs.stamp()
    writers.service.sign(stamp)
    await store.learnt.setNumber(chatbot, lastRunOf(name), stamp.run)
    const { found, ours } = await findDuplicates(feed, writers)
    repaired.duplicates = found.map((duplicate) => ({ ...duplicate, outcomes: [] }))
    const deleted = await store.ledger.counted(chatbot, name, 'delete', startedAt)
    const { limits } = feed.plan
    const most = limits.isOff ? Infinity : allowedToLeave({ ours: ours + deleted, isRare: false }, limits)
    const allowed = Math.max(0, most - deleted)
    const deletes = found.reduce((sum, duplicate) => sum + deletesOf(duplicate), 0)
    repaired.refused = deletes > 0 && !(await agree({ duplicates: found, deletes, allowed }))
    if (!repaired.refused) await carryOut(feed, writers, repaired.duplicates, allowed)
  } catch (error) {
    // That nobody is there to be asked (`UsageError`) is no fault of the service.
    if (!(error instanceof ServiceError || error instanceof UserError) || error instanceof UsageError) throw error
    repaired.error = signal.aborted ? 'stopped by a signal' : error.message
  } finally {
    signal.removeEventListener('abort', stop)
    await lease.release()
  }
  repaired.finishedAt = runtime.clock.now()
  return repaired
}

/** The service does not do what it is told: nothing more may be deleted. */
class RepairError extends UserError {
  override name = 'RepairError'
}

const syncCreates = 'the next sync creates it from the feed'

async function carryOut(
  feed: Feed,
  writers: Writers,
  duplicates: Repaired['duplicates'],
  allowed: number,
): Promise<void> {
  let left = allowed
  /** Looks up the copies before a delete. null: the delete must not be sent, and `outcome.error` tells why. */
  async function mayDelete(
    { mlsNumber }: Duplicate,
    copies: number,
    ids: ReadonlySet<number | null> | null,
    outcome: RepairOutcome,
  ): Promise<Shown[] | null> {
    if (writers.signal.aborted) throw new RepairError('stopped by a signal')
    if (left === 0) {
      outcome.error = 'limits.share allows no more deletes within 24 hours: repair again later'
      return null
    }
    const there = await writers.service.lookUp(mlsNumber)
    const isOther = there.length !== copies || (ids !== null && there.some(({ id }) => !ids.has(id)))
    if (isOther) outcome.error = 'other copies are there than before: run repair again'
    else outcome.error = strangerAmong(there, feed)
    if (outcome.error !== null) return null
    left--
    return there
  }
  for (const duplicate of duplicates) {
    const { mlsNumber, way, outcomes } = duplicate
    const begun = (keyType: RepairOutcome['keyType'], key: string): RepairOutcome => {
      const outcome: RepairOutcome = { call: 'delete', keyType, key, result: 'left', error: null }
      outcomes.push(outcome)
      return outcome
    }
    let { copies } = duplicate
    const ids = way?.by === 'ID' ? new Set<number | null>([way.stays.id, ...way.surplus]) : null
    for (const key of way === null ? [] : keysOf(way)) {
      const outcome = begun('NativeId', key)
      const there = await mayDelete(duplicate, copies, ids, outcome)
      if (there === null) break
      await deleteCopy(feed, writers, { mlsNumber, key, isListId: way!.by === 'ID', there }, outcome)
      // No delete follows one that may still land: nobody could tell which copy goes.
      if (outcome.result !== 'done') break
      copies--
      ids?.delete(Number(key))
    }
    if (way?.by !== 'anew') continue
    const outcome = begun('MLSNumber', mlsNumber)
    if ((await mayDelete(duplicate, copies, ids, outcome)) === null) continue
    await makeAnew(feed, writers, duplicate, outcome)
  }
}

/** What Delete takes as `NativeId` for each single copy that goes. */
function keysOf(way: Way): string[] {
  if (way.by === 'ID') return way.surplus.map(String)
  return way.by === 'identifier' ? [way.identifier] : []
}

interface Copy {
  mlsNumber: string
  key: string
  /** The key is the ID of one of those that are there. */
  isListId: boolean
  there: readonly Shown[]
}

/** Deletes one copy, and checks that it went and nothing else of this MLSNumber. Throws `RepairError` if not. */
async function deleteCopy(feed: Feed, writers: Writers, copy: Copy, outcome: RepairOutcome): Promise<void> {
  const { chatbot, name } = feed
  const { service, store } = writers
  const { mlsNumber, key, isListId, there } = copy
  const answer = await sent(writers, feed, mlsNumber, outcome, (beforeSend) =>
    service.deleteByNativeId(key, beforeSend),
  )
  if (answer === null) return
  const next = isListId
    ? 'Its Delete does not take the IDs of its list: set service.profile.nativeId to unknown'
    : `It does not take what its Create answered: run listing-sync repair ${name} again, which deletes by MLSNumber`
  // Either that listing is gone now, or the service does not know it by this identifier.
  await store.snapshot.forgetIdentifier(chatbot, mlsNumber)
  if (answer === 'refused')
    throw new RepairError(`the service refused to delete copy ${key} of ${mlsNumber}: ${outcome.error}. ${next}`)
  outcome.result = 'unknown'
  const before = new Set(there.map(({ id }) => id))
  const isGone = (now: readonly Shown[]): boolean =>
    isListId ? !now.some(({ id }) => String(id) === key) : now.length < there.length
  const now = await lookedUp(writers, mlsNumber, isGone)
  const gone = [...before].filter((id) => !now.some((shown) => shown.id === id))
  const others = gone.filter((id) => isListId && String(id) !== key)
  if (others.length > 0 || now.length < there.length - 1) {
    outcome.result = 'failed'
    outcome.error = `asked to delete copy ${key}, the service deleted ${gone.join(', ')} of ${mlsNumber}`
    throw new RepairError(`${outcome.error}; nothing more was deleted. Run sync, which creates what the feed holds`)
  }
  if (isGone(now)) {
    await store.ledger.end(chatbot, [mlsNumber], 'as-before')
    outcome.result = 'done'
    return
  }
  outcome.result = 'failed'
  outcome.error = `the service answered "${answer.words}" and still shows ${isListId ? `copy ${key}` : 'all copies'} of ${mlsNumber}`
  throw new RepairError(
    `${outcome.error}. ${next}${answer.value === 0 ? '' : '; look whether another listing is missing'}`,
  )
}

/** Deletes all copies by their MLSNumber and creates the listing once, as it was sent last. */
async function makeAnew(
  feed: Feed,
  writers: Writers,
  { mlsNumber, copies, outcomes }: Repaired['duplicates'][number],
  outcome: RepairOutcome,
): Promise<void> {
  const { chatbot, name } = feed
  const { service, store } = writers
  const before = (await store.snapshot.confirmed(chatbot, name, [mlsNumber])).get(mlsNumber)
  let there = copies
  let unsettled = false
  // A service may delete one copy with each call.
  for (let calls = 0; there > 1 && calls < copies; calls++) {
    const answer = await sent(writers, feed, mlsNumber, outcome, (beforeSend) =>
      service.delete([mlsNumber], beforeSend),
    )
    if (answer === null || answer === 'refused') return
    unsettled ||= answer.unsettled
    outcome.result = 'unknown'
    const now = await lookedUp(writers, mlsNumber, (shown) => shown.length === 0)
    if (now.length >= there) {
      outcome.result = 'failed'
      outcome.error = `the service answered "${answer.words}" and still shows ${now.length} copies`
      return
    }
    there = now.length
  }
  outcome.result = 'done'
  if (there > 0) {
    await store.snapshot.forgetIdentifier(chatbot, mlsNumber)
    return store.ledger.end(chatbot, [mlsNumber], 'as-before')
  }
  // Without its row, a sync creates the listing whatever happens from here on.
  await store.snapshot.forget(chatbot, [mlsNumber], unsettled ? writers.runtime.clock.now() : null)
  const created: RepairOutcome = { call: 'create', keyType: 'MLSNumber', key: mlsNumber, result: 'left', error: null }
  outcomes.push(created)
  if (before === undefined) created.error = `what was sent is not known: ${syncCreates}`
  else if (unsettled) created.error = `an attempt to delete it may still land: ${syncCreates} after that`
  else await createOnce(feed, writers, mlsNumber, before, created)
}

async function createOnce(
  feed: Feed,
  writers: Writers,
  mlsNumber: string,
  { listing: wanted, moving }: Parameters<typeof listingAt>[0],
  created: RepairOutcome,
): Promise<void> {
  const { chatbot, name } = feed
  const { service, store, runtime } = writers
  const now = runtime.clock.now()
  const listing = listingAt({ listing: wanted, moving }, now, dayIn(feed.timezone, now))
  let identifier: string
  try {
    const answer = await service.create(listing, async () => {
      await store.ledger.begin(chatbot, name, 'create', [{ key: mlsNumber, counts: [] }], runtime.clock.now())
    })
    identifier = answer.value
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    created.result = error.effect === 'unknown' ? 'unknown' : 'failed'
    created.error = `${error.message}; ${error.effect === 'unknown' ? 'the next sync settles it' : syncCreates}`
    if (error.effect === 'none') await store.ledger.end(chatbot, [mlsNumber], 'none')
    if (error.kind !== 'transient' && error.kind !== 'refused') throw error
    return
  }
  await store.snapshot.confirm(chatbot, [
    {
      key: mlsNumber,
      feed: name,
      sent: { listing, moving },
      content: contentHash(listing, feed.plan.volatile.fields),
      record: null,
      mapping: feed.mapping.version,
      home: homeHashOf(listing),
      bornAt: null,
      at: runtime.clock.now(),
      movesAt: movesAt(moving, now),
      suspectUntil: null,
      isPutRight: false,
      identifier: identifier === '' ? null : identifier,
      baseline: null,
      ignored: false,
    },
  ])
  created.result = 'done'
}

/** Marks a delete as in flight and sends it. null: there was no certain answer. What went wrong is noted in `outcome`. */
async function sent(
  { store, runtime }: Writers,
  { chatbot, name }: Feed,
  mlsNumber: string,
  outcome: RepairOutcome,
  send: (beforeSend: () => Promise<void>) => Promise<Answer<number>>,
): Promise<{ value: number; unsettled: boolean; words: string } | 'refused' | null> {
  const copy = outcome.keyType === 'NativeId' ? outcome.key : undefined
  try {
    const { value, unsettled } = await send(() =>
      store.ledger.begin(chatbot, name, 'delete', [{ key: mlsNumber, counts: ['delete'], copy }], runtime.clock.now()),
    )
    return { value, unsettled, words: `${value} deleted` }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // Nothing was deleted, and nothing counts.
    if (error.effect === 'none') await store.ledger.end(chatbot, [mlsNumber], 'none', copy)
    // An attempt without an answer may have landed, and the next one been refused because of that.
    else if (error.kind === 'refused') return { value: 0, unsettled: true, words: error.message }
    outcome.result = error.effect === 'unknown' ? 'unknown' : 'failed'
    outcome.error = error.message
    if (error.kind === 'refused') return 'refused'
    if (error.kind !== 'transient') throw error
    return null
  }
}

/** Looks an MLSNumber up a few times, until it is as expected, as a list may lag. Gives what was shown last. */
async function lookedUp(
  { service, runtime, signal }: Writers,
  mlsNumber: string,
  isExpected: (shown: readonly Shown[]) => boolean,
): Promise<Shown[]> {
  for (let time = 1; ; time++) {
    const shown = await service.lookUp(mlsNumber)
    if (isExpected(shown) || time === lookUps) return shown
    await runtime.clock.sleep(pause, signal).catch(() => {
      throw new RepairError('stopped by a signal')
    })
  }
}
