/** Bytes of XML markup and small searches over them, shared by the splitter's two modes. */
export const lessThan = 60
export const greaterThan = 62
export const slash = 47
export const bang = 33
export const question = 63
const equals = 61
const doubleQuote = 34
const singleQuote = 39

export function isSpace(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9
}

/** Whether a byte can begin an element's name: a letter, an underscore, or any part of a character beyond ASCII. */
export function startsName(byte: number | undefined): boolean {
  if (byte === undefined) return false
  return (byte >= 97 && byte <= 122) || (byte >= 65 && byte <= 90) || byte === 95 || byte >= 128
}

/** Whether a byte ends an element's name. */
export function endsName(byte: number | undefined): boolean {
  return isSpace(byte) || byte === greaterThan || byte === slash
}

/** The name at `from`; as Latin-1, no encoding can make two names of one. */
export function nameAt(buffer: Buffer, from: number, encoding: BufferEncoding = 'latin1'): string {
  let to = from
  while (to < buffer.length && !endsName(buffer[to])) to++
  return buffer.toString(encoding, from, to)
}

/** Index of the `>` that ends the tag whose name is at `from`, past any in quoted values; -1: not in this buffer. */
export function tagEnd(buffer: Buffer, from: number): number {
  let index = from
  let close = buffer.indexOf(greaterThan, index)
  while (close >= 0) {
    const quote = openingQuote(buffer, index, close)
    if (quote < 0) return close
    const end = buffer.indexOf(buffer[quote], quote + 1)
    if (end < 0) return -1
    index = end + 1
    if (close < index) close = buffer.indexOf(greaterThan, index)
  }
  return -1
}

/** First quote in [from, to) that opens an attribute's value, which follows `=`; -1: none. */
function openingQuote(buffer: Buffer, from: number, to: number): number {
  for (let index = from; index < to; index++) {
    const byte = buffer[index]
    if ((byte === doubleQuote || byte === singleQuote) && followsEquals(buffer, index, from)) return index
  }
  return -1
}

function followsEquals(buffer: Buffer, index: number, floor: number): boolean {
  let before = index - 1
  while (before >= floor && isSpace(buffer[before])) before--
  return before >= floor && buffer[before] === equals
}

/**
 * Whether `at` could lie in an attribute's value, `from` being a place between tags. A no is certain: inside a value the
 * last quote of its kind is the one that opened it, and that one follows `=`.
 */
export function mayBeQuoted(buffer: Buffer, from: number, at: number): boolean {
  const before = buffer.subarray(from, at)
  const double = before.lastIndexOf(doubleQuote)
  if (double >= 0 && followsEquals(before, double, 0)) return true
  const single = before.lastIndexOf(singleQuote)
  return single >= 0 && followsEquals(before, single, 0)
}

/**
 * Walks the tags from `from`, a place between tags, up to `at`. Returns `at` if markup begins there, the index after the
 * tag that contains it, or -1 if that tag does not end in this buffer.
 */
export function markupAt(buffer: Buffer, from: number, at: number): number {
  let index = from
  while (true) {
    const open = buffer.indexOf(lessThan, index)
    if (open >= at) return at
    const second = buffer[open + 1]
    if (!startsName(second) && second !== slash) {
      index = open + 1
      continue
    }
    const end = tagEnd(buffer, open + 1)
    if (end < 0) return -1
    if (end > at) return end + 1
    index = end + 1
  }
}
