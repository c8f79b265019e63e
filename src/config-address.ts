/**
 * What is wrong with an address, in words, or null. The words never repeat the address: it may carry a password.
 */

import { isRemote, remoteAddress } from './feed/transport/address.ts'

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

/** A feed's source: a path, a glob, or an http(s), sftp or ftp(s) address. */
export function sourceProblem(source: string): string | null {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(source)?.[1].toLowerCase()
  if (scheme === undefined) return null
  if (isRemote(source)) {
    const address = remoteAddress(source)
    if (typeof address === 'string') return address
    return hidesPassword(new URL(source)) ? unescaped : null
  }
  if (scheme === 'file') return 'write a file as its plain path, without file://'
  if (scheme !== 'http' && scheme !== 'https')
    return `"${scheme}" is not a known kind of source; use a path, http(s), sftp or ftp(s)`
  const url = URL.parse(source)
  if (url === null) return 'is not a valid address'
  return hidesPassword(url) ? unescaped : null
}

const unescaped =
  'has an @ after the host: in a user name, a password or a path write @ as %40, / as %2F, ? as %3F and # as %23'

/** A password with an unescaped mark in it ends the host too early, and its rest is shown as a path. */
function hidesPassword({ pathname, search, hash }: URL): boolean {
  return pathname.includes('@') || hash.includes('@') || (search.includes('@') && !search.includes('='))
}

/** Which transport a source needs, as a key of `transports`. */
export function schemeOf(source: string): string {
  if (source === '-') return source
  const scheme = /^([a-z]+):\/\//i.exec(source)?.[1].toLowerCase()
  return scheme ?? (/[*?[\]{}]/.test(source) ? 'glob' : 'file')
}

/** Whether a source is fetched over HTTP. */
export function isHttp(source: string): boolean {
  return /^https?:\/\//i.test(source)
}

/** Whether an address leads to this very machine, where a service may go without keys. */
export function isLoopback(address: string): boolean {
  const host = URL.parse(address)?.hostname ?? ''
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
}

/**
 * What an address carries that must not be shown: its password, or the user name that stands alone as a token often does,
 * and the longer values of its query; the shorter ones are words such as "xml" or "full".
 */
export function addressSecrets(address: string): string[] {
  if (isRemote(address)) return passwordIn(address)
  const url = isHttp(address) ? URL.parse(address) : null
  if (url === null) return []
  const credential = url.password === '' ? url.username : url.password
  return [credential, decoded(credential), ...[...url.searchParams.values()].filter((value) => value.length >= 8)]
}

/** A user name is none: it is one word of many there, such as "anonymous". */
function passwordIn(address: string): string[] {
  const password = URL.parse(address)?.password ?? ''
  return password === '' ? [] : [password, decoded(password)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
