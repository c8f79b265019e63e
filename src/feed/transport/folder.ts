/**
 * Which file of a folder is the delivery, and whether it is whole: files are dropped by programs that write them slowly,
 * and half a file looks like a feed that lost half of its listings (docs/faults.md, F16).
 */
import { parse } from 'node:path'
import { FeedError } from '../../core/errors.ts'
import type { Readiness } from './settings.ts'
import type { TransportOptions } from './transport.ts'

/** What a folder shows of a file. */
export interface Entry {
  path: string
  /** Bytes; null where a server does not say. */
  size: number | null
  /** Milliseconds since the epoch of the last change; null where it is not known before, or even after, a closer look. */
  time: number | null
  /** Not a directory, a device, a FIFO. */
  regular: boolean
}

/** A place where files lie, here or on a server. Follows links; null where nothing is there. */
export type Look = (path: string) => Promise<Entry | null>

/** Who looks for a file: how its paths are called in front of people, and what is asked of it. */
export interface Choice {
  nameOf: (path: string) => string
  ready: Readiness
}

/** Names that uploads have while they are under way: of browsers, of WinSCP, rsync and FileZilla, of editors. */
const underWay = /^\.|~$|\.(part|partial|tmp|filepart|crdownload)$/i

/** The file of this path. Throws `FeedError` where it is not there or lacks its marker. */
export async function fileAt(path: string, look: Look, { nameOf, ready }: Choice): Promise<Entry> {
  const entry = await look(path)
  if (entry === null) throw new FeedError(`${nameOf(path)} does not exist`)
  if (ready.marker === undefined) return entry
  const marker = markerOf(ready.marker, path)
  if ((await look(marker)) === null) {
    throw new FeedError(
      `${nameOf(path)} is not yet whole: ${parse(marker).base} is not beside it; the next run looks again`,
    )
  }
  return entry
}

/**
 * The newest regular file of those that match a pattern, of equally new ones the last by name; where a marker is asked
 * for, the newest that has it. Throws `FeedError` where there is none.
 */
export async function newestOf(
  matching: Entry[],
  pattern: string,
  look: Look,
  hasMarker: (path: string) => Promise<boolean>,
  { nameOf, ready: { marker } }: Choice,
): Promise<Entry> {
  const markers = new Set(marker === undefined ? [] : matching.map(({ path }) => markerOf(marker, path)))
  const named = matching.filter(({ path }) => !underWay.test(parse(path).base) && !markers.has(path))
  const files = await lookedAt(named, look)
  if (files.length > 1 && files.some(({ time }) => time === null)) {
    throw new FeedError(`${nameOf(pattern)}: the server does not say when its files changed; name the one file`)
  }
  const newestFirst = files.sort((a, b) => (b.time ?? 0) - (a.time ?? 0) || (a.path < b.path ? 1 : -1))
  for (const entry of newestFirst) {
    if (marker === undefined || (await hasMarker(markerOf(marker, entry.path)))) return entry
  }
  if (newestFirst.length > 0) {
    throw new FeedError(
      `no file that matches ${nameOf(pattern)} is whole yet: ` +
        `none of ${newestFirst.length} has its ${marker} beside it; the next run looks again`,
    )
  }
  throw new FeedError(
    `no file matches ${nameOf(pattern)}${matching.length > 0 ? ' (what matches are no regular files, or uploads under way)' : ''}`,
  )
}

/** The regular files, each with what a closer look tells where the listing could not. */
async function lookedAt(entries: Entry[], look: Look): Promise<Entry[]> {
  const files: Entry[] = []
  for (const entry of entries) {
    // A match may be renamed away before it is looked at; then it is none.
    const closer = entry.time === null ? await look(entry.path) : entry
    if (closer?.regular) files.push(closer)
  }
  return files
}

/** Waits as long as a file may not change. Rejects with the signal's reason when the run is stopped meanwhile. */
export async function waitUnchanged(milliseconds: number, { clock, signal }: TransportOptions): Promise<void> {
  await clock.sleep(milliseconds, signal).catch((error: unknown) => {
    signal.throwIfAborted()
    throw error
  })
}

/** Throws `FeedError` where a file is not what it was when it was looked at so many milliseconds before. */
export function holdUnchanged(before: Entry, after: Entry | null, milliseconds: number, name: string): void {
  const since = `${milliseconds / 1000} s`
  const again = 'nothing was read, the next run looks again'
  if (after === null) throw new FeedError(`${name} went away within ${since}; ${again}`)
  if (after.size !== before.size) {
    throw new FeedError(
      `${name} is still being written: it had ${before.size} bytes, ${since} later ${after.size}; ${again}`,
    )
  }
  if (after.time !== before.time) throw new FeedError(`${name} was written again within ${since}; ${again}`)
}

function markerOf(marker: string, path: string): string {
  const { base, name } = parse(path)
  const own = marker.replace(/\{(name|stem)\}/g, (_, word) => (word === 'name' ? base : name))
  return path.slice(0, path.length - base.length) + own
}
