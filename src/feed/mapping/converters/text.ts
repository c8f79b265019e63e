import { isLinkLocal } from '../../../core/link-local.ts'
import { unescapeHtml } from '../../../core/listing.ts'
import { normalForm } from '../../../core/text.ts'
import { htmlDecoder } from '../../format/entities.ts'
import { childNames, childrenOf, textOf } from '../path.ts'
import type { Rule } from '../rule-keys.ts'
import { readBoolean, saysNothing } from '../vocabulary.ts'
import { RuleError, Unreadable } from './converter.ts'
import type { Converter } from './converter.ts'

const entities = htmlDecoder()

const dropped = /<(script|style)\b[^<>]*>[\s\S]*?(?:<\/\1\s*>|$)|<!--[\s\S]*?(?:-->|$)/gi
const breaks = /<(?:\/?(?:br|p|div|h[1-6]|section|article|blockquote)|li|tr|dd|dt|\/ul|\/ol|\/table)\b[^<>]*>/gi
// Only HTML tags: `a < b` and `<3 bedrooms>` are text.
const tags =
  /<\/?(?:a|abbr|address|article|aside|b|bdi|bdo|big|blink|body|button|caption|center|cite|code|col|dd|del|dfn|dl|dt|em|embed|figure|font|footer|form|frame|header|hr|html|head|i|iframe|img|input|ins|kbd|label|li|link|main|mark|marquee|meta|nav|noscript|object|ol|option|param|pre|q|s|samp|script|select|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|textarea|tfoot|th|thead|time|title|tr|tt|u|ul|var|video|audio|wbr|o:p|\w+:\w+)(?:\s[^<>]*|\/)?>/gi
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\u200b\u2060\ufeff\p{Surrogate}]/gu

/** Most values are printable ASCII on one line without markup or double blanks, and need no cleaning. */
const needsCare = /[^ -~]|[<&]| {2}/
const needsTidying = /[^ -~]| {2}/
const entity = /&[#a-z]/i

function withoutHtml(text: string): string {
  if (!text.includes('<')) return text
  return text.replaceAll(dropped, ' ').replaceAll(breaks, '\n').replaceAll(tags, '')
}

/**
 * Readable text: tags removed (breaks and blocks become line breaks), remaining entities decoded once, no control
 * characters or lone surrogates, NFC, at most 30 combining marks on a letter, white space tidied. Tags are removed again after
 * decoding, so that no markup is left, however it was escaped.
 */
export function readableLines(text: string): string {
  if (!needsCare.test(text)) return text.trim()
  let clean = withoutHtml(text)
  if (entity.test(clean)) clean = withoutHtml(entities.decode(clean))
  if (!needsTidying.test(clean)) return clean.trim()
  return normalForm(clean, 'NFC')
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

/** A converter of the first text of `from`; `compile` turns its rule into the function for that text. */
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

/** Text without the code before it (`699 - Not Defined`, RESO's MLSAreaMajor). */
export const codedText = ofText([], ({ missing = [] }) => {
  const words = new Set(missing.map((word) => word.toLowerCase()))
  return (found) => {
    const plain = readableLine(found).replace(/^[A-Z0-9]{1,8} - (?=\S)/, '')
    return words.has(plain.toLowerCase()) ? undefined : spoken(plain)
  }
})

/**
 * The letters and digits after a mark in a text (`/home/` in a web address), with a `prefix`; absent without the mark.
 */
export const textAfter = ofText(['after', 'prefix'], ({ after, prefix = '' }) => {
  if (after === undefined) throw new RuleError('textAfter needs after')
  return (found) => {
    const start = found.indexOf(after)
    const word = start < 0 ? null : /^[\p{L}\p{N}]{1,100}/u.exec(found.slice(start + after.length))
    return word === null ? undefined : prefix + word[0]
  }
})

/** All texts of `from`, joined. */
export const join: Converter = {
  yields: 'text',
  takes: ['separator'],
  needsFrom: true,
  build: ({ from, rule, isMissing }) => {
    const separator = rule.separator ?? ' '
    return (node) => {
      const lines = from.flatMap((select) => select.all(node)).map(readableLines)
      const found = lines.filter((line) => !isMissing(line))
      return found.length === 0 ? undefined : found.join(separator)
    }
  },
}

/**
 * An MLSNumber, kept as text (`0012` is not `12`), at most 500 characters. Only HTML escapes are undone: the service may show
 * `&` as `&amp;`, and the two would be indistinguishable.
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
export const url = ofText(['split', 'nth'], () => (found) => webAddress(found) ?? unreadableAddress(found))

/** Line breaks and tabs in an address are layout of the document, bidirectional controls of the text it was copied from. */
const unseen = /[\p{Cc}\p{Bidi_Control}]+/gu

/** A host has at most 253 characters, a user and a password may stand before it; some versions of Node parse a long one in quadratic time. */
const longHost = /^\s*https?:\/\/[^/?#]{1000}/i

/**
 * An http(s) address with blanks, quotes and angle brackets escaped; null: not an address to publish. One with a user or
 * password gives them away, and a link-local one leads whoever reads the listing into their own network.
 */
export function webAddress(address: string): string | null {
  const found = address.trim()
  if (longHost.test(found)) return null
  // Fast path for plain addresses: a record has many images. A host that begins with a digit may be an IP address.
  if (/^https?:\/\/(?!\d)[\w.-]+(?:[/?][!#-;=?-Z_a-z~]*)?$/i.test(found)) return found
  const plain = found.replaceAll(unseen, '')
  const url = /^https?:\/\/[^\s/?#]/i.test(plain) ? URL.parse(plain) : null
  if (url === null || url.username !== '' || url.password !== '' || isLinkLocal(url.hostname)) return null
  return plain.replaceAll(/[\s<>"]/gu, (mark) => (mark === '\u00a0' ? '%20' : encodeURIComponent(mark))).toWellFormed()
}

/** Addresses without the users and passwords that they may carry. */
export const withoutLogins = (text: string): string => text.replaceAll(/\/\/[^/?#]*@/g, '//…@')

export function unreadableAddress(text: string): Unreadable {
  const found = text.replaceAll(unseen, '')
  const isAddress = /^\s*https?:/i.test(found) && !longHost.test(found) && URL.canParse(found)
  const needed = isAddress ? 'without user or password, and not link-local' : 'that begins with http:// or https://'
  return new Unreadable(withoutLogins(found), `needs an address ${needed}`)
}

/** The names of child elements with the value yes (`PetsAllowed/Cats`), without those in `except`, joined by commas. */
export const flags: Converter = {
  yields: 'text',
  takes: ['except'],
  needsFrom: true,
  readsBelow: true,
  build: ({ from, field, rule }) => {
    const except = new Set(rule.except ?? [])
    if (field !== null) throw new RuleError('flags is for columns of ExtensionColumn only')
    return (node) => {
      const names = from
        .flatMap((select) => select.nodes(node))
        .flatMap((parent) => {
          const isYes = (name: string) => childrenOf(parent, name).some((child) => readBoolean(textOf(child)))
          return childNames(parent).filter((name) => !except.has(name) && isYes(name))
        })
      return names.length === 0 ? undefined : names.join(', ')
    }
  },
}
