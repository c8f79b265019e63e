/**
 * What an answer of the service means (docs/service.md, "Errors"): the one place that distinguishes success, refusal,
 * temporary failure, and a call that may have been carried out.
 */
import { ServiceError } from '../core/errors.ts'
import type { Effect } from '../core/errors.ts'
import { deepestAnswer, isTooDeep } from '../core/json-depth.ts'
import { readRetryAfter } from '../core/retry-after.ts'
import { scrubber, withoutScheme } from '../core/secrets.ts'
import { member, Misread, readBoolean, readInteger, readMembers } from './members.ts'
import type { SendResponse } from './send.ts'

/** Makes a text of the service safe to show: see `createCleaner`. */
export type Cleaner = (text: string) => string

interface Envelope {
  Data: unknown
  Version: unknown
  Success: boolean
  Code: number
  Message: string
}

/** What an answer is the answer to. */
interface Asked<T> {
  name: string
  /** The value in `Data`. Throws `Misread`. */
  read(this: void, data: unknown): T
}

const rateLimitMessage = /rate.{0,3}limit|too many (?:requests|calls)|throttl/i

/**
 * The value of a successful answer, with the API version as the service spells it (null: none); everything else is thrown as
 * a `ServiceError`. `now` (milliseconds) turns a Retry-After date into a wait.
 */
export function readAnswer<T>(
  response: SendResponse,
  { name, read }: Asked<T>,
  now: number,
  clean: Cleaner,
): { value: T; version: string | null } {
  let misread: Misread
  try {
    const envelope = parseEnvelope(response.body)
    if (response.status >= 300 || !envelope.Success || envelope.Code !== 200)
      throw failureOf(response, envelope, now, clean)
    const value = read(envelope.Data)
    return { value, version: typeof envelope.Version === 'string' ? envelope.Version : null }
  } catch (error) {
    if (!(error instanceof Misread)) throw error
    misread = error
  }
  if (response.status >= 300) throw failureOf(response, null, now, clean)
  throw notUnderstood(name, misread, response, now, clean)
}

/** The failure in an answer that is known not to be a success. */
export function failureIn(response: SendResponse, name: string, now: number, clean: Cleaner): ServiceError {
  try {
    return failureOf(response, parseEnvelope(response.body), now, clean)
  } catch (error) {
    if (!(error instanceof Misread)) throw error
    if (response.status < 300) return notUnderstood(name, error, response, now, clean)
    return failureOf(response, null, now, clean)
  }
}

/** The call may have been carried out. */
export function notUnderstood(
  name: string,
  misread: Misread,
  { status, headers }: Pick<SendResponse, 'status' | 'headers'>,
  now: number,
  clean: Cleaner,
): ServiceError {
  const problem = `The answer to ${name} (HTTP ${status}) is not in its documented form: ${misread.inWords(clean)}`
  return new ServiceError('transient', problem, {
    effect: 'unknown',
    code: status,
    retryAfter: readRetryAfter(headers, now),
  })
}

function failureOf({ status, headers }: SendResponse, envelope: Envelope | null, now: number, clean: Cleaner) {
  const message = envelope ? clean(envelope.Message) : ''
  const code = envelope ? envelope.Code : status
  const details = `HTTP ${status}${envelope ? `, Code ${envelope.Code}` : ''}${message && `: ${message}`}`
  const either = (codes: number[]) => codes.includes(status) || codes.includes(code)
  const transient = (effect: Effect, problem: string, code: number) =>
    new ServiceError('transient', problem, { effect, code, retryAfter: readRetryAfter(headers, now) })

  if (status >= 300 && status < 400)
    return new ServiceError('stopped', `The service redirects (HTTP ${status}); check service.baseUrl`, {
      code: status,
    })
  if (status >= 500) return transient('unknown', `The service failed (${details})`, status)
  if (either([401, 403])) return new ServiceError('credentials', `The service refused the keys (${details})`, { code })
  if (either([425, 429])) return transient('none', `The service accepts no more calls at the moment (${details})`, 429)
  if (either([408])) return transient('unknown', `The service gave up waiting (${details})`, 408)
  if (code >= 500 && code < 600) return transient('unknown', `The service failed (${details})`, code)
  if (envelope && !envelope.Success && rateLimitMessage.test(message))
    return transient('none', `The service accepts no more calls at the moment (${details})`, code)
  if (envelope === null && [404, 405, 410].includes(status))
    return new ServiceError(
      'refused',
      `No listing service answers at this address (${details}); check service.baseUrl`,
      {
        code,
      },
    )
  return new ServiceError('refused', message || `The service refused without a message (${details})`, { code })
}

/** Throws `Misread`. */
function parseEnvelope(body: string): Envelope {
  // .NET services often send a byte order mark.
  const text = body.startsWith('\ufeff') ? body.slice(1) : body
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new Misread('the answer', 'an object in JSON', text === '' ? undefined : text)
  }
  if (isTooDeep(parsed)) throw new Misread('the answer', `an object of at most ${deepestAnswer} levels`, text)
  const envelope = readMembers(parsed, 'the answer')
  const Message = member(envelope, 'Message') ?? ''
  return {
    Data: member(envelope, 'Data'),
    Version: member(envelope, 'Version'),
    Success: readBoolean(member(envelope, 'Success'), 'Success'),
    Code: readInteger(member(envelope, 'Code'), 'Code'),
    Message: typeof Message === 'string' ? Message : JSON.stringify(Message),
  }
}

/**
 * Removes secrets and control characters from a text and cuts it at 500 characters: a service may echo a refused key, and a
 * terminal obeys control characters.
 */
export function createCleaner(secrets: readonly (string | null)[]): Cleaner {
  const scrub = scrubber(secrets.flatMap((secret) => (secret === null ? [] : withoutScheme(secret))))
  return (text) => {
    let clean = scrub(text)
    clean = clean.replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    clean = clean.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
    return (clean.length > 500 ? `${clean.slice(0, 499)}…` : clean).toWellFormed()
  }
}
