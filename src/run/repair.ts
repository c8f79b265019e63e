/**
 * `repair`: takes the surplus copies of MLSNumbers that the service shows more than once off, one at a time, each looked
 * up before and after. Never both copies go: a call that may still land keeps its MLSNumber out until `settle` is over.
 */
import { ServiceError, UsageError, UserError } from '../core/errors.ts'
import { allowed as allowedToLeave } from '../plan/guard/rules.ts'
import { findDuplicates } from './copies.ts'
import type { Duplicate } from './copies.ts'
import type { Feed, Writers } from './tools.ts'

/** What became of one surplus copy. `left`: not touched. */
export interface CopyOutcome {
  id: number
  result: 'deleted' | 'left' | 'unknown' | 'failed'
  error: string | null
}

export interface Repaired {
  feed: string
  chatbot: string
  startedAt: number
  finishedAt: number
  duplicates: (Duplicate & { outcomes: CopyOutcome[] })[]
  /** Somebody was asked and said no: nothing was done. */
  refused: boolean
  /** Why it ended before it was through, as a sentence. */
  error: string | null
}

/** What a person is asked about. */
export interface RepairPlan {
  duplicates: Duplicate[]
  surplus: number
  /** How many deletes limits.share still allows within 24 hours. */
  allowed: number
}

/** How often, and how many milliseconds apart, a deleted copy is looked for: a list may lag a little behind. */
const lookUps = 3
const pause = 2000

/**
 * One repair under the chatbot's lease; `agree` is asked before anything is written. What feed, service or store do is in
 * the answer. Throws only for defects and what `agree` throws.
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
    const { found, ours } = await findDuplicates(feed, writers)
    repaired.duplicates = found.map((duplicate) => ({ ...duplicate, outcomes: [] }))
    const deleted = await store.ledger.counted(chatbot, name, 'delete', startedAt)
    const { limits } = feed.plan
    const most = limits.isOff ? Infinity : allowedToLeave({ ours: ours + deleted, isRare: false }, limits)
    const allowed = Math.max(0, most - deleted)
    const surplus = found.reduce((sum, duplicate) => sum + duplicate.surplus.length, 0)
    repaired.refused = surplus > 0 && !(await agree({ duplicates: found, surplus, allowed }))
    if (!repaired.refused) await carryOut(feed, writers, repaired.duplicates, allowed)
  } catch (error) {
    // Nobody there to be asked is wrong usage, and no matter of the service.
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

const byHand = 'Perhaps the IDs in its list are not what its Delete takes: delete the copies by hand'

async function carryOut(
  feed: Feed,
  writers: Writers,
  duplicates: Repaired['duplicates'],
  allowed: number,
): Promise<void> {
  let left = allowed
  for (const duplicate of duplicates) {
    if (duplicate.stays === null) continue
    const there = new Set<number | null>([duplicate.stays.id, ...duplicate.surplus])
    for (const id of duplicate.surplus) {
      const outcome: CopyOutcome = { id, result: 'left', error: null }
      duplicate.outcomes.push(outcome)
      if (writers.signal.aborted) throw new RepairError('stopped by a signal')
      if (left === 0) {
        outcome.error = `limits.share allows ${allowed} more deletes within 24 hours: repair again later`
        continue
      }
      const before = await idsOf(writers, duplicate.mlsNumber)
      if (before.size !== there.size || [...there].some((one) => !before.has(one))) {
        outcome.error = 'other copies are there than before: run repair again'
        break
      }
      left--
      await deleteCopy(feed, writers, duplicate.mlsNumber, there, outcome)
      // What may still land must not be followed by another: nobody could tell any more which copy goes.
      if (outcome.result !== 'deleted') break
      there.delete(id)
    }
  }
}

/** Deletes one copy and makes sure that it went, and nothing else of this MLSNumber. Throws `RepairError` where not. */
async function deleteCopy(
  { name, chatbot }: Feed,
  writers: Writers,
  mlsNumber: string,
  there: ReadonlySet<number | null>,
  outcome: CopyOutcome,
): Promise<void> {
  const { service, runtime } = writers
  const { ledger } = writers.store
  const { id } = outcome
  let counted = 'nothing'
  try {
    const answer = await service.deleteById(id, async () => {
      const now = runtime.clock.now()
      await ledger.countDelete(chatbot, name, `${mlsNumber} (ID ${id})`, now)
      // In the ledger under the copy's own name, as the listing itself is not deleted.
      await ledger.begin(chatbot, name, 'delete', [{ key: mlsNumber, counts: [] }], now)
    })
    counted = `${answer.value} deleted`
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (error.effect === 'none') await ledger.end(chatbot, [mlsNumber], 'as-before')
    // An attempt without answer may have landed, and the next one have been refused for that.
    if (error.kind !== 'refused' || error.effect === 'none') {
      outcome.result = error.effect === 'unknown' ? 'unknown' : 'failed'
      outcome.error = error.message
      if (error.kind === 'refused')
        throw new RepairError(`the service refused to delete copy ${id} of ${mlsNumber}: ${error.message}. ${byHand}`)
      if (error.kind !== 'transient') throw error
      return
    }
  }
  outcome.result = 'unknown'
  for (let time = 1; ; time++) {
    const now = await idsOf(writers, mlsNumber)
    const others = [...there].filter((one) => one !== id && !now.has(one))
    if (others.length > 0) {
      outcome.result = 'failed'
      outcome.error = `asked to delete copy ${id}, the service deleted ${others.join(', ')} of ${mlsNumber}`
      throw new RepairError(`${outcome.error}; nothing more was deleted. Run sync, which creates what the feed holds`)
    }
    if (!now.has(id)) break
    if (time === lookUps) {
      outcome.result = 'failed'
      outcome.error = `the service answered "${counted}" and still shows copy ${id} of ${mlsNumber}`
      throw new RepairError(
        `${outcome.error}. ${byHand}${counted === '0 deleted' ? '' : '; look whether another listing is missing'}`,
      )
    }
    await runtime.clock.sleep(pause, writers.signal).catch(() => {
      throw new RepairError('stopped by a signal')
    })
  }
  await ledger.end(chatbot, [mlsNumber], 'as-before')
  outcome.result = 'deleted'
}

async function idsOf({ service }: Writers, mlsNumber: string): Promise<Set<number | null>> {
  return new Set((await service.lookUp(mlsNumber)).map((shown) => shown.id))
}
