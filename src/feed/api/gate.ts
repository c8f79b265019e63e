/**
 * The way to one API with one set of credentials: it gets tokens, keeps the limits and repeats requests. All feeds with the same
 * credentials go through one gate, as the vendor counts them together.
 */
import { FeedError } from '../../core/errors.ts'
import { Lane, Limiter } from '../../core/limiter.ts'
import type { Clock } from '../../core/machine.ts'
import { deepestAnswer, isTooDeep } from '../../core/json-depth.ts'
import { readRetryAfter } from '../../core/retry-after.ts'
import { printable, shorten } from '../../core/text.ts'
import { nameOf } from '../transport/address.ts'
import { Lost } from './exchange.ts'
import type { Answered, Exchange } from './exchange.ts'
import { Quota } from './quota.ts'
import type { ResoSettings } from './settings.ts'
import { vendorOf } from './vendors.ts'
import type { Limits } from './vendors.ts'

/** A page of an answer: an object with `value`. Names that begin with `@` are the protocol's own. */
export interface Page {
  value: readonly Record<string, unknown>[]
  /** The address of the next page; null: there is none. */
  next: URL | null
  /** `@odata.count`. */
  count: number | null
}

const attempts = 5
/** The longest wait within a run, in milliseconds. A longer one ends the run, and the next one goes on. */
const patience = 15 * 60_000
const minute = 60_000
/** Characters. A shorter token, as in a test, may be an ordinary word of a record. */
const leastSecret = 16
const hour = 60 * minute

/** How much a vendor lets one set of credentials ask for, and how much of that was used. */
export class Allowance {
  readonly #clock: Clock
  readonly #limiter: Limiter
  readonly #lane = new Lane(1)
  readonly #requests: readonly Quota[]
  readonly #bytes: readonly Quota[]

  constructor(limits: Limits, clock: Clock) {
    this.#clock = clock
    // A little less than allowed, so that no second ever sees one more.
    const rate = Math.min(limits.second * 0.95, (limits.minute / 60) * 0.9)
    this.#limiter = new Limiter(clock, rate)
    const times = [
      [limits.minute, minute],
      [limits.hour, hour],
      [limits.day, 24 * hour],
    ] as const
    this.#requests = times.filter(([most]) => most < Infinity).map(([most, time]) => new Quota(most, time))
    const sizes = [
      [limits.hourBytes, hour],
      [limits.dayBytes, 24 * hour],
    ] as const
    this.#bytes = sizes.filter(([most]) => most < Infinity).map(([most, time]) => new Quota(most, time))
  }

  /** Sends once the limits allow it. `tooLong`: makes the error for a wait that is too long for a run. */
  async within(
    signal: AbortSignal,
    send: () => Promise<Answered>,
    tooLong: (wait: number) => FeedError,
  ): Promise<Answered> {
    await this.#limiter.take(this.#lane, signal, patience).catch((error: unknown) => {
      signal.throwIfAborted()
      throw error instanceof FeedError ? error : tooLong(this.#limiter.paused(this.#lane))
    })
    try {
      for (;;) {
        const now = this.#clock.now()
        const wait = Math.max(0, ...[...this.#requests, ...this.#bytes].map((quota) => quota.wait(now)))
        if (wait === 0) break
        if (wait > patience) throw tooLong(wait)
        await this.#clock.sleep(Math.ceil(wait), signal)
      }
      for (const quota of this.#requests) quota.add(1, this.#clock.now())
      const answer = await send()
      for (const quota of this.#bytes) quota.add(answer.size, this.#clock.now())
      const wait = quotaWait(answer, this.#clock.now())
      if (wait > 0) this.#limiter.pause(wait, null)
      return answer
    } finally {
      this.#limiter.done(this.#lane)
    }
  }
}

export interface GateParts {
  exchange: Exchange
  clock: Clock
  /** The allowance of the credentials, which all roots that are read with them share. */
  allowance: Allowance
  /** Called with every token before it is used. */
  learn(secrets: readonly string[]): void
}

export class Gate {
  readonly root: URL
  readonly #settings: ResoSettings
  readonly #means: GateParts
  #token: { value: string; until: number } | null = null

  constructor(settings: ResoSettings, means: GateParts) {
    this.root = new URL(settings.reso.endsWith('/') ? settings.reso : `${settings.reso}/`)
    this.#settings = settings
    this.#means = means
  }

  /** Gets a page of records. Throws `FeedError` for any other answer, and the signal's reason. */
  async page(url: URL, signal: AbortSignal, headers: Record<string, string> = {}): Promise<Page> {
    const answer = await this.#get(url, headers, signal)
    const page = pageOf(url, answer)
    const token = this.#settings.auth.token ?? this.#token?.value ?? ''
    // A token in the values of records would be shown and published. One in the next page's link would not.
    if (token.length >= leastSecret && answer.body.includes(token) && JSON.stringify(page.value).includes(token))
      throw new FeedError(
        `${nameOf(url)} sends records with the token in them, of which none is kept: ask ${vendorOf(this.#settings.vendor).title} for another token, and why it shows this one`,
      )
    return page
  }

  async #get(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Answered> {
    if (url.origin !== this.root.origin)
      throw new FeedError(`${nameOf(this.root)} names a page on ${url.origin}, another host, which is not followed`)
    let isRenewed = false
    let problem = ''
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const authorization = `Bearer ${await this.#bearer(signal)}`
      let answer: Answered
      const usual = { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': 'listing-sync' }
      try {
        answer = await this.#limited(signal, () =>
          this.#means.exchange({ method: 'GET', url, headers: { ...usual, ...headers, authorization } }, signal),
        )
      } catch (error) {
        if (!(error instanceof Lost)) throw error
        problem = `gave no whole answer (${error.message})`
        await this.#means.clock.sleep(1000 * 2 ** attempt, signal)
        continue
      }
      if (answer.status === 200) return answer
      const { status } = answer
      problem = `answers HTTP ${status}${saidBy(answer)}`
      if (status === 401) {
        if (isRenewed || this.#settings.auth.token !== undefined)
          throw new FeedError(
            `${nameOf(url)} refuses the token (HTTP 401): check auth, and whether ${vendorOf(this.#settings.vendor).title} still takes it; nothing is deleted for it`,
          )
        isRenewed = true
        this.#token = null
      } else if (status === 429 || status >= 500)
        await this.#pause(waitOf(answer, attempt, this.#means.clock.now()), signal, `${nameOf(url)} ${problem}`)
      else if (status >= 300 && status < 400)
        throw new FeedError(`${nameOf(url)} leads to another address, which is not followed: write that one under reso`)
      else throw new FeedError(`${nameOf(url)} ${problem}${remedies[status] ?? ''}`)
    }
    throw new FeedError(`${nameOf(url)} ${problem}, ${attempts} times; the next run goes on from here`)
  }

  #limited(signal: AbortSignal, send: () => Promise<Answered>): Promise<Answered> {
    return this.#means.allowance.within(signal, send, (wait) => new FeedError(this.#tooLong(wait)))
  }

  #tooLong(wait: number): string {
    const { title } = vendorOf(this.#settings.vendor)
    return `${nameOf(this.root)} can't be asked for ${minutesOf(wait)}: the limits of ${title} are used up; the next run goes on from here`
  }

  /** Waits. `asked`: who asks for the wait, and how. */
  async #pause(milliseconds: number, signal: AbortSignal, asked: string): Promise<void> {
    if (milliseconds > patience)
      throw new FeedError(
        `${asked}, and asks to wait ${minutesOf(milliseconds)}, longer than a run does (${minutesOf(patience)}); the next run goes on from here`,
      )
    await this.#means.clock.sleep(milliseconds, signal)
  }

  /** The token to send. Shortly before it expires a new one is asked for. */
  async #bearer(signal: AbortSignal): Promise<string> {
    const { auth } = this.#settings
    if (auth.token !== undefined) return auth.token
    const now = this.#means.clock.now()
    if (this.#token !== null && now < this.#token.until) return this.#token.value
    const { token, hosts } = vendorOf(this.#settings.vendor)
    const address = auth.tokenUrl ?? (hosts.includes(this.root.hostname) ? token?.url : null)
    if (!address) throw new FeedError('auth.tokenUrl is missing')
    const url = new URL(address)
    const scope = auth.scope ?? token?.scope ?? ''
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: auth.clientId ?? '',
      client_secret: auth.clientSecret ?? '',
      ...(scope !== '' && { scope }),
    }).toString()
    let answer: Answered
    for (let attempt = 1; ; attempt++) {
      try {
        const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
        answer = await this.#means.exchange({ method: 'POST', url, headers, body }, signal)
        if ((answer.status !== 429 && answer.status < 500) || attempt === attempts) break
        await this.#pause(
          waitOf(answer, attempt, this.#means.clock.now()),
          signal,
          `${nameOf(url)} answers HTTP ${answer.status}`,
        )
      } catch (error) {
        if (!(error instanceof Lost)) throw error
        if (attempt === attempts) throw new FeedError(`${nameOf(url)} gave no token (${error.message})`)
        await this.#means.clock.sleep(1000 * 2 ** attempt, signal)
      }
    }
    const granted = tokenOf(url, answer)
    this.#means.learn([granted.value])
    // A minute before it expires, or a tenth of its life.
    const early = Math.min(minute, granted.life / 10)
    this.#token = { value: granted.value, until: this.#means.clock.now() + granted.life - early }
    return granted.value
  }
}

const minutesOf = (milliseconds: number): string => {
  const minutes = Math.ceil(milliseconds / minute)
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}

const remedies: Record<number, string> = {
  400: ': check filter, select and expand, and whether vendor is right',
  403: ': the credentials may not read this; nothing is deleted for it',
  404: ': check the address under reso, and whether the licence still holds; nothing is deleted for it',
}

/** The vendor's own words about an error, if it is an OData error. */
function saidBy({ body }: Answered): string {
  const message = errorIn(parsed(body))
  return message === null ? '' : ` ("${shorten(printable(message), 200)}")`
}

/** The JSON of a body; undefined: it is none, or nested deeper than any answer. */
function parsed(body: string): unknown {
  const value = jsonIn(body)
  return isTooDeep(value) ? undefined : value
}

/** The JSON of a body; undefined: it is none. */
function jsonIn(body: string): unknown {
  try {
    // Some servers begin with a byte order mark, which JSON does not have.
    return JSON.parse(body.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

/** The message of an OData error; null: there is none. */
function errorIn(document: unknown): string | null {
  const error = document !== null && typeof document === 'object' ? Reflect.get(document, 'error') : undefined
  if (typeof error === 'string') return error
  if (error === null || typeof error !== 'object') return null
  const message: unknown = Reflect.get(error, 'message')
  return typeof message === 'string' ? message : 'an error without a message'
}

/** Reads a page. An answer without a list of records is an error, never "no listings". Throws `FeedError`. */
function pageOf(url: URL, { headers, body }: Answered): Page {
  const document = parsed(body)
  const name = nameOf(url)
  if (document === undefined) {
    const other = /^\s*</.test(body) ? 'a page of HTML or XML' : 'something else, or a part of it'
    const kind = isTooDeep(jsonIn(body)) ? `something that is nested deeper than ${deepestAnswer} levels` : other
    throw new FeedError(`${name} should answer with JSON, and answers with ${kind}: check the address under reso`)
  }
  const error = errorIn(document)
  if (error !== null)
    throw new FeedError(
      `${name} answers HTTP 200 with an error: "${shorten(printable(error), 200)}"; nothing is deleted for it, and the next run asks again: if it stays, check filter, select and expand`,
    )
  const { value, ...rest } = (document ?? {}) as Record<string, unknown>
  const isRecord = (value: unknown): boolean => value !== null && typeof value === 'object' && !Array.isArray(value)
  if (!Array.isArray(value) || !value.every(isRecord))
    throw new FeedError(
      `${name} answers without a list of records (value): check the address under reso, which should have Property below it`,
    )
  // OData 4.01 may leave out "odata.", and IEEE754Compatible writes a count as text.
  const link = rest['@odata.nextLink'] ?? rest['@nextLink'] ?? linkIn(headers.link)
  const next = typeof link === 'string' && link !== '' ? URL.parse(link, url.href) : null
  if (typeof link === 'string' && link !== '' && next === null)
    throw new FeedError(`${name} names a next page by an address that can't be read`)
  if (next?.href === url.href) throw new FeedError(`${name} names itself as its next page: the list would have no end`)
  const count = rest['@odata.count'] ?? rest['@count']
  const isNumber = typeof count === 'number' || (typeof count === 'string' && /^\d{1,15}$/.test(count))
  return { value, next, count: isNumber ? Number(count) : null }
}

/** The address of `Link: <…>; rel="next"`. */
function linkIn(header: string | undefined): string | null {
  return /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(header ?? '')?.[1] ?? null
}

/** Milliseconds to wait before asking again. */
function waitOf({ headers }: Answered, attempt: number, now: number): number {
  return readRetryAfter(headers, now) ?? 1000 * 4 ** attempt
}

/** Milliseconds to wait by the vendor's own count of what is left. */
function quotaWait({ headers }: Answered, now: number): number {
  const isUsedUp = (name: string): boolean => headers[name] !== undefined && Number(headers[name]) <= 0
  const resets = Number(headers['hour-quota-resettime'])
  let wait = 0
  if (isUsedUp('minute-quota-available') || isUsedUp('burst-ratelimit-remaining')) wait = minute
  if (isUsedUp('application-ratelimit-remaining')) wait = hour
  if (isUsedUp('hour-quota-available')) wait = resets > now && resets <= now + hour ? resets - now : hour
  return wait
}

function tokenOf(url: URL, { status, body }: Answered): { value: string; life: number } {
  const document = parsed(body)
  const members = document !== null && typeof document === 'object' ? (document as Record<string, unknown>) : null
  const { access_token: value, expires_in: seconds } = members ?? {}
  if (status === 200 && typeof value === 'string' && /^[\x21-\x7e]+$/.test(value))
    return { value, life: Number(seconds) > 0 ? Number(seconds) * 1000 : hour }
  const what = members === null ? (/^\s*(<|Bad )/.test(body) ? 'HTML or plain text' : 'no JSON') : 'no access_token'
  throw new FeedError(
    `${nameOf(url)} should give a token, and answers HTTP ${status} with ${what}: check auth (clientId, clientSecret, scope, tokenUrl)`,
  )
}
