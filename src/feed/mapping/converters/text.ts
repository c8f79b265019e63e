import { ALL_ENTITIES, EntityDecoder } from '@nodable/entities'
import { unescapeHtml } from '../../../core/listing.ts'
import type { RecordNode } from '../../format/format.ts'
import { childNames, childrenOf, textOf } from '../path.ts'
import type { Rule } from '../rule-keys.ts'
import { readBoolean, saysNothing } from '../vocabulary.ts'
import { RuleError, Unreadable } from './converter.ts'
import type { Converter } from './converter.ts'

const entities = new EntityDecoder({ namedEntities: ALL_ENTITIES })

const dropped = /<(script|style)\b[^<>]*>[\s\S]*?(?:<\/\1\s*>|$)|<!--[\s\S]*?(?:-->|$)/gi
const breaks = /<(?:\/?(?:br|p|div|h[1-6]|section|article|blockquote)|li|tr|dd|dt|\/ul|\/ol|\/table)\b[^<>]*>/gi
// Only names that HTML knows: `a < b` and `<3 bedrooms>` are text.
const tags =
  /<\/?(?:a|abbr|address|article|aside|b|bdi|bdo|big|blink|body|button|caption|center|cite|code|col|dd|del|dfn|dl|dt|em|embed|figure|font|footer|form|frame|header|hr|html|head|i|iframe|img|input|ins|kbd|label|li|link|main|mark|marquee|meta|nav|noscript|object|ol|option|param|pre|q|s|samp|script|select|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|textarea|tfoot|th|thead|time|title|tr|tt|u|ul|var|video|audio|wbr|o:p|\w+:\w+)(?:\s[^<>]*|\/)?>/gi
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\u200b\u2060\ufeff\p{Surrogate}]/gu

/** Anything but printable ASCII on one line without markup and double blanks: most values of most feeds need no care. */
const needsCare = /[^ -~]|[<&]| {2}/

function withoutHtml(text: string): string {
  if (!text.includes('<')) return text
  return text.replaceAll(dropped, ' ').replaceAll(breaks, '\n').replaceAll(tags, '')
}

/**
 * Text as a person should read it: tags removed (breaks and blocks become line breaks), entities that are still escaped
 * decoded once, no controls or halves of characters, NFC, white space tidied. Tags are removed again after the decoding,
 * so that no markup ever leaves here, however it was escaped.
 */
export function readableLines(text: string): string {
  if (!needsCare.test(text)) return text.trim()
  let clean = withoutHtml(text)
  if (clean.includes('&')) clean = withoutHtml(entities.decode(clean))
  return clean
    .normalize('NFC')
    .replaceAll(controls, '')
    .replaceAll(/(?:[^\S\n]|\u0085)+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

/** The same on one line. */
export function readableLine(text: string): string {
  const lines = readableLines(text)
  return lines.includes('\n') ? lines.replaceAll(/\n+/g, ' ') : lines
}

const spoken = (text: string): string | undefined => (saysNothing(text) ? undefined : text)

/** A converter of the first text of `from`; `compile` is given the rule and gives what makes a value of that text. */
function ofText(
  takes: Converter['takes'],
  compile: (rule: Rule) => (found: string) => string | Unreadable | undefined,
): Converter {
  return {
    yields: 'text',
    takes,
    needsFrom: true,
    build({ rule, text }) {
      const valueOf = compile(rule)
      return (node) => {
        const found = text(node)
        return found === undefined ? undefined : valueOf(found)
      }
    },
  }
}

/** One line of text. */
export const text = ofText(['split', 'nth'], () => (found) => spoken(readableLine(found)))

/** Text of several lines, such as a description. */
export const html = ofText([], () => (found) => spoken(readableLines(found)))

/** Text with a code before it (`699 - Not Defined`, as RESO's MLSAreaMajor): the code is dropped. */
export const codedText = ofText([], ({ missing = [] }) => {
  const words = new Set(missing.map((word) => word.toLowerCase()))
  return (found) => {
    const plain = readableLine(found).replace(/^[A-Z0-9]{1,8} - (?=\S)/, '')
    return words.has(plain.toLowerCase()) ? undefined : spoken(plain)
  }
})

/**
 * The letters and digits that follow a mark in a text (`/home/` in a web address), with a `prefix` that keeps them from
 * being taken for something else. Nothing where the mark is not in it.
 */
export const textAfter = ofText(['after', 'prefix'], ({ after, prefix = '' }) => {
  if (after === undefined) throw new RuleError('textAfter needs after')
  return (found) => {
    const start = found.indexOf(after)
    const word = start < 0 ? null : /^[\p{L}\p{N}]{1,100}/u.exec(found.slice(start + after.length))
    return word === null ? undefined : prefix + word[0]
  }
})

/** Every text of `from` that is there, one after the other. */
export const join: Converter = {
  yields: 'text',
  takes: ['separator'],
  needsFrom: true,
  build: ({ from, rule }) => {
    const separator = rule.separator ?? ' '
    const words = new Set((rule.missing ?? []).map((word) => word.toLowerCase()))
    return (node) => {
      const found = from
        .flatMap((select) => select.all(node))
        .map(readableLines)
        .filter((line) => !saysNothing(line) && !words.has(line.toLowerCase()))
      return found.length === 0 ? undefined : found.join(separator)
    }
  },
}

/**
 * A listing's number: taken as it is, never read as a number (`0012` is not `12`). At most 500 characters. Only HTML
 * escapes that are left in it are undone: the service may show `&` as `&amp;`, and the two could not be told apart.
 */
export const key = ofText(['split', 'nth'], () => (found) => {
  const number = isKey(found) ? withoutEscapes(found) : found
  return isKey(number) ? number : new Unreadable(found, 'needs 1 to 500 characters, none of them a control character')
})

function withoutEscapes(text: string): string {
  const plain = unescapeHtml(text).trim()
  return plain === text ? text : withoutEscapes(plain)
}

/** Whether a text can be an MLSNumber. */
export function isKey(value: string): boolean {
  return value.length > 0 && value.length <= 500 && value.isWellFormed() && !/\p{Cc}/u.test(value)
}

/** A web address, http or https. */
export const url = ofText(
  ['split', 'nth'],
  () => (found) => webAddress(found) ?? new Unreadable(found, 'needs an address that begins with http:// or https://'),
)

/** An http(s) address with its blanks, quotes and angle brackets escaped; null where the text is none. */
export function webAddress(address: string): string | null {
  const found = address.trim()
  // Letters, digits and the usual marks need no second look; there are many images in a record.
  if (/^https?:\/\/[\w.-]+(?:[/?][!#-;=?-Z_a-z~]*)?$/i.test(found)) return found
  if (!/^https?:\/\/[^\s/?#]/i.test(found) || !URL.canParse(found)) return null
  // Line breaks and tabs inside an address are layout of the document.
  const escaped = found
    .replaceAll(/[\r\n\t\p{Cc}]+/gu, '')
    .replaceAll(/[\s<>"]/gu, (mark) => (mark === '\u00a0' ? '%20' : encodeURIComponent(mark)))
  return escaped.toWellFormed()
}

/** The names of child elements that say yes (`PetsAllowed/Cats`), but for those of `except`, joined by commas. */
export const flags: Converter = {
  yields: 'text',
  takes: ['except'],
  needsFrom: true,
  readsBelow: true,
  build: ({ from, field, rule }) => {
    const except = new Set(rule.except ?? [])
    if (field !== null) throw new RuleError('flags is for columns of ExtensionColumn only')
    return (node) => {
      const nodes = from.flatMap((select) => select.nodes(node))
      const names = nodes.flatMap(namesSayingYes).filter((name) => !except.has(name))
      return names.length === 0 ? undefined : names.join(', ')
    }
  },
}

function namesSayingYes(node: RecordNode): string[] {
  return childNames(node).filter((name) => childrenOf(node, name).some((child) => readBoolean(textOf(child)) === true))
}
