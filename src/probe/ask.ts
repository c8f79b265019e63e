/**
 * All questions in their order: what only reads, what keys without a match tell, what the sentinels tell, and last what may
 * lock us out. However it ends, whatever is on the service is removed.
 */
import { ServiceError, UserError, messageOf } from '../core/errors.ts'
import type { Runtime } from '../core/machine.ts'
import type { ListItem } from '../service/canonical.ts'
import type { ServiceClient } from '../service/client.ts'
import type { ServiceSettings } from '../service/settings-file.ts'
import { deleteBatch, deleteWithoutMatch, partialDelete, updateWithoutMatch } from './absent.ts'
import { Calls } from './calls.ts'
import { clearing, requiredOnUpdate } from './clearing.ts'
import { duplicates } from './copies.ts'
import { absentValues, creation, filter, identifier, virtualCount } from './created.ts'
import { saleType, valueForms } from './forms.ts'
import { badInput, badKeys, keysAlone } from './keys.ts'
import { order, pageSize } from './pages.ts'
import { emptyAnswer } from './question.ts'
import type { Answered, Context, Question, Seen } from './question.ts'
import { sentinelNames, markerUrl, mlsNumberOf, textOf } from './sentinel-listing.ts'
import { Sentinels } from './sentinels.ts'
import { findSentinels, survey } from './survey.ts'
import { lengths, textForms } from './texts.ts'

const reading: readonly Question[] = [pageSize]
/** All of them write: none is asked where a sentinel could not be looked up. */
const writing: readonly Question[] = [
  deleteWithoutMatch,
  deleteBatch,
  updateWithoutMatch,
  creation,
  virtualCount,
  filter,
  valueForms,
  saleType,
  textForms,
  lengths,
  clearing,
  requiredOnUpdate,
  absentValues,
  order,
  partialDelete,
  identifier,
  duplicates,
  badInput,
]
/** Asked once the sentinels are gone. */
const last: readonly Question[] = [keysAlone, badKeys]

/** Calls after which nothing more is asked, without those of the first walk over the list. */
const mostCalls = 500
/** Pages of the list that each look-up may cost, where List does not filter. */
const mostPages = 10

export interface Asked {
  answers: Answered[]
  /** Left-over sentinels of earlier probes that were found and removed. */
  removed: string[]
  /** MLSNumbers that may still be there, with the reason. */
  left: Map<string, string>
  /** MLSNumbers whose Create got no answer, with when that was, in milliseconds: they may appear later. */
  lost: Map<string, number>
  /** What a person should look at. */
  notes: string[]
  /** Why it ended before it was through, as a sentence. */
  error: string | null
  calls: number
}

/** What a probe is given. */
export interface Asking {
  feed: string
  /** SerialNumber. */
  chatbot: string
  client: ServiceClient
  settings: Pick<ServiceSettings, 'secretKey' | 'sessionKey' | 'profile'>
  runtime: Runtime
  signal: AbortSignal
  /** Told the title of each question before it is asked. */
  progress(this: void, title: string): void
}

/** Asks everything. What the service does is in the answers; throws only for defects, and removes the sentinels even then. */
export async function askAll({ feed, chatbot, client, settings, runtime, signal, progress }: Asking): Promise<Asked> {
  const { profile, secretKey, sessionKey } = settings
  const calls = new Calls(client, chatbot, profile.pageSize, runtime.clock, signal)
  const names = sentinelNames(feed, () => runtime.random())
  const sentinels = new Sentinels(names, calls, runtime.clock)
  const asked: Asked = {
    answers: [],
    removed: [],
    left: new Map(),
    lost: new Map(),
    notes: [],
    error: null,
    calls: 0,
  }
  try {
    progress('What the chatbot holds')
    const { seen, leftOver, renamed, doubtful } = await survey(calls, names)
    asked.notes.push(...doubtful)
    if (!seen.complete)
      asked.notes.push(
        `the list could not be read whole, so an earlier probe's test listing may be there unseen: ${seen.reasons.join(' ')}`,
      )
    sentinels.take(leftOver)
    await clear(sentinels)
    asked.removed = leftOver
    await clearRenamed(renamed, sentinels, asked)
    const context = { calls, sentinels, runtime, seen, keys: { secretKey, sessionKey } }
    const series = new Series(asked, context, calls.sent + mostCalls, progress)
    await series.ask(reading)
    const obstacle = await obstacleTo(seen, sentinels)
    if (obstacle === null) await series.ask(writing)
    else series.skip(writing, obstacle)
    await clear(sentinels)
    if (sentinels.wasUnseen) await clearRenamed((await findSentinels(calls)).renamed, sentinels, asked)
    if (asked.answers.some(({ key, facts }) => key === creation.key && 'lookUpsBeforeShown' in facts))
      await series.ask([keysAlone])
    else series.skip([keysAlone], obstacle ?? 'a test listing is not listed')
    await clear(sentinels)
    await series.ask([badKeys])
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof UserError)) throw error
    asked.error = error.message
    skipRest(asked, error.message)
  } finally {
    calls.cleanUp()
    for (const [mlsNumber, why] of await sentinels.removeAll()) asked.left.set(mlsNumber, why)
    asked.lost = new Map(sentinels.lost)
    asked.calls = calls.sent
    calls.end()
  }
  return asked
}

async function clear(sentinels: Sentinels): Promise<void> {
  for (const [mlsNumber, why] of await sentinels.removeAll())
    throw new UserError(`the test listing ${mlsNumber} can't be removed: ${why}`)
}

/** Why no test listing may be made; null where one may. */
async function obstacleTo(seen: Seen, sentinels: Sentinels): Promise<string | null> {
  if (!seen.filters && seen.pages > mostPages)
    return `List does not filter by MLSNumber, and to read ${seen.pages} pages for every look-up would take too long: probe a chatbot with fewer listings`
  try {
    const { length } = await sentinels.lookUp(sentinels.names.mlsNumber(2))
    return length === 0 ? null : 'its MLSNumber is taken: probe again'
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'credentials' || error.kind === 'stopped') throw error
    return `a test listing could not be looked up: ${error.message}`
  }
}

class Series {
  readonly #asked: Asked
  readonly #context: Context
  readonly #callsUntil: number
  readonly #progress: (title: string) => void
  #failures = 0

  constructor(asked: Asked, context: Context, callsUntil: number, progress: (title: string) => void) {
    this.#asked = asked
    this.#context = context
    this.#callsUntil = callsUntil
    this.#progress = progress
  }

  async ask(questions: readonly Question[]): Promise<void> {
    const { calls, sentinels } = this.#context
    for (const question of questions) {
      const lacking = (question.needs ?? []).find((number) => !sentinels.has(number))
      if (lacking !== undefined) this.skip([question], 'its test listing is not listed')
      else if (calls.sent >= this.#callsUntil) this.skip([question], `${mostCalls} calls were made before it`)
      else await this.#askOne(question)
    }
  }

  skip(questions: readonly Question[], why: string): void {
    for (const question of questions) this.#asked.answers.push(notAsked(question, why))
  }

  async #askOne(question: Question): Promise<void> {
    const { key, unknown, title } = question
    this.#progress(title)
    try {
      this.#asked.answers.push({ key, unknown, title, ...(await question.ask(this.#context)) })
      this.#failures = 0
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      this.#asked.answers.push(notAsked(question, error.message, 'not learnt'))
      // A service that is down is not worn out with the rest.
      if (error.kind !== 'transient' && error.kind !== 'refused') throw error
      if (++this.#failures === 2) throw error
    }
  }
}

function notAsked({ key, unknown, title }: Question, why: string, what = 'not asked'): Answered {
  return { key, unknown, title, ...emptyAnswer(), notLearnt: [`${what}, because ${why}`] }
}

function skipRest(asked: Asked, why: string): void {
  const known = new Set(asked.answers.map(({ key }) => key))
  const rest = [...reading, ...writing, ...last].filter(({ key }) => !known.has(key))
  asked.answers.push(...rest.map((question) => notAsked(question, why)))
}

/**
 * Removes test listings that the service lists under another MLSNumber than was sent, by that number, and says so: runs go
 * by it, too.
 */
async function clearRenamed(rows: readonly ListItem[], sentinels: Sentinels, asked: Asked): Promise<void> {
  if (rows.length === 0) return
  asked.notes.push(
    `the service changes MLSNumbers: the test listing with Url ${textOf(rows[0], 'Url')} is listed as ${mlsNumberOf(rows[0])}. A run knows listings by that number alone: it will not find again what it creates`,
  )
  for (const mlsNumber of new Set(rows.map(mlsNumberOf))) {
    try {
      await sentinels.remove(mlsNumber)
      settleOwn(
        rows.filter((row) => mlsNumberOf(row) === mlsNumber),
        sentinels,
      )
      // Before the first question it was an earlier probe's.
      if (asked.answers.length === 0) asked.removed.push(mlsNumber)
    } catch (error) {
      asked.left.set(mlsNumber, messageOf(error))
    }
  }
}

function settleOwn(removed: readonly ListItem[], sentinels: Sentinels): void {
  for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
    const begin = markerUrl(sentinels.names, number, 0).slice(0, -1)
    if (removed.some((row) => textOf(row, 'Url').startsWith(begin))) sentinels.settle(sentinels.names.mlsNumber(number))
  }
}
