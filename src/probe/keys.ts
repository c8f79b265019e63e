/** Which keys are accepted where, and the answers to bad keys and a bad body. */
import type { ServiceKeys } from '../service/headers.ts'
import { refusalWords } from './calls.ts'
import type { Refusal, Reply } from './calls.ts'
import type { Context, Question } from './question.ts'
import { markerUrl, wholeListing } from './sentinel-listing.ts'

const operations = ['List', 'Create', 'Update', 'Delete'] as const
type OperationName = (typeof operations)[number]
type Alone = 'secret' | 'session'
const headers = { secret: 'Authorization (secretKey)', session: 'chatrobot-sessionkey (sessionKey)' }

/**
 * Tries each key alone on each operation, with separate test listings, so that only the key can be refused. Sentinels 5 and 6.
 */
export const keysAlone: Question = {
  key: 'keys',
  unknown: 'S1',
  title: 'Keys accepted, each alone',
  async ask(context, answer): Promise<void> {
    const secret = context.keys.secretKey !== null
    const session = context.keys.sessionKey !== null
    if (!secret || !session) {
      const [alone, other] = secret ? (['secret', 'session'] as const) : (['session', 'secret'] as const)
      if (secret || session) {
        answer.facts[alone] = 'all'
        answer.words.push(`${headers[alone]} alone is accepted by all four operations.`)
        answer.words.push(`${headers[other]} was not tried, because it is not configured.`)
      } else answer.words.push('No key is configured, and the four operations require none.')
      return
    }
    const accepted = await tryAlone(context)
    for (const alone of ['secret', 'session'] as const) {
      const where = operations.filter((name) => accepted.has(`${name} ${alone}`))
      for (const name of operations) answer.facts[`${name}.${alone}`] = accepted.has(`${name} ${alone}`)
      answer.words.push(
        `${headers[alone]} alone is accepted by ${where.length === 4 ? 'all four operations' : where.join(', ') || 'none of the four operations'}.`,
      )
    }
    const both = operations.filter((name) => !accepted.has(`${name} secret`) && !accepted.has(`${name} session`))
    if (both.length > 0) answer.words.push(`${both.join(', ')}: both keys together, neither is enough alone.`)
  },
}

async function tryAlone({ calls, sentinels, keys: configured }: Context): Promise<Set<`${OperationName} ${Alone}`>> {
  const accepted = new Set<`${OperationName} ${Alone}`>()
  const tries = [
    { alone: 'secret', number: 5, keys: { ...configured, sessionKey: null } },
    { alone: 'session', number: 6, keys: { ...configured, secretKey: null } },
  ] as const
  const whole = (number: number) => wholeListing(sentinels.names, number, sentinels.nextWrite())
  const note = (name: OperationName, alone: Alone, reply: Reply<unknown>): void => {
    if (reply.taken) accepted.add(`${name} ${alone}`)
  }
  for (const { alone, keys } of tries) note('List', alone, await calls.list({ PageNumber: 1, PageSize: 1 }, { keys }))
  for (const { alone, number, keys } of tries) {
    note('Create', alone, await sentinels.createAndSee(number, whole(number), { keys }))
    if (!sentinels.has(number)) await sentinels.createAndSee(number, whole(number))
    note('Update', alone, await sentinels.update(whole(number), { keys }))
    note('Delete', alone, await calls.remove('MLSNumber', [sentinels.names.mlsNumber(number)], { keys }))
    await sentinels.remove(sentinels.names.mlsNumber(number))
  }
  return accepted
}

/** A Create without required fields. Sentinel 4, in case it is created. */
export const badInput: Question = {
  key: 'badInput',
  unknown: 'S14',
  title: 'Answer to a bad body',
  async ask({ sentinels }, answer): Promise<void> {
    const mlsNumber = sentinels.names.mlsNumber(4)
    const Url = markerUrl(sentinels.names, 4, sentinels.nextWrite())
    const body = { MLSNumber: mlsNumber, Url, Status: 'Sold', Description: 'TEST LISTING of listing-sync probe' }
    const reply = await sentinels.create(body, { unchecked: true })
    if (!reply.taken) {
      answer.facts.badInput = placeOf(reply)
      return void answer.words.push(`A Create without required fields is refused with ${refusalWords(reply)}.`)
    }
    answer.facts.badInput = 'taken'
    answer.words.push('A Create without required fields is taken.')
    answer.contradictions.push('SaleType, PropertyType and others are required, but a Create without them is taken')
    await sentinels.remove(mlsNumber)
  },
}

const noKeys: ServiceKeys = { secretKey: null, sessionKey: null }
const wrongKey = 'listing-sync-probe-wrong-key'
const bad = [
  { key: 'noKey', what: 'without a key', keys: noKeys },
  { key: 'wrongSecret', what: 'with a wrong Authorization alone', keys: { ...noKeys, secretKey: wrongKey } },
  { key: 'wrongSession', what: 'with a wrong chatrobot-sessionkey alone', keys: { ...noKeys, sessionKey: wrongKey } },
]

/** Asked last, when nothing is left to be removed, as a service may lock out wrong keys. One List each. */
export const badKeys: Question = {
  key: 'badKeys',
  unknown: 'S14',
  title: 'Answer to bad credentials',
  async ask({ calls }, answer): Promise<void> {
    for (const { key, what, keys } of bad) {
      const reply = await calls.list({ PageNumber: 1, PageSize: 1 }, { keys })
      answer.facts[key] = reply.taken ? 'taken' : placeOf(reply)
      answer.words.push(`A List ${what} is ${reply.taken ? 'answered' : `refused with ${refusalWords(reply)}`}.`)
      if (!reply.taken && reply.kind !== 'credentials')
        answer.words.push(
          `Code ${reply.code} does not mean bad credentials (401, 403): if the keys are revoked, a run does not stop at once.`,
        )
    }
  },
}

function placeOf({ status, code }: Refusal): string {
  return `HTTP ${status}, code ${code}`
}
