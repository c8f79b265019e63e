/**
 * Which file of a folder is the delivery, and whether it is complete: programs write files slowly, and half a file looks
 * like a feed that lost half of its listings (docs/faults.md, F16).
 */
import { parse } from 'node:path'
import { FeedError } from '../../core/errors.ts'
import { printable } from '../../core/text.ts'
import type { Readiness } from './settings.ts'
import type { Besides, Opened, TransportOptions } from './transport.ts'

/** A file as a folder shows it. */
export interface Entry {
  path: string
  /** Bytes; null: the server does not say. */
  size: number | null
  /** Last change, in milliseconds since the epoch; null: not known, or only by a closer look. */
  time: number | null
  /** Not a directory, a device, a FIFO. */
  regular: boolean
}

/** The newest file of those that match, and the older ones, the oldest first. */
export interface Newest extends Entry {
  older: readonly Entry[]
}

/** Looks at a path here or on a server. Follows links; null: nothing there. */
export type Look = (path: string) => Promise<Entry | null>

/** `nameOf`: a path as messages show it. */
export interface Choice {
  nameOf: (path: string) => string
  ready: Readiness
}

/** Names of unfinished uploads: by browsers, WinSCP, rsync, FileZilla and editors. */
const underWay = /^\.|~$|\.(part|partial|tmp|filepart|crdownload)$/i

/** The file at a path. Throws `FeedError` if it or its marker is missing. */
export async function fileAt(path: string, look: Look, { nameOf, ready }: Choice): Promise<Entry> {
  const entry = await look(path)
  if (entry === null) throw new FeedError(`${nameOf(path)} does not exist`)
  if (ready.marker === undefined) return entry
  const marker = markerOf(ready.marker, path)
  if ((await look(marker)) === null) {
    throw new FeedError(
      `${nameOf(path)} is not complete yet: its marker ${parse(marker).base} is missing; the next run looks again`,
    )
  }
  return entry
}

/**
 * The newest regular file that matches a pattern and has its marker, if one is asked for; of equally new ones the last by
 * name. Throws `FeedError` if there is none.
 */
export async function newestOf(
  matching: Entry[],
  pattern: string,
  look: Look,
  hasMarker: (path: string) => Promise<boolean>,
  { nameOf, ready: { marker } }: Choice,
): Promise<Newest> {
  const markers = new Set(marker === undefined ? [] : matching.map(({ path }) => markerOf(marker, path)))
  const named = matching.filter(({ path }) => !underWay.test(parse(path).base) && !markers.has(path))
  const files: Entry[] = []
  for (const entry of named) {
    // Some times only a closer look shows; a match may be renamed before.
    const closer = entry.time === null ? await look(entry.path) : entry
    if (closer?.regular) files.push(closer)
  }
  if (files.length > 1 && files.some(({ time }) => time === null)) {
    throw new FeedError(`${nameOf(pattern)}: the server does not say when its files changed; name the one file`)
  }
  const newestFirst = files.sort((a, b) => (b.time ?? 0) - (a.time ?? 0) || (a.path < b.path ? 1 : -1))
  for (const [i, entry] of newestFirst.entries()) {
    if (marker !== undefined && !(await hasMarker(markerOf(marker, entry.path)))) continue
    return { ...entry, older: newestFirst.slice(i + 1).toReversed() }
  }
  if (newestFirst.length > 0) {
    throw new FeedError(
      `no file that matches ${nameOf(pattern)} is complete yet: ` +
        `none of ${newestFirst.length} has its marker ${marker}; the next run looks again`,
    )
  }
  throw new FeedError(
    `no file matches ${nameOf(pattern)}${matching.length > 0 ? ' (what matches is not a regular file or is still being uploaded)' : ''}`,
  )
}

/** The files beside the newest one, each to be opened by `open`. */
export function besidesOf(newest: Newest, open: (entry: Entry) => Promise<Opened>): Besides {
  const inBrief = ({ path, time }: Entry) => ({ name: printable(parse(path).base), changedAt: time ?? 0 })
  return {
    ...inBrief(newest),
    older: newest.older.map((entry) => ({ ...inBrief(entry), open: () => open(entry) })),
  }
}

/** Throws `FeedError` for a folder of more entries than are looked at. */
export function assertFewFiles(count: number, maxFiles: number, folder: string): void {
  if (count > maxFiles)
    throw new FeedError(`${folder} holds more than ${maxFiles} files (maxFiles); move old deliveries away`)
}

/** Waits while a file must not change. Rejects with the signal's reason if the run is stopped. */
export async function waitUnchanged(milliseconds: number, { clock, signal }: TransportOptions): Promise<void> {
  await clock.sleep(milliseconds, signal).catch((error: unknown) => {
    signal.throwIfAborted()
    throw error
  })
}

/** Throws `FeedError` if a file has changed since `before`, taken so many milliseconds earlier. */
export function holdUnchanged(before: Entry, after: Entry | null, milliseconds: number, name: string): void {
  const since = `${milliseconds / 1000} s`
  const again = 'nothing was read, the next run looks again'
  if (after === null) throw new FeedError(`${name} disappeared within ${since}; ${again}`)
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
