/** Saves what a service shows of a chatbot, and what is known of its settings, to a folder that `backfill --from` reads. */
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rm, rmdir } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { feedsOfChatbot } from '../config/config.ts'
import type { FeedConfig } from '../config/config.ts'
import { manifestFile, savedFiles } from '../config/saved.ts'
import type { Manifest, SavedFile } from '../config/saved.ts'
import { differences } from '../core/compare-listings.ts'
import { ServiceError, UserError, codeOf, messageOf } from '../core/errors.ts'
import { asWritten } from '../core/figures.ts'
import { fieldNames, fieldRules, listingAt } from '../core/listing.ts'
import type { FieldName, FieldValue, Listing, MovingListing, Shown } from '../core/listing.ts'
import { resoHeader, resoRow } from '../core/reso-row.ts'
import { andMore, jsonDocument, printable } from '../core/text.ts'
import { dayIn } from '../core/zone.ts'
import type { App } from './app.ts'

/** What was saved, and what of it can't be put back as it is. Lists of MLSNumbers are cut at a few. */
export interface Exported {
  folder: string
  listings: number
  settings: number
  /** Listings without a field that Create requires, with the names of those fields: `backfill` would reject them. */
  lacking: Named
  /** Listings without a field that held a secret of the configuration. */
  withSecrets: Named
  /** Settings that were left out for the same reason. */
  secretSettings: string[]
  /** List items without MLSNumber: they are in `shown.jsonl` only. */
  nameless: number
}

export interface Named {
  count: number
  /** The first of them. */
  first: { mlsNumber: string; fields: string[] }[]
}

const mostNamed = 20

/** One file of the export while it is written. */
class Growing {
  readonly #handle: FileHandle
  #hash = createHash('sha256')
  #bytes = 0

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  static async at(path: string): Promise<Growing> {
    return new Growing(await open(path, 'ax'))
  }

  async add(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    this.#hash.update(bytes)
    this.#bytes += bytes.length
    await this.#handle.appendFile(bytes)
  }

  async empty(): Promise<void> {
    await this.#handle.truncate(0)
    this.#hash = createHash('sha256')
    this.#bytes = 0
  }

  /** Closes the file, which is on the disk then. */
  async end(): Promise<Manifest['files'][SavedFile]> {
    await this.#handle.sync()
    await this.close()
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}

/**
 * Writes the export. `areaUnit`: the unit of listings of which the store does not know it, as the list does not show it. Throws
 * `UserError` and leaves nothing if the folder is not empty, listings have no unit, the list can't be read whole, or `signal` ends it.
 */
export async function exportChatbot(
  app: App,
  feed: FeedConfig,
  folder: string,
  areaUnit: Listing['AreaUnit'] | null,
  signal: AbortSignal,
): Promise<Exported> {
  const isOurs = await makeFolder(folder)
  const files = new Map<SavedFile, Growing>()
  try {
    for (const name of savedFiles) files.set(name, await Growing.at(join(folder, name)))
    const exported = await fill(app, feed, folder, areaUnit, files, signal)
    signal.throwIfAborted()
    const ended: [SavedFile, Manifest['files'][SavedFile]][] = []
    for (const [name, file] of files) {
      ended.push([name, await file.end()])
      files.delete(name)
    }
    const manifest: Manifest = {
      kind: 'listing-sync export',
      version: 1,
      at: new Date(app.runtime.clock.now()).toISOString(),
      feed: feed.name,
      chatbot: feed.chatbot,
      listings: exported.listings,
      settings: exported.settings,
      files: Object.fromEntries(ended) as Manifest['files'],
    }
    app.doors.replace(join(folder, manifestFile), manifest, jsonDocument)
    return exported
  } catch (error) {
    for (const file of files.values()) await file.close().catch(() => undefined)
    for (const name of savedFiles) await rm(join(folder, name), { force: true })
    if (isOurs) await rmdir(folder).catch(() => undefined)
    if (signal.aborted) throw new UserError(`${messageOf(signal.reason)}; nothing is left of the export`)
    if (error instanceof ServiceError)
      throw new UserError(`${feed.name}: ${error.message}; nothing was exported`, { cause: error })
    if (error instanceof UserError || codeOf(error) === '') throw error
    throw new UserError(`the export can't be written to ${folder}: ${messageOf(error)}`, { cause: error })
  }
}

/** Whether the folder was made here; false: it was there, and empty. Throws `UserError`. */
async function makeFolder(folder: string): Promise<boolean> {
  try {
    const entries = await readdir(folder)
    if (entries.length === 0) return false
    throw new UserError(
      `${folder} is not empty; export writes to a new or an empty folder, name another one with --out`,
    )
  } catch (error) {
    if (error instanceof UserError) throw error
    if (codeOf(error) !== 'ENOENT')
      throw new UserError(`${folder} can't be used as the folder of an export: ${messageOf(error)}`, { cause: error })
  }
  try {
    await mkdir(folder, { recursive: true })
    return true
  } catch (error) {
    throw new UserError(`${folder} can't be made: ${messageOf(error)}`, { cause: error })
  }
}

async function fill(
  app: App,
  feed: FeedConfig,
  folder: string,
  areaUnit: Listing['AreaUnit'] | null,
  files: ReadonlyMap<SavedFile, Growing>,
  signal: AbortSignal,
): Promise<Exported> {
  const { clean } = app.doors
  const write = (name: SavedFile, text: string): Promise<void> => files.get(name)!.add(text)
  let found = emptyFindings()
  let isBegun = false
  const begin = async (): Promise<void> => {
    for (const file of files.values()) await file.empty()
    await write('listings.csv', resoHeader)
    found = emptyFindings()
    isBegun = true
  }
  const { clock } = app.runtime
  const client = await app.client(feed)
  const chatbot = client.chatbot(feed.chatbot, {
    profile: feed.service.profile,
    volatile: new Set(),
    mark: null,
    signal,
    stop: signal,
  })
  const { complete, reasons } = await chatbot.observe({
    reset: () => void (isBegun = false),
    async add(glimpses, raw) {
      if (!isBegun) await begin()
      const items = glimpses.map((item) => item.whole())
      found.nameless += raw.length - items.length
      const confirmed = await confirmedOf(app, feed, items)
      const now = clock.now()
      const [lines, rows]: string[][] = [[], []]
      for (const shown of items) {
        const listing = savedOf(shown, confirmed.get(shown.mlsNumber), areaUnit, now, dayIn(feed.timezone, now))
        const secret = fieldNames.filter((name) => !isSame(clean(listing[name]), listing[name]))
        for (const name of secret) delete listing[name]
        if (secret.length > 0) note(found.withSecrets, shown.mlsNumber, secret)
        const lacking = fieldRules.flatMap(({ name, required }) =>
          required && (listing[name] === undefined || listing[name] === '') ? [name] : [],
        )
        if (lacking.includes('AreaUnit')) note(found.withoutUnit, shown.mlsNumber, [])
        if (lacking.length > 0) note(found.lacking, shown.mlsNumber, lacking)
        lines.push(`${JSON.stringify(listing)}\n`)
        rows.push(resoRow(listing))
      }
      found.listings += items.length
      await write('listings.jsonl', lines.join(''))
      await write('listings.csv', rows.join(''))
      await write('shown.jsonl', raw.map((item) => `${JSON.stringify(clean(item))}\n`).join(''))
    },
  })
  if (!complete)
    throw new UserError(`${feed.name}: the list can't be read whole, so nothing was exported: ${reasons.join(' ')}`)
  if (!isBegun) await begin()
  const { withoutUnit, ...rest } = found
  if (withoutUnit.count > 0)
    throw new UserError(
      `${feed.name}: nothing was exported: AreaUnit of ${withoutUnit.count} ${withoutUnit.count === 1 ? 'listing is' : 'listings are'} not known, as the list doesn't show it and the store has none: ${namesOf(withoutUnit)}. Name it with --area-unit square-feet or square-meters`,
    )
  const settings = [...(await app.reader().learnt.settings(feed.chatbot))]
  const open = settings.filter(([, value]) => clean(value) === value)
  await write(
    'settings.json',
    jsonDocument(
      Object.fromEntries(open.map(([name, value]) => [name, typeof value === 'string' ? asWritten(value) : value])),
    ),
  )
  const secretSettings = settings.filter((setting) => !open.includes(setting)).map(([name]) => name)
  return { folder, settings: open.length, secretSettings, ...rest }
}

const emptyFindings = () => ({
  listings: 0,
  nameless: 0,
  lacking: { count: 0, first: [] } as Named,
  withSecrets: { count: 0, first: [] } as Named,
  withoutUnit: { count: 0, first: [] } as Named,
})

function note(named: Named, mlsNumber: string, fields: string[]): void {
  named.count++
  if (named.first.length < mostNamed) named.first.push({ mlsNumber, fields })
}

/** The MLSNumbers for a person, with their fields. */
export function namesOf({ count, first }: Named): string {
  const names = first.map(({ mlsNumber, fields }) =>
    fields.length === 0 ? printable(mlsNumber) : `${printable(mlsNumber)} (${fields.join(', ')})`,
  )
  return andMore(names, count)
}

const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

/** What the store knows of these listings, by all feeds of the chatbot. */
async function confirmedOf(
  app: App,
  feed: FeedConfig,
  items: readonly Shown[],
): Promise<ReadonlyMap<string, MovingListing>> {
  const keys = items.map(({ mlsNumber }) => mlsNumber)
  const all = new Map<string, MovingListing>()
  for (const name of feedsOfChatbot(app.config, feed))
    for (const [key, confirmed] of await app.reader().snapshot.confirmed(feed.chatbot, name, keys))
      all.set(key, confirmed)
  return all
}

/**
 * The listing as Create takes it. What the service shows counts. Where the store agrees, its exact value is taken; and it alone has
 * what list items don't show, or can't be read in them.
 */
function savedOf(
  shown: Shown,
  confirmed: MovingListing | undefined,
  areaUnit: Listing['AreaUnit'] | null,
  now: number,
  today: string,
): Partial<Listing> {
  const saved: Partial<Record<FieldName, FieldValue>> = {}
  const sent = confirmed && listingAt(confirmed, now, today)
  const other = new Set(sent === undefined ? fieldNames : differences(sent, shown).map(({ field }) => field))
  for (const name of fieldNames) {
    const value = sent !== undefined && !other.has(name) ? sent[name] : shown.fields[name]
    if (value !== undefined) saved[name] = value
  }
  if (areaUnit !== null) saved.AreaUnit ??= areaUnit
  return saved as Partial<Listing>
}
