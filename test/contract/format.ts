import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { FeedError } from '../../src/core/errors.ts'
import { RecordError } from '../../src/feed/format/format.ts'
import type { Format, FormatOptions, Reader, ReadOptions, RecordFields } from '../../src/feed/format/format.ts'

export interface Read {
  /** Place and content of every record; a record that can't be parsed is its problem. */
  records: (RecordFields | string)[]
  places: string[]
  reasons: string[]
}

/** What a test says of a document: options of its format and of any. */
export type Options = Partial<ReadOptions> & FormatOptions

const usual: ReadOptions & FormatOptions = {
  encoding: null,
  charset: null,
  maxRecordBytes: 1024 * 1024,
  lengthProven: () => false,
  requiredHeaders: [],
}

export async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) {
    // A copy: a chunk must not see its neighbours through a shared buffer.
    yield Buffer.from(bytes.subarray(at, at + size))
  }
}

/** Reads a whole document through the format's own door. */
export async function read(format: Reader, bytes: Buffer | string, options: Options, size = 1 << 20): Promise<Read> {
  const reading = format.read(inChunks(Buffer.from(bytes), size), { ...usual, ...options })
  const result: Read = { records: [], places: [], reasons: [] }
  for await (const batch of reading.records) {
    for (const record of batch) {
      result.places.push(record.at)
      try {
        result.records.push(reading.parse(record))
      } catch (error) {
        if (!(error instanceof RecordError)) throw error
        result.records.push(error.message)
      }
    }
  }
  result.reasons = reading.end().reasons
  return result
}

/** The same of a document that may not even begin as it should: the refusal is the reason. */
async function readOrRefused(format: Format, bytes: Buffer | string, options: Options): Promise<Read> {
  try {
    return await read(format, bytes, options)
  } catch (error) {
    if (!(error instanceof FeedError)) throw error
    return { records: [], places: [], reasons: [error.message] }
  }
}

/** A small generator with a seed, so that a failing case can be run again. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** A copy with a few bytes overwritten, removed, doubled or moved. */
export function mutated(document: Buffer, random: () => number): Buffer {
  let bytes = Buffer.from(document)
  const marks = '<>/"\'=&;,\n\r![]-?\u0000:x'
  for (let times = 1 + Math.floor(random() * 4); times > 0; times--) {
    const at = Math.floor(random() * bytes.length)
    const length = 1 + Math.floor(random() * 12)
    const kind = Math.floor(random() * 4)
    const mark = Buffer.from(marks[Math.floor(random() * marks.length)] ?? '<')
    if (kind === 0) bytes[at] = mark[0] ?? 60
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at), mark, bytes.subarray(at)])
    else bytes = Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)])
  }
  return bytes
}

export interface FormatCase {
  name: string
  format: Format
  options: Options
  /** A whole document with letters beyond ASCII in windows-1252, ending as its format ends. */
  document: string
  /** What `document` holds. */
  expected: unknown[]
  /** Whether a document cut after so many bytes can't be told from a whole one by the format. */
  wholeAt: (bytes: Buffer) => boolean
}

/** What every format promises (`Format` of src/feed/format/format.ts). */
export function formatContract({ name, format, options, document, expected, wholeAt }: FormatCase): void {
  describe(`${name} keeps the format contract`, () => {
    const utf8 = Buffer.from(document)
    const wide = Buffer.from(`\ufeff${document}`, 'utf16le')
    const encodings: [string, Buffer, Options][] = [
      ['UTF-8', utf8, {}],
      ['UTF-8 with a mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), utf8]), { charset: 'windows-1252' }],
      ['UTF-16LE with a mark', wide, {}],
      ['UTF-16BE with a mark', Buffer.from(wide).swap16(), { charset: 'utf-8' }],
      ['UTF-16LE without a mark', wide.subarray(2), {}],
      ['windows-1252, said by HTTP', Buffer.from(document, 'latin1'), { charset: 'ISO-8859-1' }],
      ['windows-1252, said by the configuration', Buffer.from(document, 'latin1'), { encoding: 'windows-1252' }],
      ['windows-1252, said by nobody', Buffer.from(document, 'latin1'), {}],
    ]
    test.each(encodings)('%s, in chunks of every size', async (_, bytes, stated) => {
      const whole = await read(format, bytes, { ...options, ...stated })
      expect(whole.records).toEqual(expected)
      expect(whole.reasons).toEqual([])
      for (let size = 1; size < bytes.length; size += 1 + (size >> 3)) {
        expect(await read(format, bytes, { ...options, ...stated }, size), `chunks of ${size}`).toEqual(whole)
      }
    })

    test('a document cut anywhere is never taken for a whole one', async () => {
      for (let length = 0; length < utf8.length; length++) {
        const cut = utf8.subarray(0, length)
        if (wholeAt(cut)) continue
        const { reasons } = await readOrRefused(format, cut, options)
        expect(reasons.length, `cut after ${length} bytes`).toBeGreaterThan(0)
      }
    })

    test('what is no such document is named', async () => {
      const others: [string, RegExp][] = [
        ['<!DOCTYPE html>\n<html><body>Log in</body></html>', /HTML/],
        ['<HTML><HEAD></HEAD></HTML>', /HTML/],
        ['{"listings": []}', /JSON/],
        ['PK\u0003\u0004 and more', /ZIP/],
        ['%PDF-1.7 and more', /PDF/],
      ]
      for (const [text, kind] of others) {
        const reading = read(format, text, options)
        await expect(reading).rejects.toThrow(kind)
        await expect(reading).rejects.toBeInstanceOf(FeedError)
      }
      await expect(read(format, 'x', { ...options, charset: 'klingon' })).rejects.toThrow(/encoding "klingon"/)
    })

    test('an empty document is no whole one', async () => {
      expect(await read(format, '', options)).toEqual({ records: [], places: [], reasons: ['the document is empty'] })
    })

    test('bytes that are not the UTF-8 they are said to be break their record alone', async () => {
      const bytes = Buffer.from(document, 'latin1')
      const { records } = await read(format, bytes, { ...options, encoding: 'utf-8' })
      expect(records).toHaveLength(expected.length)
      expect(records.filter((record) => typeof record === 'string')).toEqual([
        expect.stringMatching(/^byte \d+ of the record is not the UTF-8.*encoding: windows-1252/),
      ])
    })

    test('leaving early releases the source', async () => {
      let released = false
      async function* endless(): AsyncGenerator<Buffer> {
        try {
          yield Buffer.from(document)
          while (true) {
            await setImmediate()
            yield Buffer.alloc(300_000, ' \n')
          }
        } finally {
          released = true
        }
      }
      for await (const batch of format.read(endless(), { ...usual, ...options }).records) {
        expect(batch.length).toBeGreaterThan(0)
        break
      }
      expect(released).toBe(true)
    })

    test('3000 damaged documents: no crash, no polluted prototype', async () => {
      const seed = Number(process.env.SEED ?? 20261121)
      const random = randomFrom(seed)
      const prototype = Object.getOwnPropertyNames(Object.prototype)
      for (let round = 0; round < 3000; round++) {
        const damaged = mutated(utf8, random)
        try {
          await read(format, damaged, { ...options, maxRecordBytes: 400 }, 1 + Math.floor(random() * 64))
        } catch (error) {
          if (error instanceof FeedError) continue
          throw new Error(`seed ${seed}, round ${round}: ${JSON.stringify(damaged.toString())}`, { cause: error })
        }
      }
      expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(prototype)
    })
  })
}
