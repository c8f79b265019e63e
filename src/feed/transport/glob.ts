import { glob as matches } from 'node:fs/promises'
import { dirname, isAbsolute, resolve } from 'node:path'
import { isPattern } from './address.ts'
import { look, openUnchanged } from './file.ts'
import { assertFewFiles, besidesOf, fileAt, newestOf } from './folder.ts'
import type { Entry } from './folder.ts'
import type { Transport } from './transport.ts'

/**
 * The newest whole file that matches a pattern, relative to `options.directory` (`newestOf`). Throws `FeedError` if
 * there is none.
 */
export const glob: Transport = async (source, options) => {
  options.signal.throwIfAborted()
  const pattern = isAbsolute(source) ? source : resolve(options.directory, source)
  let folder = dirname(pattern)
  while (isPattern(folder)) folder = dirname(folder)
  const matching: Entry[] = []
  for await (const match of matches(pattern, { cwd: options.directory })) {
    const path = resolve(options.directory, match)
    // A broken link matches too, and a match may be gone by now.
    const entry = await look(path).catch(() => null)
    assertFewFiles(matching.length + 1, options.maxFiles, folder)
    matching.push(entry ?? { path, size: null, time: 0, regular: false })
  }
  const choice = { nameOf: (path: string) => (path === pattern ? source : path), ready: options.ready }
  const hasMarker = async (path: string): Promise<boolean> => (await look(path)) !== null
  const newest = await newestOf(matching, pattern, look, hasMarker, choice)
  const open = (entry: Entry) => openUnchanged(entry, folder, options)
  const besides = besidesOf(newest, async ({ path }) => open(await fileAt(path, look, choice)))
  return { ...(await open(newest)), besides }
}
