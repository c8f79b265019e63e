/** Which member of a ZIP archive is the feed, by the members' names alone; no file is ever created under them. */
import { posix } from 'node:path'
import { FeedError } from '../../core/errors.ts'
import { andMore, printable, shorten } from '../../core/text.ts'

export interface Member {
  /** Full path within the archive. */
  name: string
  /** Not a folder or symbolic link. */
  isFile: boolean
}

/** What else an archive contains, by extension. */
const kinds: readonly { single: string; many: string; endings: RegExp }[] = [
  { single: 'picture', many: 'pictures', endings: /\.(jpe?g|jpe|png|gif|webp|tiff?|bmp|hei[cf]|avif|svg|ico)$/ },
  { single: 'film', many: 'films', endings: /\.(mp4|m4v|mov|avi|mpe?g|wmv|webm|mkv)$/ },
  { single: 'office document', many: 'office documents', endings: /\.(pdf|docx?|xls[xmb]?|pptx?|rtf|od[ts])$/ },
  { single: 'archive', many: 'archives', endings: /\.(zip|rar|7z|tar|tgz)$/ },
  { single: 'web page', many: 'web pages', endings: /\.(html?|css|js)$/ },
]

/** Schemas, checksums, readme files, and what Poliris puts beside its Annonces.csv. */
const others =
  /\.(xsd|dtd|xslt?|md5|sha\d*|sfv|sig|asc|md|ini|log|done|ok)$|^(read[ _-]?me|liesmich|lisezmoi|l[eé]eme|licen[cs]e|notice|changelog)\b|^(config\.txt|photos\.cfg|thumbs\.db|desktop\.ini)$/

/** Most names in one message. */
const mostNamed = 10

/**
 * The index of the feed in `members`: the only one that matches `pattern`, a glob over the path or the name; without a
 * pattern the only one whose name is not that of something else. Throws `FeedError` for none or several.
 */
export function chosenMember(archive: string, members: readonly Member[], pattern: string | null): number {
  const files = members.flatMap(({ name, isFile }, index) => (isFile ? [{ name, index }] : []))
  if (files.length === 0) throw new FeedError(`${archive} is an empty archive`)
  const fitting = files.filter(({ name }) => (pattern === null ? otherKind(name) === null : matches(name, pattern)))
  if (fitting.length > 0 && pattern === null) refuseOffice(archive, files)
  if (fitting.length === 1) return fitting[0].index
  if (fitting.length > 1) throw new FeedError(tooMany(archive, fitting, pattern))
  if (pattern !== null) {
    throw new FeedError(`${archive} has no member that matches ${JSON.stringify(pattern)}; it holds ${listed(files)}`)
  }
  throw new FeedError(`${archive} is an archive without a feed: it holds ${tallied(files)}`)
}

/** Longer names are of no file that a program wrote, and a pattern with several stars would take forever with them. */
const longestName = 255

function matches(name: string, pattern: string): boolean {
  if (name.length > longestName) return false
  return posix.matchesGlob(name, pattern) || posix.matchesGlob(posix.basename(name), pattern)
}

/** What a member is, singular and plural; null: it may be a feed. */
function otherKind(name: string): Pick<(typeof kinds)[number], 'single' | 'many'> | null {
  const steps = name.toLowerCase().split('/')
  const base = steps.at(-1) ?? ''
  const isHidden = steps.some((step) => step === '__macosx' || /^\.[^.]/.test(step))
  if (isHidden || others.test(base)) return { single: 'other file', many: 'other files' }
  return kinds.find(({ endings }) => endings.test(base)) ?? null
}

/** Office documents are archives of XML files, none of which is a feed. */
function refuseOffice(archive: string, files: readonly { name: string }[]): void {
  const has = (beginning: string): boolean => files.some(({ name }) => name.startsWith(beginning))
  const isOpenDocument = has('mimetype') && has('content.xml')
  if (has('[Content_Types].xml') && has('xl/')) {
    throw new FeedError(`${archive} is a workbook (.xlsx): save the sheet with the listings as CSV, and name that file`)
  }
  if (has('[Content_Types].xml') || isOpenDocument) {
    const kind = isOpenDocument ? 'an OpenDocument file, such as .ods' : 'an office document, such as .docx'
    throw new FeedError(`${archive} is ${kind}: save the table with the listings as CSV, and name that file`)
  }
}

function tooMany(archive: string, fitting: readonly { name: string }[], pattern: string | null): string {
  const which =
    pattern === null
      ? 'members that could be the feed; choose one with the setting "member"'
      : `members that match ${JSON.stringify(pattern)}; the setting "member" must match only one`
  return `${archive} holds ${fitting.length} ${which}: ${listed(fitting)}`
}

function listed(files: readonly { name: string }[]): string {
  const named = files.slice(0, mostNamed).map(({ name }) => shortName(name))
  return andMore(named, files.length)
}

function tallied(files: readonly { name: string }[]): string {
  const kindsHeld = files.flatMap(({ name }) => otherKind(name) ?? [])
  const alike = [...Map.groupBy(kindsHeld, ({ many }) => many).values()]
  const tally = alike.map((held) => `${held.length} ${held.length === 1 ? held[0].single : held[0].many}`)
  return tally.length > 1 ? `${tally.slice(0, -1).join(', ')} and ${tally.at(-1)}` : tally.join('')
}

/** A member's name for messages. */
export function shortName(name: string): string {
  return shorten(printable(name), 80)
}
