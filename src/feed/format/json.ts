import { z } from 'zod'
import { many, printable } from '../../core/text.ts'
import { decoded } from './encoding.ts'
import { looksLikeJson, refuseOthers } from './foreign.ts'
import { refuseBroken } from './format.ts'
import type { Format, RawRecord, ReadOptions, Reading } from './format.ts'
import { parseJsonRecord } from './json-record.ts'
import { jsonShape } from './json-shape.ts'
import { JsonSplitter } from './json-splitter.ts'
import type { MemberValue } from './json-splitter.ts'

const member = z.string().min(1)

const options = () =>
  z.object({
    record: z
      .union([member, z.array(member).min(1)], {
        error: ({ input }) => (input === undefined ? 'a JSON preset needs it' : undefined),
      })
      .describe(
        'Path of the array of records from the root, such as value or data/listings, or several; "." is the document itself: an array, or one record.',
      ),
    counter: member
      .optional()
      .describe(
        'Path of the member that says how many records there are, such as "@odata.count"; any other number makes the delivery incomplete.',
      ),
    nextPage: member
      .optional()
      .describe(
        'Path of the member that names the next page, such as "@odata.nextLink"; where it has a value, the delivery is incomplete. Without it, members that other APIs have are looked at, such as next, next_page_url and links/next/href.',
      ),
  })
type JsonOptions = z.output<ReturnType<typeof options>>

/** JSON documents with an array of records, or one record. */
export const json: Format<JsonOptions> = {
  title: 'JSON',
  hasEndMark: true,
  nested: true,
  options,
  detect(head) {
    if (!looksLikeJson(head.toString('latin1', 0, 4096).trimStart())) return null
    const record = jsonShape(head)
    return { options: record === null ? null : { record } }
  },
  read,
}

const hasMore = /(?:^|\/)has[-_]?(?:more|next)(?:[-_]?page)?$/i

/** What APIs call the next page, wherever they keep it, and what it is if there is one. */
const nextPages: readonly (readonly [name: RegExp, value: RegExp])[] = [
  // Its address, perhaps in an object with an `href`.
  [
    /(?:^|\/)(?:@(?:odata\.)?)?next[-_]?(?:page)?[-_]?(?:link|ur[il]|href)?(?:\/(?:href|ur[il]))?$/i,
    /^(?:https?:|\\?\/|\?)./i,
  ],
  [/(?:^|\/)next[-_]?page$/i, /^(?:[2-9]|[1-9]\d+)$/],
  [/(?:^|\/)next[-_]?(?:page)?[-_]?(?:cursor|token)$/i, /^(?!(?:null|false|0|-1)?$)/],
  [hasMore, /^true$/],
]

/** Whether a member of the document says that there is a next page. */
const isNextPage = (path: string, value: MemberValue): boolean =>
  nextPages.some(([name, pattern]) => name.test(path) && !value.isInArray() && pattern.test(value.read()))

/** Records are cut on bytes, and views on the blocks read: copy `raw` to keep it longer than its batch. */
function read(bytes: AsyncIterable<Buffer>, options: ReadOptions & JsonOptions): Reading {
  const { counter, nextPage, maxRecordBytes } = options
  const source = decoded(bytes, options)
  const paths = [options.record].flat()
  let counted: string | undefined
  /** The member that names a next page. */
  let next: string | undefined
  /** The document says that no page comes after it, so that a member which looks like a link to one is none. */
  let isLast = false
  // A document that is a record itself has members of its own.
  const isUnnamed = nextPage === undefined && !paths.includes('.')
  const splitter = new JsonSplitter(paths, {
    maxRecordBytes,
    member(path, value) {
      if (path === counter) counted = value.read()
      if (path === nextPage) next = /^(?:null)?$/.test(value.read()) ? undefined : path
      else if (isUnnamed && isNextPage(path, value)) next = path
      else if (isUnnamed && hasMore.test(path) && !value.isInArray() && value.read() === 'false') isLast = true
    },
  })
  const reasons: string[] = []

  async function* records(): AsyncGenerator<RawRecord[]> {
    let begun = false
    for await (const block of source.blocks(undefined, () => splitter.waiting)) {
      if (!begun) refuseOthers(block, 'JSON', ['an HTML page', 'XML'])
      begun = true
      const batch = splitter.push(block)
      if (batch.length > 0) yield batch
    }
    const last = splitter.end()
    if (last.length > 0) yield last
    reasons.push(...splitter.reasons, ...countReasons(), ...pageReasons())
  }

  /** It reveals a document that was put together badly but still looks complete. */
  function countReasons(): string[] {
    if (counted === undefined || counted === 'null') return []
    if (!/^\d{1,15}$/.test(counted)) return [`${counter} of the document is not a number of records`]
    const { count } = splitter
    if (Number(counted) === count) return []
    return [`${counter} is ${Number(counted)}, but the document holds ${many(count, 'record')}`]
  }

  function pageReasons(): string[] {
    if (next === undefined || isLast) return []
    const what = `the document is one page of several: its ${printable(next)} names the next one, which is not in it`
    return [nextPage === undefined ? `${what} (if it does not, name another member as nextPage in the preset)` : what]
  }

  return {
    records: records(),
    context: () => '',
    end: () => ({ reasons }),
    parse(record) {
      refuseBroken(record)
      return parseJsonRecord(source.text(record.raw))
    },
  }
}
