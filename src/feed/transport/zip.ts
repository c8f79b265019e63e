/**
 * One member of a ZIP archive as a document (docs/faults.md, F5 to F7). yauzl reads the directory and finds the data; sizes
 * and the check sum are held against the bytes here, as it does not.
 */
import { crc32, createInflateRaw } from 'node:zlib'
import { getFileNameLowLevel, openPromise } from 'yauzl'
import type { Entry, ZipFile } from 'yauzl'
import { FeedError, messageOf } from '../../core/errors.ts'
import { excess, inflated, outputBlock } from './inflate.ts'
import type { DecompressionLimits } from './inflate.ts'
import type { TransportEnd } from './transport.ts'
import { chosenMember, shortName } from './zip-member.ts'

/** More entries than any export with its photos has. */
const maxEntries = 100_000
/** Bytes of all names and remarks: they are held in memory, and each may have 192 kB. */
const maxDirectoryBytes = 32 * 1024 * 1024

const noPassword = 'have the archive made without a password'

const stored = 0
const deflated = 8
const methodNames: Readonly<Record<number, string>> = {
  9: 'Deflate64',
  12: 'bzip2',
  14: 'LZMA',
  93: 'Zstandard',
  95: 'XZ',
  98: 'PPMd',
}

export interface Archive {
  /** The file on this machine. */
  file: string
  /** What people know it by. */
  name: string
  /** Why it may not be all there was, as sentences. */
  reasons: readonly string[]
}

/** Whether these first bytes begin an archive, be it an empty one. */
export function isZip(head: Buffer): boolean {
  return head.length >= 4 && ['504b0304', '504b0506'].includes(head.toString('hex', 0, 4))
}

/**
 * The bytes of the member that `pattern` names, or of the only one that can be a feed. Throws `FeedError` where the
 * archive can't be read, holds no such member or several, or has it encrypted or packed in an unknown way. Data that is
 * broken ends the bytes, with the reason in `end`; a check sum that fits proves the length.
 */
export async function* unzipped(
  archive: Archive,
  pattern: string | null,
  limits: DecompressionLimits,
  end: TransportEnd,
): AsyncGenerator<Buffer> {
  const zip = await openArchive(archive)
  try {
    const { entry, name } = await findMember(zip, archive, pattern)
    refuseUnreadable(entry, `${name} in ${archive.name}`, limits)
    yield* checked(memberBytes(zip, entry, name, limits, end), entry, name, end)
  } finally {
    zip.close()
  }
}

/** Names and sizes are looked at here: yauzl would throw for any member that has `..` in its name, or wrong sizes. */
async function openArchive(archive: Archive): Promise<ZipFile> {
  const options = { lazyEntries: true, autoClose: false, decodeStrings: false, validateEntrySizes: false }
  try {
    return await openPromise(archive.file, options)
  } catch (error) {
    throw unreadable(archive, error)
  }
}

function unreadable(archive: Archive, error: unknown): FeedError {
  if (messageOf(error).includes('encryption')) return new FeedError(`${archive.name} is encrypted: ${noPassword}`)
  const why = [...archive.reasons, messageOf(error)].join('; ')
  return new FeedError(`${archive.name} is a ZIP archive that is cut off or broken: ${why}`)
}

async function findMember(
  zip: ZipFile,
  archive: Archive,
  pattern: string | null,
): Promise<{ entry: Entry; name: string }> {
  if (zip.entryCount > maxEntries) {
    throw new FeedError(`${archive.name} is an archive of ${zip.entryCount} members; at most ${maxEntries} are read`)
  }
  const entries: Entry[] = []
  let size = 0
  try {
    for await (const entry of zip.eachEntry()) {
      entries.push(entry)
      size += entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength
      if (size > maxDirectoryBytes) break
    }
  } catch (error) {
    throw unreadable(archive, error)
  }
  if (size > maxDirectoryBytes) {
    throw new FeedError(`${archive.name} has names of more than ${maxDirectoryBytes} bytes in all, as no export has`)
  }
  const members = entries.map((entry) => ({ name: nameOf(entry), isFile: !isFolder(entry) && !isLink(entry) }))
  const place = chosenMember(archive.name, members, pattern)
  return { entry: entries[place], name: shortName(members[place].name) }
}

function nameOf(entry: Entry): string {
  return getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false)
}

function isFolder(entry: Entry): boolean {
  return nameOf(entry).endsWith('/')
}

/** By the file mode that archives made on Unix carry. */
function isLink(entry: Entry): boolean {
  return ((entry.externalFileAttributes >>> 16) & 0o170000) === 0o120000
}

function refuseUnreadable(entry: Entry, name: string, limits: DecompressionLimits): void {
  if (entry.isEncrypted()) throw new FeedError(`${name} is encrypted: ${noPassword}`)
  const { compressionMethod: method, compressedSize: input, uncompressedSize: output } = entry
  if (method !== stored && method !== deflated) {
    const known = methodNames[method] === undefined ? '' : ` (${methodNames[method]})`
    throw new FeedError(`${name} is packed by method ${method}${known}, which is not read; have it packed by Deflate`)
  }
  const problem = excess({ input, output }, limits)
  if (problem !== null) throw new FeedError(`${name} unpacks to ${output} bytes, more than ${problem}`)
}

async function* memberBytes(
  zip: ZipFile,
  entry: Entry,
  name: string,
  limits: DecompressionLimits,
  end: TransportEnd,
): AsyncGenerator<Buffer> {
  const packed = packedBytes(zip, entry, name, end)
  if (entry.compressionMethod === stored) {
    yield* packed
    return
  }
  const inner: TransportEnd = { proven: false, reasons: [] }
  yield* inflated(packed, createInflateRaw({ chunkSize: outputBlock }), limits, inner)
  if (end.reasons.length === 0) end.reasons.push(...inner.reasons)
}

/** The member's bytes as they stand in the archive. */
async function* packedBytes(zip: ZipFile, entry: Entry, name: string, end: TransportEnd): AsyncGenerator<Buffer> {
  try {
    const stream = await zip.openReadStreamPromise(entry, { decodeFileData: false })
    for await (const part of stream) {
      const block: Buffer = part
      yield block
    }
  } catch (error) {
    end.reasons.push(`${name} in the archive is broken or cut off (${messageOf(error)})`)
  }
}

/** Holds what comes against what the archive's directory says of it. */
async function* checked(
  bytes: AsyncIterable<Buffer>,
  entry: Entry,
  name: string,
  end: TransportEnd,
): AsyncGenerator<Buffer> {
  let size = 0
  let checkSum = 0
  for await (const block of bytes) {
    size += block.length
    checkSum = crc32(block, checkSum)
    yield block
    // Its real length is of no interest any more, and may be without end.
    if (size > entry.uncompressedSize) break
  }
  if (end.reasons.length > 0) return
  if (size !== entry.uncompressedSize) {
    end.reasons.push(
      `${name} in the archive is broken: it should unpack to ${entry.uncompressedSize} bytes and does not`,
    )
  } else if (checkSum !== entry.crc32) {
    end.reasons.push(`${name} in the archive is broken: its check sum is another`)
  } else end.proven = true
}
