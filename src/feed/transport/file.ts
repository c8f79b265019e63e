import { constants } from 'node:fs'
import { open, realpath, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { Stats } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { FeedError, codeOf, systemReason } from '../../core/errors.ts'
import { fileAt, holdUnchanged, waitUnchanged } from './folder.ts'
import type { Entry } from './folder.ts'
import type { Opened, Transport, TransportOptions } from './transport.ts'

/** Four times faster to read than the 64 kB of a stream. */
const blockBytes = 1024 * 1024

/** A file by its path, relative to `options.directory`, once it is whole. */
export const file: Transport = async (source, options) => {
  options.signal.throwIfAborted()
  const path = resolve(options.directory, source)
  const entry = await fileAt(path, look, { nameOf: (path) => path, ready: options.ready })
  return openUnchanged(entry, dirname(path), options)
}

/**
 * Opens a file of a folder once it has been unchanged for `options.ready`; if it already has, at once. Throws `FeedError`
 * if it is still being written, or a link out of the folder: whoever may write there could have us read any file.
 */
export async function openUnchanged(entry: Entry, folder: string, options: TransportOptions): Promise<Opened> {
  const { unchanged = 0 } = options.ready
  if (unchanged > 0 && (entry.time ?? 0) > options.clock.now() - unchanged) {
    await waitUnchanged(unchanged, options)
    holdUnchanged(entry, await look(entry.path), unchanged, entry.path)
  }
  return openFile(entry.path, options, folder)
}

/** What is at a path, links followed; null: nothing. Throws `FeedError` if it may not be read. */
export async function look(path: string): Promise<Entry | null> {
  const found = await stat(path).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return null
    return refused(path, error)
  })
  return found && { path, size: found.size, time: found.mtimeMs, regular: found.isFile() }
}

/** Opens a regular file; a directory, a FIFO or a device is refused (docs/faults.md, F28). Throws `FeedError`. */
export async function openFile(path: string, options: TransportOptions, folder?: string): Promise<Opened> {
  options.signal.throwIfAborted()
  const before = await stat(path).catch((error: unknown) => refused(path, error))
  if (!before.isFile()) throw new FeedError(`${path} is not a regular file`)
  if (before.size > options.maxBytes) {
    throw new FeedError(`${path} has ${before.size} bytes, more than maxBytes, ${options.maxBytes}`)
  }
  const handle = await openedWithin(path, before, folder)
  const reasons: string[] = []
  return {
    name: path,
    file: path,
    bytes: blocksOf(handle, { ...options, before, reasons }),
    charset: null,
    contentEncoding: null,
    validators: {},
    end: () => ({ proven: false, reasons }),
  }
}

/** The file that was looked at, and, of a folder, that lies in it by all links. */
async function openedWithin(path: string, before: Stats, folder: string | undefined): Promise<FileHandle> {
  // It may be a FIFO by now, which would block.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) =>
    refused(path, error),
  )
  try {
    const same = (found: Stats): boolean => found.ino === before.ino && found.dev === before.dev
    const real = folder === undefined ? path : await realpath(path)
    if (folder !== undefined && !isWithin(await realpath(folder), real)) {
      throw new FeedError(
        `${path} is a link out of ${folder}, which is not followed; name the file itself as the source`,
      )
    }
    if (!same(await handle.stat()) || !same(await stat(real))) {
      throw new FeedError(`${path} was replaced while it was opened; nothing was read, the next run looks again`)
    }
    return handle
  } catch (error) {
    await handle.close()
    throw error instanceof FeedError ? error : refused(path, error)
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && !isAbsolute(way) && way.split(/[/\\]/)[0] !== '..'
}

type Reading = Pick<TransportOptions, 'maxBytes' | 'signal'> & { before: Stats; reasons: string[] }

async function* blocksOf(handle: FileHandle, { before, reasons, maxBytes, signal }: Reading): AsyncGenerator<Buffer> {
  try {
    let size = 0
    // Two blocks in turn (`Opened.bytes`): a new block each time costs a full garbage collection every few megabytes, a
    // sixth of a no-change run, and leaves the process three times as large.
    const whole: Buffer[] = []
    while (true) {
      if (signal.aborted) {
        reasons.push('reading the file was stopped')
        return
      }
      const wanted = Math.max(1, Math.min(blockBytes, before.size - size + 1))
      const block = whole.length === 2 ? whole.shift()! : Buffer.allocUnsafeSlow(wanted)
      const { bytesRead } = await handle.read(block, 0, block.length, null)
      if (bytesRead === 0) break
      size += bytesRead
      if (size > maxBytes) {
        reasons.push(`the file grew beyond ${maxBytes} bytes (maxBytes); the rest was not read`)
        return
      }
      if (bytesRead === blockBytes) whole.push(block)
      yield block.subarray(0, bytesRead)
    }
    const after = await handle.stat()
    // Somebody may be writing: what was read is then neither the old file nor the new one.
    if (size !== before.size || after.size !== before.size || after.mtimeMs !== before.mtimeMs) {
      reasons.push('the file changed while it was read')
    }
  } catch (error) {
    reasons.push(`reading the file failed: ${systemReason(error) ?? String(error)}`)
  } finally {
    await handle.close()
  }
}

function refused(path: string, error: unknown): never {
  const code = codeOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') throw new FeedError(`${path} does not exist`)
  if (code === 'EACCES' || code === 'EPERM') throw new FeedError(`${path} may not be read by this user`)
  throw new FeedError(`${path} can't be opened: ${systemReason(error) ?? String(error)}`)
}
