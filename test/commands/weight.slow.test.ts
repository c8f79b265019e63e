/** What commands load: nobody waits for what their command, or their kind of store, does not need. */
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { homes, zillowFeed } from '../support/homes.ts'
import { command } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))

let world: RunWorld
beforeAll(async () => {
  world = await RunWorld.start()
  world.deliver(zillowFeed(homes(1, 3)))
})
afterAll(() => world.end())

/** Says at the end which modules were loaded, each by its address; CommonJS ones, too. */
const watcher = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  import { writeFileSync } from 'node:fs'
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  process.on('exit', () => writeFileSync(process.env.LOADED_FILE, loaded.join('\\n')))
`)}`

async function loadedBy(...words: string[]): Promise<string[]> {
  const file = join(world.folder, 'loaded')
  const env = { LISTING_SYNC_CONFIG: world.configFile, LOADED_FILE: file, NODE_OPTIONS: `--import=${watcher}` }
  const { status, stderr } = await command(words, { env })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return readFileSync(file, 'utf8').split('\n')
}

const among = (loaded: readonly string[], what: RegExp): string[] => loaded.filter((url) => what.test(url))

test('with a file as store, nothing of PostgreSQL is loaded', async () => {
  const loaded = [
    ...(await loadedBy('sync')),
    ...(await loadedBy('status')),
    ...(await loadedBy('backup', join(world.folder, 'copy'))),
  ]
  expect(among(loaded, /better-sqlite3/)).not.toEqual([])
  expect(among(loaded, /node_modules\/(?:pg|graphile)|store\/(?:postgres|migrate\.)/)).toEqual([])
})

test('status loads neither runs nor the client of HTTP; --help no configuration', async () => {
  const status = await loadedBy('status')
  expect(among(status, /src\/config\//)).not.toEqual([])
  expect(
    among(
      status,
      /node_modules\/(?:undici|fast-xml-parser|papaparse)|src\/(?:run\/re|apply|service\/client|sync|workspace)/,
    ),
  ).toEqual([])
  expect(among(await loadedBy('--help'), /src\/config\/|node_modules\/(?!commander|node-)/)).toEqual([])
})

/** Says at the end which of Node's modules were loaded after V8 was told of a flag. */
const afterFlag = `data:text/javascript,${encodeURIComponent(`
  import v8 from 'node:v8'
  import { writeFileSync } from 'node:fs'
  let before = null
  const { setFlagsFromString } = v8
  v8.setFlagsFromString = (flag) => (before ??= new Set(process.moduleLoadList), setFlagsFromString(flag))
  const later = () => process.moduleLoadList.filter((name) => /^NativeModule (?!internal)/.test(name) && !before.has(name))
  process.on('exit', () => writeFileSync(process.env.LOADED_FILE, before === null ? 'no flag' : later().join('\\n')))
`)}`

test('where the heap is kept small, the modules of Node are loaded before, as they are compiled anew after', async () => {
  const file = join(world.folder, 'later')
  const later = async (...words: string[]): Promise<string> => {
    const env = { LISTING_SYNC_CONFIG: world.configFile, LOADED_FILE: file, NODE_OPTIONS: `--import=${afterFlag}` }
    const { status, stderr } = await command(words, { env })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    return readFileSync(file, 'utf8')
  }
  for (const words of [['--help'], ['--version'], ['status']]) expect(await later(...words)).toBe('no flag')
  // What the sources import as modules loads all that it exports: the build does without.
  const stray = /^NativeModule (?:process|net|dgram|child_process|diagnostics_channel)$/
  for (const words of [['sync'], ['backup', join(world.folder, 'another')]])
    expect((await later(...words)).split('\n').filter((text) => text !== '' && !stray.test(text))).toEqual([])
})

test('what Node made of the program for one command is good after another', async () => {
  const env = {
    LISTING_SYNC_CONFIG: world.configFile,
    XDG_CACHE_HOME: join(world.folder, 'cache'),
    NODE_COMPILE_CACHE: undefined,
    NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
  } as unknown as Record<string, string>
  const loadedBy = async (what: string): Promise<string> => {
    const { status, stdout, stderr } = await command([what], { env })
    expect(status).toBe(0)
    return stdout + stderr
  }
  for (const what of ['status', 'sync', 'status', 'sync']) await loadedBy(what)
  for (const what of ['status', 'sync']) {
    const loaded = await loadedBy(what)
    expect(loaded).toContain('was accepted')
    expect(loaded).not.toContain('was rejected')
  }
})

test.runIf(process.platform === 'linux')('what reads whole feeds has one arena of memory for all threads', async () => {
  const file = join(world.folder, 'arenas')
  const noting = `import { writeFileSync } from 'node:fs'
    process.on('exit', () => writeFileSync(process.env.LOADED_FILE, process.pid + ' ' + process.env.MALLOC_ARENA_MAX))`
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(noting)}`
  const arenas = async (...words: string[]): Promise<string> => {
    const env = { LISTING_SYNC_CONFIG: world.configFile, LOADED_FILE: file, NODE_OPTIONS }
    let pid: number | undefined
    const { status, stderr } = await command(words, { env, onStart: async (child) => void (pid = child.pid) })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    // It is the process that was started, so that whoever stops that one stops the command.
    return readFileSync(file, 'utf8').replace(String(pid), 'itself')
  }
  for (const words of [['backfill'], ['sync']]) expect(await arenas(...words)).toBe('itself 1')
  expect(await arenas('diff')).toBe('itself undefined')
})

test('as it is built, it logs, reads schedules and makes hashes by modules that are loaded only then', async () => {
  const root = join(world.folder, 'built')
  const built = join(root, 'dist/program')
  mkdirSync(root)
  for (const part of ['bin', 'config', 'package.json'])
    cpSync(join(repository, part), join(root, part), { recursive: true })
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'))
  execFileSync(process.execPath, [join(repository, 'scripts/bundle.mjs'), built])
  execFileSync(process.execPath, [join(repository, 'scripts/write-presets.ts'), join(root, 'dist/presets')])
  const file = join(world.folder, 'loaded-built')
  const noting = `import { writeFileSync } from 'node:fs'
    import module from 'node:module'
    process.on('exit', () => writeFileSync(process.env.LOADED_FILE, [...Object.keys(module._cache), ...process.moduleLoadList].join('\\n')))`
  const run = async (config: string, ...words: string[]) => {
    const env = {
      ...process.env,
      LISTING_SYNC_CONFIG: config,
      LOADED_FILE: file,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(noting)}`,
    }
    const line = [join(root, 'bin/listing-sync.mjs'), ...words]
    const running = promisify(execFile)(process.execPath, line, { env })
    // A daemon is through with its first line.
    running.child.stderr?.once('data', () => running.child.kill('SIGINT'))
    const { stdout, stderr } = await running
    const loaded = among(readFileSync(file, 'utf8').split('\n'), /dist\/program|^NativeModule (?:crypto|zlib)$/)
    return { stdout, stderr, late: among(loaded, /\/(?:pino|cron|entities|undici)-|^NativeModule/), loaded }
  }
  const status = await run(world.configFile, 'status')
  expect(status).toMatchObject({ stderr: '', late: [] })
  // Few files, as each takes longer to find and read than to run.
  expect(status.loaded.length).toBeLessThan(6)
  const config = join(world.folder, 'scheduled.yaml')
  const text = readFileSync(world.configFile, 'utf8')
  writeFileSync(config, text.replace(/^( +)source:/m, '$1schedule: "*/30 * * * *"\n$1source:'))
  const scheduled = await run(config, 'status')
  expect(scheduled).toMatchObject({ stderr: '', late: expect.arrayContaining([expect.stringContaining('/cron-')]) })
  expect(scheduled.stdout).toContain('next run: ')
  const daemon = await run(config, 'daemon')
  expect(daemon.stderr).toContain('daemon stopped')
  expect(among(daemon.loaded, /\/pino-/)).toHaveLength(1)
})
