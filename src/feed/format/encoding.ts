import { isUtf8 } from 'node:buffer'
import { FeedError } from '../../core/errors.ts'
import { foreignKind } from './foreign.ts'
import { RecordError } from './format.ts'
import type { ReadOptions } from './format.ts'

/** Enough for a byte order mark and an XML declaration. */
const headBytes = 1024

/** Said by servers that do not know it. Text that is US-ASCII, as HTTP once took all of it, is the same in any encoding. */
const tellsNothing = /^(?:binary|(?:us-)?ascii)$/i

/** What the transport and the configuration say about the encoding. */
export type EncodingHints = Pick<ReadOptions, 'encoding' | 'charset'>

/**
 * Decodes by BOM, then HTTP charset, then XML declaration, then configuration (docs/faults.md, F39). Without any,
 * each record is UTF-8 if valid and windows-1252 otherwise: spreadsheet exports declare nothing and mix both.
 */
export function decoded(source: AsyncIterable<Buffer>, options: EncodingHints) {
  let declared: string | null = null
  async function* bytes(): AsyncGenerator<Buffer> {
    let decode: ((block?: Buffer) => Buffer) | null = null
    let begun = false
    for await (const block of joined(source, () => headBytes)) {
      const isFirst = !begun
      begun = true
      if (isFirst) {
        const foreign = foreignKind(block)
        if (foreign) throw new FeedError(`the document is ${foreign}, not a feed`)
        declared = declaredEncoding(block, options)?.name ?? null
        const decoder = declared && declared !== 'utf-8' ? new TextDecoder(declared) : null
        decode = decoder && ((block) => Buffer.from(decoder.decode(block, { stream: block !== undefined })))
      }
      yield decode ? decode(block) : isFirst ? withoutMark(block) : block
    }
    if (decode) yield decode()
  }
  return {
    /**
     * The document in blocks of at least `atLeast` bytes except the last, and as many as wait for more: a network delivers a
     * few kilobytes at a time, and copying and rescanning a long record for each of them would take quadratic time. With
     * blocks that double, each byte is looked at a few times only, however long a record may be.
     * Transcoded to UTF-8 if another encoding is declared; otherwise the original bytes, without their BOM.
     * Throws `FeedError` for a binary file or an unknown encoding.
     */
    blocks: (atLeast = 256 * 1024, waiting = () => 0) => joined(bytes(), () => Math.max(atLeast, waiting())),
    /** The text of one record; throws `RecordError` if it is declared as UTF-8 and is not. */
    text: (raw: Buffer): string => recordText(raw, declared, options.encoding),
  }
}

async function* joined(bytes: AsyncIterable<Buffer>, atLeast: () => number): AsyncGenerator<Buffer> {
  let blocks: Buffer[] = []
  let size = 0
  for await (const block of bytes) {
    size += block.length
    const isEnough = size >= atLeast()
    // What waits is copied: the source may read what comes next into the same block (`Opened.bytes`).
    blocks.push(isEnough ? block : Buffer.from(block))
    if (!isEnough) continue
    yield blocks.length === 1 ? block : Buffer.concat(blocks)
    blocks = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(blocks)
}

/** The declared encoding of a document and where it is declared; null: nowhere. Throws `FeedError` if it is unknown. */
export function declaredEncoding(head: Buffer, options: EncodingHints): { name: string; by: string } | null {
  const known = (label: string, by: string) => ({ name: encodingName(label, by), by })
  const mark = byteOrderMark(head)
  if (mark) return { name: mark, by: 'the byte order mark' }
  if (options.charset && !tellsNothing.test(options.charset)) return known(options.charset, 'the Content-Type header')
  const wide = wideWithoutMark(head)
  if (wide) return { name: wide, by: 'its zero bytes' }
  const declaration = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']/.exec(head.toString('latin1'))
  if (declaration) {
    const found = known(declaration[1], 'the XML declaration')
    // A declaration readable byte by byte can't be in UTF-16, whatever it says.
    if (!found.name.startsWith('utf-16')) return found
  }
  return options.encoding ? known(options.encoding, 'the configuration') : null
}

function encodingName(label: string, where: string): string {
  try {
    return new TextDecoder(label).encoding
  } catch {
    throw new FeedError(`${where} names the encoding ${JSON.stringify(label.slice(0, 40))}, which is unknown`)
  }
}

function hasUtf8Mark(head: Buffer): boolean {
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf
}

function withoutMark(head: Buffer): Buffer {
  return hasUtf8Mark(head) ? head.subarray(3) : head
}

function byteOrderMark(head: Buffer): string | null {
  if (hasUtf8Mark(head)) return 'utf-8'
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  return null
}

/** UTF-16 without a mark: two ASCII characters at the start show where the zero bytes are. */
function wideWithoutMark(head: Buffer): string | null {
  if (head.length < 4) return null
  if (head[0] !== 0 && head[1] === 0 && head[2] !== 0 && head[3] === 0) return 'utf-16le'
  if (head[0] === 0 && head[1] !== 0 && head[2] === 0 && head[3] !== 0) return 'utf-16be'
  return null
}

function recordText(raw: Buffer, declared: string | null, configured: string | null): string {
  if (isUtf8(raw)) return raw.toString('utf8')
  // A transcoded document is UTF-8 by now: an invalid one was declared as UTF-8, or not at all.
  const fallback = configured ? encodingName(configured, 'the configuration') : 'utf-8'
  if (declared && fallback === 'utf-8') {
    throw new RecordError(
      `byte ${firstInvalid(raw)} of the record is not the UTF-8 that the document says it is in; ` +
        `set "encoding: windows-1252" for the feed if that is what it really is`,
    )
  }
  // Stream mode: decoding in one go gives C1 controls for 0x80-0x9F on some Node releases.
  return new TextDecoder(fallback === 'utf-8' ? 'windows-1252' : fallback).decode(raw, { stream: true })
}

/** Offset of the first byte that is not UTF-8. */
function firstInvalid(raw: Buffer): number {
  let offset = 0
  for (const part of raw.toString('utf8').split('\ufffd')) {
    offset += Buffer.byteLength(part)
    if (raw[offset] !== 0xef || raw[offset + 1] !== 0xbf || raw[offset + 2] !== 0xbd) return offset
    offset += 3
  }
  return offset
}

/** Control characters mean nothing in a listing, are invalid in XML, and break SQLite's length(). Tabs and line breaks stay. */
export function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '')
}

/** A document's first bytes in UTF-8 (or unchanged, if no encoding is declared), without a byte order mark. */
export function headAsUtf8(head: Buffer, options: EncodingHints): Buffer {
  const encoding = declaredEncoding(head, options)?.name ?? 'utf-8'
  if (encoding !== 'utf-8') return Buffer.from(new TextDecoder(encoding).decode(head))
  return withoutMark(head)
}
