/** Asks a feed's chatbot: after a sync about its changes; on demand about listings confirmed last. */
import type { FeedConfig } from '../config/config.ts'
import type { VerifySettings } from '../verify/settings.ts'
import { messageOf } from '../core/errors.ts'
import { shortHash } from '../core/hash.ts'
import { listingAt } from '../core/listing.ts'
import type { Listing } from '../core/listing.ts'
import type { Log } from '../core/machine.ts'
import type { Report, ReportedChange } from '../report/report.ts'
import type { StoreReader } from '../store/store.ts'
import type { Verification } from '../verify/verification.ts'
import { verify } from '../verify/verify.ts'
import type { Subject } from '../verify/verify.ts'
import type { OfKind, Stored, Workspace } from '../workspace/workspace.ts'
import type { App, Finished } from './app.ts'

type Last = Listing | { MLSNumber: string }

/** Listings that a plan deletes, noted before the plan is carried out. */
export type Leaving = ReadonlyMap<string, Last>

/** Notes a few deletes of the plan for `verifyRun`. Unreadable ones are not asked about. */
export async function noteLeaving(app: App, feed: FeedConfig, workspace: Workspace, digest: string): Promise<Leaving> {
  if (feed.verify === null) return new Map()
  try {
    const keys = chooseLeaving(workspace.changes('delete'), digest)
    const confirmed = await app.store().snapshot.confirmed(feed.chatbot, feed.name, keys)
    return new Map(keys.map((key) => [key, confirmed.get(key)?.listing ?? { MLSNumber: key }]))
  } catch (error) {
    app.runtime.log.warn({ feed: feed.name, problem: messageOf(error) }, 'deletes are not verified')
    return new Map()
  }
}

/** Adds what the chatbot says to a run. Failures here do not change its result. */
export async function verifyRun(
  app: App,
  feed: FeedConfig,
  finished: Finished,
  leaving: Leaving,
  signal: AbortSignal,
): Promise<Finished> {
  const { verify: settings } = feed
  const { report } = finished
  if (settings === null || settings.sample === 0 || report.command !== 'sync') return finished
  const none = nothingAsked(settings.session)
  if (report.result === 'failed' || signal.aborted)
    return { ...finished, report: { ...report, verification: { ...none, stopped: 'the run did not finish' } } }
  try {
    const keys = chooseChanged(report.changes(), settings.sample, report.digest)
    const subjects = await listedSubjects(app, feed, keys, app.store())
    subjects.push(...(await goneSubjects(app, feed, report, leaving)))
    const verification = await verifySubjects(app, feed, settings, subjects, signal, app.store())
    const { asked, agreed, disagreed, unanswered, tokens } = verification
    const figures = { asked, agreed, disagreed, unanswered, tokens }
    await app.store().runs.recordVerified(feed.name, report.startedAt, figures)
    return { ...finished, report: { ...report, verification } }
  } catch (error) {
    return { ...finished, report: { ...report, verification: { ...none, stopped: messageOf(error) } } }
  }
}

/** Deleted listings to ask about, without homes that are offered again under another number. */
async function goneSubjects(app: App, { chatbot }: FeedConfig, report: Report, leaving: Leaving): Promise<Subject[]> {
  const { snapshot } = app.store()
  const done = new Set<string>()
  for (const { kind, mlsNumber, outcome } of report.changes())
    if (kind === 'delete' && outcome?.result === 'done' && leaving.has(mlsNumber)) done.add(mlsNumber)
  const subjects: Subject[] = []
  for (const [mlsNumber, listing] of leaving) {
    if (subjects.length >= mostGone) break
    const address = 'Address' in listing ? listing.Address : undefined
    if (!done.has(mlsNumber) || (address !== undefined && (await snapshot.hasAddress(chatbot, address)))) continue
    subjects.push({ expected: 'gone', listing })
  }
  return subjects
}

/** Asks one question per listing, without retries: a second attempt may be counted and paid again. */
export async function verifySubjects(
  app: App,
  feed: FeedConfig,
  { session, question }: VerifySettings,
  subjects: readonly Subject[],
  signal: AbortSignal,
  store: StoreReader,
): Promise<Verification> {
  const client = await app.client({ ...feed, service: { ...feed.service, attempts: 1 } })
  const applied = await store.learnt.settings(feed.chatbot)
  const [limit, suffix] = [applied.get('RateLimitMessage'), applied.get('AnswerSuffix')]
  return verify(subjects, {
    session,
    question,
    ask: (content) => client.ask({ sessionID: session, content }, { signal }),
    rateLimitMessage: typeof limit === 'string' ? limit : null,
    answerSuffix: typeof suffix === 'string' ? suffix : '',
    signal,
  })
}

/**
 * What the chatbot should say of these listings, as confirmed last on the service. A number without a confirmed listing should not be
 * offered.
 */
export async function listedSubjects(
  app: App,
  feed: FeedConfig,
  mlsNumbers: readonly string[],
  store: StoreReader,
): Promise<Subject[]> {
  const now = app.runtime.clock.now()
  const today = new Date(now).toISOString().slice(0, 10)
  const confirmed = await store.snapshot.confirmed(feed.chatbot, feed.name, mlsNumbers)
  return mlsNumbers.map((mlsNumber): Subject => {
    const known = confirmed.get(mlsNumber)
    return known === undefined
      ? { expected: 'gone', listing: { MLSNumber: mlsNumber } }
      : { expected: 'listed', listing: listingAt(known, now, today) }
  })
}

export function logVerification(log: Log, feed: string, verification: Verification | undefined): void {
  if (verification === undefined) return
  const { listings, asked, agreed, disagreed, unanswered, tokens, stopped } = verification
  if (asked === 0 && stopped === null) return
  const wrong = listings.filter(({ verdict }) => verdict === 'disagrees').map(({ mlsNumber }) => mlsNumber)
  const figures = { feed, asked, agreed, disagreed, unanswered, tokens }
  const facts = { ...figures, ...(wrong.length > 0 && { wrong }), ...(stopped !== null && { stopped }) }
  if (disagreed > 0) log.warn(facts, 'the chatbot disagrees with what was synced')
  else log.info(facts, 'the chatbot was asked about what was synced')
}

function nothingAsked(session: number): Verification {
  return { session, listings: [], asked: 0, agreed: 0, disagreed: 0, unanswered: 0, tokens: 0, stopped: null }
}

/** Keeps the first few by rank of all that is added. So few listings are chosen from all over, and the same for the same plan. */
function fewOf(most: number) {
  const kept: { rank: string; key: string }[] = []
  return {
    add(rank: string, key: string): void {
      const last = kept.at(-1)
      if (most === 0 || (kept.length >= most && last !== undefined && last.rank <= rank)) return
      kept.push({ rank, key })
      kept.sort((a, b) => (a.rank < b.rank ? -1 : 1))
      if (kept.length > most) kept.pop()
    },
    keys: () => kept.map(({ key }) => key),
  }
}

/** Most deleted listings to ask about after a run. */
const mostGone = 2
/** More are noted before the run, as some deletes may not be carried out. */
const goneNoted = 20

/** Deletes of a plan to ask about, once carried out. `seed`: the plan's digest. */
function chooseLeaving(deletes: Iterable<Stored<OfKind<'delete'>>>, seed: string): string[] {
  const few = fewOf(goneNoted)
  for (const { change } of deletes) few.add(shortHash(`${seed} ${change.mlsNumber}`), change.mlsNumber)
  return few.keys()
}

const telling: ReadonlySet<string> = new Set(['SaleType', 'Status', 'SalePrice', 'RentPrice'])

/**
 * MLSNumbers of at most `sample` created or updated listings, taken in turn from updates of price or status, creates, and
 * other updates.
 */
function chooseChanged(changes: Iterable<ReportedChange>, sample: number, seed: string): string[] {
  const groups = [0, 1, 2].map(() => fewOf(sample))
  for (const { kind, mlsNumber, outcome, fields } of changes) {
    if (outcome?.result !== 'done' || (kind !== 'create' && kind !== 'update')) continue
    const group = kind === 'create' ? 1 : fields.some(({ field }) => telling.has(field)) ? 0 : 2
    groups[group].add(shortHash(`${seed} ${mlsNumber}`), mlsNumber)
  }
  const lists = groups.map((group) => group.keys())
  const turns = Array.from({ length: sample }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1)))
  return turns.flat().slice(0, sample)
}
