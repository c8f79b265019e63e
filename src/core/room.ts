/** Room on a disk, so that a run ends before the disk is full: others write there, too. */
import { statfsSync } from 'node:fs'
import { UserError } from './errors.ts'

/** Bytes that may still be written to a folder's disk; Infinity where the system does not tell. */
export function roomIn(folder: string, keepFree: number): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize - keepFree
  } catch {
    return Infinity
  }
}

/** Throws `UserError` where so many bytes have no room. */
export function assertRoom(folder: string, bytes: number, keepFree: number): void {
  if (roomIn(folder, keepFree) >= bytes) return
  throw new UserError(
    `${folder}: its disk has no room for ${bytes} bytes more, as ${keepFree} are to stay free (keepFree); free some space there, or name another temporary folder with TMPDIR`,
  )
}
