/** Every format reads hostile documents in time that grows with their length and no faster (`excess`). */
import { expect, test } from 'vitest'
import { FeedError } from '../../src/core/errors.ts'
import { RecordError } from '../../src/feed/format/format.ts'
import { formats, kindOf } from '../../src/feed/format/formats.ts'
import { inChunks } from '../contract/format.ts'
import { documents } from './documents.ts'
import { excess, sizes } from './growth.ts'
import type { Sizes } from './growth.ts'

/** As a run does: what it is, its records, their context, every record parsed. A refusal is an answer, too. */
async function read(format: string, document: string, own: Record<string, unknown>): Promise<void> {
  const bytes = Buffer.from(document)
  try {
    kindOf(bytes, { encoding: null, charset: null }, [])
  } catch (error) {
    if (!(error instanceof FeedError)) throw error
  }
  const options = { encoding: null, charset: null, maxRecordBytes: 64_000_000, quote: '"', requiredHeaders: [] }
  const reading = formats[format].read(inChunks(bytes, 64 * 1024), { ...options, lengthProven: () => true, ...own })
  try {
    for await (const batch of reading.records) {
      reading.context()
      for (const record of batch) {
        try {
          reading.parse(record)
        } catch (error) {
          if (!(error instanceof RecordError)) throw error
        }
      }
    }
    reading.end()
  } catch (error) {
    if (!(error instanceof FeedError)) throw error
  }
}

test('every format has hostile documents', () => {
  expect([...new Set(documents.map(({ format }) => format))].toSorted()).toEqual(Object.keys(formats).toSorted())
})

test.each(documents)('$title', async ({ format, options, places, shapes }) => {
  const found: string[] = []
  const look = async (documents: typeof shapes, range: Sizes): Promise<void> => {
    for (const [name, make] of Object.entries(documents)) {
      const why = await excess((size) => read(format, make(size), options), range)
      if (why !== null) found.push(`${name}: ${why}`)
    }
  }
  await look(places, sizes(8192, 4))
  await look(shapes, sizes(65_536, 4))
  expect(found).toEqual([])
})
