import { bang, endsName, greaterThan, lessThan, question, slash, startsName, tagEnd } from './markup.ts'

/** Elements of one path: how many there are, and how many different names their children have. */
interface Element {
  path: string
  depth: number
  count: number
  children: Set<string>
}

export interface XmlShape {
  /** Name of the root element without its prefix; null: there is none. */
  root: string | null
  /** Path of the elements that are most likely the records, such as `Listings/Listing`; null: none is. */
  record: string | null
}

const deepest = 6
const mostPaths = 2000

/**
 * What the first bytes of an XML document (in an encoding that keeps ASCII) look like when nothing is known of it: the
 * records are the elements that are repeated highest up and have several different children; of a document with one
 * record only, the first element with several children that are text.
 */
export function xmlShape(head: Buffer): XmlShape {
  const elements = outline(head)
  const rich = elements.filter(({ children, depth }) => depth > 1 && children.size >= 3)
  const repeated = rich.filter(({ count }) => count > 1)
  const likely = (repeated.length > 0 ? repeated : rich).toSorted((a, b) => a.depth - b.depth || b.count - a.count)
  return { root: elements.find(({ depth }) => depth === 1)?.path ?? null, record: likely[0]?.path ?? null }
}

function outline(head: Buffer): Element[] {
  const elements = new Map<string, Element>()
  const open: { name: string; element: Element | null }[] = []
  let position = head.indexOf(lessThan)
  while (position >= 0) {
    const second = head[position + 1]
    let end: number
    if (second === bang || second === question) end = pastDeclaration(head, position)
    else if (second === slash) {
      end = head.indexOf(greaterThan, position)
      if (end >= 0) close(open, nameAt(head, position + 2))
    } else if (startsName(second)) {
      end = tagEnd(head, position + 1)
      if (end >= 0) enter(elements, open, nameAt(head, position + 1), head[end - 1] === slash)
    } else end = position
    if (end < 0) break
    position = head.indexOf(lessThan, end + 1)
  }
  return [...elements.values()]
}

function enter(
  elements: Map<string, Element>,
  open: { name: string; element: Element | null }[],
  name: string,
  selfClosing: boolean,
): void {
  const parent = open.at(-1)
  const local = name.slice(name.indexOf(':') + 1)
  const depth = open.length + 1
  if (parent?.element && parent.element.children.size < 50) parent.element.children.add(local)
  let element: Element | null = null
  if (depth <= deepest && (parent === undefined || parent.element !== null)) {
    const path = parent?.element ? `${parent.element.path}/${local}` : local
    element = elements.get(path) ?? null
    if (element === null && elements.size < mostPaths) {
      element = { path, depth, count: 0, children: new Set() }
      elements.set(path, element)
    }
    if (element !== null) element.count++
  }
  if (!selfClosing) open.push({ name, element })
}

function close(open: { name: string }[], name: string): void {
  const index = open.findLastIndex((element) => element.name === name)
  if (index >= 0) open.length = index
}

/** Index of the last byte of a comment, CDATA section, instruction or declaration; -1: it does not end here. */
function pastDeclaration(head: Buffer, open: number): number {
  const mark = head.toString('latin1', open, open + 9)
  const end = mark.startsWith('<!--') ? '-->' : mark === '<![CDATA[' ? ']]>' : mark.startsWith('<?') ? '?>' : '>'
  const found = head.indexOf(end, open + 2)
  return found < 0 ? -1 : found + end.length - 1
}

function nameAt(head: Buffer, from: number): string {
  let to = from
  while (to < head.length && !endsName(head[to])) to++
  return head.toString('utf8', from, to)
}
