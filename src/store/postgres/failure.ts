/** What PostgreSQL and the network throw, in words for whoever has to mend it. */
import { withHost } from '../../core/database-address.ts'
import { StoreAwayError, StoreConfigError, StoreError, codeOf, messageOf } from '../../core/errors.ts'

/** A `StoreError` that names the place; `place` as `placeOf` gives it. */
export function storeError(place: string, what: string, cause?: unknown): StoreError {
  return new StoreError(`${place}: ${what}`, { cause })
}

/** An address as it is shown: host, port and database, without user and password. */
export function placeOf(address: string): string {
  try {
    const { hostname, port, pathname } = new URL(withHost(address))
    return `the database ${pathname.slice(1) || 'of that user'} at ${hostname || 'this machine'}:${port || '5432'}`
  } catch {
    return 'the database'
  }
}

const misnamed: Record<string, string> = {
  '28P01': 'it refuses the password; put the right one into `store`, which a daemon reads only as it starts',
  '28000': 'it refuses this user; check user and rights in `store` and in pg_hba.conf',
  '3D000': 'there is no such database; make it with CREATE DATABASE, or name another one in `store`',
  '42501': 'this user may not do that; give it all rights on the database and its schema',
  '3F000': 'its search path names no schema that is there; make the schema, or leave search_path out',
}

/** A table that is there and should not be, or lacks, or lacks a column. */
const notOurs = /^(42P07|42P01|42703)$/

/** A TLS connection that can't be made as `store` says. */
const distrusted = /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_)/
const outdated = /^CERT_(HAS_EXPIRED|NOT_YET_VALID)/
const noTls = 'The server does not support SSL connections'

const noRoom =
  'it has no connection left for this process; raise max_connections or the limit of the user, or let fewer processes use it'

/** Codes of a database that can't be reached, or does not answer now. */
const unreachable = /^(ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOST|ENET|EPIPE|08|57P0|53300)/
const cutOff = /terminat|timeout|closed|not queryable/i

/** Whether the database is away now and may be back later. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  return (
    unreachable.test(code) ||
    (callOf(error) === 'connect' && code === 'ENOENT') ||
    (!/^[\dA-Z]{5}$/.test(code) && cutOff.test(messageOf(error)))
  )
}

/** The system's call that failed, as for the socket of a server on this machine or a file of a certificate. */
function callOf(error: unknown): unknown {
  return error instanceof Error && 'syscall' in error ? error.syscall : undefined
}

/** What has to be put right in `store` or in the database that it names; null: nothing that is known. */
function misfit(code: string, error: unknown): string | null {
  const message = messageOf(error)
  if (code in misnamed) return misnamed[code]
  if (/SASL|password/i.test(message) && code === '') return misnamed['28P01']
  if (message === noTls) return 'it takes no TLS connections; leave sslmode out of `store`'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another name than the host in `store`'
  if (distrusted.test(code) && !outdated.test(code))
    return `its certificate is not trusted (${code}); name the file of its authority in \`store\`: sslmode=verify-full&sslrootcert=FILE`
  if (callOf(error) === 'open' && /^(ENOENT|EACCES|EISDIR|ENOTDIR)$/.test(code))
    return `a file that \`store\` names can't be read: ${message}`
  if (callOf(error) === 'connect' && /^(EACCES|EINVAL)$/.test(code)) return `its socket can't be opened: ${message}`
  if (notOurs.test(code))
    return `its tables are not those of a store (${message}); name a database of its own in \`store\`, or use the newest version of this program that writes to it`
  return null
}

/** The error as a `StoreError`, if the database or the network is at fault; any other error as it is. */
export function inWords(place: string, error: unknown): unknown {
  if (error instanceof StoreError) return error
  const code = codeOf(error) ?? ''
  const wrong = misfit(code, error)
  if (wrong !== null) return new StoreConfigError(`${place}: ${wrong}`, { cause: error })
  if (isAway(error))
    return new StoreAwayError(
      `${place}: ${code === '53300' ? noRoom : `it can't be reached (${code || messageOf(error)}): check that it runs, and its address in \`store\``}. Nothing is lost: what was written is kept, and a later run goes on from there`,
      { cause: error },
    )
  if (code === '53100')
    return storeError(place, 'its disk is full and this step was not written; free some space', error)
  if (code === '25006') return storeError(place, 'it takes no writes now: it is a standby, or set to read only', error)
  if (code === '55P03' || code === '57014')
    return storeError(place, 'it kept this step waiting for too long; does another session hold locks on it?', error)
  if (outdated.test(code))
    return storeError(place, `its certificate is not valid now (${code}): it has to be renewed on the server`, error)
  if (/^(ERR_SSL|EPROTO)/.test(code)) return storeError(place, `the TLS connection failed (${code})`, error)
  if (/^(XX|58)/.test(code))
    return storeError(
      place,
      `it is damaged or its disk fails (${code}); look into its log, and put back a backup`,
      error,
    )
  return error
}
