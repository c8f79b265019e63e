/**
 * One member of a ZIP archive as a document (docs/faults.md, F5 to F7). yauzl reads the directory and finds the data; sizes
 * and checksum are checked here, as it does not.
 */
import { crc32, createInflateRaw } from 'node:zlib'
import { getFileNameLowLevel, openPromise } from 'yauzl'
import type { Entry, ZipFile } from 'yauzl'
import { FeedError, messageOf } from '../../core/errors.ts'
import { excess, inflated, outputBlock } from './inflate.ts'
import type { DecompressionLimits } from './inflate.ts'
import type { TransportEnd } from './transport.ts'
import { chosenMember, shortName } from './zip-member.ts'

/** Bytes of all names and comments, which are held in memory: each may have 192 kB. */
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
  /** For messages. */
  name: string
  /** Why bytes may be missing, as sentences. */
  reasons: readonly string[]
}

/** Whether these first bytes begin an archive, even an empty one. */
export function isZip(head: Buffer): boolean {
  return head.length >= 4 && ['504b0304', '504b0506'].includes(head.toString('hex', 0, 4))
}

/**
 * The bytes of the member that `limits.member` names, or of the only possible feed. Throws `FeedError` if the archive can't be
 * read, has no or several such members, or the member is encrypted or compressed in an unknown way. Broken data ends the
 * bytes, with the reason in `end`; a matching checksum proves the length.
 */
export async function* unzipped(
  archive: Archive,
  limits: DecompressionLimits & { member: string | null; maxFiles: number },
  end: TransportEnd,
): AsyncGenerator<Buffer> {
  const zip = await openArchive(archive)
  try {
    const member = await findMember(zip, archive, limits)
    refuseUnreadable(member.entry, `${member.name} in ${archive.name}`, limits)
    yield* checked(memberBytes(member, limits, end), member, end)
  } finally {
    zip.close()
  }
}

/** yauzl does not check names and sizes here: it would throw for any member with `..` in its name or a wrong size. */
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
  { member: pattern, maxFiles }: { member: string | null; maxFiles: number },
) {
  if (zip.entryCount > maxFiles) {
    throw new FeedError(`${archive.name} is an archive of ${zip.entryCount} members, more than maxFiles, ${maxFiles}`)
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
    throw new FeedError(`${archive.name} has more than ${maxDirectoryBytes} bytes of member names`)
  }
  const members = entries.map((entry) => {
    const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false)
    return { name, isFile: !name.endsWith('/') && !isLink(entry) }
  })
  const place = chosenMember(archive.name, members, pattern)
  return { zip, entry: entries[place], name: shortName(members[place].name) }
}

type Found = Awaited<ReturnType<typeof findMember>>

/** By the file mode in archives made on Unix. */
function isLink(entry: Entry): boolean {
  return ((entry.externalFileAttributes >>> 16) & 0o170000) === 0o120000
}

function refuseUnreadable(entry: Entry, name: string, limits: DecompressionLimits): void {
  if (entry.isEncrypted()) throw new FeedError(`${name} is encrypted: ${noPassword}`)
  const { compressionMethod: method, compressedSize: input, uncompressedSize: output } = entry
  if (method !== stored && method !== deflated) {
    const known = methodNames[method] === undefined ? '' : ` (${methodNames[method]})`
    throw new FeedError(`${name} is compressed by method ${method}${known}, which is not supported; use Deflate`)
  }
  const problem = excess({ input, output }, limits)
  if (problem !== null) throw new FeedError(`${name} unpacks to ${output} bytes, more than ${problem}`)
}

async function* memberBytes(member: Found, limits: DecompressionLimits, end: TransportEnd): AsyncGenerator<Buffer> {
  const packed = packedBytes(member, end)
  if (member.entry.compressionMethod === stored) {
    yield* packed
    return
  }
  const inner: TransportEnd = { proven: false, reasons: [] }
  yield* inflated(packed, createInflateRaw({ chunkSize: outputBlock }), limits, inner)
  if (end.reasons.length === 0) end.reasons.push(...inner.reasons)
}

/** The member's bytes, still compressed. */
async function* packedBytes({ zip, entry, name }: Found, end: TransportEnd): AsyncGenerator<Buffer> {
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

/** Checks the bytes against the archive's directory. */
async function* checked(bytes: AsyncIterable<Buffer>, { entry, name }: Found, end: TransportEnd) {
  let size = 0
  let checkSum = 0
  for await (const block of bytes) {
    size += block.length
    checkSum = crc32(block, checkSum)
    yield block
    // The real length no longer matters, and may be endless.
    if (size > entry.uncompressedSize) break
  }
  if (end.reasons.length > 0) return
  if (size !== entry.uncompressedSize) {
    end.reasons.push(
      `${name} in the archive is broken: it should unpack to ${entry.uncompressedSize} bytes and does not`,
    )
  } else if (checkSum !== entry.crc32) {
    end.reasons.push(`${name} in the archive is broken: its checksum does not match`)
  } else end.proven = true
}
