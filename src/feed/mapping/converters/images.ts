import { z } from 'zod'
import type { RecordNode } from '../../format/format.ts'
import { pathSchema } from '../rule-keys.ts'
import { saysNothing, wordKey } from '../vocabulary.ts'
import { RuleError, Unreadable, problemOf } from './converter.ts'
import type { Converter } from './converter.ts'
import { unreadableAddress, webAddress, withoutLogins } from './text.ts'

interface ImagesKeys {
  orderBy?: string
  first?: string[]
}

/**
 * Image addresses in the order of the record: every path of `from`, in each node of `each`. `split` cuts a cell with a list;
 * of several separators each cuts only before an address (a comma may be part of one). `orderBy` sorts the nodes, by
 * number if both are numbers, those named in `first` first (Kyero @id, REAXML m, a…z). Names of files go behind the feed's
 * `imageBase`; without one they are left out, as the service takes addresses only, and so are duplicates. The first of
 * what is neither is a problem of the record.
 */
export const images: Converter<ImagesKeys> = {
  yields: 'images',
  takes: ['split', 'each'],
  keys: {
    orderBy: pathSchema.describe('images: path of what the nodes of each are sorted by'),
    first: z.array(z.string()).describe('images: values of orderBy that come first'),
  },
  paths: ({ orderBy }) => [orderBy ?? []].flat(),
  needsFrom: true,
  build: ({ from, rule, select, preset: { imageBase } }) => {
    if (rule.orderBy !== undefined && rule.each === undefined)
      throw new RuleError('orderBy sorts the nodes of each: give each, too')
    const orderBy = rule.orderBy === undefined ? null : select(rule.orderBy)
    const first = (rule.first ?? []).map(wordKey)
    const rank = (key: string) => {
      const place = first.indexOf(wordKey(key))
      return place === -1 ? first.length : place
    }
    const texts = (node: RecordNode) => from.flatMap((select) => select.all(node))
    const ordered = (node: RecordNode): string[] => {
      const nodes = each?.nodes(node) ?? [node]
      if (orderBy === null) return nodes.flatMap(texts)
      return nodes
        .map((inner) => ({ inner, key: orderBy.first(inner) }))
        .toSorted((a, b) => rank(a.key) - rank(b.key) || compareInOrder(a.key, b.key))
        .flatMap(({ inner }) => texts(inner))
    }
    const each = rule.each === undefined ? null : select(rule.each)
    const cut = cutter(rule.split)

    return (node, making) => {
      let unreadable: Unreadable | null = null
      const address = (part: string): string | null => {
        if (holdsSeveral(part)) {
          unreadable ??= new Unreadable(
            withoutLogins(part),
            'holds several addresses; say with split what stands between them',
          )
          return null
        }
        const found = webAddress(part)
        if (found !== null) return found
        if (!fileName.test(part.trim())) unreadable ??= unreadableAddress(part)
        else if (imageBase === undefined) making.imageFiles = (making.imageFiles ?? 0) + 1
        else return addressOf(part.trim(), imageBase, making.listing.MLSNumber ?? '')
        return null
      }
      const found = ordered(node)
        .flatMap(cut)
        .flatMap((part) => (saysNothing(part.trim()) ? [] : (address(part) ?? [])))
      if (unreadable !== null) making.unread.push(problemOf('An entry of Images', unreadable))
      return found.length === 0 ? undefined : [...new Set(found)]
    }
  },
}

/** Addresses one after another. Behind a slash or `=` an address is a part of another one, as of a service that makes photos smaller. */
const several = /(?:[,;|\s]|\.(?:jpe?g|png|webp|gif|avif|heic))https?:\/\//i

/** Whether no `split` has cut it. A quick look settles most, as a record has many images. */
const holdsSeveral = (part: string): boolean => part.includes('://', 10) && several.test(part.trimStart())

/** A file's name, with folders before it or not. */
const fileName = /^(?!.*(?:^|[/\\])\.\.)[^:?#<>"|*\p{Cc}]{1,300}\.(?:jpe?g|png|webp|gif|avif|heic)$/iu

function addressOf(name: string, base: string, mlsNumber: string): string | null {
  const path = name
    .replaceAll('\\', '/')
    .split('/')
    .filter((part) => part !== '')
  const folder = base.replaceAll('{MLSNumber}', encodeURIComponent(mlsNumber.toWellFormed()))
  return webAddress(folder + path.map((part) => encodeURIComponent(part.toWellFormed())).join('/'))
}

function cutter(split: string | string[] | undefined): (text: string) => string[] {
  if (split === undefined) return (text) => [text]
  if (typeof split === 'string') return (text) => text.split(split)
  return (text) => cutBeforeAddresses(text, split)
}

/** Cuts before an address after one of the marks. Without a regular expression, which long runs of blanks make slow. */
function cutBeforeAddresses(text: string, marks: readonly string[]): string[] {
  const pieces: string[] = []
  let start = 0
  for (const { index } of text.matchAll(/https?:\/\//gi)) {
    let blank = index
    while (blank > start && /\s/.test(text[blank - 1])) blank--
    const isCut = marks.some((mark) => text.slice(Math.max(start, blank - mark.length), index).includes(mark))
    if (!isCut) continue
    pieces.push(withoutEnd(text.slice(start, index), marks))
    start = index
  }
  return [...pieces, withoutEnd(text.slice(start), marks)]
}

/** A list may end in its separator. */
function withoutEnd(text: string, marks: readonly string[]): string {
  let end = text.length
  for (;;) {
    const mark = marks.find((each) => text.endsWith(each, end))
    if (end > 0 && /\s/.test(text[end - 1])) end--
    else if (mark !== undefined && end > 0) end -= mark.length
    else return text.slice(0, end)
  }
}

function compareInOrder(a: string, b: string): number {
  const numbers = Number(a) - Number(b)
  if (!Number.isNaN(numbers)) return numbers
  return a < b ? -1 : Number(a > b)
}
