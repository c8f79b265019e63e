import { z } from 'zod'
import { decoded } from './encoding.ts'
import { looksLikeJson, refuseOthers } from './foreign.ts'
import { refuseBroken } from './format.ts'
import type { Format, RawRecord, ReadOptions, Reading } from './format.ts'
import { parseJsonRecord } from './json-record.ts'
import { jsonShape } from './json-shape.ts'
import { JsonSplitter } from './json-splitter.ts'

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
        'Path of the member that names the next page, such as "@odata.nextLink"; where it has a value, the delivery is incomplete.',
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

/** Records are cut on bytes, and views on the blocks read: copy `raw` to keep it longer than its batch. */
function read(bytes: AsyncIterable<Buffer>, options: ReadOptions & JsonOptions): Reading {
  const { counter, nextPage, maxRecordBytes } = options
  const source = decoded(bytes, options)
  const paths = [options.record].flat()
  const watch = [counter, nextPage].filter((path) => path !== undefined)
  const splitter = new JsonSplitter(paths, { maxRecordBytes, watch })
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
    const said = counter === undefined ? undefined : splitter.members.get(counter)
    if (said === undefined || said === 'null') return []
    if (!/^\d{1,15}$/.test(said)) return [`${counter} of the document is not a number of records`]
    const { count } = splitter
    return Number(said) === count ? [] : [`${counter} is ${Number(said)}, but the document holds ${count} records`]
  }

  function pageReasons(): string[] {
    const said = nextPage === undefined ? undefined : splitter.members.get(nextPage)
    if (said === undefined || said === 'null' || said === '') return []
    return [`the document is one page of several: its ${nextPage} names the next one, which is not in it`]
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
