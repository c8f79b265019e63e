/** Finds secrets that stand in the configuration itself, where everybody who may read the file sees them. */
import { webSecrets } from '../feed/transport/address.ts'
import { resoSecrets } from '../feed/api/settings.ts'
import { sourceSecrets } from '../feed/transport/transports.ts'
import { isLoopback } from '../core/loopback.ts'
import { mappingOf, mergeService } from './check.ts'

/** Their paths, in a tree as it was written. Keys for a service on this machine protect nothing. */
export function literalSecrets(tree: unknown): string[] {
  const { service, feeds, store, notify, heartbeat, http } = mappingOf(tree)
  const found: string[] = []
  const look = (value: unknown, path: string): void => {
    if (typeof value === 'string' && value !== '' && !value.includes('${')) found.push(path)
  }
  const lookAtAddress = (value: unknown, path: string, secretsOf = sourceSecrets): void => {
    if (typeof value === 'string' && secretsOf(value).length > 0) look(value, path)
  }
  /** An address that takes messages is a secret: whoever knows it can send them. */
  const lookAtCall = (value: unknown, path: string): void => {
    if (typeof value === 'string' && !isLoopback(value)) look(value, path)
  }
  const lookAtKeys = (own: unknown, path: string): void => {
    const { baseUrl } = mergeService(service, own)
    if (typeof baseUrl === 'string' && isLoopback(baseUrl)) return
    for (const key of ['secretKey', 'sessionKey']) look(mappingOf(own)[key], `${path}.${key}`)
  }
  lookAtKeys(service, 'service')
  lookAtAddress(store, 'store', webSecrets)
  for (const [number, target] of (Array.isArray(notify) ? notify : []).entries())
    lookAtCall(mappingOf(target).url, `notify.${number}.url`)
  lookAtCall(heartbeat, 'heartbeat')
  look(mappingOf(http).token, 'http.token')
  for (const [name, feed] of Object.entries(mappingOf(feeds))) {
    const { source, headers, join, login, service: own, heartbeat: ownHeartbeat } = mappingOf(feed)
    lookAtAddress(source, `feeds.${name}.source`)
    for (const [table, joined] of Object.entries(mappingOf(join)))
      lookAtAddress(mappingOf(joined).source, `feeds.${name}.join.${table}.source`)
    const { reso } = mappingOf(source)
    if (typeof reso !== 'string' || !isLoopback(reso))
      for (const { name: key, value } of resoSecrets(source)) look(value, `feeds.${name}.source.auth.${key}`)
    for (const [header, value] of Object.entries(mappingOf(headers)))
      if (/auth|key|token|secret|cookie|session/i.test(header)) look(value, `feeds.${name}.headers.${header}`)
    for (const key of ['password', 'privateKey', 'passphrase'])
      look(mappingOf(login)[key], `feeds.${name}.login.${key}`)
    lookAtKeys(own, `feeds.${name}.service`)
    lookAtCall(ownHeartbeat, `feeds.${name}.heartbeat`)
  }
  return found
}
