/**
 * Asks all questions: first those that only read, then keys without a match, then those about sentinels, last those that may
 * lock us out. However it ends, the sentinels are removed.
 */
import { ServiceError, UserError, messageOf } from '../core/errors.ts'
import type { Runtime } from '../core/machine.ts'
import type { ListItem } from '../service/canonical.ts'
import type { ServiceClient } from '../service/client.ts'
import type { ServiceSettings } from '../service/settings.ts'
import { deleteBatch, deleteWithoutMatch, partialDelete, updateWithoutMatch } from './absent.ts'
import { Calls } from './calls.ts'
import { clearing, requiredOnUpdate } from './clearing.ts'
import { duplicates } from './copies.ts'
import { absentValues, creation, filter, identifier, virtualCount } from './created.ts'
import { lengths, saleType, textForms, valueForms } from './forms.ts'
import { badInput, badKeys, keysAlone } from './keys.ts'
import { order, pageSize } from './pages.ts'
import type { Answered, Context, Question, Seen } from './question.ts'
import { sentinelNames, markerUrl, mlsNumberOf, textOf } from './sentinel-listing.ts'
import { Sentinels } from './sentinels.ts'
import { findSentinels, survey } from './survey.ts'

const reading: readonly Question[] = [pageSize]
/** Asked only if sentinels can be looked up. */
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
/** Asked after the sentinels are removed. */
const last: readonly Question[] = [keysAlone, badKeys]

/** After so many calls, not counting the first reading of the list, no more is asked. */
const mostCalls = 500
/** Most pages per look-up, if List does not filter. */
const mostPages = 10

export interface Asked {
  answers: Answered[]
  /** Removed sentinels of earlier probes. */
  removed: string[]
  /** MLSNumbers that may still exist, with the reason. */
  left: Map<string, string>
  /** MLSNumbers whose Create had no answer, with its time in milliseconds: they may appear later. */
  lost: Map<string, number>
  /** For a person to check. */
  notes: string[]
  /** Why it ended early, as a sentence. */
  error: string | null
  calls: number
}

export interface Asking {
  feed: string
  /** SerialNumber. */
  chatbot: string
  client: ServiceClient
  settings: Pick<ServiceSettings, 'secretKey' | 'sessionKey' | 'profile'>
  runtime: Runtime
  signal: AbortSignal
  /** Called with the title of each question before it is asked. */
  progress(this: void, title: string): void
}

/** Asks everything. Throws only for defects, and removes the sentinels even then. */
export async function askAll({ feed, chatbot, client, settings, runtime, signal, progress }: Asking): Promise<Asked> {
  const { profile, secretKey, sessionKey } = settings
  const calls = new Calls(client, chatbot, profile.pageSize, runtime.clock, signal)
  const names = sentinelNames(feed, () => runtime.random())
  const sentinels = new Sentinels(names, calls, runtime.clock)
  const asked: Asked = { answers: [], removed: [], left: new Map(), lost: new Map(), notes: [], error: null, calls: 0 }
  try {
    progress('What the chatbot holds')
    const { seen, leftOver, renamed, doubtful } = await survey(calls, names)
    asked.notes.push(...doubtful)
    if (!seen.complete)
      asked.notes.push(
        `the list could not be read whole, so a test listing of an earlier probe may have been missed: ${seen.reasons.join(' ')}`,
      )
    sentinels.take(leftOver)
    await clear(sentinels)
    asked.removed = leftOver
    await clearRenamed(renamed, sentinels, asked)
    const context = { calls, sentinels, runtime, seen, keys: { secretKey, sessionKey } }
    const series = seriesOf(asked, context, calls.sent + mostCalls, progress)
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

/** Why no test listing may be created; null: one may. */
async function obstacleTo(seen: Seen, sentinels: Sentinels): Promise<string | null> {
  if (!seen.filters && seen.pages > mostPages)
    return `List does not filter by MLSNumber, and reading ${seen.pages} pages for every look-up would take too long: probe a chatbot with fewer listings`
  try {
    const { length } = await sentinels.lookUp(sentinels.names.mlsNumber(2))
    return length === 0 ? null : 'its MLSNumber is already used: run probe again'
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'credentials' || error.kind === 'stopped') throw error
    return `a test listing could not be looked up: ${error.message}`
  }
}

/** Puts questions one after another, and adds their answers. */
function seriesOf(asked: Asked, context: Context, callsUntil: number, progress: Asking['progress']) {
  const { calls, sentinels } = context
  let failures = 0
  const skip = (questions: readonly Question[], why: string): void =>
    void asked.answers.push(...questions.map((question) => notAsked(question, why)))

  async function ask(questions: readonly Question[]): Promise<void> {
    for (const question of questions) {
      const lacking = (question.needs ?? []).find((number) => !sentinels.has(number))
      if (lacking !== undefined) skip([question], 'its test listing is not listed')
      else if (calls.sent >= callsUntil) skip([question], `the limit of ${mostCalls} calls was reached`)
      else await askOne(question)
    }
  }

  async function askOne(question: Question): Promise<void> {
    progress(question.title)
    try {
      const answer = unanswered(question)
      await question.ask(context, answer)
      asked.answers.push(answer)
      failures = 0
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      asked.answers.push(notAsked(question, error.message, 'not learnt'))
      // A service that is down is not asked the rest.
      if ((error.kind !== 'transient' && error.kind !== 'refused') || ++failures === 2) throw error
    }
  }
  return { ask, skip }
}

function unanswered({ key, unknown, title }: Question): Answered {
  return { key, unknown, title, facts: {}, words: [], notLearnt: [], contradictions: [], profile: {} }
}

function notAsked(question: Question, why: string, what = 'not asked'): Answered {
  return { ...unanswered(question), notLearnt: [`${what}, because ${why}`] }
}

function skipRest(asked: Asked, why: string): void {
  const known = new Set(asked.answers.map(({ key }) => key))
  const rest = [...reading, ...writing, ...last].filter(({ key }) => !known.has(key))
  asked.answers.push(...rest.map((question) => notAsked(question, why)))
}

/** Removes test listings that are listed under another MLSNumber than was sent, and notes it, since runs use that number. */
async function clearRenamed(rows: readonly ListItem[], sentinels: Sentinels, asked: Asked): Promise<void> {
  if (rows.length === 0) return
  asked.notes.push(
    `the service changes MLSNumbers: the test listing with Url ${textOf(rows[0], 'Url')} is listed as ${mlsNumberOf(rows[0])}. Runs identify listings by that number only, so they would not find what they create`,
  )
  for (const mlsNumber of new Set(rows.map(mlsNumberOf))) {
    try {
      await sentinels.remove(mlsNumber)
      const urls = rows.filter((row) => mlsNumberOf(row) === mlsNumber).map((row) => textOf(row, 'Url'))
      for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
        const begin = markerUrl(sentinels.names, number, 0).slice(0, -1)
        if (urls.some((url) => url.startsWith(begin))) sentinels.settle(sentinels.names.mlsNumber(number))
      }
      // Before the first question it is from an earlier probe.
      if (asked.answers.length === 0) asked.removed.push(mlsNumber)
    } catch (error) {
      asked.left.set(mlsNumber, messageOf(error))
    }
  }
}
