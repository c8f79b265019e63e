/** What else reads texts of a feed, a server or the service does so in time that grows with their length and no faster. */
import { expect, test } from 'vitest'
import { differences } from '../../src/core/compare-listings.ts'
import { unescapeHtml } from '../../src/core/listing.ts'
import type { Listing, Shown } from '../../src/core/listing.ts'
import { scrubber } from '../../src/core/secrets.ts'
import { printable, printableLines, printableText } from '../../src/core/text.ts'
import { mendRecord } from '../../src/feed/mapping/mojibake.ts'
import { chosenMember } from '../../src/feed/transport/zip-member.ts'
import { Profile } from '../../src/inspect/profile.ts'
import { homeHashOf } from '../../src/core/home-hash.ts'
import { createItemReader } from '../../src/service/canonical.ts'
import { readRetryAfter } from '../../src/core/retry-after.ts'
import { compareStamps } from '../../src/feed/api/query.ts'
import { apiReader } from '../../src/feed/api/reader.ts'
import { kept } from '../../src/feed/api/record.ts'
import { vendorOf } from '../../src/feed/api/vendors.ts'
import { createCleaner } from '../../src/service/envelope.ts'
import { ObjectSplitter } from '../../src/service/framing.ts'
import { IdSet } from '../../src/service/observe.ts'
import { readAnswer, readAnswerOfGone } from '../../src/verify/read-answer.ts'
import { excess, sizes } from './growth.ts'
import { texts } from './shapes.ts'

const listing = (changes: Partial<Listing>): Listing =>
  ({
    MLSNumber: 'A-1',
    SaleType: 'for_sale',
    Status: 'Active',
    SalePrice: 300_000,
    CurrencySymbol: '$',
    ...changes,
  }) as Listing

const readItem = createItemReader(new Set())
const clean = createCleaner(['a-secret-of-ours'])
const scrub = scrubber(['a-secret-of-ours'])

async function* noBytes(): AsyncGenerator<Buffer> {}
const apiReading = apiReader.read(noBytes(), {
  encoding: null,
  charset: null,
  maxRecordBytes: Infinity,
  maxFields: Infinity,
  lengthProven: () => true,
})

function orRefused(task: () => void): void {
  try {
    task()
  } catch (error) {
    if (!(error instanceof Error && ['FeedError', 'SyntaxError'].includes(error.name))) throw error
  }
}

const readers: Record<string, (text: string) => void> = {
  'printable text': (text) => void [printable(text), printableLines(text), printableText(text)],
  'escaped HTML': unescapeHtml,
  'a text with secrets': scrub,
  'the address of a home': (text) => void homeHashOf({ Address: `1 ${text}`, City: text, ZIP: text }),
  'a text encoded twice': (text) => mendRecord({ A: text, B: [text, { C: text }] }),
  'a message of the service': clean,
  'a Retry-After': (text) => void readRetryAfter({ 'retry-after': text }, 0),
  'a listing of the service': (text) =>
    void readItem({
      MLSNumber: text,
      SaleType: text,
      Bedrooms: text,
      Images: text,
      Status: text,
      ExtensionColumn: text,
    })?.whole(),
  'lists of a listing of the service': (text) =>
    void readItem({ MLSNumber: 'A', Images: `[${text}`, ExtensionColumn: `[${text}` })?.whole(),
  'a difference': (text) => {
    const shown: Shown = { ...readItem({ MLSNumber: 'A-1' })!.whole(), fields: { Description: `${text} ` } }
    differences(listing({ Description: text }), shown)
  },
  'an answer in pieces': (text) => orRefused(() => void new ObjectSplitter().push(Buffer.from(text))),
  'a comment in an answer': (text) => orRefused(() => void new ObjectSplitter().push(Buffer.from(`:${text}`))),
  'an answer in lines': (text) => orRefused(() => void new ObjectSplitter().push(Buffer.from(`data: {"a":${text}`))),
  'what the chatbot says': (text) =>
    void [readAnswer(text, listing({ Address: '1 Main St' })), readAnswerOfGone(text, listing({}))],
  'what the chatbot says of a long name': (text) =>
    void readAnswer(
      text,
      listing({ MLSNumber: `1${text}`, Address: `1 Main ${text}`, ZIP: text, CurrencySymbol: text }),
    ),
  'a member of an archive': (text) =>
    orRefused(
      () =>
        void chosenMember(
          'a.zip',
          [
            { name: text, isFile: true },
            { name: `${text}.xml`, isFile: true },
          ],
          '*a*1*.xml',
        ),
    ),
  'a record of a live source': (text) => {
    const Media = [{ MediaURL: `https://a.example/1.jpg?${text}`, Order: text }, { MediaURL: text }]
    const record = { ListingId: text, [text]: text, MlgCanUse: [text], Media }
    void kept({ key: text, stamp: text, record }, vendorOf('mlsgrid'))
  },
  'a record of a live source as it is read again': (text) => {
    const raw = Buffer.from(
      JSON.stringify({ A: text, [text]: [text, { B: [text] }], C: text.slice(0, 1000).split('') }),
    )
    void apiReading.parse({ at: 'record 1', raw })
  },
  'a timestamp of a live source': (text) => void compareStamps(text, `2026-11-01T00:00:00.${text}`),
  'fields of a feed': (text) => new Profile().add({ [text]: text, A: { [`@${text}`]: [text, { [text]: text }] } }),
}

test.each(Object.entries(readers))('%s', async (_, read) => {
  const found: string[] = []
  for (const [shape, make] of Object.entries(texts)) {
    const why = await excess((size) => read(make(size)), sizes(4096))
    if (why !== null) found.push(`${shape}: ${why}`)
  }
  expect(found).toEqual([])
})

test('members of an archive', async () => {
  const why = await excess((count) => {
    const members = Array.from({ length: count / 16 }, (_, index) => ({ name: `a/${index}.jpg`, isFile: true }))
    orRefused(() => void chosenMember('a.zip', members, null))
  }, sizes(4096))
  expect(why).toBeNull()
})

test.each([
  ['that all end in the same bits', (index: number) => ((index * 2 ** 16) % 2 ** 32) + 65_536 * (index >> 16)],
  ['in a row', (index: number) => index + 1],
  ['as texts', (index: number) => `id-${index}`],
])('IDs of listings %s', async (_, idOf) => {
  const why = await excess((count) => {
    const seen = new IdSet()
    for (let index = 0; index < count; index++) seen.add(idOf(index))
  }, sizes(4096))
  expect(why).toBeNull()
})
