import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { UserError } from '../core/errors.ts'

/** Bytes. Far more than any configuration, key or list of certificates has. */
const mostBytes = 16 * 1024 * 1024

/**
 * The text of a configuration, or of a file that it names. Throws `UserError` for what is no file (a device or a pipe may never end)
 * and for a huge file; else what the system throws.
 */
export function readTextFile(path: string): string {
  // A pipe that nobody writes to would block.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!fstatSync(file).isFile()) throw new UserError('it is a folder, a device or a pipe, not a file')
    const chunks: Buffer[] = []
    // Read to the end whatever its size says: files of /proc claim to be empty.
    for (let size = 0; ;) {
      const part = Buffer.allocUnsafe(64 * 1024)
      const bytes = readSync(file, part)
      if (bytes === 0) return Buffer.concat(chunks).toString('utf8')
      size += bytes
      if (size > mostBytes) throw new UserError(`it has more than ${mostBytes} bytes`)
      chunks.push(part.subarray(0, bytes))
    }
  } finally {
    closeSync(file)
  }
}
