import { isUtf8 } from 'node:buffer'
import { FeedError } from '../../core/errors.ts'
import { foreignKind } from './foreign.ts'
import { RecordError } from './format.ts'
import type { ReadOptions } from './format.ts'

/** Bytes looked at before deciding: a byte order mark and an XML declaration lie well within. */
const headBytes = 1024

/** What is said of a document's encoding outside it. */
export type EncodingHints = Pick<ReadOptions, 'encoding' | 'charset'>

/** A document as UTF-8, as far as it says what it is in. */
interface Decoded {
  /**
   * Its bytes in blocks that are worth scanning, of at least so many bytes but for the last: a network gives a few kilobytes
   * at a time, and a long record that is scanned anew for each of them would cost its length squared.
   * Transcoded to UTF-8 where another encoding is said; otherwise the very bytes that came, without their BOM.
   * Throws `FeedError` for a binary file or an unknown encoding.
   */
  blocks(atLeast?: number): AsyncGenerator<Buffer>
  /** The text of one record; throws `RecordError` where it is said to be UTF-8 and is not. */
  text(raw: Buffer): string
}

/**
 * Decodes by BOM, then HTTP charset, then XML declaration, then configuration (docs/faults.md, F39). Where none of them
 * says, each record is UTF-8 if it can be, and windows-1252 otherwise: exports of spreadsheets say nothing and mix both.
 */
export function decoded(source: AsyncIterable<Buffer>, options: EncodingHints): Decoded {
  let declared: string | null = null
  async function* bytes(): AsyncGenerator<Buffer> {
    const iterator = source[Symbol.asyncIterator]()
    try {
      const blocks: Buffer[] = []
      let size = 0
      let next = await iterator.next()
      while (!next.done) {
        blocks.push(next.value)
        size += next.value.length
        if (size >= headBytes) break
        next = await iterator.next()
      }
      const head = blocks.length === 1 ? blocks[0] : Buffer.concat(blocks)
      const foreign = foreignKind(head)
      if (foreign) throw new FeedError(`the document is ${foreign}, not a feed`)
      declared = declaredEncoding(head, options)?.name ?? null
      const decoder = declared && declared !== 'utf-8' ? new TextDecoder(declared) : null
      const first = !decoder && hasUtf8Mark(head) ? head.subarray(3) : head
      if (decoder) yield Buffer.from(decoder.decode(first, { stream: true }))
      else if (first.length > 0) yield first
      while (!next.done) {
        next = await iterator.next()
        if (!next.done) yield decoder ? Buffer.from(decoder.decode(next.value, { stream: true })) : next.value
      }
      if (decoder) yield Buffer.from(decoder.decode())
    } finally {
      await iterator.return?.()
    }
  }
  return {
    blocks: (atLeast = 256 * 1024) => joined(bytes(), atLeast),
    text: (raw) => recordText(raw, declared, options.encoding),
  }
}

async function* joined(bytes: AsyncIterable<Buffer>, atLeast: number): AsyncGenerator<Buffer> {
  let blocks: Buffer[] = []
  let size = 0
  for await (const block of bytes) {
    blocks.push(block)
    size += block.length
    if (size < atLeast) continue
    yield blocks.length === 1 ? block : Buffer.concat(blocks)
    blocks = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(blocks)
}

/**
 * What a document's first bytes and what came with them say of its encoding, and which of them says it; null: nothing does.
 * Throws `FeedError` for an unknown encoding.
 */
export function declaredEncoding(head: Buffer, options: EncodingHints): { name: string; by: string } | null {
  const mark = byteOrderMark(head)
  if (mark) return { name: mark, by: 'the byte order mark' }
  if (options.charset) return known(options.charset, 'the Content-Type header')
  const wide = wideWithoutMark(head)
  if (wide) return { name: wide, by: 'its zero bytes' }
  const declaration = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']/.exec(head.toString('latin1'))
  if (declaration) {
    const found = known(declaration[1], 'the XML declaration')
    // A declaration that could be read byte by byte can't be in UTF-16, whatever it says.
    if (!found.name.startsWith('utf-16')) return found
  }
  return options.encoding ? known(options.encoding, 'the configuration') : null
}

function known(label: string, by: string): { name: string; by: string } {
  return { name: encodingName(label, by), by }
}

function encodingName(label: string, where: string): string {
  try {
    return new TextDecoder(label).encoding
  } catch {
    throw new FeedError(`${where} names the encoding ${JSON.stringify(label.slice(0, 40))}, which is not known here`)
  }
}

function hasUtf8Mark(head: Buffer): boolean {
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf
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
  // A transcoded document is UTF-8 by now, so what is not was declared UTF-8, or declared nothing.
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

/** Offset of the first byte that is no UTF-8. */
function firstInvalid(raw: Buffer): number {
  let offset = 0
  for (const part of raw.toString('utf8').split('\ufffd')) {
    offset += Buffer.byteLength(part)
    if (raw[offset] !== 0xef || raw[offset + 1] !== 0xbf || raw[offset + 2] !== 0xbd) return offset
    offset += 3
  }
  return offset
}

/** Control characters mean nothing in a listing, are no XML, and break SQLite's length(). Tabs and line breaks stay. */
export function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '')
}

/** A document's first bytes in UTF-8 (or, where nothing is said, as they are), without a byte order mark. */
export function headAsUtf8(head: Buffer, options: EncodingHints): Buffer {
  const encoding = declaredEncoding(head, options)?.name ?? 'utf-8'
  if (encoding !== 'utf-8') return Buffer.from(new TextDecoder(encoding).decode(head))
  return hasUtf8Mark(head) ? head.subarray(3) : head
}
