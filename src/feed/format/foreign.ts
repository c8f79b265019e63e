/** What people, servers and programs put where a feed should be. */
import { FeedError } from '../../core/errors.ts'

/** First bytes of files that people put where a feed should be. */
const magics: [string, string][] = [
  ['504b0304', 'a ZIP archive or Excel workbook'],
  ['504b0506', 'an empty ZIP archive'],
  ['d0cf11e0a1b11ae1', 'an old Excel or Word file'],
  ['255044462d', 'a PDF'],
  ['1f8b', 'compressed with gzip once more'],
  ['28b52ffd', 'compressed with zstd'],
  ['425a68', 'compressed with bzip2'],
  ['fd377a585a00', 'compressed with xz'],
  ['377abcaf271c', 'a 7-Zip archive'],
  ['89504e470d0a', 'a PNG image'],
  ['ffd8ff', 'a JPEG image'],
  ['53514c69746520666f726d6174203300', 'an SQLite database'],
]

/** What a binary file is by its first bytes, in words; null: nothing known. */
export function foreignKind(head: Buffer): string | null {
  for (const [magic, kind] of magics) {
    if (head.subarray(0, magic.length / 2).toString('hex') === magic) return kind
  }
  return null
}

/** Whether a text begins as an HTML page does: an error or a log-in page in the feed's place. */
export function looksLikeHtml(text: string): boolean {
  return /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i.test(text)
}

/** Whether a text begins as JSON does. */
export function looksLikeJson(text: string): boolean {
  return /^(?:\{|\[\s*[{["\d\]])/.test(text)
}

/** What else a document can begin as; XML only where the format is not written in it. */
type Other = 'an HTML page' | 'XML' | 'JSON'

/** Throws `FeedError` for a document that begins as one of `others`; `title` is what it should be. */
export function refuseOthers(beginning: Buffer, title: string, others: readonly Other[]): void {
  const start = beginning.toString('latin1', 0, 1024).trimStart()
  const isXml = start.startsWith('<?xml') || /^<[A-Za-z_][^,;|\t\n]*>/.test(start)
  const found = looksLikeHtml(start) ? 'an HTML page' : isXml ? 'XML' : start.startsWith('{') ? 'JSON' : null
  if (found !== null && others.includes(found)) throw new FeedError(`the document is ${found}, not ${title}`)
}
