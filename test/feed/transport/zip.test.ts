import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { FeedError } from '../../../src/core/errors.ts'
import { decompressed } from '../../../src/feed/transport/decompress.ts'
import { file } from '../../../src/feed/transport/file.ts'
import { http } from '../../../src/feed/transport/http.ts'
import { transportSettings } from '../../../src/feed/transport/settings.ts'
import { open, optionsWith } from '../../contract/transport.ts'
import { zip } from '../../support/zip.ts'
import type { ZipMember } from '../../support/zip.ts'

const directory = await mkdtemp(join(tmpdir(), 'listing-sync-zip-'))
const scratch = await mkdtemp(join(tmpdir(), 'listing-sync-zip-scratch-'))

/** What the server sends, by path. */
const sent = new Map<string, { body: Buffer; headers?: Record<string, string>; cutTo?: number }>()
const server = createServer((request, response) => {
  const { body, headers, cutTo } = sent.get(request.url ?? '')!
  response.writeHead(200, { 'content-length': body.length, ...headers })
  if (cutTo === undefined) response.end(body)
  else response.write(body.subarray(0, cutTo), () => response.destroy())
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

afterAll(async () => {
  server.close()
  await rm(directory, { recursive: true })
  await rm(scratch, { recursive: true })
})

const document = '<Listings>é</Listings>\n'.repeat(500)
const feed: ZipMember = { name: 'export.xml', content: document }
let count = 0

async function read(source: ReturnType<typeof open>, member: string | null = null) {
  const unpacked = decompressed(await source, {
    ...transportSettings.parse({ maxUnpackedBytes: '1000000000B' }),
    scratch,
    member,
  })
  const pieces: Buffer[] = []
  for await (const part of unpacked.bytes) pieces.push(Buffer.from(part))
  return { text: Buffer.concat(pieces).toString(), ...unpacked.end() }
}

/** Reads an archive in a file without a telling name. */
async function fromFile(archive: Buffer, member: string | null = null) {
  const name = `feed-${++count}.xml`
  await writeFile(join(directory, name), archive)
  return read(open(file, name, optionsWith({ directory, maxBytes: 1e9 })), member)
}

async function fromServer(body: Buffer, more: { headers?: Record<string, string>; cutTo?: number } = {}) {
  const path = `/feed-${++count}`
  sent.set(path, { body, ...more })
  return read(open(http, `${origin}${path}`, optionsWith()))
}

const whole = { text: document, proven: true, reasons: [] }

describe('a whole archive is its document', () => {
  test.each<[string, ZipMember]>([
    ['deflated', feed],
    ['stored', { ...feed, stored: true }],
    ['with ZIP64 sizes', { ...feed, zip64: true }],
    ['gzip in it', { name: 'export.xml.gz', content: gzipSync(document) }],
    ['with a hostile name', { ...feed, name: '../../etc/cron.d/export.xml' }],
    ['with an absolute name', { ...feed, name: '/etc/passwd' }],
    ['with a name of a foreign system', { ...feed, name: 'C:\\exports\\export.xml' }],
  ])('%s', async (_, member) => {
    expect(await fromFile(zip([member]))).toEqual(whole)
    expect(await fromServer(zip([member]))).toEqual(whole)
    expect(await readdir(scratch)).toEqual([])
  })

  test('sent compressed once more', async () => {
    expect(await fromServer(gzipSync(zip([feed])), { headers: { 'content-encoding': 'gzip' } })).toEqual(whole)
  })

  test('an empty document in it', async () => {
    expect(await fromFile(zip([{ name: 'export.xml' }]))).toEqual({ ...whole, text: '' })
  })

  test('larger than a block', async () => {
    const long = Array.from({ length: 200_000 }, (_, line) => `<Listing id="${line}"/>\n`).join('')
    for (const stored of [true, false]) {
      const archive = zip([
        { name: 'photo.jpg', content: 'jpeg' },
        { name: 'export.xml', content: long, stored },
      ])
      expect((await fromServer(archive)).text === long).toBe(true)
      expect(await fromFile(archive)).toMatchObject({ proven: true, reasons: [] })
    }
  })

  test('left early, with nothing left behind', async () => {
    const path = `/feed-${++count}`
    sent.set(path, { body: zip([{ name: 'a.csv', content: Buffer.alloc(3_000_000, 'a,b\n'), stored: true }]) })
    const options = { ...transportSettings.parse({}), scratch }
    for await (const part of decompressed(await open(http, `${origin}${path}`, optionsWith()), options).bytes) {
      expect(part.length).toBeGreaterThan(0)
      break
    }
    expect(await readdir(scratch)).toEqual([])
  })
})

describe('which member', () => {
  const beside: ZipMember[] = [
    { name: 'photos/' },
    { name: 'photos/1.JPG', content: 'jpeg' },
    { name: 'plan.pdf', content: 'pdf' },
    { name: '__MACOSX/._export.xml', content: 'resource fork' },
    { name: '.export.xml.swp', content: 'hidden' },
    { name: 'Config.txt', content: 'Version=4.08' },
    { name: 'Photos.cfg', content: 'Mode=FULL' },
    { name: 'README.txt', content: 'please read' },
    { name: 'openimmo.xsd', content: '<xs:schema/>' },
    { name: 'latest.xml', content: 'export.xml', isLink: true },
  ]

  test('the only one that can be a feed', async () => {
    expect(await fromFile(zip([...beside, feed]))).toEqual(whole)
  })

  test('the one that `member` fits, by path or by name', async () => {
    const archive = zip([feed, { name: 'old/export.xml', content: 'old' }, { name: 'agents.csv', content: 'agents' }])
    expect((await fromFile(archive, 'old/*.xml')).text).toBe('old')
    expect((await fromFile(archive, '*.csv')).text).toBe('agents')
    expect((await fromFile(zip([...beside, feed]), 'plan.*')).text).toBe('pdf')
  })

  const named = (...names: string[]): ZipMember[] => names.map((name) => ({ name, content: 'x' }))
  const twelve = Array.from({ length: 12 }, (_, index) => `${index}.xml`)
  test.each<[string, ZipMember[], string | null, RegExp]>([
    ['several', named('a.xml', 'b.csv'), null, /holds 2 members that could be.*"member".*: a\.xml, b\.csv$/],
    ['twelve', named(...twelve), null, /holds 12 members.*: 0\.xml, .*, 9\.xml and 2 more$/],
    ['one name twice', named('a.xml', 'a.xml'), null, /holds 2 members that could be/],
    [
      'several that fit',
      named('a.xml', 'b.xml', 'c.csv'),
      '*.xml',
      /2 members that match "\*\.xml".*: a\.xml, b\.xml$/,
    ],
    [
      'none that fits',
      named('a.xml', 'b.csv'),
      '*.json',
      /no member that matches "\*\.json"; it holds a\.xml, b\.csv$/,
    ],
    ['pictures', named('1.jpg', '2.PNG', 'a/3.jpeg', 'x.pdf'), null, /holds 3 pictures and 1 office document$/],
    ['archives', named('a.zip', 'b.rar', '.c'), null, /without a feed: it holds 2 archives and 1 other file$/],
    ['nothing', [], null, /is an empty archive$/],
    ['folders only', [{ name: 'a/' }, { name: 'a/b/' }], null, /is an empty archive$/],
    ['a workbook', named('[Content_Types].xml', '_rels/.rels', 'xl/workbook.xml'), null, /workbook \(\.xlsx\)/],
    ['a letter', named('[Content_Types].xml', 'word/document.xml'), null, /is an office document, such as \.docx/],
    ['an OpenDocument', named('mimetype', 'content.xml', 'META-INF/manifest.xml'), null, /OpenDocument/],
    ['escape sequences', named('a\u001b[2J.xml', 'b\u202e.xml'), null, /: a\.xml, b\.xml$/],
  ])('refused: %s', async (_, members, member, message) => {
    const reading = fromFile(zip(members), member)
    await expect(reading).rejects.toThrow(message)
    await expect(reading).rejects.toBeInstanceOf(FeedError)
  })
})

describe('an archive that is not what it says', () => {
  const archive = zip([{ name: 'photo.jpg', content: Buffer.alloc(3000, 'jpeg'), stored: true }, feed])

  test('cut anywhere, no document is taken for whole', async () => {
    for (const cut of [4, 30, 3000, archive.length - 100, archive.length - 1]) {
      await expect(fromFile(archive.subarray(0, cut)), `cut at ${cut}`).rejects.toThrow(/cut off or broken/)
    }
    expect((await fromFile(archive.subarray(0, 3))).text).toBe('PK\u0003')
  })

  test('a lost connection is told with it', async () => {
    const cut = fromServer(archive, { cutTo: archive.length - 50 })
    await expect(cut).rejects.toThrow(/connection was lost.*End of central directory/)
    expect(await readdir(scratch)).toEqual([])
  })

  test.each<[string, ZipMember, RegExp]>([
    ['a wrong checksum', { ...feed, checkSum: 1 }, /export\.xml in the archive is broken: its checksum does not match/],
    ['a wrong checksum, stored', { ...feed, stored: true, checkSum: 1 }, /its checksum does not match/],
    ['less than it says', { ...feed, size: 99_999 }, /should unpack to 99999 bytes and does not/],
    ['more than it says', { ...feed, size: 10 }, /should unpack to 10 bytes and does not/],
    ['a size that is not its own, stored', { ...feed, stored: true, size: 10 }, /should unpack to 10 bytes/],
    ['data that is no Deflate', { ...feed, stored: true, method: 8 }, /broken or cut off/],
  ])('%s is a reason', async (_, member, reason) => {
    const { proven, reasons } = await fromFile(zip([member]))
    expect({ proven, reasons }).toEqual({ proven: false, reasons: [expect.stringMatching(reason)] })
  })

  test('of a member that is not read it does not matter', async () => {
    expect(await fromFile(zip([{ name: 'a.jpg', stored: true, size: 10, content: 'x', checkSum: 1 }, feed]))).toEqual(
      whole,
    )
  })

  test.each<[string, ZipMember, RegExp]>([
    ['encrypted', { ...feed, encrypted: true }, /export\.xml in .* is encrypted/],
    ['packed in another way', { ...feed, method: 9 }, /compressed by method 9 \(Deflate64\), which is not supported/],
    ['an archive again', { name: 'export', content: zip([feed]) }, /archive inside an archive/],
    ['larger than accepted', { ...feed, size: 2_000_000_001 }, /unpacks to 2000000001 bytes, more than 1000000000/],
    ['a bomb', { name: 'a.xml', content: Buffer.alloc(50_000_000) }, /unpacks to 50000000 bytes, more than 200 times/],
  ])('refused: %s', async (_, member, message) => {
    await expect(fromFile(zip([member]))).rejects.toThrow(message)
  })

  test('a bomb that hides its size is stopped at it', async () => {
    const { text, reasons } = await fromFile(zip([{ name: 'a.xml', content: Buffer.alloc(50_000_000), size: 1000 }]))
    expect(text.length).toBeLessThan(1_000_000)
    expect(reasons).toEqual([expect.stringMatching(/should unpack to 1000 bytes/)])
  })

  test('a bomb of gzip in it is stopped by its ratio', async () => {
    const { text, reasons } = await fromFile(zip([{ name: 'a.gz', content: gzipSync(Buffer.alloc(50_000_000)) }]))
    expect(text.length).toBeLessThan(12_000_000)
    expect(reasons).toEqual([
      'the document unpacks to more than 200 times what was sent (maxRatio); the rest was not read',
    ])
  })

  test('more members than any export has', async () => {
    const many = zip([feed], { entryCount: 100_001 })
    await expect(fromFile(many)).rejects.toThrow(/archive of 100001 members, more than maxFiles, 100000/)
    await expect(fromFile(zip([feed], { entryCount: 3 }))).rejects.toThrow(/cut off or broken/)
  })

  test('names that fill the memory', async () => {
    const long = Array.from({ length: 520 }, (_, index) => ({ name: `${index}${'x'.repeat(65_000)}.jpg` }))
    await expect(fromFile(zip([...long, feed]))).rejects.toThrow(/more than 33554432 bytes of member names/)
  })

  test('damaged at random: refused, doubtful, or what it was', async () => {
    const damage = fc.array(fc.tuple(fc.nat(archive.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(damage, async (changes) => {
        const damaged = Buffer.from(archive)
        for (const [at, byte] of changes) damaged[at] = byte
        try {
          const { text, reasons } = await fromFile(damaged)
          if (text !== document && damaged.readUInt32BE(0) === 0x504b0304) expect(reasons).not.toEqual([])
        } catch (error) {
          if (!(error instanceof FeedError)) throw error
        }
      }),
      { numRuns: 300 },
    )
  })
})
