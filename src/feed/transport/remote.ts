/**
 * Fetches a file from an SFTP or FTP server: chooses it, waits until it is complete, and copies it to a scratch file before
 * it is read, so that a slow parser never keeps a connection open.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { FeedError, UserError, codeOf, messageOf, systemReason } from '../../core/errors.ts'
import { timeLimit } from '../../core/machine.ts'
import { printable, shorten } from '../../core/text.ts'
import { isPattern, remoteAddress } from './address.ts'
import type { RemoteAddress } from './address.ts'
import { openFile } from './file.ts'
import { assertRoom, roomIn } from '../../core/room.ts'
import { besidesOf, fileAt, holdUnchanged, newestOf, waitUnchanged } from './folder.ts'
import type { Choice, Entry } from './folder.ts'
import type { Login } from './settings.ts'
import type { Besides, Opened, Transport, TransportOptions } from './transport.ts'

/** File systems allow no longer names. */
const longestName = 255

const unsized =
  'the server does not say how large the file is, so half a file looks like a whole one; let it be sent as .gz or .zip'

/** After so many failures to connect in a row, no other file of the delivery is tried: each may take a minute. */
const mostFailures = 3

/** An entry of a folder's list. */
export type Listed = Omit<Entry, 'path'> & { name: string }

/** The file to fetch. */
type Chosen = Entry & { besides?: Besides }

/** Progress of a download, for messages; `of` is null if the server does not say the size. */
export interface Transfer {
  bytes: number
  of: number | null
}

/** An open connection, logged in. */
export interface Connection {
  /** The entries of a folder; '' is the login folder. Throws `FeedError` if there are more than `maxFiles`. */
  list(directory: string, maxFiles: number): Promise<Listed[]>
  /** What is at a path, links followed; null: nothing. */
  look(path: string): Promise<Entry | null>
  /** Writes a file to `target`, counting `transfer.bytes`; rejects as soon as they are more than `maxBytes`. */
  download(path: string, target: string, maxBytes: number, transfer: Transfer): Promise<void>
  close(): void
}

/** `ca`: the authority whose certificates are trusted; null: the public ones. */
export type RemoteLogin = Login & Pick<TransportOptions, 'ca'>

export interface RemoteServer {
  /**
   * Connects and logs in. Aborting the signal closes everything opened. Gives up on a server that sends nothing for
   * `stall` milliseconds.
   */
  connect(address: RemoteAddress, login: RemoteLogin, signal: AbortSignal, stall: number): Promise<Connection>
  /** What went wrong, without a full stop: the number of bytes may follow. `printed` makes a server's text printable. */
  explain(error: unknown, printed: (text: string) => string, address: RemoteAddress): string
}

/** A transport for one protocol. Each connection may take `options.transferTimeout`. */
export function remoteTransport(server: RemoteServer, stall = 60_000): Transport {
  return async (source, options) => {
    options.signal.throwIfAborted()
    const address = remoteAddress(source)
    if (typeof address === 'string') throw new FeedError(`the address of the feed ${address}`)
    let failures = 0
    /** Does something on a connection and closes it. Throws `FeedError`. */
    const visit = async <T>(task: (connection: Connection, transfer: Transfer) => Promise<T>): Promise<T> => {
      const deadline = timeLimit(options.transferTimeout)
      const over = new AbortController()
      const signal = AbortSignal.any([options.signal, deadline.signal, over.signal])
      const transfer: Transfer = { bytes: 0, of: null }
      const { user = options.login.user, password = options.login.password } = address
      const login = { ...options.login, ca: options.ca, user, password }
      const done = async (): Promise<T> => {
        failures++
        const connection = await server.connect(address, login, signal, stall)
        failures = 0
        try {
          return await task(connection, transfer)
        } finally {
          connection.close()
        }
      }
      try {
        return await Promise.race([done(), aborted(signal)])
      } catch (error) {
        options.signal.throwIfAborted()
        if (error instanceof UserError) throw error
        const printed = (text: string): string => shorten(printable(withoutSecrets(text, login)), 200)
        const words = deadline.signal.aborted
          ? `gave up after ${options.transferTimeout} ms (transferTimeout)`
          : server.explain(error, printed, address)
        throw new FeedError(`${nameOf(address, address.path)}: ${words}${soFar(transfer)}`)
      } finally {
        deadline.end()
        // Or listeners on the signal would keep the connection in memory.
        over.abort()
      }
    }
    const choice: Choice = { nameOf: (path) => nameOf(address, path), ready: options.ready }
    // It was complete before the newest one was.
    const openOlder = async ({ path }: Entry): Promise<Opened> => {
      if (failures === mostFailures)
        throw new FeedError(`${nameOf(address, address.path)}: the server can't be reached any more`)
      return visit(async (connection, transfer) => {
        const entry = await fileAt(path, (file) => connection.look(file), choice)
        return fetched(connection, transfer, entry, address, options)
      })
    }
    const choose = async (connection: Connection): Promise<Chosen> =>
      chosen(connection, address, choice, options.maxFiles, openOlder)
    const { unchanged = 0 } = options.ready
    if (unchanged === 0) {
      return visit(async (connection, transfer) => {
        return fetched(connection, transfer, await choose(connection), address, options)
      })
    }
    const before = await visit(choose)
    // The server's clock may differ, so its times do not show the age of a file; and it may end a silent connection.
    await waitUnchanged(unchanged, options)
    return visit(async (connection, transfer) => {
      const after = await connection.look(before.path)
      holdUnchanged(before, after, unchanged, nameOf(address, before.path))
      return fetched(connection, transfer, before, address, options)
    })
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
  })
}

/** The file to fetch, by a closer look: a folder's list may state size and time differently. */
async function chosen(
  connection: Connection,
  address: RemoteAddress,
  choice: Choice,
  maxFiles: number,
  openOlder: (entry: Entry) => Promise<Opened>,
): Promise<Chosen> {
  const look = (path: string): Promise<Entry | null> => connection.look(path)
  const { dir, base } = posix.parse(address.path)
  if (!isPattern(base)) return fileAt(address.path, look, choice)
  // Names from a server are not trusted: none may leave the folder or carry a command.
  // A long one would keep a pattern with several stars busy.
  const isName = (name: string): boolean => name.length <= longestName && !/[/\p{Cc}]/u.test(name)
  const listed = (await connection.list(dir, maxFiles)).filter(({ name }) => isName(name))
  const entries = listed.map((file) => ({ ...file, path: posix.join(dir, file.name) }))
  const paths = new Set(entries.map(({ path }) => path))
  const matching = entries.filter(({ name }) => posix.matchesGlob(name, base))
  const newest = await newestOf(matching, address.path, look, async (path) => paths.has(path), choice)
  const besides = besidesOf(newest, openOlder)
  return { ...(await fileAt(newest.path, look, { ...choice, ready: {} })), besides }
}

async function fetched(
  connection: Connection,
  transfer: Transfer,
  before: Chosen,
  address: RemoteAddress,
  options: TransportOptions,
): Promise<Opened> {
  const { path } = before
  const { maxBytes, scratch, keepFree } = options
  const name = nameOf(address, path)
  if (!before.regular) throw new FeedError(`${name} is not a regular file`)
  if (before.size !== null && before.size > maxBytes) {
    throw new FeedError(`${name} has ${before.size} bytes, more than maxBytes, ${maxBytes}`)
  }
  assertRoom(scratch, before.size ?? 0, keepFree)
  const folder = await mkdtemp(join(options.scratch, 'delivery-'))
  const target = join(folder, 'delivery')
  const release = () => rm(folder, { recursive: true, force: true })
  transfer.of = before.size
  const room = Math.min(maxBytes, roomIn(scratch, keepFree))
  await connection.download(path, target, room, transfer).catch(async (error: unknown) => {
    await release()
    throw error
  })
  const after = await connection.look(path)
  const doubts: string[] = []
  if (before.size !== after?.size || before.time !== after.time) doubts.push('the file changed while it was fetched')
  else if (before.size !== null && transfer.bytes !== before.size) {
    doubts.push(`${transfer.bytes} of ${before.size} bytes arrived`)
  }
  const local = await openFile(target, options)
  let read = false
  async function* bytes(): AsyncGenerator<Buffer> {
    yield* local.bytes
    read = true
  }
  return {
    ...local,
    name,
    besides: before.besides,
    bytes: bytes(),
    release,
    end() {
      const reasons = [...doubts, ...local.end().reasons]
      const proven = before.size !== null && read && reasons.length === 0
      return { proven, reasons, doubt: before.size === null ? unsized : undefined }
    },
  }
}

function nameOf({ origin }: RemoteAddress, path: string): string {
  return printable(`${origin}${path.startsWith('/') ? '' : '/~/'}${path}`)
}

function soFar({ bytes, of }: Transfer): string {
  return bytes === 0 ? '' : ` after ${bytes}${of === null ? '' : ` of ${of}`} bytes`
}

/** Removes the login's secrets from a text, as a server may echo what it was sent. */
function withoutSecrets(text: string, { user, password, passphrase }: Login): string {
  const secrets = [password, passphrase, user].filter((secret) => secret !== undefined)
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
}

/** A sentence for a failure of the network or the scratch disk; else the error's own message, perhaps the server's. */
export function networkWords(error: unknown, printed: (text: string) => string): string {
  const code = codeOf(error)
  const message = messageOf(error)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return "the server's name cannot be resolved"
  if (code === 'ECONNREFUSED') return 'the server refused the connection'
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the connection was lost'
  if (code === 'ENOSPC' || message.includes('ENOSPC')) return "the disk of the run's scratch folder is full"
  const reason = systemReason(error)
  return reason !== null || /^E[A-Z]+$/.test(code) ? `the server can't be reached: ${reason ?? code}` : printed(message)
}
