/**
 * Fetches over FTP, plain or with TLS. Data connections go to the machine of the control connection, whatever address a
 * passive answer names: a server behind NAT names its inner one, and none can make us connect elsewhere.
 */
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import { Writable } from 'node:stream'
import { callbackify } from 'node:util'
import { Client, FTPError } from 'basic-ftp'
import type { FTPContext, FileInfo } from 'basic-ftp'
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
  passiveHere(client.ftp)
  signal.addEventListener('abort', () => client.close(), { once: true })
  const { scheme, host, port } = address
  const secure = scheme === 'ftp' ? false : port === implicitTlsPort ? 'implicit' : true
  const { user = 'anonymous', password = 'anonymous@', ca } = login
  try {
    const secureOptions = ca === null ? {} : { ca }
    await client.access({ host, port: port ?? 21, user, password, secure, secureOptions })
    // Hidden files are never taken, and some servers look for a file that is called "-a".
    client.availableListCommands = client.availableListCommands.filter((command) => command !== 'LIST -a')
  } catch (error) {
    client.close()
    throw error
  }
  return {
    async list(directory, maxFiles) {
      const found = await listed(client, directory)
      assertFewFiles(found.length, maxFiles, 'the folder')
      return found.map(({ name, size, modifiedAt, isDirectory, isSymbolicLink }) => ({
        name,
        size,
        // For a link this is its own time, and times of LIST lack zone and year: null asks for a closer look.
        time: isSymbolicLink ? null : numberOrNull(modifiedAt?.getTime()),
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

/** Makes the library take any address in a passive answer for that of the control connection. */
function passiveHere(context: FTPContext): void {
  const request = context.request.bind(context)
  context.request = async (command) => {
    const answer = await request(command)
    const host = context.socket.remoteAddress?.replace(/^::ffff:/i, '')
    if (command !== 'PASV' || host === undefined || !isIPv4(host)) return answer
    return { ...answer, message: answer.message.replace(/(?:\d+,){4}(?=\d+,\d+)/, `${host.replaceAll('.', ',')},`) }
  }
}

/** The names of old servers are in Latin-1, and can't be asked for in another encoding. */
async function listed(client: Client, directory: string): Promise<FileInfo[]> {
  const found = await client.list(directory)
  const isLatin = ({ name }: FileInfo): boolean => name.includes('\uFFFD')
  const isUtf = ({ name }: FileInfo): boolean => /[^\0-\x7f\uFFFD]/.test(name)
  if (!found.some(isLatin) || found.some(isUtf)) return found
  client.ftp.encoding = 'latin1'
  return client.list(directory)
}

/** By SIZE and MDTM; if a server knows neither, only the download shows whether the file exists. */
async function look(client: Client, path: string): Promise<Awaited<ReturnType<Connection['look']>>> {
  const found = await lookOnce(client, path)
  if (found !== null || client.ftp.encoding === 'latin1' || !/[\x80-\xff]/.test(path)) return found
  client.ftp.encoding = 'latin1'
  const again = await lookOnce(client, path)
  if (again === null) client.ftp.encoding = 'utf8'
  return again
}

async function lookOnce(client: Client, path: string): Promise<Awaited<ReturnType<Connection['look']>>> {
  const unknown = (error: unknown): null => {
    const isUnknown = error instanceof FTPError ? error.code >= 500 && error.code <= 504 : isUnreadable(error)
    if (isUnknown) return null
    throw error
  }
  try {
    const size = numberOrNull(await client.size(path).catch(unknown))
    const time = await client.lastMod(path).catch((error: unknown) => {
      // It is there, and some servers let nobody ask for the time.
      if (size !== null && error instanceof FTPError && error.code === 550) return null
      return unknown(error)
    })
    return { path, size, time: numberOrNull(time?.getTime()), regular: true }
  } catch (error) {
    // 550: missing, or a folder; 450: busy.
    if (error instanceof FTPError && error.code === 550) return null
    throw error
  }
}

/** An answer that the library can't read says nothing, and neither does one below zero. */
function numberOrNull(value: number | null | undefined): number | null {
  return value !== undefined && value !== null && value >= 0 ? value : null
}

function isUnreadable(error: unknown): boolean {
  return messageOf(error).startsWith("Can't parse response to command")
}

function counted(file: FileHandle, maxBytes: number, transfer: Transfer): Writable {
  const append = async (block: Buffer): Promise<void> => {
    transfer.bytes += block.length
    if (transfer.bytes > maxBytes) throw new Error(`the file has more than the ${maxBytes} bytes accepted (maxBytes)`)
    await file.appendFile(block)
  }
  return new Writable({ write: (block: Buffer, _, done) => callbackify(append)(block, done) })
}

function explain(error: unknown, printed: (text: string) => string, { scheme }: RemoteAddress): string {
  const message = messageOf(error)
  const code = codeOf(error)
  if (error instanceof FTPError) {
    const own = `(the server says: ${printed(message)})`
    if (scheme === 'ftp' && error.code !== 550 && /\b(?:TLS|SSL|FTPS)\b|[Cc]lear-?text/.test(message)) {
      return `the server wants TLS: write ftps:// in place of ftp:// ${own}`
    }
    if (error.code === 530) return `the server refused the login; check user and password ${own}`
    return error.code === 550 ? `it is not there or may not be read ${own}` : `the server refused a command ${own}`
  }
  if (/CERT|SIGNATURE|ALTNAME|ISSUER/.test(code)) {
    return `the certificate of the server is not trusted (${code}); one of a private authority needs ca`
  }
  if (/^ERR_SSL|EPROTO/.test(code)) return `the TLS connection failed (${code})`
  if (/Maximum bytes exceeded|control response exceeded/.test(message)) return 'the server says more than can be taken'
  if (/only supports MLSD|Invalid time value/.test(message)) {
    return 'the server lists its folder in a way that is not known; name the one file in place of a pattern'
  }
  const [, refusal] =
    /^None of the available transfer strategies work\. Last error response was '\w*Error: (.*)'/s.exec(message) ?? []
  if (refusal !== undefined) return `no connection for the data can be opened: ${printed(refusal)}`
  if (/timeout/i.test(message)) return 'the server was silent for too long'
  if (/FIN packet|closed connection|socket hang up|ECONNRESET/i.test(message)) return 'the connection was lost'
  return networkWords(error, printed)
}
