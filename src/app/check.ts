/** `check`: tries out what a daemon needs, one thing after another, without leaving a trace. */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { confusedInWords, confusedRemedy, confusedWith } from '../config/config.ts'
import type { Config, FeedConfig } from '../config/config.ts'
import { FeedError, ServiceError, StoreError, UserError } from '../core/errors.ts'
import { systemClock } from '../core/machine.ts'
import { roomIn } from '../core/room.ts'
import { many, printable } from '../core/text.ts'
import { Api } from '../feed/api/query.ts'
import type { ResoSettings } from '../feed/api/settings.ts'
import { vendorOf } from '../feed/api/vendors.ts'
import { nameOf } from '../feed/transport/address.ts'
import { assertLocal } from '../store/file-system.ts'
import { temporaryFolder } from '../workspace/folder.ts'
import { storeKind } from './adapters.ts'
import type { App, CommandContext } from './app.ts'
import { createGates } from './gates.ts'
import { inspectBeginning } from './inspect.ts'
import { leftBehind, leftOf } from './left-behind.ts'
import { listsInWords } from './lists.ts'

/** One thing that was looked at. */
export interface Checked {
  what: 'configuration' | 'secrets' | 'store' | 'scratch' | 'metrics' | 'page' | 'source' | 'service' | 'schedule'
  /** null: it is not about one feed. */
  feed: string | null
  ok: boolean
  /** What was found, as a sentence without a full stop. */
  found: string
  /** What to do about it; null: nothing. */
  remedy: string | null
}

/** How many records of a feed are looked at. */
const records = 200
/** Bytes that a run may need in either place. A large feed needs more. */
const leastRoom = 64 * 1024 * 1024
/** How long the service is waited for, in milliseconds. */
const patience = 15_000

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MB`
export const fine = (what: Checked['what'], found: string, feed: string | null = null): Checked => ({
  what,
  feed,
  ok: true,
  found,
  remedy: null,
})
export const wrong = (what: Checked['what'], found: string, remedy: string, feed: string | null = null): Checked => ({
  what,
  feed,
  ok: false,
  found,
  remedy,
})

/** Where secrets stand. That they are there is known, as the configuration could be read. */
export function checkSecrets({ literalSecrets }: Config): Checked {
  if (literalSecrets.length === 0)
    return fine('secrets', 'every key and password is there, and none stands in the file')
  const remedy = `whoever may read the file has them; write them as \${NAME} or \${file:PATH}: ${literalSecrets.join(', ')}`
  return { ...fine('secrets', 'every key and password is there, but some stand in the file itself'), remedy }
}

export async function checkStore({ store, place }: Config): Promise<Checked> {
  try {
    if (store.includes('://')) {
      const kind = storeKind(store)
      const reader = kind.openReader(store, place)
      try {
        await reader.runs.feeds()
      } finally {
        await reader.close()
      }
      await kind.assertTakesWrites?.(store)
      return fine('store', `${store.replace(/:.*/s, '')}: it can be used`)
    }
    const remark = place.allowNetwork ? null : assertLocal(store)
    const folder = nearest(dirname(store))
    const problem = roomProblem(folder, 0)
    if (problem !== null)
      return wrong(
        'store',
        `${store}: ${problem}`,
        'make room there, give this user the right to write, or change `store`',
      )
    if (existsSync(store)) accessSync(store, constants.R_OK | constants.W_OK)
    await storeKind(store).openReader(store, place).close()
    const state = existsSync(store) ? 'is sound' : 'will be made by the first run'
    return { ...fine('store', `${store} ${state}; ${megabytes(roomIn(folder, 0))} free`), remedy: remark }
  } catch (error) {
    if (error instanceof UserError) return wrong('store', error.message, 'see docs/deploy.md, "The store"')
    return wrong(
      'store',
      `${store} can't be written to`,
      'give this user the right to write to the file and its folder',
    )
  }
}

/** What feeds left behind: after a feed is renamed, nobody updates its listings before the new name takes them over. */
export async function checkLeft(app: App): Promise<Checked[]> {
  const left = await leftBehind(app.config, app.reader())
  return left.map((feedLeft) => ({
    ...fine('store', `${feedLeft.what}, and left ${leftOf(feedLeft)}`),
    remedy: feedLeft.todo,
  }))
}

export function checkScratch({ feeds }: Config): Checked {
  const folder = temporaryFolder()
  const keepFree = Math.max(...feeds.map(({ transport }) => transport.keepFree))
  const problem = existsSync(folder) ? roomProblem(folder, keepFree) : 'there is no such folder'
  return problem === null
    ? fine('scratch', `${folder} has ${megabytes(roomIn(folder, keepFree))} for a run`)
    : wrong(
        'scratch',
        `${folder}: ${problem}`,
        'name a folder on a disk with room, which this user may write to, with TMPDIR',
      )
}

/** The folder of the metrics file, in which each run makes the file anew. */
export function checkMetrics({ metrics, beside }: Config): Checked[] {
  if (metrics === null) return []
  const written = fine('metrics', `${metrics} will be written by each run`)
  try {
    accessSync(dirname(metrics), constants.W_OK | constants.X_OK)
    return [written]
  } catch {
    const isThere = existsSync(dirname(metrics))
    // The first run makes the folder of the store.
    if (!isThere && beside !== null && dirname(beside) === dirname(metrics)) return [written]
    const problem = isThere
      ? `this user may not write in ${dirname(metrics)}`
      : `there is no folder ${dirname(metrics)}`
    const remedy = `${isThere ? 'give this user the right to' : 'make it'}, or change \`metrics\``
    return [wrong('metrics', `${metrics}: ${problem}`, remedy)]
  }
}

/** What keeps a run from writing there; null: nothing. */
function roomProblem(folder: string, keepFree: number): string | null {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch {
    return `this user may not write in ${folder}`
  }
  const room = roomIn(folder, keepFree)
  return room >= leastRoom
    ? null
    : `there is room for ${megabytes(Math.max(0, room))} only; a run may need ${megabytes(leastRoom)}`
}

function nearest(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder))
}

/** Reads the beginning of a feed's source. */
export async function checkSource(context: CommandContext, feed: FeedConfig): Promise<Checked> {
  const { name, source, live } = feed
  if (source === '-') return fine('source', 'standard input is not read here', name)
  try {
    if (live !== null) return await checkLive(context, name, live)
    const { findings } = await inspectBeginning(context, name, records, false)
    const { counts, document, preset } = findings
    const read = `${document.records === records ? 'the first ' : ''}${many(document.records, 'record')} of ${document.format}`
    const fit = `the preset ${preset?.name ?? 'that it has'} fits by ${Math.round(preset?.score ?? 0)} %`
    if (document.records === 0)
      return document.complete === true
        ? { ...fine('source', findings.notes[0], name), remedy: emptyRemedy[feed.mapping.delivery] }
        : wrong('source', printable(document.reasons.join('; ')), remedyOf(''), name)
    const accepted = counts.listings + counts.removals + counts.filtered
    if (accepted === 0 || counts.rejects > accepted)
      return wrong(
        'source',
        `${read}: ${counts.rejects} would be rejected`,
        `see why, and what to write: listing-sync inspect ${name}`,
        name,
      )
    const rejected = counts.rejects === 0 ? '' : `; ${counts.rejects} of them would be rejected`
    const why = counts.rejects === 0 ? [] : [`see why: listing-sync inspect ${name}`]
    const filtered =
      counts.filtered === 0
        ? ''
        : `; ${counts.filtered} of them ${counts.filtered === 1 ? 'is' : 'are'} left out by \`where\``
    if (counts.filtered === accepted) why.push('if it should leave some in, compare its words with those of the feed')
    // What a delta lacks is never deleted, so its end need not be proven.
    const doubt = feed.mapping.delivery === 'full' ? document.doubt : null
    const unproven = doubt === null ? '' : "; its end can't be proven"
    const isCut = document.complete === false
    const cut = isCut ? `; not whole: ${printable(document.reasons.join('; '))}` : ''
    if (isCut) why.push('ask whoever delivers it; until it is whole, nothing is deleted for being absent')
    const noted = findings.notes.map((note) => `; ${printable(note)}`).join('')
    const remedy = doubt === null ? why : [...why, doubt]
    return {
      ...fine('source', `${read}; ${fit}${filtered}${rejected}${unproven}${cut}${noted}`, name),
      remedy: remedy.length === 0 ? null : remedy.join('; '),
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const remedy = (await otherPreset(context, name, error)) ?? remedyOf(error.message)
    return wrong('source', printable(error.message), remedy, name)
  }
}

/** What to do about a whole document without a record. */
const emptyRemedy = {
  full: 'if the feed has listings, ask whoever delivers it; what a sync does is in docs/guard.md, "Cases"',
  delta: null,
}

/** Asks a live source what a run asks it: a wrong `vendor` shows in the second and third answer at the latest. */
async function checkLive(
  { signal, doors, clock = systemClock }: CommandContext,
  name: string,
  live: ResoSettings,
): Promise<Checked> {
  const gates = createGates(clock, doors)
  const waited = AbortSignal.timeout(patience)
  try {
    const rows = await tried(new Api(live, gates.of(live), AbortSignal.any([signal, waited])))
    const { title } = vendorOf(live.vendor)
    const found = `${new URL(live.reso).host} answers as ${title}`
    if (rows > 0) return fine('source', found, name)
    return wrong('source', `${found}, but with no record`, 'check `filter` and what the credentials may see', name)
  } catch (error) {
    signal.throwIfAborted()
    const seconds = patience / 1000
    // The signal's reason, or the error of a sleep that it ended.
    if (waited.aborted)
      return wrong(
        'source',
        `${nameOf(new URL(live.reso))} gave no answer in ${seconds} seconds, or asks to wait longer`,
        'check the address under `reso`, that the API is up, and that this machine may reach it',
        name,
      )
    if (!(error instanceof FeedError)) throw error
    return wrong('source', printable(error.message), remedyOfLive(error.message), name)
  } finally {
    await gates.close()
  }
}

/** Asks for a record, a page of keys and, if runs do so, the number of records. Gives how many records came. */
async function tried(api: Api): Promise<number> {
  const { stamp, visible, walk, counts } = api.vendor
  const filter = visible === null ? [] : [`${visible} eq true`]
  // The latest one: some records may have no timestamp, and come first.
  const { rows } = await api.ask(api.url({ filter, what: 'records', order: [`${stamp} desc`], top: 1 }))
  api.assertDated(rows)
  const resource = walk === 'order' ? 'Property' : walk.resource
  await api.ask(api.url({ filter: [], what: 'keys', order: ['ListingKey'] }, resource))
  if (counts) await api.count()
  return rows.length
}

function remedyOfLive(problem: string): string {
  if (/token|HTTP 40[13]\b/.test(problem))
    return 'check `auth`: the token, or clientId, clientSecret, tokenUrl and scope, as the vendor gave them'
  if (/no whole answer/.test(problem))
    return 'check the address under `reso`, that the API is up, and that this machine may reach it'
  if (/asks to wait|are used up|HTTP (429|5\d\d)\b/.test(problem)) return 'nothing but to wait, and to check again then'
  return 'check `vendor`, `reso` and `filter` of the source; `vendor: generic` asks for nothing but the bare standard'
}

/** Another preset that reads what this one can't. */
async function otherPreset(context: CommandContext, name: string, error: UserError): Promise<string | null> {
  if (!(error instanceof FeedError) || !/preset/.test(error.message)) return null
  try {
    const { preset } = await inspectBeginning(context, name, records, true)
    return preset && `write \`preset: ${preset.name}\` (${printable(preset.title)}), which fits`
  } catch {
    return null
  }
}

function remedyOf(problem: string): string {
  if (/HTTP 40[13]\b/.test(problem))
    return 'the server wants a log-in: check user and password in the address, `headers` or `login`'
  if (/HTTP 404\b/.test(problem)) return 'check the path in `source`'
  if (/HTML page/.test(problem))
    return 'open the address in a browser: it probably wants a log-in, or names another path'
  return 'check `source`: the path or the address, and whether this machine may reach it'
}

/** Whether the store can tell the chatbots of these feeds apart from all others. */
export function checkChatbots(config: Config, feeds: readonly FeedConfig[]): Checked[] {
  return feeds.flatMap((feed) => {
    const others = confusedWith(config, feed)
    return others.length === 0 ? [] : wrong('configuration', confusedInWords(others), confusedRemedy, feed.name)
  })
}

/** Asks the service of a feed for one listing of its chatbot. */
export async function checkService(app: App, feed: FeedConfig, signal: AbortSignal): Promise<Checked> {
  const { name, chatbot, service } = feed
  const { origin } = new URL(service.baseUrl)
  const client = await app.client({
    ...feed,
    service: { ...service, attempts: 1, timeout: Math.min(service.timeout, patience) },
  })
  try {
    const filter = { SerialNumber: chatbot, PageNumber: 1, PageSize: 1 }
    const { List } = await client.list(filter, { signal })
    const listings = List.length === 0 ? 'no listing yet' : 'listings'
    const list = feed.observe ? `; its list is read whole ${listsInWords(feed)}` : ''
    return fine('service', `${origin} answers; chatbot ${printable(chatbot)} has ${listings}${list}`, name)
  } catch (error) {
    if (error instanceof StoreError)
      return wrong(
        'service',
        `${origin} was not asked, as its calls are paced by the store: ${printable(error.message)}`,
        'put the store right first',
        name,
      )
    if (!(error instanceof ServiceError || error instanceof UserError)) throw error
    const isRefused = error instanceof ServiceError && error.kind === 'credentials'
    const remedy = isRefused
      ? 'check secretKey or sessionKey, and that it is for this chatbot'
      : 'check service.baseUrl, that the service is up, and that `chatbot` is its SerialNumber'
    return wrong('service', `${origin}: ${printable(error.message)}`, remedy, name)
  }
}
