import { RecordError } from './format.ts'

/** Deepest nesting within a record (docs/faults.md, F35). */
const deepest = 64

/**
 * Checks that the tags of a record are balanced, which fast-xml-parser does not, and returns the text without processing
 * instructions, whose end that parser does not read by the XML standard. A bare `&` is allowed. Throws `RecordError`, also
 * for more than `maxFields` elements and attributes: to that parser each of three bytes costs a hundred.
 */
export function checkedRecord(text: string, maxFields: number): string {
  let fields = 0
  const count = (): void => {
    if (++fields > maxFields)
      throw new RecordError(`the record has more than ${maxFields} elements and attributes (maxFields)`)
  }
  const open: string[] = []
  let withoutInstructions = ''
  let kept = 0
  let index = 0
  while (true) {
    const at = text.indexOf('<', index)
    if (at < 0) break
    const second = text.charCodeAt(at + 1)
    if (second === 47) {
      const end = expected(text.indexOf('>', at), 'an end tag is not closed')
      const name = text.slice(at + 2, end).trimEnd()
      const opened = open.pop()
      if (opened !== name) throw new RecordError(`<${shown(opened ?? '')}> is closed by </${shown(name)}>`)
      index = end + 1
    } else if (second === 33) {
      index = afterDeclaration(text, at, open[0] ?? '')
    } else if (second === 63) {
      if (/^xml\s/.test(text.slice(at + 2, at + 6)))
        throw new RecordError('there is a second XML declaration within it')
      index = expected(text.indexOf('?>', at + 2), 'a processing instruction is not closed') + 2
      withoutInstructions += text.slice(kept, at)
      kept = index
    } else {
      if (!/[A-Za-z_\u0080-\uffff]/.test(text[at + 1] ?? '')) throw new RecordError('there is a "<" that begins no tag')
      // The splitter missed an end tag, as characters of another encoding hid it. They are gone here: these are two records.
      if (open.length === 0 && index > 0) throw new RecordError('something follows the end of the record within it')
      const end = tagEnd(text, at + 1, count)
      if (text.charCodeAt(end - 1) !== 47) open.push(nameAt(text, at + 1, end))
      if (open.length > deepest) throw new RecordError(`elements are nested deeper than ${deepest}`)
      index = end + 1
    }
  }
  if (open.length > 0) throw new RecordError(`<${shown(open.at(-1) ?? '')}> is not closed`)
  return withoutInstructions + text.slice(kept)
}

function expected(index: number, problem: string): number {
  if (index < 0) throw new RecordError(problem)
  return index
}

function afterDeclaration(text: string, at: number, record: string): number {
  if (text.startsWith('<!--', at)) return expected(text.indexOf('-->', at + 4), 'a comment is not closed') + 3
  if (!text.startsWith('<![CDATA[', at)) throw new RecordError('there is a "<!" that begins neither comment nor CDATA')
  const end = expected(text.indexOf(']]>', at + 9), 'a CDATA section is not closed')
  // Well formed, but surely an error: a section without its end has swallowed the next record. Searched within each section only, as
  // there may be many.
  if (text.slice(at, end).includes(`</${record}>`))
    throw new RecordError(`a CDATA section runs over </${shown(record)}>; its end is missing`)
  return end + 3
}

/**
 * Index of the `>` that ends a tag. Values must be quoted and follow `=`, as in the splitter. `count` is called for the element and for
 * everything that the parser takes for an attribute, such as a name without a value.
 */
function tagEnd(text: string, from: number, count: () => void): number {
  let afterEquals = false
  let isName = false
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 62) return index
    if (code === 34 || code === 39) {
      if (!afterEquals) throw new RecordError('a tag holds a quote that belongs to no attribute')
      const close = expected(text.indexOf(text[index], index + 1), "an attribute's value is not closed")
      const value = text.slice(index + 1, close)
      const inner = value.indexOf('<')
      // XML forbids any "<" there. What looks like a tag may have replaced a part of the value.
      if (inner >= 0 && /[/!?A-Za-z]/.test(value[inner + 1] ?? ''))
        throw new RecordError("an attribute's value holds a tag; its closing quote may be missing")
      index = close
      afterEquals = false
      isName = false
    } else if (code === 60) throw new RecordError('there is a "<" within a tag')
    else if (code === 61) {
      afterEquals = true
      isName = false
    } else if (code === 32 || code === 10 || code === 13 || code === 9) isName = false
    else {
      afterEquals = false
      if (!isName && (code !== 47 || text.charCodeAt(index + 1) !== 62)) count()
      isName = true
    }
  }
  throw new RecordError('a tag is not closed')
}

function nameAt(text: string, from: number, end: number): string {
  let to = from
  while (to < end && text.charCodeAt(to) > 32 && text[to] !== '/') to++
  return text.slice(from, to)
}

function shown(name: string): string {
  return name.slice(0, 60)
}
