/** The headers that every call carries, and what is made of the version that it is answered with. */
import { UserError } from '../core/errors.ts'
import type { Runtime } from '../core/machine.ts'
import type { Cleaner } from './envelope.ts'
import type { ServiceSettings } from './settings-file.ts'

/** The keys of the interface's "Authentication", each sent as it is; null where there is none. */
export type ServiceKeys = Pick<ServiceSettings, 'secretKey' | 'sessionKey'>

/** The API version this client was written for (interface, "Versioning"). */
const knownVersion = '1.0.0'

/** Told the version of every successful answer. */
export type VersionCheck = (version: string | null) => void

/** Warns of a version other than the known one, once. */
export function createVersionCheck({ log }: Runtime, clean: Cleaner): VersionCheck {
  let warned = false
  return (version) => {
    if (version === knownVersion || warned) return
    warned = true
    const spoken = version === null ? null : clean(version)
    log.warn({ version: spoken, known: knownVersion }, 'the service speaks another version than this program knows')
  }
}

/**
 * Which key is accepted where is not documented, so every call carries each key that is configured. Throws `UserError`
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
