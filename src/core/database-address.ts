/**
 * Why the address of a database can't be read, without a part of it, as that may be its password; null: it can. What a
 * reference stands for is filled in as it is, so a password with a / ends the address before its host.
 */
export function databaseAddressProblem(address: string): string | null {
  const url = URL.parse(address)
  const isRead = url !== null && (url.username !== '' || !address.includes('@')) && !/%(?![\da-f]{2})/i.test(address)
  return isRead
    ? null
    : 'is no address of a database; in its user and password write %2F for /, %3F for ?, %23 for #, %40 for @ and %25 for %'
}
