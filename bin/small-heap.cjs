// What Node has compiled of its own modules is good only for the flags that it started with: those that are loaded after a flag
// was set are compiled anew, which takes three times as long. So what a command will load is loaded first.
const always = ['assert', 'crypto', 'os', 'readline/promises', 'timers/promises', 'worker_threads', 'zlib']
const forCalls = ['console', 'dns', 'dns/promises', 'fs/promises', 'http2', 'perf_hooks', 'stream/web', 'vm']
const withoutCalls = new Set(['backup', 'store'])
/** Over before the heap could grow. */
const brief = new Set(['approve', 'completion', 'runs', 'status'])
/** Whose memory counts more than 25 ms of a start. */
const large = new Set(['backfill', 'daemon', 'sync'])

/** The command among the words of a command line; null: none, or only what the program says of itself. */
function commandOf(words) {
  if (words.some((word) => /^(-h|--help|help|-V|--version)$/.test(word))) return null
  return words.find((word, i) => !word.startsWith('-') && !/^--(config|log-level)$/.test(words[i - 1])) ?? null
}

/** Whether the heap of this command line could grow. */
function growsHeap(words) {
  const command = commandOf(words)
  return command !== null && !brief.has(command)
}

/**
 * Keeps the heap's part for young objects as small as it is, a few MB. It grows to a hundred otherwise, while what is read and
 * sent passes through it, and is not given back; a run is no faster for it. V8 reads the flag whenever it would grow. And the
 * part for old objects grows by so many per cent of what is in use before it is collected: by itself V8 lets it come to several
 * times that, as it does what lies outside of it. Both cost a run some five per cent of its processor time.
 *
 * While old objects are collected, young ones are as well: else their part grows all the same until that is over. And undici's reader
 * of answers, WebAssembly, stays as it was first compiled: to compile it for speed takes 23 MB for a second or two, which are not
 * all given back, and a call takes no less time after it.
 */
function keepHeapSmall(words) {
  const makesCalls = !withoutCalls.has(commandOf(words))
  for (const name of makesCalls ? [...always, ...forCalls] : always) process.getBuiltinModule(name)
  const { setFlagsFromString } = process.getBuiltinModule('v8')
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=30')
  setFlagsFromString('--no-separate-gc-phases')
  setFlagsFromString('--no-wasm-tier-up')
  setFlagsFromString('--no-wasm-dynamic-tiering')
}

/**
 * Starts one of the large commands anew in the same process, with one arena of glibc's for all threads. Otherwise each has one of its own, of
 * which little is given back: some 25 MB of a backfill. Nothing but the environment tells glibc so. Node ends a process that can't be
 * started anew, so one that may not be, or whose Node is not found, goes on as it is.
 */
function shareArena(words) {
  const isSaid = process.env.MALLOC_ARENA_MAX !== undefined
  if (process.platform !== 'linux' || isSaid || process.connected || !large.has(commandOf(words))) return
  // Set only where a permission was asked for.
  const mayStart = process.permission ? process.permission.has('child') : true
  if (!mayStart || !process.getBuiltinModule('fs').existsSync(process.execPath)) return
  const line = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  process.execve?.(process.execPath, line, { ...process.env, MALLOC_ARENA_MAX: '1' })
}

module.exports = { commandOf, growsHeap, keepHeapSmall, shareArena }
