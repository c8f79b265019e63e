import { Agent, request } from 'undici'
import type { Dispatcher } from 'undici'
import { FeedError, codeOf, systemReason } from '../../core/errors.ts'
import type { Clock } from '../../core/machine.ts'
import { nameOf } from './address.ts'
import { reachOf } from './reach.ts'
import type { Reach, ReachParts } from './reach.ts'
import type { Opened, Transport, TransportEnd, TransportOptions } from './transport.ts'

/** Milliseconds to connect, and to wait for headers or for the next bytes (docs/faults.md, F18). */
const connectTimeout = 10_000
const headersTimeout = 30_000
const bodyTimeout = 60_000

const maxRedirects = 3
const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308]

const unframed =
  'the server gives no length, so a lost connection looks like its end; let it send Content-Length or chunks, or a .gz or .zip file, or fetch the file over SFTP or FTP'

/**
 * A document over HTTP(S), by one GET. User and password in the address become Basic authentication and are never shown.
 * Throws `FeedError`; `signal` makes it throw the signal's reason.
 */
export const http: Transport = httpWith({})

/** The same with other names, for tests. */
export function httpWith(means: ReachParts): Transport {
  return async (source, options) => fetched(parsedUrl(source), options, means)
}

async function fetched(configured: URL, options: TransportOptions, means: ReachParts) {
  const reach = reachOf(configured, options, means)
  const connect = { timeout: connectTimeout, lookup: reach.lookup, ...(options.ca !== null && { ca: options.ca }) }
  const agent = new Agent({ connect, headersTimeout, bodyTimeout, connections: 1 })
  const deadline = AbortSignal.timeout(options.transferTimeout)
  const signal = AbortSignal.any([options.signal, deadline])
  try {
    const { response, name } = await followed(configured, agent, reach, signal, options)
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
      throw new FeedError(`${nameOf(configured)} did not answer within ${options.transferTimeout} ms (transferTimeout)`)
    const unread = unreadOf(error)
    throw new FeedError(
      `${nameOf(configured)}${unread === null ? ` can't be reached: ${causeOf(error)}` : `: ${unread}`}`,
    )
  }
}

/** Follows redirects itself, as each has to be judged. */
async function followed(
  configured: URL,
  agent: Agent,
  reach: Reach,
  signal: AbortSignal,
  { validators }: TransportOptions,
) {
  let url = configured
  for (let redirects = 0; ; redirects++) {
    const headers = { ...plainHeaders(validators), ...reach.headers(url) }
    const response = await request(url.origin + url.pathname + url.search, { dispatcher: agent, signal, headers })
    const location = response.headers.location
    if (!redirectStatuses.includes(response.statusCode) || typeof location !== 'string') {
      return { response, name: nameOf(url) }
    }
    await response.body.dump()
    if (redirects >= maxRedirects) {
      throw new FeedError(
        `${nameOf(configured)} redirects more than ${maxRedirects} times (HTTP ${response.statusCode})`,
      )
    }
    url = reach.next(url, location)
  }
}

function plainHeaders(validators: TransportOptions['validators']): Record<string, string> {
  return {
    accept: '*/*',
    'accept-encoding': 'gzip',
    'user-agent': 'listing-sync',
    ...(validators?.etag && { 'if-none-match': validators.etag }),
    ...(validators?.lastModified && { 'if-modified-since': validators.lastModified }),
  }
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
    throw new FeedError(`${name} sends ${expected} bytes, more than maxBytes, ${options.maxBytes}`)
  }
  const framed = expected !== null || header(response, 'transfer-encoding')?.toLowerCase().includes('chunked') === true
  const encoding = header(response, 'content-encoding')?.trim().toLowerCase() ?? ''
  // Without length or chunks a lost connection looks like the end: only the document can show it.
  const end: TransportEnd = { proven: false, reasons: [], doubt: framed ? undefined : unframed }
  let isLonger = false
  agent.on('disconnect', (_origin, _targets, error) => (isLonger ||= error.message === 'bad response'))
  async function* bytes(): AsyncGenerator<Buffer> {
    const pace = paceOf(options.clock)
    let size = 0
    try {
      for await (const part of response.body) {
        const block: Buffer = part
        size += block.length
        const slow = pace.tooSlow(block.length)
        if (slow !== null) {
          end.reasons.push(`${slow}; gave up after ${size} bytes`)
          return
        }
        if (size > options.maxBytes) {
          end.reasons.push(`more than ${options.maxBytes} bytes were sent (maxBytes); the rest was not read`)
          return
        }
        yield block
        pace.waits()
      }
      // By its end the client has seen whether more bytes came, which it takes for another answer.
      await agent.close()
      if (expected !== null && size !== expected) end.reasons.push(`${size} of ${expected} bytes arrived`)
      else if (expected !== null && isLonger)
        end.surplus = `the server sent more bytes than it said (Content-Length: ${expected})`
      else if (framed) end.proven = true
    } catch (error) {
      const got = expected === null ? `${size} bytes` : `${size} of ${expected} bytes`
      if (options.signal.aborted) end.reasons.push(`the transfer was stopped after ${got}`)
      else if (deadline.aborted) {
        end.reasons.push(
          `the transfer took longer than ${options.transferTimeout} ms (transferTimeout); gave up after ${got}`,
        )
      } else end.reasons.push(`the connection was lost after ${got} (${unreadOf(error) ?? causeOf(error)})`)
    } finally {
      await agent.destroy()
    }
  }
  return {
    name,
    bytes: bytes(),
    charset: /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(header(response, 'content-type') ?? '')?.[1] ?? null,
    contentEncoding: encoding === '' || encoding === 'identity' ? null : encoding,
    validators: {
      etag: header(response, 'etag') ?? undefined,
      lastModified: header(response, 'last-modified') ?? undefined,
    },
    end: () => end,
  }
}

const remedies: Readonly<Record<number, string>> = {
  401: ': it wants a user and password, or other ones; check those of the source, and its headers',
  403: ': it does not let us in; check user, password and headers of the source, and whether it lets this machine in',
  404: ': there is nothing at this address; check the source',
  410: ': there is nothing at this address any more; ask for the new one',
}

function refusal(name: string, response: Dispatcher.ResponseData): FeedError {
  const wait = header(response, 'retry-after')
  const seconds = wait !== null && /^\d{1,9}$/.test(wait) ? `; it asks to wait ${wait} s` : ''
  return new FeedError(`${name} answers HTTP ${response.statusCode}${seconds}${remedyOf(response)}`)
}

function remedyOf(response: Dispatcher.ResponseData): string {
  const { statusCode } = response
  const wanted = header(response, 'www-authenticate')
  const scheme = /^(Digest|NTLM|Negotiate)\b/i.exec(wanted ?? '')?.[1]
  if (statusCode === 401 && scheme !== undefined) {
    return `: it wants ${scheme} authentication, which is not supported; ask its owner for Basic, a token for headers, or SFTP`
  }
  if (statusCode < 300) return ', which is no whole document; tell the sender'
  if (redirectStatuses.includes(statusCode)) return ', a redirect that does not say where to; check the source'
  return remedies[statusCode] ?? ''
}

function parsedUrl(source: string): URL {
  // Not quoted: it may contain a password.
  const url = URL.parse(source)
  if (url === null) throw new FeedError('the address of the feed is not a valid URL')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new FeedError(`${url.protocol} is not HTTP`)
  return url
}

function header(response: Dispatcher.ResponseData, name: string): string | null {
  const value = response.headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? null
}

/** What is wrong with an answer that can't be read, or does not come on an open connection; null: another error. */
function unreadOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  if (error.name === 'HTTPParserError') return 'its answer is not valid HTTP'
  switch (codeOf(error)) {
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return 'its answer has a length that is not true (Content-Length)'
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'the headers of its answer are too long'
    case 'UND_ERR_HEADERS_TIMEOUT':
      return `it takes the connection and does not answer within ${headersTimeout / 1000} s`
    case 'UND_ERR_BODY_TIMEOUT':
      return `nothing came for ${bodyTimeout / 1000} s`
    default:
      return null
  }
}

/** The first reason or code in a chain of causes; else the name of the last error. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return systemReason(error) ?? (codeOf(error) || (error.cause instanceof Error ? causeOf(error.cause) : error.name))
}

/** Fewest bytes accepted in so many milliseconds of waiting. */
const leastBytes = 60_000
const time = 60_000

/**
 * Measures how fast bytes arrive: a slow drip never triggers a timeout between two bytes (docs/faults.md, F17). Only time
 * spent waiting counts, since a slow reader is not the server's fault.
 */
function paceOf(clock: Clock) {
  let since = clock.now()
  let waited = 0
  let bytes = 0
  return {
    /** Waiting for bytes begins. */
    waits: (): void => void (since = clock.now()),
    /** Counts arrived bytes. A sentence if they come too slowly, else null. */
    tooSlow(count: number): string | null {
      waited += Math.max(0, clock.now() - since)
      bytes += count
      if (waited < time) return null
      const isSlow = bytes * time < leastBytes * waited
      const sentence = `only ${bytes} bytes came in ${Math.round(waited / 1000)} s`
      waited = 0
      bytes = 0
      return isSlow ? sentence : null
    },
  }
}
