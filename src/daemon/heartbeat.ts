/** A file beside the store whose age tells the container's health check that the daemon's loop is alive. */
import { statSync, utimesSync, writeFileSync } from 'node:fs'

/** The daemon beats this often. */
export const beatEvery = 10_000
const deadAfter = 60_000

const fileOf = (store: string): string => `${store}.alive`

/** Sets the file's time to now, making it where it is missing. */
export function beat(store: string, now: number): void {
  const seconds = now / 1000
  try {
    utimesSync(fileOf(store), seconds, seconds)
  } catch {
    writeFileSync(fileOf(store), '')
  }
}

/** Whether the daemon of this store has beaten within a minute. */
export function aliveWithin(store: string, now: number): boolean {
  try {
    return now - statSync(fileOf(store)).mtimeMs < deadAfter
  } catch {
    return false
  }
}
