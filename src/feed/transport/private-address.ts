/**
 * Addresses that a server on the internet must not lead us to: this machine, its network, cloud metadata (docs/faults.md, F20).
 */
import { BlockList, isIP } from 'node:net'

/** IPv4 networks that are not public: this one, private, shared (CGNAT), loopback, link-local, reserved, multicast. */
const networks = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12',
  '192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 224.0.0.0/4 240.0.0.0/4',
].flatMap(networksOf)

/** Unspecified, loopback and IPv4-compatible, local NAT64, Teredo, 6to4, unique local, link-local, site-local, multicast. */
const networks6 = networksOf('::/96 64:ff9b:1::/48 2001::/32 2002::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8')

function networksOf(list: string): [network: string, prefix: number][] {
  return list.split(' ').map((each) => [each.split('/')[0], Number(each.split('/')[1])])
}

/** IPv6 prefixes before an IPv4 address: mapped, and NAT64. */
const carriers = ['::ffff:', '64:ff9b::'] as const

const blocked = new BlockList()
for (const [network, prefix] of networks) {
  blocked.addSubnet(network, prefix, 'ipv4')
  for (const carrier of carriers) blocked.addSubnet(`${carrier}${network}`, 96 + prefix, 'ipv6')
}
for (const [network, prefix] of networks6) blocked.addSubnet(network, prefix, 'ipv6')

/** Whether an IP address, in any spelling, is not public. A text that is no IP address counts as private. */
export function isPrivateAddress(address: string): boolean {
  const [bare] = address.replace(/^\[(.*)\]$/, '$1').split('%')
  const family = isIP(bare)
  return family === 0 || blocked.check(bare, family === 4 ? 'ipv4' : 'ipv6')
}

/** Where clouds keep the keys of a machine, besides link-local addresses: AWS on IPv6, Alibaba, Oracle. */
const metadata = new BlockList()
metadata.addAddress('fd00:ec2::254', 'ipv6')
for (const address of ['100.100.100.200', '192.0.0.192']) {
  metadata.addAddress(address, 'ipv4')
  for (const carrier of carriers) metadata.addAddress(`${carrier}${address}`, 'ipv6')
}

/** Whether an IP address is one of cloud metadata that is not link-local. */
export function isMetadata(address: string): boolean {
  return metadata.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
}
