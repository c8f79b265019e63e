/** Sends messages: three tries, no redirect followed, little read of the answer. */
import { request } from 'undici'
import { codeOf } from '../core/errors.ts'
import type { Clock } from '../core/machine.ts'

const tries = 3
/** Milliseconds for one try, and before the second and third. */
const patience = 10_000
const waits = [1000, 5000]
/** Most bytes read of an answer: only its status matters. */
const mostRead = 64 * 1024

/** Why it could not be delivered, as the rest of a sentence; null: it was. `body`: sent as JSON; left out: a GET. */
export async function send(address: string, clock: Clock, body?: unknown): Promise<string | null> {
  let problem = ''
  for (let attempt = 0; attempt < tries; attempt++) {
    if (attempt > 0) await clock.sleep(waits[attempt - 1])
    const answer = await tried(address, clock, body)
    if (typeof answer === 'string') problem = answer
    else if (answer >= 200 && answer < 300) return null
    else if (answer >= 300 && answer < 400)
      return `answers HTTP ${answer}, a redirect, which is not followed: give the address that it leads to`
    else if (answer < 500 && answer !== 429 && answer !== 408)
      return `answers HTTP ${answer}: check the address, and whether it is still valid there`
    else problem = `answers HTTP ${answer}`
  }
  return `${problem}, ${tries} times`
}

/** The status of the answer, or why there is none. */
async function tried(address: string, clock: Clock, body: unknown): Promise<number | string> {
  const late = new AbortController()
  const answered = new AbortController()
  clock.sleep(patience, answered.signal).then(
    () => late.abort(),
    () => undefined,
  )
  try {
    const { statusCode, body: answer } = await request(address, {
      method: body === undefined ? 'GET' : 'POST',
      signal: late.signal,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    await answer.dump({ limit: mostRead }).catch(() => undefined)
    return statusCode
  } catch (error) {
    if (late.signal.aborted) return `gives no answer within ${patience / 1000} s`
    return inWords[codeOf(error)] ?? "can't be reached"
  } finally {
    answered.abort()
  }
}

const inWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses the connection',
  ECONNRESET: 'ends the connection',
  ENOTFOUND: 'has a host name that does not exist',
  EAI_AGAIN: "has a host name that can't be looked up now",
  UND_ERR_SOCKET: 'ends the connection',
  UND_ERR_CONNECT_TIMEOUT: 'gives no connection in time',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a certificate that nobody vouches for',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
}
