/** A small FTP server on loopback over a folder, plain or with TLS; it can be told to misbehave. */
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { join, posix } from 'node:path'
import { TLSSocket, createSecureContext } from 'node:tls'

const certificate = readFileSync('fixtures/tls/certificate.pem', 'utf8')
const secureContext = createSecureContext({ cert: certificate, key: readFileSync('fixtures/tls/key.pem') })

export interface FtpServerOptions {
  /** Its root; the login folder is `/home` in it. */
  folder: string
  user: string
  password: string
  tls?: 'explicit' | 'implicit'
  /** Where it listens, if not at any free port of 127.0.0.1. */
  host?: string
  port?: number
  /** Commands that it does not know. */
  lacks?: string[]
  /** The address that PASV names, if not its own. */
  passiveHost?: string
  /** How it writes and reads names, if not in UTF-8. */
  encoding?: 'latin1'
}

export interface FtpServer {
  port: number
  /** Every command, passwords and all. */
  commands: string[]
  /** Answers of its own, instead of the right ones, by command; null: none at all. */
  answers: Map<string, string | null>
  /** What is done when a file is asked for: all is sent, or half and then… */
  transfer: 'whole' | 'cut' | 'stall' | 'short'
  /** Lines that it adds to every folder, as MLSD has them. */
  moreNames: string[]
  /** What it sends as the list of any folder; null: the right one. */
  lists: string | null
  /** Called when a file is asked for. */
  onRetrieve: () => void
  close(): Promise<void>
}

/** One session of one client. */
interface Session {
  control: Socket
  folder: string
  it: FtpServer
  options: FtpServerOptions
  /** Data connections are encrypted. */
  isPrivate: boolean
  user: string
  data: Promise<Socket> | null
  servers: Set<Server>
}

export async function startFtpServer(options: FtpServerOptions): Promise<FtpServer> {
  const sockets = new Set<Socket>()
  const servers = new Set<Server>()
  const server = createServer((plain) => {
    sockets.add(plain)
    plain.setNoDelay(true)
    plain.on('error', () => {}).on('close', () => sockets.delete(plain))
    const control = options.tls === 'implicit' ? encrypted(plain) : plain
    const session = { control, folder: options.folder, it, options, isPrivate: false, user: '', data: null, servers }
    listen(session)
    reply(session, it.answers.has('welcome') ? it.answers.get('welcome')! : '220 ready')
  })
  const { host = '127.0.0.1', port = 0 } = options
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  const it: FtpServer = {
    port: (server.address() as AddressInfo).port,
    commands: [],
    answers: new Map(),
    moreNames: [],
    lists: null,
    transfer: 'whole',
    onRetrieve: () => {},
    async close() {
      for (const socket of sockets) socket.destroy()
      for (const each of servers) each.close()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return it
}

function encrypted(socket: Socket): Socket {
  const over = new TLSSocket(socket, { isServer: true, secureContext })
  return over.on('error', () => {})
}

function listen(session: Session): void {
  let rest = ''
  session.control.on('data', (bytes: Buffer) => {
    const lines = (rest + bytes.toString(session.options.encoding)).split('\r\n')
    rest = lines.pop()!
    for (const line of lines) {
      session.it.commands.push(line)
      answer(session, line)
    }
  })
}

function reply({ control }: Session, text: string | null): void {
  if (text !== null && !control.destroyed) control.write(`${text}\r\n`)
}

function answer(session: Session, line: string): void {
  const { it, options } = session
  const [command, ...words] = line.split(' ')
  const word = words.join(' ')
  const path = join(options.folder, posix.resolve('/home', word))
  if (it.answers.has(command)) return reply(session, it.answers.get(command)!)
  if (options.lacks?.includes(command)) return reply(session, '502 not here')
  try {
    switch (command) {
      case 'AUTH': {
        if (options.tls !== 'explicit') return reply(session, '502 no TLS here')
        reply(session, '234 go ahead')
        session.control.removeAllListeners('data')
        session.control = encrypted(session.control)
        return listen(session)
      }
      case 'USER':
        session.user = word
        return reply(session, '331 and the password?')
      case 'PASS': {
        const right = session.user === options.user && word === options.password
        return reply(session, right ? '230 welcome' : `530 not you, ${session.user} with ${word}`)
      }
      case 'FEAT':
        return reply(session, options.lacks?.includes('MLSD') ? '211 none' : '211-some\r\n MLST type*;\r\n211 end')
      case 'PROT':
        session.isPrivate = word === 'P'
        return reply(session, '200 so be it')
      case 'EPSV':
        return passive(session, (port) => `229 here (|||${port}|)`)
      case 'PASV':
        return passive(session, (port) => `227 here (${options.passiveHost ?? '127,0,0,1'},${port >> 8},${port & 255})`)
      case 'SIZE': {
        if (!statSync(path).isFile()) return reply(session, '550 not a file')
        return reply(session, `213 ${statSync(path).size}`)
      }
      case 'MDTM':
        return reply(session, `213 ${stamp(statSync(path).mtimeMs)}`)
      case 'MLSD':
        return send(session, Buffer.from(it.lists ?? [factsOf(path), ...it.moreNames].join('\r\n')))
      case 'LIST':
        return send(
          session,
          Buffer.from(
            it.lists ?? linesOf(join(options.folder, posix.resolve('/home', word.replace('-a', '').trim()))),
            options.encoding,
          ),
        )
      case 'RETR': {
        const content = readFileSync(path)
        it.onRetrieve()
        return send(session, content, it.transfer)
      }
      default:
        return reply(session, '200 very well')
    }
  } catch {
    return reply(session, `550 no ${word} for ${session.user}`)
  }
}

function passive(session: Session, words: (port: number) => string): void {
  const server = createServer()
  session.servers.add(server)
  session.data = new Promise((resolve) => {
    server.once('connection', (socket: Socket) => {
      socket.on('error', () => {}).setNoDelay(true)
      server.close()
      resolve(session.isPrivate ? encrypted(socket) : socket)
    })
  })
  server.listen(0, '127.0.0.1', () => reply(session, words((server.address() as AddressInfo).port)))
}

function send(session: Session, content: Buffer, transfer: FtpServer['transfer'] = 'whole'): void {
  reply(session, '150 here it comes')
  void session.data!.then((data) => {
    const part = transfer === 'whole' ? content : content.subarray(0, content.length / 2)
    data.write(part, () => {
      if (transfer === 'stall') return
      if (transfer === 'cut') {
        data.destroy()
        session.control.destroy()
        return
      }
      data.end(() => reply(session, '226 that is all'))
    })
  })
}

function stamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/[-:T]|\..*/g, '')
}

function factsOf(folder: string): string {
  const facts = readdirSync(folder).map((name) => {
    const { size, mtimeMs } = statSync(join(folder, name))
    return `type=${statSync(join(folder, name)).isDirectory() ? 'dir' : 'file'};size=${size};modify=${stamp(mtimeMs)}; ${name}\r\n`
  })
  return `type=cdir;modify=20260101000000; .\r\n${facts.join('')}`
}

function linesOf(folder: string): string {
  const lines = readdirSync(folder).map((name) => {
    const found = statSync(join(folder, name))
    return `${found.isDirectory() ? 'd' : '-'}rw-r--r-- 1 owner group ${found.size} Jan 02 2020 ${name}\r\n`
  })
  return lines.join('')
}
