/** An SFTP server on loopback over a folder, with ssh2's own server side; it can be told to misbehave. */
import { closeSync, fstatSync, lstatSync, openSync, readSync, readdirSync, realpathSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { posix } from 'node:path'
import ssh2 from 'ssh2'
import type { AuthContext, Connection, FileEntry, SFTPWrapper } from 'ssh2'

const { OK, EOF, NO_SUCH_FILE, PERMISSION_DENIED, FAILURE } = ssh2.utils.sftp.STATUS_CODE

/** A new key pair, its private key encrypted where a passphrase is given. */
export function keyPair(passphrase?: string): { public: string; private: string } {
  for (;;) {
    const encrypted = { passphrase: passphrase ?? '', cipher: 'aes256-cbc', rounds: 16 }
    const pair = ssh2.utils.generateKeyPairSync('ed25519', passphrase === undefined ? {} : encrypted)
    // Of some hundred that ssh2 makes there is one that it can't read itself.
    if (!(ssh2.utils.parseKey(pair.private, passphrase) instanceof Error)) return pair
  }
}

/** Key pairs take their time to make; tests share one. */
export const hostKeys = keyPair()
export const hostKey = fingerprint(hostKeys.public)

export interface SftpServerOptions {
  /** Its root; the login folder is `/home` in it. */
  folder: string
  user: string
  password?: string
  /** In OpenSSH's form, as ssh2 makes it. */
  publicKey?: string
  /** The password is asked for by prompts only. */
  promptsOnly?: boolean
}

export interface SftpServer {
  port: number
  /** Every attempt to log in, by its method. */
  attempts: string[]
  /** Entries of folders that were sent. */
  names: number
  connections: number
  /** Called for each block that is asked for; what it gives is done instead. */
  onRead: (offset: number) => 'cut' | 'stall' | null
  /** What it says to whatever is asked of it once somebody is in, in place of doing it; null: it does it. */
  refusal: string | null
  /** Called when a file is asked for, before it is opened. */
  onOpen: (path: string) => void
  /** What it tells of a file, of all that it knows; some servers leave out a part. */
  tells: (known: Known) => Partial<Known>
  close(): Promise<void>
}

/** SHA256 of a public key in OpenSSH's form, as `ssh-keygen -l` prints it. */
export function fingerprint(publicKey: string): string {
  const hash = createHash('sha256').update(Buffer.from(publicKey.split(' ')[1], 'base64'))
  return `SHA256:${hash.digest('base64').replace(/=+$/, '')}`
}

export async function startSftpServer(options: SftpServerOptions): Promise<SftpServer> {
  const open = new Set<Connection>()
  const server = new ssh2.Server({ hostKeys: [hostKeys.private] }, (connection) => {
    open.add(connection)
    it.connections++
    ;(connection as Connection & { setNoDelay(on: boolean): void }).setNoDelay(true)
    connection.on('error', () => {})
    connection.on('close', () => open.delete(connection))
    connection.on('authentication', (context) => {
      it.attempts.push(context.method)
      authenticate(context, options)
    })
    connection.on('session', (acceptSession) => {
      acceptSession().on('sftp', (acceptSftp) => serve(acceptSftp(), connection, options.folder, it))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const it: SftpServer = {
    port: (server.address() as AddressInfo).port,
    attempts: [],
    names: 0,
    connections: 0,
    refusal: null,
    onRead: () => null,
    onOpen: () => {},
    tells: (known) => known,
    async close() {
      for (const connection of open) connection.end()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
  return it
}

function authenticate(context: AuthContext, { user, password, publicKey, promptsOnly }: SftpServerOptions): void {
  const methods: AuthContext['method'][] = promptsOnly ? ['keyboard-interactive'] : ['password', 'publickey']
  if (context.username !== user) return context.reject(methods)
  if (context.method === 'password' && !promptsOnly && context.password === password) return context.accept()
  if (context.method === 'keyboard-interactive' && promptsOnly) {
    return context.prompt([{ prompt: 'Password: ', echo: false }], ([answer]) =>
      answer === password ? context.accept() : context.reject(),
    )
  }
  if (context.method === 'publickey' && publicKey !== undefined) {
    const known = ssh2.utils.parseKey(publicKey)
    if (known instanceof Error || Array.isArray(known)) throw new Error('the public key of the test is none')
    const right = known.getPublicSSH().equals(context.key.data)
    const { blob, signature, hashAlgo } = context
    if (right && (!signature || (blob && known.verify(blob, signature, hashAlgo)))) return context.accept()
  }
  return context.reject(methods)
}

function serve(sftp: SFTPWrapper, connection: Connection, folder: string, it: SftpServer): void {
  const handles = new Map<number, { file: number } | { entries: FileEntry[] }>()
  let count = 0
  const realFolder = realpathSync(folder)
  const virtual = (path: string): string => posix.resolve('/home', path)
  const local = (path: string): string => realFolder + virtual(path)
  const handleOf = (held: { file: number } | { entries: FileEntry[] }): Buffer => {
    const buffer = Buffer.alloc(4)
    buffer.writeUInt32BE(++count)
    handles.set(count, held)
    return buffer
  }
  const guarded = (request: number, answer: () => void): void => {
    if (it.refusal !== null) return sftp.status(request, FAILURE, it.refusal)
    try {
      answer()
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : ''
      const status = code === 'ENOENT' ? NO_SUCH_FILE : code === 'EACCES' ? PERMISSION_DENIED : FAILURE
      sftp.status(request, status)
    }
  }
  const attributesOf = (found: Stats): Known => it.tells(knownOf(found)) as Known
  sftp.on('REALPATH', (request, path) =>
    guarded(request, () => {
      const filename = realpathSync(local(path)).slice(realFolder.length) || '/'
      sftp.name(request, [{ filename, longname: filename, attrs: attributesOf(statSync(realFolder)) }])
    }),
  )
  sftp.on('STAT', (request, path) => guarded(request, () => sftp.attrs(request, attributesOf(statSync(local(path))))))
  sftp.on('LSTAT', (request, path) => guarded(request, () => sftp.attrs(request, attributesOf(lstatSync(local(path))))))
  sftp.on('OPENDIR', (request, path) =>
    guarded(request, () => {
      const names = ['.', '..', ...readdirSync(local(path))]
      const entries = names.map((name) => entryOf(name, `${local(path)}/${name}`, attributesOf))
      sftp.handle(request, handleOf({ entries }))
    }),
  )
  sftp.on('READDIR', (request, handle) => {
    const held = handles.get(handle.readUInt32BE())
    if (held === undefined || !('entries' in held)) return sftp.status(request, FAILURE)
    if (held.entries.length === 0) return sftp.status(request, EOF)
    const names = held.entries.splice(0, 100)
    it.names += names.length
    return sftp.name(request, names)
  })
  sftp.on('OPEN', (request, path) =>
    guarded(request, () => {
      it.onOpen(virtual(path))
      sftp.handle(request, handleOf({ file: openSync(local(path), 'r') }))
    }),
  )
  const fileOf = (handle: Buffer): number | null => {
    const held = handles.get(handle.readUInt32BE())
    return held !== undefined && 'file' in held ? held.file : null
  }
  sftp.on('FSTAT', (request, handle) => {
    const file = fileOf(handle)
    return file === null ? sftp.status(request, FAILURE) : sftp.attrs(request, attributesOf(fstatSync(file)))
  })
  sftp.on('READ', (request, handle, offset, length) => {
    const file = fileOf(handle)
    if (file === null) return sftp.status(request, FAILURE)
    const instead = it.onRead(offset)
    if (instead === 'cut') return connection.end()
    if (instead === 'stall') return undefined
    const block = Buffer.alloc(length)
    const size = readSync(file, block, 0, length, offset)
    return size === 0 ? sftp.status(request, EOF) : sftp.data(request, block.subarray(0, size))
  })
  sftp.on('CLOSE', (request, handle) => {
    const file = fileOf(handle)
    if (file !== null) closeSync(file)
    handles.delete(handle.readUInt32BE())
    sftp.status(request, OK)
  })
}

type Known = ReturnType<typeof knownOf>

function knownOf({ mode, uid, gid, size, atimeMs, mtimeMs }: Stats) {
  return { mode, uid, gid, size, atime: Math.floor(atimeMs / 1000), mtime: Math.floor(mtimeMs / 1000) }
}

function entryOf(filename: string, path: string, attributesOf: (found: Stats) => Known): FileEntry {
  const found = lstatSync(path)
  const type = found.isDirectory() ? 'd' : found.isSymbolicLink() ? 'l' : '-'
  return {
    filename,
    longname: `${type}rw-r--r-- 1 o g ${found.size} Nov 21 12:00 ${filename}`,
    attrs: attributesOf(found),
  }
}
