/**
 * Fetches over FTP, plain or with TLS. The library refuses a passive answer that names another machine, so a server cannot
 * make us connect elsewhere.
 */
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { callbackify } from 'node:util'
import { Client, FTPError } from 'basic-ftp'
import { codeOf, messageOf } from '../../core/errors.ts'
import type { RemoteAddress } from './address.ts'
import { assertFewFiles } from './folder.ts'
import { networkWords, remoteTransport } from './remote.ts'
import type { Connection, RemoteLogin, Transfer } from './remote.ts'
import type { Transport } from './transport.ts'

/** On this port TLS begins with the first byte; on others the client asks for it (AUTH TLS). */
const implicitTlsPort = 990

/** A file, or the newest of a folder, on an FTP server; ftps uses TLS for everything. */
export const ftp = ftpWith()

/** The same with another limit for a silent server, in milliseconds. */
export function ftpWith(stall?: number): Transport {
  return remoteTransport({ connect, explain }, stall)
}

async function connect(
  address: RemoteAddress,
  login: RemoteLogin,
  signal: AbortSignal,
  stall: number,
): Promise<Connection> {
  const client = new Client(stall)
  signal.addEventListener('abort', () => client.close(), { once: true })
  const { scheme, host, port } = address
  const secure = scheme === 'ftp' ? false : port === implicitTlsPort ? 'implicit' : true
  const { user = 'anonymous', password = 'anonymous@', ca } = login
  try {
    const secureOptions = ca === null ? {} : { ca }
    await client.access({ host, port: port ?? 21, user, password, secure, secureOptions })
  } catch (error) {
    client.close()
    throw error
  }
  return {
    async list(directory, maxFiles) {
      const found = await client.list(directory)
      assertFewFiles(found.length, maxFiles, 'the folder')
      return found.map(({ name, size, modifiedAt, isDirectory, isSymbolicLink }) => ({
        name,
        size,
        // For a link this is its own time, and times of LIST lack zone and year: null asks for a closer look.
        time: isSymbolicLink ? null : (modifiedAt?.getTime() ?? null),
        regular: !isDirectory,
      }))
    },
    look: (path) => look(client, path),
    async download(path, target, maxBytes, transfer) {
      const file = await open(target, 'wx')
      try {
        await client.downloadTo(counted(file, maxBytes, transfer), path)
      } finally {
        await file.close()
      }
    },
    close: () => client.close(),
  }
}

/** By SIZE and MDTM; if a server knows neither, only the download shows whether the file exists. */
async function look(client: Client, path: string): Promise<Awaited<ReturnType<Connection['look']>>> {
  const unknown = (error: unknown): null => {
    if (error instanceof FTPError && error.code >= 500 && error.code <= 504) return null
    throw error
  }
  try {
    const size = await client.size(path).catch(unknown)
    const time = await client.lastMod(path).catch(unknown)
    return { path, size, time: time?.getTime() ?? null, regular: true }
  } catch (error) {
    // 550: missing, or a folder; 450: busy.
    if (error instanceof FTPError && error.code === 550) return null
    throw error
  }
}

function counted(file: FileHandle, maxBytes: number, transfer: Transfer): Writable {
  const append = async (block: Buffer): Promise<void> => {
    transfer.bytes += block.length
    if (transfer.bytes > maxBytes) throw new Error(`the file has more than the ${maxBytes} bytes accepted (maxBytes)`)
    await file.appendFile(block)
  }
  return new Writable({ write: (block: Buffer, _, done) => callbackify(append)(block, done) })
}

function explain(error: unknown, printed: (text: string) => string): string {
  const message = messageOf(error)
  const code = codeOf(error)
  if (error instanceof FTPError) {
    const own = `(the server says: ${printed(message)})`
    if (error.code === 530) return `the server refused the login; check user and password ${own}`
    return error.code === 550 ? `it is not there or may not be read ${own}` : `the server refused a command ${own}`
  }
  if (/CERT|SIGNATURE|ALTNAME|ISSUER/.test(code)) {
    return `the certificate of the server is not trusted (${code}); one of a private authority needs ca`
  }
  if (/^ERR_SSL|EPROTO/.test(code)) return `the TLS connection failed (${code})`
  if (/Maximum bytes exceeded|control response exceeded/.test(message)) return 'the server says more than can be taken'
  if (/timeout/i.test(message)) return 'the server was silent for too long'
  if (/FIN packet|closed connection|socket hang up|ECONNRESET/i.test(message)) return 'the connection was lost'
  return networkWords(error, printed)
}
