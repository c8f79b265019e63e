/** Addresses of sources: of the web, and of files on servers that are logged in to (SFTP, FTP) with the login that they need. */
import type { Located } from '../../core/schema-words.ts'
import { loginSchema } from './settings.ts'
import type { Login } from './settings.ts'

/** An address of a server with folders taken apart; texts are percent-decoded. */
export interface RemoteAddress {
  scheme: string
  host: string
  /** null: the scheme's own. */
  port: number | null
  user: string | null
  password: string | null
  /** From the server's root (`/drop/a.xml`), or from the login folder (`drop/a.xml`, written `/~/drop/a.xml`). */
  path: string
  /** Scheme, host and port for people and logs; a path may follow. */
  origin: string
}

/** The address taken apart, or what is wrong with it in words that do not repeat it: it may carry a password. */
export function remoteAddress(source: string): RemoteAddress | string {
  if (hasControls(source)) return 'has a line break or another control character'
  const url = URL.parse(source)
  if (url === null || url.hostname === '') {
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
    scheme: url.protocol.slice(0, -1),
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? null : Number(url.port),
    user: user === '' ? null : user,
    password: password === '' ? null : password,
    path: path.startsWith('/~/') ? path.slice(3) : path,
    origin: `${url.protocol}//${url.host}`,
  }
}

/** Whether a path stands for the files that match it. */
export function isPattern(path: string): boolean {
  return /[*?[\]{}]/.test(path)
}

function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text)
}

/** A part of an address without its percent-encoding; null where that is none. */
export function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

/** What is wrong with an address of a server that is logged in to, in words that do not repeat it; null: nothing. */
export function remoteProblem(source: string): string | null {
  const address = remoteAddress(source)
  return typeof address === 'string' ? address : hiddenPassword(new URL(source))
}

/** The same of an address on the web. */
export function webProblem(source: string): string | null {
  const url = URL.parse(source)
  return url === null ? 'is not a valid address' : hiddenPassword(url)
}

/** A password with an unescaped mark in it ends the host too early, and its rest is shown as a path. */
function hiddenPassword({ pathname, search, hash }: URL): string | null {
  return pathname.includes('@') || hash.includes('@') || (search.includes('@') && !search.includes('='))
    ? 'has an @ after the host: in a user name, a password or a path write @ as %40, / as %2F, ? as %3F and # as %23'
    : null
}

/** The password; a user name is no secret: it is one word of many there, such as "anonymous". */
export function remoteSecrets(address: string): string[] {
  const password = URL.parse(address)?.password ?? ''
  return password === '' ? [] : [password, decoded(password) ?? password]
}

/**
 * The password, or the user name that stands alone as a token often does, and the longer values of the query; the shorter
 * ones are words such as "xml" or "full".
 */
export function webSecrets(address: string): string[] {
  const url = URL.parse(address)
  if (url === null) return []
  const credential = url.password === '' ? url.username : url.password
  const values = [...url.searchParams.values()].filter((value) => value.length >= 8)
  return [credential, decoded(credential) ?? credential, ...values]
}

/** `login` as it is written; any part of it may be of a wrong kind. */
type WrittenLogin = Readonly<Record<string, unknown>>

/** What does not fit together in an address and its login, with paths from the login on. */
export type LoginProblems = (source: string, login: WrittenLogin) => Located[]

export const sftpLogin = loginProblems(['user', 'password', 'privateKey', 'passphrase', 'hostKey'], lackingForSftp)
export const ftpLogin = loginProblems(['user', 'password'], lackingForFtp)
export const ftpsLogin = loginProblems(['user', 'password', 'ca'], lackingForFtp)

/** `takes`: the keys that the scheme takes; `lacking`: what else is wrong with them. */
function loginProblems(
  takes: readonly (keyof Login)[],
  lacking: (address: RemoteAddress, login: WrittenLogin) => Located[],
): LoginProblems {
  return (source, login) => {
    const address = remoteAddress(source)
    if (typeof address === 'string') return []
    const foreign = loginSchema.keyof().options.filter((key) => key in login && !takes.includes(key))
    const twice = (['user', 'password'] as const).filter((key) => address[key] !== null && key in login)
    return [
      ...foreign.map((key) => ({ path: [key], problem: `is not for ${address.scheme}` })),
      ...twice.map((key) => ({ path: [key], problem: 'is in the address of the source, too; say it once' })),
      ...lacking(address, login),
    ]
  }
}

function lackingForFtp({ user }: RemoteAddress, login: WrittenLogin): Located[] {
  if (user !== null || 'user' in login || !('password' in login)) return []
  return [{ path: ['password'], problem: 'is for a user, and there is none' }]
}

function lackingForSftp({ user, password, host, port }: RemoteAddress, login: WrittenLogin): Located[] {
  const problems: string[] = []
  if (user === null && !('user' in login)) problems.push('lacks the user to log in as')
  if (password === null && !('password' in login) && !('privateKey' in login)) {
    problems.push('lacks a password or a privateKey')
  }
  if (!('hostKey' in login)) {
    const scan = `ssh-keyscan ${port === null || port === 22 ? '' : `-p ${port} `}${host} | ssh-keygen -lf -`
    problems.push(
      `lacks hostKey, by which the server is known; compare what "${scan}" prints with what its owner says, and write it here`,
    )
  }
  const lacking: Located[] = problems.map((problem) => ({ path: [], problem }))
  if ('passphrase' in login && !('privateKey' in login)) {
    lacking.push({ path: ['passphrase'], problem: 'is for a privateKey, and there is none' })
  }
  return lacking
}
