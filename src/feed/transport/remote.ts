/**
 * Fetches a file from a server that has folders, whatever its protocol: chooses it, waits until it is whole, and brings
 * it into a scratch file before anything reads it, so that a slow parser never holds a connection open.
 */
import { mkdtemp } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { FeedError, UserError, codeOf, messageOf } from '../../core/errors.ts'
import { printable, shorten } from '../../core/text.ts'
import { isPattern, remoteAddress } from './address.ts'
import type { RemoteAddress } from './address.ts'
import { openFile } from './file.ts'
import { fileAt, holdUnchanged, newestOf, waitUnchanged } from './folder.ts'
import type { Entry } from './folder.ts'
import type { Login } from './settings.ts'
import type { Opened, Transport, TransportOptions } from './transport.ts'

/** A file as a folder's list shows it. */
export type Listed = Omit<Entry, 'path'> & { name: string }

/** How far a download has come, for the words of its failure; `of` is null where the server does not say the size. */
export interface Transfer {
  bytes: number
  of: number | null
}

/** A server, logged in to. */
export interface Connection {
  /** What is in a folder, as the server says it; '' is the login folder. */
  list(directory: string): Promise<Listed[]>
  /** What is at a path, links followed; null where nothing is. */
  look(path: string): Promise<Entry | null>
  /** Writes a file to `target`, counting `transfer.bytes`; rejects as soon as they are more than `maxBytes`. */
  download(path: string, target: string, maxBytes: number, transfer: Transfer): Promise<void>
  close(): void
}

export interface RemoteServer {
  /** Connects and logs in. Everything that it opened ends when the signal is aborted. */
  connect(address: RemoteAddress, login: Login, signal: AbortSignal): Promise<Connection>
  /** What went wrong, in words that may be followed by how many bytes had arrived; `printed` makes a server's own printable. */
  explain(error: unknown, printed: (text: string) => string): string
}

/** A transport for servers of one protocol. Each connection has `options.transferTimeout` for itself. */
export function remoteTransport(server: RemoteServer): Transport {
  return async (source, options) => {
    options.signal.throwIfAborted()
    const address = remoteAddress(source)
    if (typeof address === 'string') throw new FeedError(`the address of the feed ${address}`)
    const visit: Visit = (task) => visited(server, address, options, task)
    const { unchanged = 0 } = options.ready
    if (unchanged === 0) {
      return visit(async (connection, transfer) => {
        return fetched(connection, transfer, await chosen(connection, address, options), address, options)
      })
    }
    const before = await visit((connection) => chosen(connection, address, options))
    // The server's clock is not ours, so its times do not tell how long ago; and it may end a silent connection.
    await waitUnchanged(unchanged, options)
    return visit(async (connection, transfer) => {
      const after = await connection.look(before.path)
      holdUnchanged(before, after, unchanged, nameOf(address, before.path))
      return fetched(connection, transfer, before, address, options)
    })
  }
}

type Task<T> = (connection: Connection, transfer: Transfer) => Promise<T>
type Visit = <T>(task: Task<T>) => Promise<T>

/** Does something on a connection that is closed in the end, and says in words why it could not be done. */
async function visited<T>(
  server: RemoteServer,
  address: RemoteAddress,
  options: TransportOptions,
  task: Task<T>,
): Promise<T> {
  const deadline = AbortSignal.timeout(options.transferTimeout)
  const signal = AbortSignal.any([options.signal, deadline])
  const transfer: Transfer = { bytes: 0, of: null }
  const login = {
    ...options.login,
    user: address.user ?? options.login.user,
    password: address.password ?? options.login.password,
  }
  const visit = async (): Promise<T> => {
    const connection = await server.connect(address, login, signal)
    try {
      return await task(connection, transfer)
    } finally {
      connection.close()
    }
  }
  try {
    return await Promise.race([visit(), aborted(signal)])
  } catch (error) {
    options.signal.throwIfAborted()
    if (error instanceof UserError) throw error
    const printed = (text: string): string => shorten(printable(withoutSecrets(text, login)), 200)
    const words = deadline.aborted ? `gave up after ${options.transferTimeout} ms` : server.explain(error, printed)
    throw new FeedError(`${nameOf(address, address.path)}: ${words}${soFar(transfer)}`)
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
  })
}

/** What to fetch, as a closer look shows it: a folder's list may tell size and time in another way. */
async function chosen(connection: Connection, address: RemoteAddress, options: TransportOptions): Promise<Entry> {
  const choice = { nameOf: (path: string) => nameOf(address, path), ready: options.ready }
  const look = (path: string): Promise<Entry | null> => connection.look(path)
  const { dir, base } = posix.parse(address.path)
  if (!isPattern(base)) return fileAt(address.path, look, choice)
  // A server's names are not trusted: none leads out of its folder, none carries a command.
  const listed = (await connection.list(dir)).filter(({ name }) => !/[/\p{Cc}]/u.test(name))
  const entries = listed.map((file) => ({ ...file, path: posix.join(dir, file.name) }))
  const paths = new Set(entries.map(({ path }) => path))
  const matching = entries.filter(({ name }) => posix.matchesGlob(name, base))
  const { path } = await newestOf(matching, address.path, look, async (path) => paths.has(path), choice)
  return fileAt(path, look, { ...choice, ready: {} })
}

async function fetched(
  connection: Connection,
  transfer: Transfer,
  before: Entry,
  address: RemoteAddress,
  options: TransportOptions,
): Promise<Opened> {
  const { path } = before
  const { maxBytes } = options
  const name = nameOf(address, path)
  if (!before.regular) throw new FeedError(`${name} is not a regular file`)
  if (before.size !== null && before.size > maxBytes) {
    throw new FeedError(`${name} has ${before.size} bytes, more than the ${maxBytes} accepted`)
  }
  const target = join(await mkdtemp(join(options.scratch, 'delivery-')), 'delivery')
  transfer.of = before.size
  await connection.download(path, target, maxBytes, transfer)
  const after = await connection.look(path)
  const reasons: string[] = []
  if (before.size !== after?.size || before.time !== after.time) reasons.push('the file changed while it was fetched')
  else if (before.size !== null && transfer.bytes !== before.size) {
    reasons.push(`${transfer.bytes} of ${before.size} bytes arrived`)
  }
  return openedAs(name, target, reasons, before.size !== null, options)
}

/** A scratch file as what it was fetched from. */
async function openedAs(
  name: string,
  target: string,
  doubts: string[],
  sized: boolean,
  options: TransportOptions,
): Promise<Opened> {
  const local = await openFile(target, options)
  let read = false
  async function* bytes(): AsyncGenerator<Buffer> {
    yield* local.bytes
    read = true
  }
  return {
    ...local,
    name,
    bytes: bytes(),
    end() {
      const reasons = [...doubts, ...local.end().reasons]
      return { proven: sized && read && reasons.length === 0, reasons }
    },
  }
}

function nameOf({ origin }: RemoteAddress, path: string): string {
  return printable(`${origin}${path.startsWith('/') ? '' : '/~/'}${path}`)
}

function soFar({ bytes, of }: Transfer): string {
  return bytes === 0 ? '' : ` after ${bytes}${of === null ? '' : ` of ${of}`} bytes`
}

/** A server may repeat what it was told. */
function withoutSecrets(text: string, { user, password, passphrase }: Login): string {
  const secrets = [password, passphrase, user].filter((secret) => secret !== undefined)
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
}

/** What the network or the scratch folder's disk did, in words; else the error's own, which a server may have said. */
export function networkWords(error: unknown, printed: (text: string) => string): string {
  const code = codeOf(error)
  const message = messageOf(error)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return "the server's name leads nowhere"
  if (code === 'ECONNREFUSED') return 'the server takes no connections there'
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the connection was lost'
  if (code === 'ENOSPC' || message.includes('ENOSPC')) return "the disk of the run's scratch folder is full"
  return /^E[A-Z]+$/.test(code) ? `the server can't be reached (${code})` : printed(message)
}
