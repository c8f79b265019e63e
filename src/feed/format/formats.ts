/** Every container format, by the name that a preset gives it, and which of them a document is. */
import { FeedError } from '../../core/errors.ts'
import { anyOf } from '../../core/schema-words.ts'
import { blm } from './blm.ts'
import { csv } from './csv.ts'
import { headAsUtf8 } from './encoding.ts'
import type { EncodingHints } from './encoding.ts'
import { foreignKind, looksLikeHtml, looksLikeJson } from './foreign.ts'
import type { Detected, Format, FormatOptions } from './format.ts'
import { retsCompact } from './rets.ts'
import { xml } from './xml.ts'

/**
 * To add a format, write its file and its line here. A document can look like several: an answer of RETS is XML as well, and
 * any text with commas may be a table. Of those that take it the last one is meant, so one stands behind any that is more
 * general.
 */
export const formats: Record<string, Format> = { xml, csv, 'rets-compact': retsCompact, blm }

/** What a document of which nothing else is known is. */
export interface Kind extends Detected {
  /** A key of `formats`. */
  format: string
}

/**
 * Tells the format by a document's first bytes, decompressed. Throws `FeedError` for what is no feed. Whether a table or an
 * XML document is about listings at all only its fields can tell. `presets` are those that there are.
 */
export function kindOf(
  head: Buffer,
  hints: EncodingHints,
  presets: readonly { format: string; formatOptions: FormatOptions }[],
): Kind {
  const refuse = (what: string): never => {
    const titles = Object.values(formats).map(({ title }) => title)
    throw new FeedError(`the document ${what}; a feed of listings is ${anyOf(titles)}`)
  }
  if (head.length === 0) refuse('is empty (0 bytes)')
  const foreign = foreignKind(head)
  if (foreign !== null) refuse(`is ${foreign}, not a feed`)
  const bytes = headAsUtf8(head, hints)
  if (bytes.subarray(0, 64 * 1024).includes(0)) refuse('is binary data of a kind that is not known here')
  const start = bytes.toString('latin1', 0, 4096).trimStart()
  if (start === '') refuse('holds nothing but blanks')
  if (looksLikeHtml(start)) refuse("is an HTML page, such as a log-in or an error page in the feed's place")
  for (const [name, format] of Object.entries(formats).toReversed()) {
    const own = presets.flatMap((preset) => (preset.format === name ? [preset.formatOptions] : []))
    const detected = format.detect(bytes, own)
    if (detected !== null) return { ...detected, format: name }
  }
  if (looksLikeJson(start)) refuse('is JSON')
  return refuse('is a plain text: its first line is one cell, without comma, semicolon, tab or bar')
}
