/** A folder that `export` wrote: what is in it, whether it is whole, and how a feed reads it. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { UserError, codeOf, messageOf } from '../core/errors.ts'
import { savedListing } from '../feed/mapping/saved-listing.ts'
import { isPattern } from '../feed/transport/address.ts'
import type { FeedConfig } from './config.ts'

/** The files of an export beside its manifest. */
export const savedFiles = ['listings.jsonl', 'listings.csv', 'shown.jsonl', 'settings.json'] as const
export type SavedFile = (typeof savedFiles)[number]

/** Written last, so that a folder without it is no export. */
export const manifestFile = 'manifest.json'

const fileSchema = z.strictObject({ bytes: z.int().min(0), sha256: z.string().regex(/^[\da-f]{64}$/) })
const manifestSchema = z.strictObject({
  kind: z.literal('listing-sync export'),
  version: z.literal(1),
  /** When it was made, as ISO 8601. */
  at: z.string(),
  feed: z.string(),
  chatbot: z.string(),
  listings: z.int().min(0),
  settings: z.int().min(0),
  files: z.strictObject({
    'listings.jsonl': fileSchema,
    'listings.csv': fileSchema,
    'shown.jsonl': fileSchema,
    'settings.json': fileSchema,
  } satisfies Record<SavedFile, typeof fileSchema>),
})
export type Manifest = z.output<typeof manifestSchema>

const becomesOurs =
  'What is loaded from an export belongs to this feed from then on, whoever made it: the next sync takes off what the feed does not deliver'

/**
 * The feed, with the listings of an export in place of its source. Every file of the export is read whole first. Throws
 * `UserError` for a folder that is no export, or one that is not as `export` left it.
 */
export async function savedFeed(
  feed: FeedConfig,
  folder: string,
  readFile: (path: string) => string,
  signal: AbortSignal,
): Promise<FeedConfig> {
  const manifest = manifestOf(folder, readFile)
  for (const name of savedFiles) await checkFile(folder, name, manifest.files[name], signal)
  if (manifest.listings === 0)
    throw new UserError(`${folder} is the export of a chatbot without listings: nothing to load`)
  const source = resolve(folder, 'listings.jsonl')
  if (isPattern(source))
    throw new UserError(`${folder} has a character of patterns in its name; give it a name without`)
  const transport = { ...feed.transport, member: null, encoding: 'utf-8', ready: {} }
  return { ...feed, source, live: null, transport, mapping: savedListing, delivery: null, notes: [becomesOurs] }
}

function manifestOf(folder: string, readFile: (path: string) => string): Manifest {
  const path = join(folder, manifestFile)
  let text: string
  try {
    text = readFile(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw new UserError(`${path} can't be read: ${messageOf(error)}`, { cause: error })
    throw new UserError(
      `${folder} holds no ${manifestFile}, which export writes last: it is no export, or one that did not finish. Export again`,
    )
  }
  let value: unknown = null
  try {
    value = JSON.parse(text)
  } catch {
    // Said below, as for any other text.
  }
  const { kind, version } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  if (kind === 'listing-sync export' && typeof version === 'number' && version > 1)
    throw new UserError(`${path} is of a newer listing-sync (version ${version} of the form; this one reads 1)`)
  const parsed = manifestSchema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new UserError(`${path} is not as export writes it; take the folder as it was exported, or export again`)
}

async function checkFile(
  folder: string,
  name: SavedFile,
  { bytes, sha256 }: z.output<typeof fileSchema>,
  signal: AbortSignal,
): Promise<void> {
  const path = join(folder, name)
  const remedy = 'nothing of the export is used; take the folder as it was exported, or export again'
  const hash = createHash('sha256')
  try {
    const found = await stat(path)
    if (!found.isFile()) throw new UserError(`${path} is no file; ${remedy}`)
    if (found.size !== bytes)
      throw new UserError(`${path} has ${found.size} bytes, and had ${bytes} when it was exported; ${remedy}`)
    await pipeline(createReadStream(path), hash, { signal })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof UserError) throw error
    throw new UserError(`${path} can't be read: ${messageOf(error)}; ${remedy}`, { cause: error })
  }
  if (hash.digest('hex') !== sha256) throw new UserError(`${path} was changed since it was exported; ${remedy}`)
}
