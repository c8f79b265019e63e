import { RecordError } from '../feed.ts'
import { parseXmlRecord } from './xml-record.ts'

/**
 * Attributes that a document has before its records and that decide what these mean (`FormatOptions.header`), such as
 * OpenImmo's `umfang`. The first one found counts; values are cut at 200 characters.
 */
export class XmlHeader {
  /** Name → value as found; a name that the document does not have is not here. */
  readonly found: Record<string, string> = Object.create(null)
  private readonly wanted: { name: string; path: string; attribute: string }[]
  private readonly text: (raw: Buffer) => string

  /** `paths`: name → path of the attribute from the root, `openimmo/uebertragung/@umfang`. */
  constructor(paths: Readonly<Record<string, string>>, text: (raw: Buffer) => string) {
    this.text = text
    this.wanted = Object.entries(paths).map(([name, path]) => {
      const at = path.lastIndexOf('/')
      return { name, path: path.slice(0, at), attribute: path.slice(at + 1) }
    })
  }

  get isEmpty(): boolean {
    for (const _ in this.found) return false
    return true
  }

  /** Takes a start tag before the first record; `path` is the element's, from the root and without prefixes. */
  readonly read = (path: string, tag: Buffer): void => {
    const wanted = this.wanted.filter((one) => one.path === path && this.found[one.name] === undefined)
    if (wanted.length === 0) return
    const attributes = this.attributesOf(tag)
    for (const { name, attribute } of wanted) {
      const value = attributes[attribute]
      if (typeof value === 'string') this.found[name] = value.trim().slice(0, 200)
    }
  }

  private attributesOf(tag: Buffer) {
    try {
      return parseXmlRecord(this.text(tag).replace(/\/?>$/, '/>'))
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      // What the header can't say, as when its encoding is another than declared, the preset's own word decides.
      return {}
    }
  }
}
