import { printableText } from './text.ts'

/** Longest escape sequence that is waited for over pieces. */
const longestSequence = 64

/**
 * Prints an answer as it comes. It is a stranger's text: no escape sequences, control or bidirectional characters, also
 * where one piece holds the beginning and the next the end; line breaks stay.
 */
export class ChatPrinter {
  readonly #write: (text: string) => void
  #held = ''
  #last = '\n'

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  print(piece: string): void {
    const text = this.#held + piece
    const cut = safeEnd(text)
    this.#held = text.slice(cut)
    this.#put(text.slice(0, cut))
  }

  /** Prints what was held back, and ends the line. */
  end(): void {
    this.#put(this.#held)
    this.#held = ''
    if (this.#last !== '\n') this.#put('\n')
  }

  #put(text: string): void {
    const shown = printableText(text)
    if (shown === '') return
    this.#write(shown)
    this.#last = shown.at(-1)!
  }
}

/** Where the text can be cut: before half a character, before an escape sequence that may go on. */
function safeEnd(text: string): number {
  const start = Math.max(text.lastIndexOf('\u001b'), text.lastIndexOf('\u009b'))
  // A sequence ends with a letter or the like; after that it may be followed by anything.
  // oxlint-disable-next-line no-control-regex
  const isOpen = /^(?:\u001b|\u009b|\u001b\[)[\d;?:]*$|^\u001b\][^\u0007]*$/.test(text.slice(start))
  if (start >= 0 && isOpen && text.length - start <= longestSequence) return start
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
}
