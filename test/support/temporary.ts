/**
 * Gives a test run a temporary folder of its own, in memory where there is room: stores are flushed to the disk after each
 * step, which is most of the time of many tests and proves nothing in them. It is removed after the run.
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Short, as paths in it are shown, and cut where they are long. */
const name = 'ls-tests-'
const memory = '/dev/shm'
const enough = 2 ** 30
const day = 86_400_000

export default function setup(): () => void {
  const place = hasRoom() ? memory : tmpdir()
  const folder = mkdtempSync(join(place, name))
  // What a run that was killed left behind; by the file system's clock, as the process's may be shifted.
  const now = statSync(folder).mtimeMs
  for (const left of readdirSync(place).filter((entry) => entry.startsWith(name)))
    if (statSync(join(place, left)).mtimeMs < now - day) remove(join(place, left))
  // As for every temporary folder: a test becomes another user.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  return () => remove(folder)
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return process.platform === 'linux' && bavail * bsize > enough
  } catch {
    return false
  }
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    console.warn(`${folder} could not be removed: ${String(error)}`)
  }
}
