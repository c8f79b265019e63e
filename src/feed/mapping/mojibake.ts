/**
 * Text that was encoded twice: UTF-8 read as windows-1252 and written as UTF-8 again, so that `Café` is `CafÃ©`
 * (docs/faults.md, F39). It is found by undoing it: a run of non-ASCII characters whose windows-1252 bytes are valid
 * UTF-8 is such text. A few runs of correct text are that by chance (`CAFÉ”` would be `CAFɔ`); the characters around them decide.
 */
import { isUtf8 } from 'node:buffer'
import { mlsNumberOf } from '../../core/listing.ts'
import type { Delivered } from '../../core/listing.ts'
import { many, shorten } from '../../core/text.ts'
import type { RecordFields, RecordNode } from '../format/format.ts'

/** Text may be encoded twice repeatedly; more often than this has never been seen. */
const mostPasses = 3
const mostExamples = 3
const longestExample = 40

const bytesOf = new Map<number, number>()
// The five undefined bytes of windows-1252, and bytes read as Latin-1, appear as C1 controls.
for (let byte = 0x80; byte <= 0xff; byte++) bytesOf.set(byte, byte)
const upperHalf = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'
for (let index = 0; index < upperHalf.length; index++) bytesOf.set(upperHalf.charCodeAt(index), 0x80 + index)

/** What may follow the last letter of a word in correct text and be UTF-8 with it by chance; after Ã only these. */
const marks = '\u00a0\u00ad«»‹›‘’“”„‚…–—•™®©·†‡'
const marksBehind = new RegExp(`^[${marks}]+$`)
/** After other letters also numbers, degrees, ordinals and letters of windows-1252. */
const moreBehind = new RegExp(`^[${marks}¡§¨ª°²³´¹º¼½¾¿ŠšŽžŒœŸ]+$`)
const beyondAscii = /[\u0080-\uffff]+/g
const lead = /[\u00c2-\u00f4]/
const noCharacter = /[\p{Cn}\p{Co}]/u

/** A quick test on bytes that settles most records. */
export function mayBeDoubled(raw: Buffer): boolean {
  for (let at = raw.indexOf(0xc3); at >= 0; at = raw.indexOf(0xc3, at + 2)) {
    const [second, third] = [raw[at + 1], raw[at + 2]]
    if (second < 0x82 || second > 0xb4) continue
    if (third === 0xc2 || third === 0xe2 || third === 0xc5 || third === 0xc6 || third === 0xcb) return true
  }
  return false
}

/** Undoes the double encoding, up to three times; correct text is unchanged. */
export function mendedText(text: string): string {
  let mended = text
  for (let pass = 0; pass < mostPasses; pass++) {
    const next = mendedOnce(mended)
    if (next === mended) break
    mended = next
  }
  return mended
}

/** Repairs every text of a record in place. */
export function mendRecord(fields: RecordFields): void {
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    fields[name] = Array.isArray(value) ? value.map(mendedNode) : mendedNode(value)
  }
}

function mendedNode(node: RecordNode): RecordNode {
  if (typeof node === 'string') return mendedText(node)
  mendRecord(node)
  return node
}

function mendedOnce(text: string): string {
  if (!lead.test(text)) return text
  let sure = false
  let sound = false
  for (const match of text.matchAll(beyondAscii)) {
    const once = undone(match[0])
    if (once === null) sound = true
    else if (isSure(once, match[0], text, match.index)) sure = true
  }
  if (!sure) return text
  return text.replaceAll(beyondAscii, (run: string, at: number) => {
    const once = undone(run)
    // Next to correct text, only what can't be correct is repaired.
    return once !== null && (!sound || isSure(once, run, text, at)) ? once : run
  })
}

/** The run before its second encoding; null: it had none. */
function undone(run: string): string | null {
  const first = bytesOf.get(run.charCodeAt(0)) ?? 0
  const second = bytesOf.get(run.charCodeAt(1)) ?? 0
  if (first < 0xc2 || first > 0xf4 || second < 0x80 || second > 0xbf) return null
  const bytes = Buffer.alloc(run.length)
  for (let index = 0; index < run.length; index++) {
    const byte = bytesOf.get(run.charCodeAt(index))
    if (byte === undefined) return null
    bytes[index] = byte
  }
  if (!isUtf8(bytes)) return null
  const once = bytes.toString('utf8')
  return noCharacter.test(once) ? null : once
}

/**
 * Whether a run can't be correct text. One that decodes to a single character can: an accented letter followed by a mark
 * (`CAFÉ”`, `QUALITÉ :`, `LULEÅ–BODEN`, `„Spaß“`) or another letter (`VÝŠKA`). But no word has a capital after a small
 * letter, Â ends no word, and Ã, Ä and Å are no words by themselves.
 */
function isSure(once: string, run: string, text: string, at: number): boolean {
  const characters = once.codePointAt(0)! > 0xffff ? once.length - 1 : once.length
  if (characters > 1) return true
  // A control character is never meant.
  if (once <= '\u009f') return false
  const behind = run.slice(1)
  const letter = run[0]
  if (!(letter === 'Ã' ? marksBehind : moreBehind).test(behind)) return true
  const before = text.charAt(at - 1)
  const inWord = /[A-Za-z]/.test(text.charAt(at + run.length))
  if (letter === 'Â') return true
  if (letter === 'Ã') return !/[A-Z]/.test(before) || inWord
  if (letter < 'ß' && letter !== '×' && /[a-z]/.test(before)) return true
  return letter <= 'Å' && inWord && !/[A-Z]/.test(before)
}

/** Counts the records with text encoded twice and keeps the first few for the report. */
export class MojibakeCount {
  #records = 0
  readonly #examples: string[] = []

  /** `delivered`: the result of the record, for its MLSNumber. */
  look(fields: RecordFields, delivered: Delivered): void {
    const text = doubledText(fields)
    if (text === null) return
    this.#records++
    if (this.#examples.length >= mostExamples) return
    const number = mlsNumberOf(delivered)
    this.#examples.push(
      `${number === null ? delivered.at : `MLSNumber ${shorten(number, longestExample)}`}: ${example(text)}`,
    )
  }

  /** A sentence for the report, if there are any. */
  notes(): string[] {
    if (this.#records === 0) return []
    // One that is as before is not read again.
    const records = many(this.#records, 'new or changed record holds', 'new or changed records hold')
    const examples = this.#examples.join('; ')
    return [
      `${records} text that was encoded twice (${examples}); set repair: double-utf8 for this feed, or ask the sender to correct it`,
    ]
  }
}

/** The first text that was encoded twice. */
function doubledText(node: RecordNode): string | null {
  if (typeof node === 'string') return lead.test(node) && mendedOnce(node) !== node ? node : null
  for (const name in node) {
    for (const child of [node[name]].flat()) {
      const found = doubledText(child)
      if (found !== null) return found
    }
  }
  return null
}

/** The first word that a repair changes, as it is and as it should be. */
function example(text: string): string {
  const mended = mendedText(text)
  let changed = 0
  while (text[changed] === mended[changed]) changed++
  const start = Math.max(changed - longestExample / 2, text.lastIndexOf(' ', changed) + 1)
  const word = (whole: string): string => {
    const end = whole.indexOf(' ', changed)
    return JSON.stringify(shorten(whole.slice(start, end < 0 ? undefined : end), longestExample))
  }
  return `${word(text)} for ${word(mended)}`
}
