#!/usr/bin/env node
// Plain JavaScript, so that an old Node can print the message below.
// An import of one of Node's modules loads all that it might export, so a newer Node is asked for it.
const builtIn = async (name) => process.getBuiltinModule?.(name) ?? (await import(`node:${name}`))
const { existsSync, mkdirSync, readdirSync, statSync } = await builtIn('fs')
const { isAbsolute } = await builtIn('path')
const { fileURLToPath } = await builtIn('url')

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const [major, minor] = process.versions.node.split('.').map(Number)
const newEnough = major > 22 || (major === 22 && minor >= 19)

/**
 * Whether to run the built program: in the published package and the container there is nothing else, and in a checkout it
 * starts in half the time, where no source is newer, nor what says which packages are built into it.
 */
function builtIsNewer() {
  if (!existsSync(here('../src/main.ts'))) return true
  // Written last by the build.
  const built = writtenAt(here('../dist/commit.txt'))
  if (built === 0 || !existsSync(here('../dist/program/main.cjs'))) return false
  const sources = readdirSync(here('../src'), { recursive: true }).map((name) => here('../src/') + name)
  const packages = [here('../package.json'), here('../package-lock.json')]
  return [...packages, ...sources].every((path) => writtenAt(path) <= built)
}

/** 0: nothing is there, as where an editor's link leads nowhere. */
const writtenAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Makes a folder, for this user alone. One by one: where a folder can't be made, as below /proc, Node would try for ever. */
function isMade(folder) {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch {
    // It is there, or there is no cache.
  }
  return existsSync(folder)
}

if (newEnough) {
  // Asked every few seconds by what restarts the daemon: nothing else of the program is loaded for it.
  const words = process.argv.slice(2)
  const health = words.includes('--health') ? await import('./heartbeat.mjs') : null
  const file = health?.healthOf(words, process.env.LISTING_SYNC_CONFIG) ?? null
  if (file !== null) process.exit(health.isFresh(health.heartbeatFile(file), Date.now()) ? 0 : 1)
  const { createRequire, enableCompileCache } = await builtIn('module')
  // What is required comes sooner than what is imported.
  const require = createRequire(import.meta.url)
  const { commandOf, growsHeap, keepHeapSmall, shareArena } = require('./small-heap.cjs')
  // Asks a daemon to read its configuration, which one that starts does anyway. A signal without a listener ends the process, and
  // most of the start is yet to come.
  if (commandOf(words) === 'daemon') process.on('SIGHUP', () => undefined)
  shareArena(words)
  const grows = growsHeap(words)
  // What Node made of the modules is kept for the next start, where nobody else can put anything: not in the temporary folder.
  // It is good for the flags of V8 under which it was made, so each has a folder of its own.
  const { XDG_CACHE_HOME: caches = '', HOME = '' } = process.env
  const home = [caches, HOME && `${HOME}/.cache`].find(isAbsolute)
  const kept = home && [home, `${home}/listing-sync`, `${home}/listing-sync/${grows ? 'runs' : 'brief'}`]
  if (kept && process.env.NODE_COMPILE_CACHE === undefined && kept.every(isMade)) enableCompileCache?.(kept.at(-1))
  if (grows) keepHeapSmall(words)
  const { main } = builtIsNewer() ? require('../dist/program/main.cjs') : await import('../src/main.ts')
  await main()
} else {
  const bundled = here(`../node_modules/.bin/node${process.platform === 'win32' ? '.exe' : ''}`)
  if (!existsSync(bundled)) {
    console.error(`listing-sync needs Node 22.19 or newer, this is ${process.versions.node}`)
    process.exit(1)
  }
  const { spawn } = await builtIn('child_process')
  const child = spawn(bundled, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(signal ? 1 : code))
}
