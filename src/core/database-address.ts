import { hidesHost, percentDecoded } from './text.ts'

/** The address of a database with a host, which may be left out: then the database is on this machine. */
export const withHost = (address: string): string => address.replace(/^([^?#]*?)@\//, '$1@localhost/')

/** The address of a database; null: it can't be read. A percent sign that begins no code stands for itself, as node-postgres has it. */
export const databaseUrl = (address: string): URL | null =>
  URL.parse(withHost(address).replace(/%(?![\da-f]{2})/gi, '%25'))

/**
 * Why the address of a database can't be read; null: it can, or `store` is a file. Quotes nothing of it, as that may be the
 * password. What a reference stands for is filled in as it is, so a password with a / ends the address before its host.
 */
export function databaseAddressProblem(store: string): string | null {
  if (!/^postgres(ql)?:\/\//.test(store)) return null
  const url = databaseUrl(store)
  return url !== null && percentDecoded(url.username + url.password + url.pathname) !== null && !hidesHost(url)
    ? null
    : 'is no address of a database; in its user and password write %2F for /, %3F for ?, %23 for #, %40 for @ and %25 for %'
}
