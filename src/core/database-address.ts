/** The address of a database with a host, which may be left out: then the database is on this machine. */
export const withHost = (address: string): string => address.replace('@/', '@localhost/')

/**
 * Why the address of a database can't be read, without a part of it, as that may be its password; null: it can, or `store` is a
 * file. What a reference stands for is filled in as it is, so a password with a / ends the address before its host.
 */
export function databaseAddressProblem(store: string): string | null {
  if (!/^postgres(ql)?:\/\//.test(store)) return null
  const url = URL.parse(withHost(store))
  const hasUser = url !== null && (url.username !== '' || !store.includes('@')) && !url.pathname.includes('@')
  return hasUser && !/%(?![\da-f]{2})/i.test(store)
    ? null
    : 'is no address of a database; in its user and password write %2F for /, %3F for ?, %23 for #, %40 for @ and %25 for %'
}
