/** Addresses of sources: on the web, and of files on SFTP and FTP servers with the login they need. */
import type { Located } from '../../core/schema-words.ts'
import { hidesHost, percentDecoded } from '../../core/text.ts'
import { loginSchema } from './settings.ts'
import type { Login } from './settings.ts'

export type RemoteAddress = Exclude<ReturnType<typeof remoteAddress>, string>

/**
 * The parts of an SFTP or FTP address, percent-decoded, or what is wrong with it without quoting it, since it may contain a
 * password.
 */
export function remoteAddress(source: string) {
  if (hasControls(source)) return 'has a line break or another control character'
  const url = URL.parse(source)
  if (url === null || url.hostname === '') {
    return 'is not a valid address, such as sftp://user@feeds.example.com/drop/*.xml'
  }
  // "?" begins a query in a URL, but in a pattern it matches one character, and "#" is literal.
  const pieces = [url.pathname + url.search + url.hash, url.username, url.password].map(percentDecoded)
  if (pieces.some((part) => part === null)) return 'has a "%" that is not percent-encoding; write it as %25'
  const [path, user, password] = pieces as string[]
  if (pieces.some((part) => part !== null && hasControls(part))) return 'has an encoded control character'
  if (path === '' || path.endsWith('/')) return 'names no file; end it with a name or a pattern, such as /drop/*.xml'
  if (isPattern(path.slice(0, path.lastIndexOf('/'))))
    return 'has a pattern in a folder name; only the last part of the path may be one'
  return {
    scheme: url.protocol.slice(0, -1),
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    /** null: the default of the scheme. */
    port: url.port === '' ? null : Number(url.port),
    user: user || undefined,
    password: password || undefined,
    /** From the server's root (`/drop/a.xml`), or from the login folder (`drop/a.xml`, written `/~/drop/a.xml`). */
    path: path.startsWith('/~/') ? path.slice(3) : path,
    /** Scheme, host and port for people and logs; a path may follow. */
    origin: `${url.protocol}//${url.host}`,
  }
}

export function isPattern(path: string): boolean {
  return /[*?[\]{}]/.test(path)
}

function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text)
}

/** A web address for people: without user, password, query and fragment, and without what looks like a key in its path. */
export function nameOf(url: URL): string {
  return url.origin + pathTokens(url).reduce((path, token) => path.replace(token, '***'), url.pathname)
}

/** What is wrong with an SFTP or FTP address, without quoting it; null: nothing. */
export function remoteProblem(source: string): string | null {
  const address = remoteAddress(source)
  return typeof address === 'string' ? address : hiddenHost(new URL(source))
}

/** The same for a web address. */
export function webProblem(source: string): string | null {
  const url = URL.parse(source)
  if (url !== null) return hiddenHost(url)
  return source.includes('@') ? `is not a valid address: ${escapes}` : 'is not a valid address'
}

const escapes = 'in a user name, a password or a path write @ as %40, / as %2F, ? as %3F and # as %23'

const hiddenHost = (url: URL): string | null => (hidesHost(url) ? `has an @ after the host: ${escapes}` : null)

/** The password, and tokens in the path; a user name such as "anonymous" is no secret. */
export function remoteSecrets(address: string): string[] {
  const url = URL.parse(address)
  if (url === null) return []
  return [url.password, percentDecoded(url.password) ?? url.password, ...pathTokens(url)].filter(
    (secret) => secret !== '',
  )
}

/**
 * The password, or a user name alone, which is often a token; tokens in the path; and long values of the query, or short ones
 * that are called keys: others are words such as "xml" or "full".
 */
export function webSecrets(address: string): string[] {
  const url = URL.parse(address)
  if (url === null) return []
  const credential = url.password === '' ? url.username : url.password
  const values = [...url.searchParams].flatMap(([name, value]) =>
    value.length >= 8 || /key|token|secret|pass|pwd|auth|sig/i.test(name) ? value : [],
  )
  return [credential, percentDecoded(credential) ?? credential, ...pathTokens(url), ...values].filter(
    (secret) => secret !== '',
  )
}

/** Steps of a path that look like tokens: a UUID, or letters and digits in one long run that changes between them often. */
function pathTokens({ pathname }: URL): string[] {
  return pathname.split('/').flatMap((step) => {
    const uuids = step.match(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi) ?? []
    const runs = (step.match(/[\w-]{16,}/g) ?? []).filter(
      (run) => (run.match(/\d(?=[a-z])|[a-z](?=\d)/gi) ?? []).length >= 4,
    )
    return [...uuids, ...runs]
  })
}

/** `login` as written; any part may have a wrong type. */
type WrittenLogin = Readonly<Record<string, unknown>>

/** What does not fit together in an address and its login, with paths from the login on. */
export type LoginProblems = (source: string, login: WrittenLogin) => Located[]

export const logins = {
  sftp: loginProblems(['user', 'password', 'privateKey', 'passphrase', 'hostKey'], lackingForSftp),
  ftp: loginProblems(['user', 'password'], lackingForFtp),
  ftps: loginProblems(['user', 'password'], lackingForFtp),
}

/** `takes`: the keys that the scheme takes; `lacking`: what else is wrong with them. */
function loginProblems(
  takes: readonly (keyof Login)[],
  lacking: (address: RemoteAddress, login: WrittenLogin) => Located[],
): LoginProblems {
  return (source, login) => {
    const address = remoteAddress(source)
    if (typeof address === 'string') return []
    const foreign = loginSchema.keyof().options.filter((key) => key in login && !takes.includes(key))
    const twice = (['user', 'password'] as const).filter((key) => address[key] !== undefined && key in login)
    return [
      ...foreign.map((key) => ({ path: [key], problem: `is not for ${address.scheme}` })),
      ...twice.map((key) => ({ path: [key], problem: 'is also in the address of the source; give it only once' })),
      ...lacking(address, login),
    ]
  }
}

function lackingForFtp({ user }: RemoteAddress, login: WrittenLogin): Located[] {
  if (user !== undefined || 'user' in login || !('password' in login)) return []
  return [{ path: ['password'], problem: 'is given without a user' }]
}

function lackingForSftp({ user, password, host, port }: RemoteAddress, login: WrittenLogin): Located[] {
  const problems: string[] = []
  if (user === undefined && !('user' in login)) problems.push('lacks a user')
  if (password === undefined && !('password' in login) && !('privateKey' in login)) {
    problems.push('lacks a password or a privateKey')
  }
  if (!('hostKey' in login)) {
    const scan = `ssh-keyscan ${port === null || port === 22 ? '' : `-p ${port} `}${host} | ssh-keygen -lf -`
    problems.push(
      `lacks hostKey, the fingerprint of the server's key; run "${scan}", check the result with the server's owner and write it here`,
    )
  }
  const lacking: Located[] = problems.map((problem) => ({ path: [], problem }))
  if ('passphrase' in login && !('privateKey' in login)) {
    lacking.push({ path: ['passphrase'], problem: 'is given without a privateKey' })
  }
  return lacking
}
