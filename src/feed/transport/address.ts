/** Addresses of files on SFTP and FTP servers. */
/** An address taken apart; texts are percent-decoded. */
export interface RemoteAddress {
  scheme: 'sftp' | 'ftp' | 'ftps'
  host: string
  /** As said, else the scheme's own. */
  port: number
  user: string | null
  password: string | null
  /** From the server's root (`/drop/a.xml`), or from the login folder (`drop/a.xml`, written `/~/drop/a.xml`). */
  path: string
  /** Scheme, host and port for people and logs; a path may follow. */
  origin: string
}

const ports = { sftp: 22, ftp: 21, ftps: 21 }
/** The port at which TLS begins with the first byte; at any other the client asks for it (AUTH TLS). */
export const implicitTlsPort = 990

/** Whether a source is fetched from an SFTP or FTP server. */
export function isRemote(source: string): boolean {
  return /^(sftp|ftps?):\/\//i.test(source)
}

/** The address taken apart, or what is wrong with it in words that do not repeat it: it may carry a password. */
export function remoteAddress(source: string): RemoteAddress | string {
  if (hasControls(source)) return 'has a line break or another control character'
  const url = URL.parse(source)
  const scheme = url?.protocol.slice(0, -1)
  if (url === null || (scheme !== 'sftp' && scheme !== 'ftp' && scheme !== 'ftps') || url.hostname === '') {
    return 'is not a valid address, such as sftp://user@feeds.example.com/drop/*.xml'
  }
  // To a URL a "?" begins a query; in a path that may be a pattern it is any one character, and "#" is itself.
  const parts = [url.pathname + url.search + url.hash, url.username, url.password].map(decoded)
  if (parts.some((part) => part === null)) return 'has a "%" that is no percent-encoding; write %25 for the character'
  const [path, user, password] = parts as string[]
  if (parts.some((part) => part !== null && hasControls(part))) return 'has an encoded control character'
  if (path === '' || path.endsWith('/')) return 'names no file; end it with a name or a pattern, such as /drop/*.xml'
  if (isPattern(path.slice(0, path.lastIndexOf('/')))) return 'may have a pattern in the last part of its path only'
  return {
    scheme,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? ports[scheme] : Number(url.port),
    user: user === '' ? null : user,
    password: password === '' ? null : password,
    path: path.startsWith('/~/') ? path.slice(3) : path,
    origin: `${scheme}://${url.host}`,
  }
}

/** Whether a path stands for the files that match it. */
export function isPattern(path: string): boolean {
  return /[*?[\]{}]/.test(path)
}

function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text)
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

/**
 * What is wrong with an address, in words, or null. The words never repeat the address: it may carry a password.
 */

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

/**
 * What an address carries that must not be shown: its password, or the user name that stands alone as a token often does,
 * and the longer values of its query; the shorter ones are words such as "xml" or "full".
 */
export function addressSecrets(address: string): string[] {
  if (isRemote(address)) return passwordIn(address)
  const url = isHttp(address) ? URL.parse(address) : null
  if (url === null) return []
  const credential = url.password === '' ? url.username : url.password
  return [
    credential,
    decodedOrAsItIs(credential),
    ...[...url.searchParams.values()].filter((value) => value.length >= 8),
  ]
}

/** A user name is none: it is one word of many there, such as "anonymous". */
function passwordIn(address: string): string[] {
  const password = URL.parse(address)?.password ?? ''
  return password === '' ? [] : [password, decodedOrAsItIs(password)]
}

function decodedOrAsItIs(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
