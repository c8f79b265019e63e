/**
 * The daemon's sign of life, for what restarts it. It is found by the path of the configuration alone and is looked at
 * without the rest of the program: a file that somebody has just broken must not get a daemon restarted that is well.
 * Plain JavaScript, as Node takes longer to strip types than for all of this.
 */
import { createHash } from 'node:crypto'
import { lstatSync, lutimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** How often the daemon beats, in milliseconds. */
export const beatEvery = 10_000
const deadAfter = 60_000

/**
 * In the temporary folder, as that of the configuration is often read-only. The path as it is written, without following
 * links: a ConfigMap of Kubernetes is another file after each change.
 */
export function heartbeatFile(configFile) {
  const name = createHash('sha256').update(resolve(configFile)).digest('hex').slice(0, 16)
  return join(tmpdir(), `listing-sync-alive-${name}`)
}

/** Sets a file's time to now; creates it if missing. Never through a link. Throws what the system throws. */
export function touch(file, now) {
  const seconds = now / 1000
  try {
    if (lstatSync(file).isFile()) {
      lutimesSync(file, seconds, seconds)
      return
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  writeFileSync(file, '', { flag: 'wx' })
  lutimesSync(file, seconds, seconds)
}

/** Whether the file was touched within a minute. */
export function isFresh(file, now) {
  try {
    const found = lstatSync(file)
    return found.isFile() && now - found.mtimeMs < deadAfter
  } catch {
    return false
  }
}

/**
 * The configuration of a command line that is `status --health` and nothing more; null: it is another one, which takes the
 * whole program. `named`: by the environment.
 */
export function healthOf(words, named) {
  let file = named || 'config/listing-sync.yaml'
  const rest = []
  for (let at = 0; at < words.length; at++) {
    if (words[at] === '--config' && at + 1 < words.length) file = words[++at]
    else if (words[at].startsWith('--config=')) file = words[at].slice('--config='.length)
    else rest.push(words[at])
  }
  return rest.join(' ') === 'status --health' ? file : null
}
