/** The headers of every call, and the check of the API version in its answer. */
import { UserError } from '../core/errors.ts'
import type { Runtime } from '../core/machine.ts'
import type { Cleaner } from './envelope.ts'
import type { ServiceSettings } from './settings.ts'

/** null: no such key. */
export type ServiceKeys = Pick<ServiceSettings, 'secretKey' | 'sessionKey'>

/** The API version this client was written for. */
const knownVersion = '1.0.0'

/** Called with the version of every successful answer. */
export type VersionCheck = (version: string | null) => void

/** Warns of a version other than the known one, once. */
export function createVersionCheck({ log }: Runtime, clean: Cleaner): VersionCheck {
  let warned = false
  return (version) => {
    if (version === knownVersion || warned) return
    warned = true
    const spoken = version === null ? null : clean(version)
    log.warn({ version: spoken, known: knownVersion }, 'the API version of the service is not the known one')
  }
}

/**
 * Which key is accepted where is not documented, so every call carries each configured key. Throws `UserError` for
 * a key that a header cannot carry.
 */
export function headersOf({ secretKey, sessionKey }: ServiceKeys): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (secretKey !== null) headers.authorization = secretKey
  if (sessionKey !== null) headers['chatrobot-sessionkey'] = sessionKey
  for (const [name, value] of Object.entries(headers))
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw new UserError(
        `service: the key for the ${name} header contains a character that a header cannot carry, perhaps a line break at its end`,
      )
  return headers
}
