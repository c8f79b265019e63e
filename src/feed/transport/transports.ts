/**
 * Every transport by the scheme of its addresses. To add one, write its file and its line here: the configuration checks
 * sources and their settings by this map, and the file is loaded when a feed first needs it.
 */
import { anyOf } from '../../core/schema-words.ts'
import type { Located } from '../../core/schema-words.ts'
import { isPattern, logins, remoteProblem, remoteSecrets, webProblem, webSecrets } from './address.ts'
import type { LoginProblems } from './address.ts'
import type { Opened, Transport, TransportOptions } from './transport.ts'

/** Settings that apply to some sources only. */
const someTake = ['headers', 'ca', 'login', 'ready'] as const
type SomeTake = (typeof someTake)[number]

export interface TransportEntry {
  /** What is wrong with an address, or null. Does not quote it: it may contain a password. */
  addressProblem(source: string): string | null
  load(): Promise<Transport>
  /** Its sources are paths without a scheme. */
  isPath?: true
  /** What to call a source that can be read only once per process. */
  once?: string
  /** Which of `someTake` apply. */
  takes?: readonly SomeTake[]
  loginProblems?: LoginProblems
  /** The secrets in an address. */
  secrets?(source: string): string[]
}

const path = { addressProblem: () => null, isPath: true, takes: ['ready'] } as const
const web = { addressProblem: webProblem, takes: ['headers'], secrets: webSecrets } as const
const remote = { addressProblem: remoteProblem, takes: ['login', 'ready'], secrets: remoteSecrets } as const
const http = async () => (await import('./http.ts')).http
const ftp = async () => (await import('./ftp.ts')).ftp

export const transports: Record<string, TransportEntry> = {
  file: { ...path, load: async () => (await import('./file.ts')).file },
  glob: { ...path, load: async () => (await import('./glob.ts')).glob },
  '-': { addressProblem: () => null, once: 'standard input', load: async () => (await import('./stdin.ts')).stdin },
  http: { ...web, load: http },
  https: { ...web, takes: ['headers', 'ca'], load: http },
  sftp: { ...remote, loginProblems: logins.sftp, load: async () => (await import('./sftp.ts')).sftp },
  ftp: { ...remote, loginProblems: logins.ftp, load: ftp },
  ftps: { ...remote, takes: ['ca', 'login', 'ready'], loginProblems: logins.ftps, load: ftp },
}

/** The key of `transports` for a source; it may be missing there. */
function schemeOf(source: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(source)?.[1].toLowerCase()
  return scheme ?? (source === '-' ? source : isPattern(source) ? 'glob' : 'file')
}

function entryOf(source: string): TransportEntry | null {
  const scheme = schemeOf(source)
  return Object.hasOwn(transports, scheme) ? transports[scheme] : null
}

/** What is wrong with a feed's source (a path, a glob, an address, `-`), without quoting it; null: nothing. */
export function sourceProblem(source: string): string | null {
  const scheme = schemeOf(source)
  const entry = entryOf(source)
  if (entry === null) return `"${scheme}" is not a known kind of source; use a path, ${schemes()}`
  if (entry.isPath && source.toLowerCase().startsWith(`${scheme}://`))
    return `write a ${scheme} as its plain path, without ${scheme}://`
  return entry.addressProblem(source)
}

/** The secrets in a source. */
export function sourceSecrets(source: string): string[] {
  return entryOf(source)?.secrets?.(source) ?? []
}

/** All schemes, or those that take a setting, as text: `http(s), sftp or ftp(s)`. */
export function schemes(taking?: SomeTake): string {
  const names = Object.entries(transports).flatMap(([name, { isPath, takes }]) =>
    name === '-' || isPath || (taking && !takes?.includes(taking)) ? [] : [name],
  )
  const plain = names.filter((name) => !name.endsWith('s') || !names.includes(name.slice(0, -1)))
  return anyOf(plain.map((name) => (names.includes(`${name}s`) ? `${name}(s)` : name)))
}

/** Settings that do not fit the feed's source. Values of a wrong type are skipped: the schema reports them. */
export function sourceSettingProblems(feed: Record<string, unknown>): Located[] {
  const { source, login } = feed
  const entry = typeof source === 'string' ? entryOf(source) : null
  if (entry === null || typeof source !== 'string') return []
  const foreign = someTake.filter((key) => feed[key] !== undefined && !entry.takes?.includes(key))
  const problems: Located[] = foreign.map((key) => {
    const takers = key === 'ready' ? 'files and folders take' : `an ${schemes(key)} source takes`
    return { path: [key], problem: `only ${takers} ${key}` }
  })
  const written = login !== null && typeof login === 'object' ? (login as Record<string, unknown>) : {}
  for (const { path, problem } of entry.loginProblems?.(source, written) ?? [])
    problems.push({ path: ['login', ...path], problem })
  return problems
}

/** The name of a source that can be read only once per process; null: it can be read again. */
export function readOnce(source: unknown): string | null {
  return (typeof source === 'string' && entryOf(source)?.once) || null
}

/** Opens a feed's source by its transport, and throws as it does. */
export async function openSource(source: string, options: TransportOptions): Promise<Opened | 'not-modified'> {
  const transport = await entryOf(source)!.load()
  return transport(source, options)
}
