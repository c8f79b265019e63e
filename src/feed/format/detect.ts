/**
 * What a document of which nothing is known is: the format that reads it, or in one sentence why it is no feed.
 */
import { FeedError } from '../../core/errors.ts'
import type { FormatName } from './format.ts'
import { dialectOf } from './csv-dialect.ts'
import type { Dialect } from './csv-dialect.ts'
import { saidEncoding } from './encoding.ts'
import { foreignKind, looksLikeHtml } from './foreign.ts'
import type { FormatOptions } from './format.ts'
import { xmlShape } from './xml-shape.ts'

const expected = 'a feed of listings is XML, a delimited text (CSV), RETS COMPACT or BLM'

export interface Kind {
  format: FormatName
  /** XML: the root element and the path of what are most likely the records. */
  root: string | null
  record: string | null
  /** CSV only. */
  dialect: Dialect | null
}

/**
 * Tells the format by a document's first bytes, decompressed. Throws `FeedError` for what is no feed. Whether a table or an
 * XML document is about listings at all only its fields can tell. `delimiters`: what else than a comma and the like may part
 * the cells of a row.
 */
export function kindOf(
  head: Buffer,
  options: Pick<FormatOptions, 'encoding' | 'charset'>,
  delimiters: readonly string[] = [],
): Kind {
  if (head.length === 0) throw new FeedError(`the document is empty (0 bytes); ${expected}`)
  const foreign = foreignKind(head)
  if (foreign !== null) throw new FeedError(`the document is ${foreign}, not a feed; ${expected}`)
  const bytes = asUtf8(head, options)
  if (bytes.subarray(0, 64 * 1024).includes(0))
    throw new FeedError(`the document is binary data of a kind that is not known here; ${expected}`)
  const start = bytes.toString('latin1', 0, 4096).trimStart()
  const none = { root: null, record: null, dialect: null }
  if (start === '') throw new FeedError(`the document holds nothing but blanks; ${expected}`)
  if (looksLikeHtml(start))
    throw new FeedError(
      `the document is an HTML page, such as a log-in or an error page in the feed's place; ${expected}`,
    )
  if (/^#HEADER#/i.test(start)) return { ...none, format: 'blm' }
  if (start.startsWith('<')) return xmlKind(bytes)
  if (/^(?:\{|\[\s*[{["\d\]])/.test(start)) throw new FeedError(`the document is JSON; ${expected}`)
  const [firstLine] = start.split(/[\r\n]/)
  const rare = delimiters.find((delimiter) => firstLine.split(delimiter).length > 5)
  const dialect = dialectOf(bytes.subarray(0, 128 * 1024), rare ?? null, '"')
  if (!firstLine.includes(dialect.delimiter)) {
    throw new FeedError(
      'the document is a plain text: its first line is one cell, without comma, semicolon, tab or bar; ' + expected,
    )
  }
  return { ...none, format: 'csv', dialect }
}

function xmlKind(bytes: Buffer): Kind {
  const { root, record } = xmlShape(bytes)
  const isRets = root?.toUpperCase() === 'RETS' && !/<REData\b/i.test(bytes.toString('latin1', 0, 64 * 1024))
  return { format: isRets ? 'rets-compact' : 'xml', root, record, dialect: null }
}

/** The first bytes in UTF-8 (or, where nothing is said, as they are), without a byte order mark. */
function asUtf8(head: Buffer, options: Pick<FormatOptions, 'encoding' | 'charset'>): Buffer {
  const said = saidEncoding(head, options)?.name ?? 'utf-8'
  if (said !== 'utf-8') return Buffer.from(new TextDecoder(said).decode(head))
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? head.subarray(3) : head
}

const imageName = /\.(?:jpe?g|png|gif|webp|tiff?|bmp|heic)$/i
const bookName = /^(?:\[Content_Types\]\.xml|_rels\/|xl\/|word\/|docProps\/|ppt\/)/

/**
 * Why a ZIP is no feed, by the names of its first members; null: it may hold one, or this is no ZIP at all. `head` are the
 * bytes as sent.
 */
export function archiveProblem(head: Buffer): string | null {
  if (head.readUInt32BE(0) !== 0x504b0304) return null
  const names = memberNames(head)
  if (names.some((name) => bookName.test(name))) {
    const kind = names.some((name) => name.startsWith('word/')) ? 'a Word document' : 'an Excel workbook'
    return `the file is ${kind}, not a feed; save its table as CSV (UTF-8) and name that file`
  }
  const pictures = names.filter((name) => imageName.test(name)).length
  if (pictures === 0 || pictures < names.length) return null
  return `the file is a ZIP of pictures (${names[0]} …), not a feed; ${expected}`
}

/** Names in the local headers that lie within the first bytes. */
function memberNames(head: Buffer): string[] {
  const mark = Buffer.from('504b0304', 'hex')
  const names: string[] = []
  for (let at = head.indexOf(mark); at >= 0 && at + 30 <= head.length; at = head.indexOf(mark, at + 4)) {
    const length = head.readUInt16LE(at + 26)
    const name = head.toString('utf8', at + 30, at + 30 + length)
    // oxlint-disable-next-line no-control-regex
    if (length > 0 && length < 500 && !/[\u0000-\u001f\ufffd]/.test(name) && !name.endsWith('/')) names.push(name)
  }
  return names
}
