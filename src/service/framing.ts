/**
 * The JSON objects of a stream whose framing the interface leaves open: `data:` lines, one object a line, objects
 * over several lines or back to back, cut at any byte. Comments, blank lines, other SSE fields and `[DONE]` are passed over.
 */

/** Longest text beside objects that is kept for a message. */
const longestRest = 200

export class ObjectSplitter {
  readonly #decoder = new TextDecoder()
  /** The object begun, without what the framing put into it. */
  #text = ''
  #depth = 0
  #inString = false
  #escaped = false
  /** The line outside of objects, up to here. */
  #line = ''
  /** Within an object: nothing but white space since the line began. */
  #lineBegins = false
  /** Within the `data:` that begins a line inside an object. */
  #inPrefix = false
  #beside = ''

  /** The objects that these bytes finish, in their order. Throws `SyntaxError` for one that is no JSON. */
  push(bytes: Uint8Array): unknown[] {
    const finished: unknown[] = []
    for (const character of this.#decoder.decode(bytes, { stream: true })) {
      if (this.#depth === 0) this.#outside(character)
      else if (this.#inside(character)) {
        finished.push(JSON.parse(this.#text))
        this.#text = ''
      }
    }
    return finished
  }

  /** What came that belongs to no finished object, cut; empty where the stream was in order. */
  get rest(): string {
    return (this.#text || this.#beside || unframed(this.#line)).slice(0, longestRest)
  }

  #outside(character: string): void {
    if (character === '\n' || character === '\r') {
      this.#endLine()
    } else if (character === '{' && !isPassedOver(this.#line)) {
      this.#endLine()
      this.#text = character
      this.#depth = 1
    } else this.#line += character
  }

  #endLine(): void {
    if (this.#beside.length < longestRest) this.#beside += unframed(this.#line)
    this.#line = ''
  }

  /** Whether the character closes the object. */
  #inside(character: string): boolean {
    if (this.#inString) {
      this.#text += character
      if (this.#escaped) this.#escaped = false
      else if (character === '\\') this.#escaped = true
      else if (character === '"') this.#inString = false
      return false
    }
    if (this.#inPrefix) {
      this.#inPrefix = character !== ':'
      return false
    }
    // No JSON token begins with this letter, so it can only be SSE's "data:" before an object's next line.
    if (character === 'd' && this.#lineBegins) {
      this.#inPrefix = true
      return false
    }
    this.#text += character
    this.#lineBegins = /[\r\n]/.test(character) || (this.#lineBegins && /\s/.test(character))
    if (character === '"') this.#inString = true
    else if (character === '{' || character === '[') this.#depth++
    else if (character === '}' || character === ']') this.#depth--
    return this.#depth === 0
  }
}

/** A comment or a field of SSE other than data. */
function isPassedOver(line: string): boolean {
  return /^\s*(?::|(?:event|id|retry)\s*:)/.test(line)
}

/** What a line holds beside framing. */
function unframed(line: string): string {
  return isPassedOver(line) ? '' : line.replace(/^\s*data\s*:?\s*(?:\[DONE\])?/, '').replaceAll(/[\s\p{Cc},[\]]+/gu, '')
}
