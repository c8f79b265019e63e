/** What every call to the service carries, and what is made of the version that it answers with. */
import { UserError } from '../core/errors.ts'
import type { Runtime } from '../core/machine.ts'
import type { Cleaner } from './envelope.ts'

/** The keys of the interface's "Authentication"; null where there is none. */
export interface ServiceKeys {
  /** Sent as Authorization, as it is (U1). */
  secretKey: string | null
  /** Sent as chatrobot-sessionkey (U1). */
  sessionKey: string | null
}

/** The API version this client was written for (interface, "Versioning"). */
const knownVersion = '1.0.0'

/** Warns of a version other than the known one, once (U19). */
export function createVersionCheck({ log }: Runtime, clean: Cleaner): (version: string | null) => void {
  let warned = false
  return (version) => {
    if (version === knownVersion || warned) return
    warned = true
    const spoken = version === null ? null : clean(version)
    log.warn({ version: spoken, known: knownVersion }, 'the service speaks another version than this program knows')
  }
}

/**
 * Which key is accepted where is not documented, so every call carries each key that is configured (U1). Throws `UserError`
 * for a key that no header can carry.
 */
export function headersOf({ secretKey, sessionKey }: ServiceKeys): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (secretKey !== null) headers.authorization = secretKey
  if (sessionKey !== null) headers['chatrobot-sessionkey'] = sessionKey
  for (const [name, value] of Object.entries(headers))
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw new UserError(
        `service: the key for the ${name} header holds a character that no header can carry, perhaps a line break at its end`,
      )
  return headers
}

/** The service's base address: http or https, with nothing that a path could not follow. */
export function baseUrlProblem(address: string): string | null {
  const url = URL.parse(address)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'must be an http or https address, such as https://listings.example.com'
  }
  if (url.username !== '' || url.password !== '') return 'must not carry credentials; use secretKey and sessionKey'
  if (url.search !== '' || url.hash !== '') return 'must not carry a query or a fragment'
  return null
}

/** Whether an address leads to this very machine, where a service may go without keys. */
export function isLoopback(address: string): boolean {
  const host = URL.parse(address)?.hostname ?? ''
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
}
