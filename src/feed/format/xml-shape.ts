import { bang, greaterThan, lessThan, nameAt, question, slash, startsName, tagEnd } from './markup.ts'

interface Element {
  path: string
  depth: number
  count: number
  children: Set<string>
  /** Whether it, or anything below it, names a price, and a place. */
  price: boolean
  place: boolean
}

const namesPrice = /price|rent\b|rent$|cena|preis|prix|precio|preco|preço|prezzo|miete|betrag|цена/i
const namesPlace =
  /address|adress|city|town|zip|postal|postcode|plz|\bort$|\/ort$|^ort$|ville|ciudad|localid|locality|municip|cidade|comune|miasto|street|strasse|location|country/i

/** Elements of these names are about people or pictures. They are repeated, too, but are no records. */
const namesOthers = /agent|broker|office|contact|phone|photo|picture|image|video|kontakt/i

const deepest = 6
/** Elements deeper than this are only counted, and longer names left out, as each end tag looks through all that is open. */
const deepestOpen = 100
const longestName = 200
const mostPaths = 2000

/**
 * Guesses the structure of an XML document (in an encoding that keeps ASCII) from its first bytes: the records are the
 * highest repeated elements with a price and a place in them. If nothing has both, they are the highest repeated ones with several
 * different children; if nothing is repeated, the first of either. An agent or a picture is no record.
 */
export function xmlShape(head: Buffer) {
  const elements = outline(head)
  const rows = elements.filter(({ children, depth }) => depth > 1 && children.size >= 3)
  const own = rows.filter(({ path }) => !namesOthers.test(path.slice(path.lastIndexOf('/') + 1)))
  const several = own.length > 0 ? own : rows
  const homes = several.filter(isOfHome)
  const isRepeated = ({ count }: Element): boolean => count > 1
  // If there is only one home, what is repeated is within it.
  const rich = homes.some(isRepeated) || !several.some(isRepeated) ? (homes.length > 0 ? homes : several) : several
  const repeated = rich.filter(isRepeated)
  const likely = (repeated.length > 0 ? repeated : rich).toSorted((a, b) => a.depth - b.depth || b.count - a.count)
  return {
    /** Name of the root element without its prefix; null: there is none. */
    root: elements.find(({ depth }) => depth === 1)?.path ?? null,
    /** Path of the elements that are probably the records, such as `Listings/Listing`; null: none. */
    record: likely.at(0)?.path ?? null,
  }
}

const isOfHome = ({ price, place }: Element): boolean => price && place

/** Names of other elements beside the records at `paths` that hold a price and a place, as records do. */
export function siblingsOf(head: Buffer, paths: readonly string[]): string[] {
  const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)
  const parents = new Set(paths.map(parentOf))
  const own = new Set(paths.flatMap((path) => path.slice(parentOf(path).length).split('|')))
  const others = outline(head)
    .filter((element) => parents.has(parentOf(element.path)) && isOfHome(element) && element.children.size > 0)
    .map(({ path }) => path.slice(parentOf(path).length))
    .filter((name) => !own.has(name))
  return [...new Set(others)]
}

function outline(head: Buffer): Element[] {
  const elements = new Map<string, Element>()
  const open: Open = []
  /** Elements open below those in `open`. */
  let below = 0
  let position = head.indexOf(lessThan)
  while (position >= 0) {
    const second = head[position + 1]
    let end: number
    if (second === bang || second === question) end = pastDeclaration(head, position)
    else if (second === slash) {
      end = head.indexOf(greaterThan, position)
      const name = nameAt(head, position + 2, 'utf8')
      const index = below > 0 ? -1 : open.findLastIndex((element) => element.name === name)
      if (below > 0) below--
      if (end >= 0 && index >= 0) open.length = index
    } else if (startsName(second)) {
      end = tagEnd(head, position + 1)
      const selfClosing = head[end - 1] === slash
      if (end >= 0 && open.length < deepestOpen) {
        enter(elements, open, nameAt(head, position + 1, 'utf8'), selfClosing)
        tell(open, head.toString('latin1', position + 1, Math.min(end, position + 4000)))
      } else if (end >= 0 && !selfClosing) below++
    } else end = position
    if (end < 0) break
    position = head.indexOf(lessThan, end + 1)
  }
  return [...elements.values()]
}

type Open = { name: string; element: Element | null }[]

function enter(elements: Map<string, Element>, open: Open, name: string, selfClosing: boolean): void {
  const parent = open.at(-1)
  const local = name.slice(name.indexOf(':') + 1)
  const depth = open.length + 1
  if (parent?.element && parent.element.children.size < 50) parent.element.children.add(local)
  let element: Element | null = null
  if (depth <= deepest && local.length <= longestName && (parent === undefined || parent.element !== null)) {
    const path = parent?.element ? `${parent.element.path}/${local}` : local
    element = elements.get(path) ?? null
    if (element === null && elements.size < mostPaths) {
      element = { path, depth, count: 0, children: new Set(), price: false, place: false }
      elements.set(path, element)
    }
    if (element !== null) element.count++
  }
  if (!selfClosing) open.push({ name, element })
}

/** Notes for every open element what the names in a tag are about. */
function tell(open: Open, tag: string): void {
  const names = [
    /^[^\s/>]*/.exec(tag)?.[0] ?? '',
    ...[...tag.matchAll(/\s([^\s=]{1,60})\s*=/g)].map(([, name]) => name),
  ]
  const price = names.some((name) => namesPrice.test(name))
  const place = names.some((name) => namesPlace.test(name))
  if (!price && !place) return
  for (const { element } of open) {
    if (element === null) continue
    element.price ||= price
    element.place ||= place
  }
}

/** Index of the last byte of a comment, CDATA section, instruction or declaration; -1: it does not end here. */
function pastDeclaration(head: Buffer, open: number): number {
  const mark = head.toString('latin1', open, open + 9)
  const end = mark.startsWith('<!--') ? '-->' : mark === '<![CDATA[' ? ']]>' : mark.startsWith('<?') ? '?>' : '>'
  const found = head.indexOf(end, open + 2)
  return found < 0 ? -1 : found + end.length - 1
}
