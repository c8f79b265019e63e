/**
 * Decides where the requests of one source may go. A server may name other addresses, as in a redirect, which may lead into our network
 * or be after the credentials for another host (docs/faults.md, F20, F21).
 */
import { lookup as systemLookup } from 'node:dns'
import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { FeedError } from '../../core/errors.ts'
import { isLinkLocal } from '../../core/link-local.ts'
import { percentDecoded } from '../../core/text.ts'
import { nameOf } from './address.ts'
import { isMetadata, isPrivateAddress } from './private-address.ts'
import type { TransportSettings } from './settings.ts'

/** Replaced by tests: how names are resolved, and which addresses are private. */
export interface ReachParts {
  lookup?: LookupFunction
  isPrivate?: (address: string) => boolean
}

export type Reach = ReturnType<typeof reachOf>

/**
 * The configured address may be anything. An address that a server names must be http or https, never http after https, and public. A
 * private one is allowed only on the configured host, if that is private itself, or with `allowPrivateRedirects`.
 */
export function reachOf(
  configured: URL,
  { headers, allowPrivateRedirects }: Pick<TransportSettings, 'headers' | 'allowPrivateRedirects'>,
  { lookup = systemLookup, isPrivate = isPrivateAddress }: ReachParts = {},
) {
  /** Whether any address of the configured host is private; its first look-up tells. */
  let isInside = false
  /** The address that a server named last; null: none did. */
  let named: URL | null = null

  /** Judges every address of a host: the socket may take any of them. Throws `FeedError`. */
  function judge(host: string, addresses: readonly string[]): void {
    if (named === null) {
      isInside ||= addresses.some(isPrivate)
      return
    }
    if (isInside && host === bare(configured.hostname)) return
    const found = addresses.find((address) => isNever(address) || (!allowPrivateRedirects && isPrivate(address)))
    if (found === undefined) return
    const leads = `${nameOf(configured)} leads to ${nameOf(named)}, at the private address ${found}, which is not followed`
    throw new FeedError(isNever(found) ? leads : `${leads}; set allowPrivateRedirects for the feed to allow it`)
  }

  function judgeLiteral({ hostname }: URL): void {
    const host = bare(hostname)
    if (isIP(host) !== 0) judge(host, [host])
  }

  /** For the socket, which connects to the addresses judged here: the name can't resolve to others afterwards. */
  const judgedLookup: LookupFunction = (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const addresses = found as LookupAddress[]
      try {
        judge(
          host,
          addresses.map(({ address }) => address),
        )
      } catch (refusal) {
        return callback(refusal as Error, [])
      }
      if (options.all) callback(null, addresses)
      else callback(null, addresses[0].address, addresses[0].family)
    })
  }

  judgeLiteral(configured)
  return {
    lookup: judgedLookup,
    /** The headers for a request: credentials go to the configured origin alone. */
    headers(url: URL): Record<string, string> {
      if (url.origin !== configured.origin) return {}
      const { username, password } = configured
      const credentials = [username, password].map((part) => percentDecoded(part) ?? part).join(':')
      const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
      return {
        ...(credentials !== ':' && { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
        ...Object.fromEntries(own),
      }
    },
    /** The address that the server at `from` names. A name is judged when it is looked up. Throws `FeedError`. */
    next(from: URL, location: string): URL {
      const next = URL.parse(location, from.href)
      if (next === null) throw new FeedError(`${nameOf(from)} leads to an address that can't be read`)
      if (next.protocol !== 'http:' && next.protocol !== 'https:') {
        throw new FeedError(`${nameOf(from)} leads to ${next.protocol}, which is not followed`)
      }
      if (from.protocol === 'https:' && next.protocol === 'http:') {
        throw new FeedError(`${nameOf(from)} leads from https to http, which is not followed`)
      }
      named = next
      judgeLiteral(next)
      return next
    },
  }
}

/** Addresses that no setting lets a server lead us to. */
function isNever(address: string): boolean {
  return isLinkLocal(address) || isMetadata(address)
}

function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}
