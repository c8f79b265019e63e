/**
 * The JSON objects of a stream with undocumented framing: `data:` lines, one object per line, over several lines or back to
 * back, cut at any byte. Comments, blank lines, other SSE fields and `[DONE]` are skipped.
 */

/** Most text outside of objects that is kept for a message. */
const longestRest = 200
/** Characters of a line that are kept. They show what it is, and are looked at again at every brace. */
const longestLine = 1000

/** Gives the objects of a stream as they are completed. */
export class ObjectSplitter {
  readonly #decoder = new TextDecoder()
  /** The current object, without framing. */
  #text = ''
  #depth = 0
  #inString = false
  #escaped = false
  /** The current line outside of objects. */
  #line = ''
  /** Within an object: only white space since the line began. */
  #lineBegins = false
  /** Within a `data:` that begins a line inside an object. */
  #inPrefix = false
  #beside = ''

  /** The objects completed by these bytes, in order. Throws `SyntaxError` for invalid JSON. */
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

  /** Text outside of complete objects, cut; empty for a correct stream. */
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
    } else if (this.#line.length < longestLine) this.#line += character
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

/** The line without framing. */
function unframed(line: string): string {
  return isPassedOver(line) ? '' : line.replace(/^\s*data\s*:?\s*(?:\[DONE\])?/, '').replaceAll(/[\s\p{Cc},[\]]+/gu, '')
}
