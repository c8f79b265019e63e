import { glob as matches, stat } from 'node:fs/promises'
import { basename, isAbsolute, resolve } from 'node:path'
import { FeedError } from '../../errors.ts'
import type { Transport } from '../feed.ts'
import { openFile } from './file.ts'

/**
 * The newest regular file that matches a pattern, relative to `options.directory`; of equally new ones the last by name.
 * Names that begin with a dot are left out: uploads under way have them. Throws `FeedError` where nothing matches.
 */
export const glob: Transport = async (source, options) => {
  const pattern = isAbsolute(source) ? source : resolve(options.directory, source)
  let newest: { path: string; time: number } | null = null
  let others = 0
  for await (const path of matches(pattern, { cwd: options.directory })) {
    const full = resolve(options.directory, path)
    if (basename(full).startsWith('.')) continue
    // A match may be renamed away before it is looked at; then it is none.
    const found = await stat(full).catch(() => null)
    if (!found?.isFile()) {
      others++
      continue
    }
    const newer = !newest || found.mtimeMs > newest.time || (found.mtimeMs === newest.time && full > newest.path)
    if (newer) newest = { path: full, time: found.mtimeMs }
  }
  if (!newest) {
    throw new FeedError(`no file matches ${source}${others > 0 ? ' (what matches are no regular files)' : ''}`)
  }
  return openFile(newest.path, options)
}
