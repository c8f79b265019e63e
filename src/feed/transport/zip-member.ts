/** Which member of a ZIP archive is the feed, by the members' names alone. They are only names: no file is ever called so. */
import { posix } from 'node:path'
import { FeedError } from '../../core/errors.ts'
import { printable, shorten } from '../../core/text.ts'

export interface Member {
  /** Its whole path, as the archive says it. */
  name: string
  /** Whether it can hold a document at all: no folder, no symbolic link. */
  isFile: boolean
}

/** What lies beside a feed in an archive, by the ending of its name. */
const kinds: readonly { one: string; many: string; endings: RegExp }[] = [
  { one: 'picture', many: 'pictures', endings: /\.(jpe?g|jpe|png|gif|webp|tiff?|bmp|hei[cf]|avif|svg|ico)$/ },
  { one: 'film', many: 'films', endings: /\.(mp4|m4v|mov|avi|mpe?g|wmv|webm|mkv)$/ },
  { one: 'office document', many: 'office documents', endings: /\.(pdf|docx?|xls[xmb]?|pptx?|rtf|od[ts])$/ },
  { one: 'archive', many: 'archives', endings: /\.(zip|rar|7z|tar|tgz)$/ },
  { one: 'web page', many: 'web pages', endings: /\.(html?|css|js)$/ },
]

/** Schemas, check sums, notes for people, and what Poliris puts beside its Annonces.csv. */
const others =
  /\.(xsd|dtd|xslt?|md5|sha\d*|sfv|sig|asc|md|ini|log|done|ok)$|^(read[ _-]?me|liesmich|lisezmoi|l[eé]eme|licen[cs]e|notice|changelog)\b|^(config\.txt|photos\.cfg|thumbs\.db|desktop\.ini)$/

/** Most names in one message. */
const mostNamed = 10

/**
 * The place in `members` of the one that is the feed: the only one that matches `pattern`, a glob over the whole path or
 * the name alone; without a pattern the only one that is not by its name something else. Throws `FeedError` where there
 * is none, or more than one.
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

function matches(name: string, pattern: string): boolean {
  return posix.matchesGlob(name, pattern) || posix.matchesGlob(posix.basename(name), pattern)
}

/** What a member is that is no feed, in words for one and for many; null: it may be one. */
function otherKind(name: string): Pick<(typeof kinds)[number], 'one' | 'many'> | null {
  const steps = name.toLowerCase().split('/')
  const base = steps.at(-1) ?? ''
  const isHidden = steps.some((step) => step === '__macosx' || /^\.[^.]/.test(step))
  if (isHidden || others.test(base)) return { one: 'other file', many: 'other files' }
  return kinds.find(({ endings }) => endings.test(base)) ?? null
}

/** An office program's document is an archive of XML files, none of which is a feed. */
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
      ? 'members that may be the feed; say with the setting "member" which of them is'
      : `members that match ${JSON.stringify(pattern)}; the setting "member" must fit only one of them`
  return `${archive} holds ${fitting.length} ${which}: ${listed(fitting)}`
}

function listed(files: readonly { name: string }[]): string {
  const named = files.slice(0, mostNamed).map(({ name }) => shortName(name))
  const rest = files.length - named.length
  return named.join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

function tallied(files: readonly { name: string }[]): string {
  const counts = new Map<string, { one: string; many: string; count: number }>()
  for (const { name } of files) {
    const kind = otherKind(name)
    if (kind === null) continue
    const known = counts.get(kind.many)
    counts.set(kind.many, { ...kind, count: (known?.count ?? 0) + 1 })
  }
  const tally = [...counts.values()].map(({ one, many, count }) => `${count} ${count === 1 ? one : many}`)
  return tally.length > 1 ? `${tally.slice(0, -1).join(', ')} and ${tally.at(-1)}` : tally.join('')
}

/** A member's name as a message shows it. */
export function shortName(name: string): string {
  return shorten(printable(name), 80)
}
