/** Every container format by its name in presets, and which of them a document is. */
import { FeedError } from '../../core/errors.ts'
import { anyOf } from '../../core/schema-words.ts'
import { blm } from './blm.ts'
import { csv } from './csv.ts'
import { headAsUtf8 } from './encoding.ts'
import type { EncodingHints } from './encoding.ts'
import { foreignKind, htmlPage, looksLikeHtml } from './foreign.ts'
import type { Detected, Format, FormatOptions } from './format.ts'
import { json } from './json.ts'
import { ndjson } from './ndjson.ts'
import { retsCompact } from './rets.ts'
import { xml } from './xml.ts'

/**
 * To add a format, write its file and its line here. A document can look like several: a RETS answer is XML as well, and any
 * text with commas may be a table. The last format that recognises it wins, so a special one comes after a general one.
 */
export const formats: Record<string, Format> = { xml, csv, 'rets-compact': retsCompact, blm, json, ndjson }

export interface Kind extends Detected {
  /** A key of `formats`. */
  format: string
}

/**
 * Recognises the format by a document's first bytes, decompressed. Throws `FeedError` for what is no feed. Only the fields
 * of a table or XML document can show whether it is about listings. `presets`: all of them.
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
  if (bytes.subarray(0, 64 * 1024).includes(0)) refuse('is binary data of an unknown kind')
  const start = bytes.toString('latin1', 0, 4096).trimStart()
  if (start === '') refuse('contains only white space')
  if (looksLikeHtml(start)) throw new FeedError(htmlPage(head))
  for (const [name, format] of Object.entries(formats).toReversed()) {
    const own = presets.flatMap((preset) => (preset.format === name ? [preset.formatOptions] : []))
    const detected = format.detect(bytes, own)
    if (detected !== null) return { ...detected, format: name }
  }
  return refuse('is a plain text: its first line is one cell, without comma, semicolon, tab or bar')
}
