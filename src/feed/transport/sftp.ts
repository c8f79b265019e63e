/**
 * Fetches over SFTP. SSH identifies the server before the login, so no secret is sent to a server without one of the
 * configured keys.
 */
import { createHash } from 'node:crypto'
import { connect as connectSocket } from 'node:net'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import Client from 'ssh2-sftp-client'
import { FeedError, codeOf, messageOf } from '../../core/errors.ts'
import { printable } from '../../core/text.ts'
import type { RemoteAddress } from './address.ts'
import { assertFewFiles } from './folder.ts'
import { networkWords, remoteTransport } from './remote.ts'
import type { Connection, RemoteLogin, Transfer } from './remote.ts'
import type { Transport } from './transport.ts'

/** What a server says after the last entry of a folder (SSH_FX_EOF). */
const endOfList = 1

/** The bits of a mode that tell a file from a folder and others. */
const kindOfFile = 0o170000

/** How long to wait for the server to end a finished connection, in milliseconds. */
const goodbye = 1000

/** A file, or the newest of a folder, on an SFTP server. */
export const sftp = sftpWith()

/** The same with another limit for a silent server, in milliseconds. */
export function sftpWith(stall?: number): Transport {
  return remoteTransport({ connect, explain }, stall)
}

async function connect(
  address: RemoteAddress,
  login: RemoteLogin,
  signal: AbortSignal,
  stall: number,
): Promise<Connection> {
  // Otherwise each small packet waits for the answer to the one before: 200 times slower.
  const socket = connectSocket({ host: address.host, port: address.port ?? 22, noDelay: true })
  const end = (): void => void socket.destroy()
  signal.addEventListener('abort', end, { once: true })
  socket.setTimeout(stall, () => socket.destroy(new Error(`no byte came for ${stall / 1000} s`)))
  const refusals: string[] = []
  const hostVerifier = (key: Buffer): boolean => {
    const offered = fingerprintOf(key)
    if ((login.hostKey ?? []).some((known) => known.replace(/=$/, '') === offered)) return true
    refusals.push(
      `the server's ${typeOf(key)} key ${offered} is not in login.hostKey: its owner changed it, or ` +
        'another machine is answering. Nothing was sent. Ask the owner before you add this key',
    )
    return false
  }
  const nothing = { error() {}, end() {}, close() {} }
  const client = new Client('sftp', nothing)
  // Many servers accept a password only in this way.
  client.on('keyboard-interactive', (_name, _instructions, _language, prompts: Prompt[], answer: Answer) => {
    answer(prompts.map(({ echo }) => (echo ? '' : (login.password ?? ''))))
  })
  try {
    const channel = await client.connect({
      sock: socket,
      hostVerifier,
      username: login.user,
      password: login.password,
      privateKey: login.privateKey,
      passphrase: login.passphrase,
      tryKeyboard: login.password !== undefined,
      readyTimeout: stall,
    })
    return connectionOn(client, channel, socket)
  } catch (error) {
    socket.destroy()
    if (refusals.length > 0) throw new FeedError(`${address.origin}: ${refusals[0]}`, { cause: error })
    throw error
  }
}

type Channel = Awaited<ReturnType<Client['connect']>>

/** An entry of a folder, with the line that `ls -l` would print. */
interface Listing {
  filename: string
  longname: string
  attrs: { size: number; mtime: number }
}

interface Prompt {
  echo: boolean
}
type Answer = (answers: string[]) => void

function connectionOn(client: Client, channel: Channel, socket: Socket): Connection {
  /** The library has one message for every lost connection; the socket knows the cause. */
  const withCause = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      throw socket.errored ?? (socket.destroyed || socket.readableEnded ? new Error('the connection was lost') : error)
    }
  }
  return {
    async list(directory, maxFiles) {
      const found = await withCause(entriesOf(channel, directory === '' ? '.' : directory, maxFiles))
      return found.map(({ filename, longname, attrs: { size, mtime } }) => ({
        name: filename,
        size,
        // For a link this is its own time; null asks for a closer look at its target.
        time: longname.startsWith('l') ? null : timeOf(mtime * 1000),
        regular: !/^[dbcps]/.test(longname),
      }))
    },
    async look(path) {
      try {
        const { mode, size, modifyTime, isFile } = await withCause(client.stat(path))
        // The library would read on and on behind the end.
        if (typeof size !== 'number') throw new Error('the server does not say how large the file is')
        // Some servers leave out the kind, or the whole mode.
        return { path, size, time: timeOf(modifyTime), regular: isFile || (mode & kindOfFile) === 0 }
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return null
        throw error
      }
    },
    async download(path, target, maxBytes, transfer) {
      // Links are resolved here: the library does not follow them.
      const real = (await withCause(client.realPath(path))) || path
      const step = stepper(transfer, maxBytes, socket)
      // Not by the library, which looks once more whether it is a file and wants its kind told.
      const got = new Promise<void>((resolve, reject) => {
        // A lost connection leaves the call without an answer.
        socket.once('close', () => reject(new Error('the connection was lost')))
        channel.fastGet(real, target, { step }, (error) => (error ? reject(error) : resolve()))
      })
      await withCause(got)
    },
    close() {
      client.end().catch(() => undefined)
      socket.unref().setTimeout(goodbye, () => socket.destroy())
    },
  }
}

/** A time of the library; null: the server does not say it. */
function timeOf(milliseconds: number): number | null {
  return Number.isNaN(milliseconds) ? null : milliseconds
}

/** The entries of a folder; the library would ask for more for as long as the server has some. */
async function entriesOf(channel: Channel, directory: string, maxFiles: number): Promise<Listing[]> {
  const handle = await promisify(channel.opendir.bind(channel))(directory)
  const found: Listing[] = []
  const more = (): Promise<Listing[] | null> =>
    new Promise((resolve, reject) => {
      channel.readdir(handle, (error, entries) => {
        if (error === undefined || error === null) resolve(entries)
        else if ('code' in error && error.code === endOfList) resolve(null)
        else reject(error)
      })
    })
  for (let entries = await more(); entries !== null; entries = await more()) {
    found.push(...entries)
    assertFewFiles(found.length, maxFiles, 'the folder')
  }
  channel.close(handle, () => undefined)
  return found
}

/** Counts bytes, and ends the connection if the file has another size than stated: the callback has no other way. */
function stepper(transfer: Transfer, maxBytes: number, socket: Socket) {
  return (bytes: number, step: number, whole: number): void => {
    transfer.bytes = bytes
    if (whole > maxBytes) socket.destroy(new Error(`the file grew beyond the ${maxBytes} bytes accepted (maxBytes)`))
    // The library would ask for the missing bytes forever.
    else if (step === 0) socket.destroy(new Error('the file was cut short while it was fetched'))
  }
}

/** As `ssh-keygen -l` prints it. */
function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/** A public key begins with the length and name of its type. */
function typeOf(key: Buffer): string {
  return printable(key.subarray(4, 4 + Math.min(64, key.readUInt32BE(0))).toString('latin1'))
}

const words: [RegExp, string][] = [
  [/authentication methods failed/, 'the server refused the login; check user, password and key'],
  [/waiting for handshake/, 'the server did not finish its greeting in time'],
  [/before handshake|unexpected (end|close) event/i, 'the server does not speak SSH or closed the connection'],
  [/passphrase/i, 'login.privateKey is encrypted, and login.passphrase does not open it'],
  [/privateKey/, 'login.privateKey is not a private key that can be read (OpenSSH, PEM or PuTTY)'],
  [/permission denied/i, 'the server does not let this user read it'],
  [/no such file/i, 'the file or its folder does not exist, or no longer'],
]

function explain(error: unknown, printed: (text: string) => string): string {
  const message = messageOf(error)
  return words.find(([pattern]) => pattern.test(message))?.[1] ?? networkWords(error, printed)
}
