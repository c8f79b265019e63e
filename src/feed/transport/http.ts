import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import type { Dispatcher } from 'undici'
import { FeedError, codeOf } from '../../core/errors.ts'
import type { Clock } from '../../core/machine.ts'
import { decoded } from './address.ts'
import { AddressGuard, PrivateAddressError, isPrivateAddress } from './private-address.ts'
import type { Opened, Transport, TransportEnd, TransportOptions } from './transport.ts'

/** Milliseconds to connect, and to wait for headers or for the next bytes (docs/faults.md, F18). */
const connectTimeout = 10_000
const headersTimeout = 30_000
const bodyTimeout = 60_000

const maxRedirects = 3

/** What a test hands in: how names become addresses, and which of them are private. */
export interface HttpParts {
  lookup?: LookupFunction
  isPrivate?: (address: string) => boolean
}

/**
 * A document over HTTP(S), by one GET. User and password in the address become Basic authentication and are never named.
 * Throws `FeedError`; `signal` makes it throw the signal's reason.
 */
export const http: Transport = httpWith({})

export function httpWith({ lookup = systemLookup, isPrivate = isPrivateAddress }: HttpParts): Transport {
  return async (source, options) => fetched(parsedUrl(source), options, new AddressGuard(lookup, isPrivate))
}

async function fetched(configured: URL, options: TransportOptions, guard: AddressGuard) {
  const connect = { timeout: connectTimeout, lookup: guard.lookup }
  const agent = new Agent({ connect, headersTimeout, bodyTimeout, connections: 1 })
  const deadline = AbortSignal.timeout(options.transferTimeout)
  const signal = AbortSignal.any([options.signal, deadline])
  try {
    const { response, name } = await followed(configured, agent, guard, signal, options)
    if (response.statusCode === 304 && options.validators) {
      await agent.destroy()
      return 'not-modified' as const
    }
    if (response.statusCode !== 200 && response.statusCode !== 203) throw refusal(name, response)
    return opened(name, response, agent, deadline, options)
  } catch (error) {
    await agent.destroy()
    if (error instanceof FeedError) throw error
    options.signal.throwIfAborted()
    if (deadline.aborted)
      throw new FeedError(`${nameOf(configured)} did not answer within ${options.transferTimeout} ms`)
    throw new FeedError(`${nameOf(configured)} can't be reached: ${causeOf(error)}`)
  }
}

/**
 * Follows redirects by hand: what is secret stays with the configured origin, and a server on the internet can't lead
 * into this network (docs/faults.md, F20, F21).
 */
async function followed(
  configured: URL,
  agent: Agent,
  guard: AddressGuard,
  signal: AbortSignal,
  options: TransportOptions,
) {
  let url = configured
  guard.checkLiteral(url.hostname)
  for (let redirects = 0; ; redirects++) {
    const headers = headersFor(url, configured, options)
    const response = await request(withoutUser(url).href, { dispatcher: agent, signal, headers }).catch(
      (error: unknown) => {
        throw error instanceof PrivateAddressError ? refusedRedirect(configured, url, error) : error
      },
    )
    // Where the source itself is on a private network, so may be what it names.
    if (redirects === 0) guard.restricted = !options.allowPrivateRedirects && !guard.sawPrivate
    const location = response.headers.location
    if (![301, 302, 303, 307, 308].includes(response.statusCode) || typeof location !== 'string') {
      return { response, name: nameOf(url) }
    }
    await response.body.dump()
    if (redirects >= maxRedirects) {
      throw new FeedError(
        `${nameOf(configured)} redirects more than ${maxRedirects} times (HTTP ${response.statusCode})`,
      )
    }
    if (!URL.canParse(location, url.href))
      throw new FeedError(`${nameOf(url)} redirects to an address that can't be read`)
    const next = new URL(location, url)
    if (next.protocol !== 'http:' && next.protocol !== 'https:') {
      throw new FeedError(`${nameOf(url)} redirects to ${next.protocol}, which is not followed`)
    }
    if (url.protocol === 'https:' && next.protocol === 'http:') {
      throw new FeedError(`${nameOf(url)} redirects from https to http, which is not followed`)
    }
    try {
      guard.checkLiteral(next.hostname)
    } catch (error) {
      throw refusedRedirect(configured, next, error as PrivateAddressError)
    }
    url = next
  }
}

function refusedRedirect(configured: URL, to: URL, { message: address }: PrivateAddressError): FeedError {
  return new FeedError(
    `${nameOf(configured)} redirects to ${nameOf(to)}, at the private address ${address}, which is not followed; the feed's allowPrivateRedirects allows it`,
  )
}

function headersFor(url: URL, configured: URL, options: TransportOptions): Record<string, string> {
  const headers: Record<string, string> = { accept: '*/*', 'accept-encoding': 'gzip', 'user-agent': 'listing-sync' }
  if (options.validators?.etag) headers['if-none-match'] = options.validators.etag
  if (options.validators?.lastModified) headers['if-modified-since'] = options.validators.lastModified
  if (url.origin !== configured.origin) return headers
  if (configured.username !== '' || configured.password !== '') {
    const credentials = [configured.username, configured.password].map((part) => decoded(part) ?? part).join(':')
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  }
  for (const [name, value] of Object.entries(options.headers)) headers[name.toLowerCase()] = value
  return headers
}

function opened(
  name: string,
  response: Dispatcher.ResponseData,
  agent: Agent,
  deadline: AbortSignal,
  options: TransportOptions,
): Opened {
  const length = header(response, 'content-length')
  const expected = length === null ? null : Number(length)
  if (expected !== null && expected > options.maxBytes) {
    throw new FeedError(`${name} sends ${expected} bytes, more than the ${options.maxBytes} accepted`)
  }
  const framed = expected !== null || header(response, 'transfer-encoding')?.toLowerCase().includes('chunked') === true
  const end: TransportEnd = { proven: false, reasons: [] }
  async function* bytes(): AsyncGenerator<Buffer> {
    const pace = new Pace(options.clock)
    let size = 0
    try {
      for await (const part of response.body) {
        const block: Buffer = part
        size += block.length
        const slow = pace.tooSlow(block.length)
        if (slow !== null) {
          end.reasons.push(`${slow}; it was given up after ${size} bytes`)
          return
        }
        if (size > options.maxBytes) {
          end.reasons.push(`more than ${options.maxBytes} bytes were sent; the rest was not read`)
          return
        }
        yield block
        pace.waits()
      }
      if (expected !== null && size !== expected) end.reasons.push(`${size} of ${expected} bytes arrived`)
      // Without length or chunks, a lost connection looks like the end: only the document itself can tell.
      else end.proven = framed
    } catch (error) {
      end.reasons.push(lost(error, size, expected, deadline, options))
    } finally {
      await agent.destroy()
    }
  }
  return {
    name,
    bytes: bytes(),
    charset: /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(header(response, 'content-type') ?? '')?.[1] ?? null,
    contentEncoding: encodingOf(header(response, 'content-encoding')),
    validators: {
      ...validator('etag', header(response, 'etag')),
      ...validator('lastModified', header(response, 'last-modified')),
    },
    end: () => end,
  }
}

function lost(
  error: unknown,
  size: number,
  expected: number | null,
  deadline: AbortSignal,
  options: TransportOptions,
): string {
  const got = expected === null ? `${size} bytes` : `${size} of ${expected} bytes`
  if (options.signal.aborted) return `the transfer was stopped after ${got}`
  if (deadline.aborted)
    return `the transfer took longer than ${options.transferTimeout} ms; it was given up after ${got}`
  return `the connection was lost after ${got} (${causeOf(error)})`
}

function refusal(name: string, response: Dispatcher.ResponseData): FeedError {
  const wait = header(response, 'retry-after')
  const seconds = wait !== null && /^\d{1,9}$/.test(wait) ? `; it asks to wait ${wait} s` : ''
  return new FeedError(`${name} answers HTTP ${response.statusCode}${seconds}`)
}

function parsedUrl(source: string): URL {
  // The text is not named: it may hold a password.
  if (!URL.canParse(source)) throw new FeedError('the address of the feed is not a valid URL')
  const url = new URL(source)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new FeedError(`${url.protocol} is not HTTP`)
  return url
}

function withoutUser(url: URL): URL {
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  return bare
}

function nameOf(url: URL): string {
  return `${url.origin}${url.pathname}`
}

function header(response: Dispatcher.ResponseData, name: string): string | null {
  const value = response.headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? null
}

function encodingOf(value: string | null): string | null {
  const name = value?.trim().toLowerCase() ?? ''
  return name === '' || name === 'identity' ? null : name
}

function validator(name: 'etag' | 'lastModified', value: string | null) {
  return value === null ? {} : { [name]: value }
}

/** The first code among an error and what it was caused by; else the name of the last. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return codeOf(error) || (error.cause instanceof Error ? causeOf(error.cause) : error.name)
}

/** Least bytes in so many milliseconds of waiting for them. */
const leastBytes = 60_000
const time = 60_000

/**
 * Measures how fast bytes come: a slow drip keeps every timeout between two bytes from ending it (docs/faults.md, F17). Only
 * the time that is spent waiting counts, as a slow reader is not the server's fault.
 */
export class Pace {
  readonly #clock: Pick<Clock, 'now'>
  #since: number
  #waited = 0
  #bytes = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.#since = clock.now()
  }

  /** From now on bytes are waited for. */
  waits(): void {
    this.#since = this.#clock.now()
  }

  /** Counts bytes that came; says in words when they come too slowly, else null. */
  tooSlow(bytes: number): string | null {
    this.#waited += Math.max(0, this.#clock.now() - this.#since)
    this.#bytes += bytes
    if (this.#waited < time) return null
    const [came, seconds] = [this.#bytes, Math.round(this.#waited / 1000)]
    const slow = this.#bytes * time < leastBytes * this.#waited
    this.#waited = 0
    this.#bytes = 0
    return slow ? `only ${came} bytes came in ${seconds} s` : null
  }
}
