import { shortHash } from '../core/hash.ts'
import { printable, shorten } from '../core/text.ts'
import type { RecordFields, RecordNode } from '../feed/format/format.ts'
import { isOfMedia, isOfOthers } from './names.ts'

const mostFields = 2000
const mostExamples = 3
const longestExample = 80
const longestName = 120

/** `filled`: the number of records with a value in the field. */
export interface FieldProfile {
  path: string
  filled: number
  examples: string[]
  /** Whether every value so far is another one of more than two characters, once in its record: it may be a key. */
  isKey: boolean
}

interface Entry {
  profile: FieldProfile
  /** Number of the last record with a value: a repeated element counts once per record. */
  last: number
  inner: Map<string, Entry>
  isLeaf: boolean
  values: Set<string>
}

/** A key is looked for among fields of such names only. */
const mayBeKey =
  /(?:^|[^a-z])(?:id|mlsid|ids?value|mls|ref|reference|referencia|code|codigo|number|no|nr|num|key|sku|objektid|listing)$/i
/** How many values are compared. In a feed with more, no key can be proven. */
const mostValues = 1_000_000

/**
 * The fields of a feed, how many records fill them, and examples. A path is a CSV's header, or `Location/City`,
 * `price/@currency` from the record element on. Memory is bounded, however many names a feed invents.
 */
export class Profile {
  records = 0
  /** Whether there are more fields than are kept. */
  more = false
  #root: Entry = entry('')
  #size = 0
  #values = 0

  add(record: RecordFields): void {
    this.records++
    this.#walk(record, this.#root)
  }

  /** In the order of their first occurrence, fields of one element together. */
  fields(): FieldProfile[] {
    const found: FieldProfile[] = []
    const collect = ({ profile, inner, isLeaf }: Entry): void => {
      if (isLeaf) found.push(profile)
      for (const below of inner.values()) collect(below)
    }
    collect(this.#root)
    return found
  }

  #walk(node: RecordNode, parent: Entry): void {
    if (typeof node === 'string') return this.#leaf(node, parent)
    for (const name in node) {
      // Values from outside the record are not fields.
      if (name.startsWith('@@')) continue
      const child = node[name]
      const under = name === '#text' && parent !== this.#root ? parent : this.#child(parent, name)
      if (under === null) continue
      if (Array.isArray(child)) for (const node of child) this.#walk(node, under)
      else this.#walk(child, under)
    }
  }

  #child(parent: Entry, name: string): Entry | null {
    const known = parent.inner.get(name)
    if (known !== undefined) return known
    const { path } = parent.profile
    if (this.#size >= mostFields || name.length > longestName || path.length > 10 * longestName) {
      this.more = true
      return null
    }
    this.#size++
    const made = entry(path === '' ? name : `${path}/${name}`)
    parent.inner.set(name, made)
    return made
  }

  #compare(text: string, { profile, values }: Entry): void {
    const value = text.length > 40 ? shortHash(text) : text
    profile.isKey = text.length > 2 && !values.has(value) && this.#values < mostValues
    if (profile.isKey) {
      values.add(value)
      this.#values++
      return
    }
    this.#values -= values.size
    values.clear()
  }

  #leaf(text: string, into: Entry): void {
    into.isLeaf = true
    if (text === '' || text.trim() === '') return
    const { profile } = into
    if (into.last === this.records) profile.isKey = false
    else profile.filled++
    into.last = this.records
    if (profile.isKey) this.#compare(text.trim(), into)
    if (profile.examples.length >= mostExamples) return
    const example = shorten(printable(text.slice(0, 10 * longestExample)), longestExample)
    if (example !== '' && !profile.examples.includes(example)) profile.examples.push(example)
  }
}

function entry(path: string): Entry {
  const last = path.slice(path.lastIndexOf('/') + 1).replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  const isKey = mayBeKey.test(last.replace(/[^a-z]+$/i, '')) && !isOfOthers(path) && !isOfMedia(path)
  const profile = { path, filled: 0, examples: [], isKey }
  return { profile, last: 0, inner: new Map(), isLeaf: false, values: new Set() }
}
