/**
 * Which addresses a stranger must not lead us to: this machine, its network, a cloud's metadata (docs/faults.md, F20).
 */
import type { LookupAddress } from 'node:dns'
import { BlockList, isIP } from 'node:net'
import type { LookupFunction } from 'node:net'

/** IPv4 networks that are nobody's on the internet: this one, private, shared (CGNAT), loopback, link-local, reserved, multicast. */
const networks: readonly [network: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** Unspecified, loopback and IPv4-compatible, local NAT64, Teredo, 6to4, unique local, link-local, site-local, multicast. */
const networks6: readonly [network: string, prefix: number][] = [
  ['::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]

/** IPv6 prefixes that an IPv4 address stands behind: mapped, and NAT64. */
const carriers = ['::ffff:', '64:ff9b::'] as const

const blocked = new BlockList()
for (const [network, prefix] of networks) {
  blocked.addSubnet(network, prefix, 'ipv4')
  for (const carrier of carriers) blocked.addSubnet(`${carrier}${network}`, 96 + prefix, 'ipv6')
}
for (const [network, prefix] of networks6) blocked.addSubnet(network, prefix, 'ipv6')

/** Whether an IP address, in any spelling, is of a private network or none at all. What is no IP address is taken for private. */
export function isPrivateAddress(address: string): boolean {
  const [bare] = address.replace(/^\[(.*)\]$/, '$1').split('%')
  const family = isIP(bare)
  return family === 0 || blocked.check(bare, family === 4 ? 'ipv4' : 'ipv6')
}

/** Thrown before anything is connected to; the message names the address. */
export class PrivateAddressError extends Error {
  override name = 'PrivateAddressError'
}

/** What decides where connections may go, and notes where they went. */
export class AddressGuard {
  /** Set: private addresses are refused. */
  restricted = false
  /** Whether any address looked up or named so far was private. */
  sawPrivate = false
  readonly #lookup: LookupFunction
  readonly #isPrivate: (address: string) => boolean

  constructor(lookup: LookupFunction, isPrivate: (address: string) => boolean) {
    this.#lookup = lookup
    this.#isPrivate = isPrivate
  }

  /** A host that is an address itself is never looked up: it is checked here. Throws `PrivateAddressError`. */
  checkLiteral(hostname: string): void {
    const bare = hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(bare) !== 0) this.#check([{ address: bare, family: isIP(bare) }])
  }

  /** For the socket: it connects to the very addresses that were checked, so a name can't lead elsewhere afterwards. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.#lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const addresses = found as LookupAddress[]
      try {
        this.#check(addresses)
      } catch (refusal) {
        return callback(refusal as Error, [])
      }
      if (options.all) callback(null, addresses)
      else callback(null, addresses[0].address, addresses[0].family)
    })
  }

  #check(addresses: readonly LookupAddress[]): void {
    const found = addresses.find(({ address }) => this.#isPrivate(address))
    if (found === undefined) return
    this.sawPrivate = true
    if (this.restricted) throw new PrivateAddressError(found.address)
  }
}
