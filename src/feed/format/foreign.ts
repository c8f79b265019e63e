/** Files and pages found in place of a feed. */
import { FeedError } from '../../core/errors.ts'
import { printable, shorten } from '../../core/text.ts'

const magics: [string, string][] = [
  ['504b0304', 'a ZIP archive or Excel workbook'],
  ['504b0506', 'an empty ZIP archive'],
  ['504b0708', 'one part of a ZIP archive'],
  ['526172211a07', 'a RAR archive'],
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

/** What a binary file is by its first bytes; null: unknown. */
export function foreignKind(head: Buffer): string | null {
  if (head.toString('latin1', 257, 262) === 'ustar') return 'a tar archive'
  const start = head.toString('hex', 0, 16)
  return magics.find(([magic]) => start.startsWith(magic))?.[1] ?? null
}

/** Whether a text begins as an HTML page does: an error or login page in place of the feed. */
export function looksLikeHtml(text: string): boolean {
  return /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i.test(text)
}

/** What is said of a page in a feed's place, with the page's title if its beginning is known. */
export function htmlPage(beginning?: Buffer): string {
  const title =
    /<title\b[^>]{0,200}>([^<]{0,300})/i.exec(beginning?.toString('utf8', 0, 16_384) ?? '')?.[1].trim() ?? ''
  const named = title === '' ? '' : ` ("${shorten(printable(title), 80)}")`
  return `the document is an HTML page${named}, such as a log-in or an error page in the feed's place; check address, user and password of the source`
}

/** Whether a text begins as JSON does. */
export function looksLikeJson(text: string): boolean {
  return /^(?:\{|\[\s*[{["\d\]])/.test(text)
}

type Other = 'an HTML page' | 'XML' | 'JSON'

/** Throws `FeedError` for a document that begins like one of `others`; `title`: what is expected. */
export function refuseOthers(beginning: Buffer, title: string, others: readonly Other[]): void {
  const start = beginning.toString('latin1', 0, 1024).trimStart()
  const isXml = start.startsWith('<?xml') || /^<[A-Za-z_][^,;|\t\n]*>/.test(start)
  const found = looksLikeHtml(start) ? 'an HTML page' : isXml ? 'XML' : start.startsWith('{') ? 'JSON' : null
  if (found === null || !others.includes(found)) return
  if (found === 'an HTML page') throw new FeedError(htmlPage(beginning))
  throw new FeedError(`the document is ${found}, not ${title}; \`listing-sync check\` names the preset that fits`)
}
