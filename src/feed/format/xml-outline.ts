import { FeedError } from '../../core/errors.ts'
import { htmlPage } from './foreign.ts'

/** Deepest nesting outside records; a feed has a handful (docs/faults.md, F35). */
const deepest = 100
/** Longest internal DOCTYPE subset accepted. */
const longestDoctype = 64 * 1024

/**
 * The elements that a document has open outside its records, and what is wrong with their order.
 * Names are handed in as the Latin-1 reading of their bytes, so that no encoding can make two of one.
 * Messages never quote attributes: in some formats the root element has passwords.
 */
export class XmlOutline {
  readonly reasons: string[] = []
  private readonly paths: string[][][]
  private readonly open: string[] = []
  /** Their names without prefixes. */
  private readonly locals: string[] = []
  /** For each path: how many of the open elements, from the root, are on it. */
  private readonly matched: number[]
  private root: string | null = null
  /** Whether a DOCTYPE with declarations has ended. */
  private hasDoctype = false

  /** `records`: names from the root, joined by `/`; a segment may have alternatives, joined by `|` (REAXML's kinds). */
  constructor(records: readonly string[]) {
    this.paths = records.map((record) => {
      const path = record.split('/').map((segment) => segment.split('|').map((name) => bytesOf(name.trim())))
      if (!path.some((names) => names.includes(''))) return path
      throw new FeedError(`the record path ${JSON.stringify(record)} has an empty name; write it like Listings/Listing`)
    })
    this.matched = records.map(() => 0)
  }

  get depth(): number {
    return this.open.length
  }

  /** Whether an element that would open here is at this path from the root, without prefixes. */
  isAt(path: readonly string[], name: string): boolean {
    // Compared name by name, without building the path: open names may be long, and have many elements below them.
    const above = path.length - 1
    return (
      above === this.open.length &&
      path[above] === localName(name) &&
      this.locals.every((local, at) => local === path[at])
    )
  }

  isRecord(name: string): boolean {
    if (this.open.length === 0) this.enterRoot(name)
    const { length } = this.open
    return this.paths.some((path, index) => {
      return length === path.length - 1 && this.matched[index] === length && this.fits(path, name)
    })
  }

  /** A start tag other than a record's. Throws `FeedError` for a root that does not match the path. */
  startTag(name: string, selfClosing: boolean): void {
    if (selfClosing) return
    if (this.open.length >= deepest) throw new FeedError(`the document nests elements deeper than ${deepest}`)
    for (const [index, path] of this.paths.entries())
      if (this.matched[index] === this.open.length && this.fits(path, name)) this.matched[index]++
    this.open.push(name)
    this.locals.push(localName(name))
  }

  endTag(name: string): void {
    const index = this.open.lastIndexOf(name)
    if (index < 0) return this.doubt(`the end tag </${shown(name)}> closes nothing that is open`)
    if (index < this.open.length - 1) {
      this.doubt(`<${shown(this.open.at(-1) ?? '')}> is not closed before </${shown(name)}>`)
    }
    this.open.length = index
    this.locals.length = index
    for (const [path, matched] of this.matched.entries()) this.matched[path] = Math.min(matched, index)
  }

  /** Bytes outside the root that are neither a comment nor an instruction. Throws `FeedError` before the root. */
  outside(bytes: Buffer): void {
    const start = /\S/.exec(bytes.toString('latin1'))?.[0]
    if (start === undefined) return
    if (this.root !== null) return this.doubt('there is text after the root element')
    if (start === '{' || start === '[') throw new FeedError('the document is JSON, not XML')
    throw new FeedError(
      'the document is not XML: it does not begin with an element; `listing-sync check` names the preset that fits',
    )
  }

  /** Index of the `>` that ends a DOCTYPE; -1: not in this buffer. External subsets are never fetched. */
  doctypeEnd(buffer: Buffer, from: number): number {
    const close = buffer.indexOf('>', from)
    if (/^<!doctype\s+html/i.test(buffer.toString('latin1', from, from + 100)))
      throw new FeedError(htmlPage(buffer.subarray(from)))
    if (!buffer.subarray(from, close < 0 ? undefined : close).includes('[')) return close
    // Only the first DOCTYPE means anything, and each may be long.
    if (this.root !== null || this.hasDoctype) {
      this.doubt('there is a DOCTYPE where none may be')
      return close
    }
    const text = buffer.toString('latin1', from, from + longestDoctype)
    const whole = /^[^\]]*(?:\](?!\s*>)[^\]]*)*\]\s*>/.exec(text)?.[0]
    if (/<!ENTITY/i.test(whole ?? text)) {
      throw new FeedError('the document declares entities of its own in its DOCTYPE, which is not accepted')
    }
    this.hasDoctype = whole !== undefined
    if (whole !== undefined) return from + whole.length - 1
    if (text.length >= longestDoctype) throw new FeedError('the document has an endless DOCTYPE')
    return -1
  }

  /** Ends the document. `size` is its length; `record` the place of a record left open. */
  end(size: number, record: string | null): void {
    if (size === 0) this.doubt('the document is empty')
    else if (this.root === null) this.doubt('the document ends before its root element')
    else if (record !== null) this.doubt(`the document ends in the middle of ${record}`)
    else if (this.open.length > 0) this.doubt(`the document ends before <${shown(this.open[0])}> is closed`)
  }

  doubt(reason: string): void {
    // One broken tag causes many more; the first few show where it began.
    if (this.reasons.length < 10 && !this.reasons.includes(reason)) this.reasons.push(reason)
  }

  private enterRoot(name: string): void {
    if (this.root !== null) return this.doubt('there is a second root element')
    this.root = name
    const local = localName(name)
    if (this.paths.some((path) => this.fits(path, name))) return
    if (/^(?:html|head|body)$/i.test(local)) throw new FeedError(htmlPage())
    const roots = new Set(this.paths.flatMap(([names]) => names))
    const wanted = [...roots].map((each) => `<${shown(each)}>`).join(' or ')
    throw new FeedError(`the document's root element is <${shown(name)}>, expected ${wanted}`)
  }

  private fits(path: readonly string[][], name: string): boolean {
    return path.at(this.open.length)?.some((wanted) => wanted === name || wanted === localName(name)) ?? false
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function bytesOf(name: string): string {
  return Buffer.from(name).toString('latin1')
}

/** A name from the document for messages: cut, and without control characters. */
function shown(name: string): string {
  const text = Buffer.from(name.slice(0, 60), 'latin1').toString('utf8')
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?')
}
