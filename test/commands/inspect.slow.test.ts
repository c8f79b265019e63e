/** `inspect` by its command line, on files made here and on the fixtures of the presets. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDoors } from '../../src/app/doors.ts'
import { findingsForms, inspectSource } from '../../src/app/inspect.ts'
import { FeedError, messageOf } from '../../src/core/errors.ts'
import type { Findings } from '../../src/inspect/findings.ts'
import { initialise } from '../../src/inspect/init.ts'
import { startStandIn } from '../../src/stand-in/stand-in.ts'
import { home, homes, zillowFeed, zillowRecord } from '../support/homes.ts'
import { withPatience } from '../support/patience.ts'
import { executed } from '../support/program.ts'
import { zip } from '../support/zip.ts'

const fixtures = join(import.meta.dirname, '../../fixtures/presets')
const fixtureOf = (name: string): string =>
  join(fixtures, name, readdirSync(join(fixtures, name)).find((file) => file.startsWith('feed.')) ?? '')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-inspect-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function made(name: string, content: string | Buffer): string {
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}

const configFile = (): string => join(folder, 'config', 'listing-sync.yaml')
const inspect = (...words: string[]) => executed(['--config', configFile(), 'inspect', ...words])

/** As `--format json` has it, where neither the words on the command line nor the status are the point. */
async function found(source: string, preset?: string): Promise<{ findings: Findings }> {
  const context = { configFile: configFile(), doors: createDoors(), env: {}, signal: new AbortController().signal }
  const { findings } = await inspectSource(context, source, { preset, limit: null })
  return { findings: JSON.parse(findingsForms.json(findings, false)) as Findings }
}

function inProcess(source: string, limit: number | null = null) {
  const context = { configFile: configFile(), doors: createDoors(), env: {}, signal: new AbortController().signal }
  return inspectSource(context, source, { preset: undefined, limit })
}

/** The type of a home is the record's own name, stands around it, is always the same, or is not there. */
const withoutTypeField = new Set(['galactica', 'is24-xml', 'mits', 'trulia-flat'])

describe('which preset fits', () => {
  for (const name of readdirSync(fixtures)) {
    test(`${name}: its fixture is known as such, and every field that is used is found`, async () => {
      const { findings } = await inProcess(fixtureOf(name))
      expect(findings.preset).toMatchObject({ name, chosen: 'found' })
      expect(findings.document).toMatchObject({ complete: true, reasons: [] })
      expect(findings.others.every(({ score }) => score < findings.preset!.score)).toBe(true)
      expect(findings.others.length).toBeLessThanOrEqual(4)
      const field = withoutTypeField.has(name) ? /^(Sale|Rent)Price$/ : /^PropertyType$/
      expect(findings.fields.some(({ usedFor }) => usedFor.some((use) => field.test(use)))).toBe(true)
      expect(findings.samples).toHaveLength(3)
    })
  }

  test('--preset skips the choice; a name that is not there is wrong usage, another format a wrong feed', async () => {
    const source = fixtureOf('reso-csv')
    expect((await found(source, 'mls-csv')).findings.preset).toMatchObject({
      name: 'mls-csv',
      chosen: 'given',
    })
    const mistyped = await inspect(source, '--preset', 'reso-cvs')
    expect(mistyped.status).toBe(64)
    expect(mistyped.stderr).toContain('did you mean "reso-csv"')
    const other = await inspect(source, '--preset', 'zillow')
    expect(other).toMatchObject({ status: 1, stdout: '' })
    expect(other.stderr).toContain('the document is CSV; the preset zillow reads XML')
  })

  test('none for a JSON of its own: its records are found, and --init writes a preset for them', async () => {
    const items = [1, 2, 3].map((n) => ({ id: `J-${n}`, bedrooms: n, city: 'Lyon', price: 900 }))
    const source = made('own.json', JSON.stringify({ total: 3, items, links: { next: null } }))
    const { status, stdout } = await inspect(source, '--init')
    expect(status).toBe(4)
    expect(stdout).toContain('JSON, records at items')
    expect(stdout).toContain('3 records')
    expect(stdout).toContain('No preset fits')
    const preset = join(folder, 'config', 'presets', 'own.yaml')
    expect(readFileSync(preset, 'utf8')).toMatch(/^format: json\nrecord: items$/m)
    expect((await inspect(source, '--preset', preset)).stdout).toContain('Bedrooms')
    const foreign = made('foreign.json', JSON.stringify({ annonces: [{ reference: 'A1', ville: 'Lyon' }] }))
    expect((await inspect(foreign)).stdout).toContain('JSON, records at annonces')
  })

  test('none: the unit of an area is not guessed to be that of a street', async () => {
    const records = [1, 2, 3].map(
      (n) =>
        `<home id="H${n}"><address><street>Main Street</street></address><size unit="sqft">90${n}</size><rooms>${n}</rooms><view>sea</view></home>`,
    )
    await inspect(made('own.xml', `<homes>${records.join('')}</homes>`), '--init')
    const guessed = readFileSync(join(folder, 'config', 'presets', 'own.yaml'), 'utf8')
    expect(guessed).toMatch(/^ {2}Address: address\/street$/m)
    expect(guessed).toContain('#   size/@unit: 100 %: sqft')
  })

  test('none: says so, and how to go on', async () => {
    const records = [1, 2, 3].map((n) => `<haus nr="H${n}"><zimmer>${n}</zimmer><ort>Zug</ort><preis>1</preis></haus>`)
    const { status, stdout } = await inspect(made('own.xml', `<liste><teil>${records.join('')}</teil></liste>`))
    expect(status).toBe(4)
    expect(stdout).toContain('records at liste/teil/haus')
    expect(stdout).toContain('No preset fits')
    expect(stdout).toMatch(/100 +@nr +H1 \| H2 \| H3/)
  })
})

test('a RETS answer with its records in elements is XML, not COMPACT', async () => {
  const details = [1, 2].map(
    (n) =>
      `<PropertyDetails ID="P-${n}"><Price>${n}00000</Price><City>Guelph</City><Type>House</Type></PropertyDetails>`,
  )
  const answer = `<RETS ReplyCode="0"><COUNT Records="2"/><RETS-RESPONSE>${details.join('')}</RETS-RESPONSE></RETS>`
  const { findings } = await inProcess(made('crea.xml', answer))
  expect(findings.document).toMatchObject({ format: 'xml', record: 'RETS/RETS-RESPONSE/PropertyDetails', records: 2 })
})

describe('a second table', () => {
  const rows = ['H1,200000,Mesa', 'H2,300000,Mesa'].join('\n')
  const media = 'Of,MediaURL,Order\nH1,https://img.example/2.jpg,2\nH1,https://img.example/1.jpg,1\n'
  const configured = (): string => {
    made('north.csv', `ListingId,ListPrice,City\n${rows}\n`)
    mkdirSync(join(folder, 'config'))
    const join_ = { media: { source: '../media.csv', key: 'Of', by: 'ListingId', orderBy: 'Order' } }
    const fields = { Images: { from: 'media:MediaURL', as: 'images' } }
    const north = { chatbot: 'SN-1', source: '../north.csv', preset: 'reso-csv', join: join_, fields }
    const service = { baseUrl: 'http://127.0.0.1:1', secretKey: 'none' }
    writeFileSync(configFile(), JSON.stringify({ service, store: './store.db', feeds: { north } }))
    return 'north'
  }

  test('has its columns among the fields, and its pictures in the listings', async () => {
    const name = configured()
    made('media.csv', media)
    const { findings } = await inProcess(name)
    expect(findings.notes).toEqual([])
    const field = findings.fields.find(({ path }) => path === 'media:MediaURL')
    expect(field).toMatchObject({ filled: 50, usedFor: ['Images'] })
    expect(findings.samples[0].listing?.Images).toEqual(['https://img.example/1.jpg', 'https://img.example/2.jpg'])
  })

  test('that is not there is said', async () => {
    const name = configured()
    const { status, stdout } = await inspect(name)
    expect(status).toBe(4)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('The table media (join) is missing or not whole: ')
  })
})

describe('what is said of a feed', () => {
  test('the JSON document, and nothing else on standard output', async () => {
    const source = made('export.xml.gz', gzipSync(readFileSync(fixtureOf('zillow'))))
    const { status, stdout, stderr } = await inspect(source, '--format', 'json')
    expect({ status, stderr }).toEqual({ status: 4, stderr: '' })
    const findings = JSON.parse(stdout) as Findings
    expect(Object.keys(findings)).toEqual(
      'version source document preset others settings counts fields moreFields unused samples rejects leftOut words moreWords removals missing hiding notes'.split(
        ' ',
      ),
    )
    expect(findings.document).toMatchObject({
      container: ['gzip'],
      format: 'xml',
      encoding: { name: 'utf-8', by: 'the XML declaration' },
      record: 'Listings/Listing',
      records: 20,
      complete: true,
    })
    expect(findings.counts).toEqual({ listings: 12, removals: 2, filtered: 0, rejects: 6, lackingFactsOnly: 2 })
    expect(findings.words).toEqual([
      {
        field: 'PropertyType',
        words: [{ word: 'Lighthouse', count: 1 }],
        write: expect.stringContaining('Lighthouse: Other'),
      },
      {
        field: 'Status',
        words: [{ word: 'Backup Offers Only', count: 1 }],
        write: 'statuses: { Backup Offers Only: "?" }',
      },
    ])
    expect(findings.removals).toContainEqual({ why: 'the feed says ListingDetails/Status is "Pending"', count: 1 })
    expect(findings.unused).toContain('Agent/EmailAddress')
    expect(findings.fields).toContainEqual({
      path: 'Location/UnitNumber',
      filled: 15,
      examples: ['# 411', '45', '4B'],
      isKey: false,
      usedFor: ['Address'],
    })
    expect(findings.missing.find(({ field }) => field === 'YearBuilt')).toMatchObject({
      count: 1,
      write: 'placeholders: { YearBuilt: 0 }',
    })
    expect(findings.samples.map(({ listing }) => listing?.SaleType)).toEqual(['for_sale', 'for_rent', 'for_sale'])
    const bedrooms = findings.rejects.find(({ field }) => field === 'Bedrooms')
    expect(bedrooms).toMatchObject({ count: 1, examples: [{ mlsNumber: 'JUNK-12', value: '99999.0' }] })
  })

  test('a clean feed is 0; the first records of it are not judged whole', async () => {
    const source = made('homes.xml', zillowFeed([1, 2, 3, 4].map((n) => home(n))))
    expect((await inspect(source)).status).toBe(0)
    const { status, stdout } = await inspect(source, '--records', '2', '--format', 'json')
    const findings = JSON.parse(stdout) as Findings
    expect(status).toBe(0)
    expect(findings.document).toMatchObject({ records: 2, complete: null, reasons: [] })
    expect((await inspect(source, '--records', '0')).status).toBe(64)
  })

  test("numbers that are not written in the preset's way, a last row without line break", async () => {
    const rows = [1, 2, 3, 4, 5].map((n) => `${n};Active;${n}50.000,00;3;2;1990;${n}.200;Main Road ${n}`)
    const { findings } = await found(
      made('de.csv', `MLS #;Status;List Price;Beds;Baths;Year Built;SqFt;Address\n${rows.join('\n')}`),
    )
    expect(findings.preset?.name).toBe('mls-csv')
    expect(findings.document).toMatchObject({ dialect: { delimiter: ';' }, complete: false })
    expect(findings.settings.map(({ write }) => write)).toEqual([
      'numbers: { decimal: \',\', group: "." }',
      'endsWithLineBreak: false',
    ])
    expect(findings.samples[0].listing?.SalePrice).toBe(150_000)
  })

  test.each(["'", '’'])('numbers with %s between thousands', async (mark) => {
    const rows = [1, 2, 3, 4, 5].map((n) => `${n},Active,${n}50${mark}000,3,2,1990,${n}${mark}200,Main Road ${n}`)
    const { findings } = await found(
      made('ch.csv', `MLS #,Status,List Price,Beds,Baths,Year Built,SqFt,Address\n${rows.join('\n')}\n`),
    )
    expect(findings.settings.map(({ write }) => write)).toEqual([`numbers: { decimal: '.', group: "'" }`])
    expect(findings.samples[0].listing).toMatchObject({ SalePrice: 150_000, BuildingArea: 1200 })
  })

  test('encodings: by the byte order mark, by the bytes themselves', async () => {
    const text = readFileSync(fixtureOf('kyero'), 'utf8').replace(/^<\?xml[^>]*>\s*/, '')
    const wide = (await found(made('wide.xml', Buffer.from(`\ufeff${text}`, 'utf16le')))).findings
    expect(wide.document.encoding).toEqual({ name: 'utf-16le', by: 'the byte order mark' })
    expect(wide.preset?.name).toBe('kyero')
    const latin =
      'MLS #,City,Status,List Price,Address,Since,Call\n1,Málaga,Active,5,Calle Mayor 1,2026-07-11,919-555-0100\n'
    const { findings } = await found(made('latin.csv', Buffer.from(latin, 'latin1')))
    expect(findings.document.encoding.name).toBe('windows-1252')
    const examples = (field: string) => findings.fields.find(({ path }) => path === field)?.examples
    // A telephone number is nobody's business; a date is not one.
    expect(['City', 'Since', 'Call'].map(examples)).toEqual([['Málaga'], ['2026-07-11'], []])
  })

  test('a feed that declares UTF-8 and is not: one reason with the setting that reads it, which --init writes', async () => {
    const text = readFileSync(fixtureOf('kyero'), 'utf8').replaceAll('<town>', '<town>Á')
    const source = made('wrong.xml', Buffer.from(text, 'latin1'))
    const { findings } = await found(source)
    const wrong = findings.rejects.filter(({ problem }) => problem.includes('is not the UTF-8'))
    expect(wrong).toHaveLength(1)
    expect(wrong[0]?.count).toBeGreaterThan(1)
    expect(wrong[0]?.problem).toContain('set "encoding: windows-1252"')
    // If no record at all can be parsed, the preset that is given is still the right one.
    const all = made('all.xml', Buffer.from(text.replaceAll('<id>', '<id>Á'), 'latin1'))
    const given = await inspect(all, '--preset', 'kyero')
    expect(given.status).toBe(4)
    expect(given.stdout).toMatch(/set\s+"encoding: windows-1252"/)
    await inspect(source, '--init')
    expect(readFileSync(configFile(), 'utf8')).toMatch(/^ +encoding: windows-1252$/m)
  })

  test('what to write of one section is given as one entry, too', async () => {
    const { stdout } = await inspect(fixtureOf('kyero'))
    expect(stdout).toMatch(/together:\n +placeholders: \{ [A-Z]\w+: 0, [A-Z]\w+: 0/)
  })

  test('what all records lack and an unused field may have under another name gets no placeholder', async () => {
    const feed = zillowFeed([1, 2, 3, 4].map((n) => home(n)))
    const renamed = feed
      .replaceAll(/(<\/?)Bedrooms>/g, '$1BedCount>')
      .replaceAll(/(<\/?)LivingArea>/g, '$1LivingSqft>')
      .replaceAll('<BasicDetails>', '<BasicDetails><LivingStyle>Open</LivingStyle>')
    const source = made('renamed.xml', renamed)
    const { findings } = await found(source)
    const [rooms, area] = ['Bedrooms', 'BuildingArea'].map((name) =>
      findings.missing.find(({ field }) => field === name),
    )
    expect(rooms).toMatchObject({
      reads: ['BasicDetails/Bedrooms'],
      perhaps: ['BasicDetails/BedCount'],
      write: 'fields: { Bedrooms: BasicDetails/BedCount }',
    })
    expect(area).toMatchObject({
      perhaps: ['BasicDetails/LivingSqft'],
      write: 'fields: { BuildingArea: { from: BasicDetails/LivingSqft, as: area, unit: "?" } }',
    })
    const { stdout } = await inspect(source, '--init')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'if it is that: hardly any record has it in BasicDetails/Bedrooms, where the preset looks',
    )
    const written = readFileSync(configFile(), 'utf8')
    expect(written).toMatch(
      /# MISSING: Bedrooms, 4 of the 4 .+ If BasicDetails\/BedCount has it:\n +# fields: \{ Bedrooms: BasicDetails\/BedCount \}/,
    )
    expect(written).not.toMatch(/^ +(?:Bedrooms|BuildingArea): 0/m)

    // Where some records have it, the others lack it.
    const some = await found(
      made('some.xml', renamed.replace(/(<\/?)BedCount>/, '$1Bedrooms>').replace('</BedCount>', '</Bedrooms>')),
    )
    expect(some.findings.missing.find(({ field }) => field === 'Bedrooms')?.perhaps).toEqual([])
  })

  test('a single record that lacks something is told as one', async () => {
    const feed = zillowFeed([1, 2, 3, 4].map((n) => home(n)))
    const source = made('one.xml', feed.replace(/<Bedrooms>.*/, '').replace(/<ListingUrl>.*/, ''))
    await inspect(source, '--init')
    const written = readFileSync(configFile(), 'utf8')
    expect(written).toContain('# MISSING: Bedrooms of 1 home, which is rejected')
    expect(written).toContain('1 of the 4 records that should be listings lacks it')
  })

  test('a feed of the configuration by its name, with its own options', async () => {
    mkdirSync(join(folder, 'config'))
    copyFileSync(fixtureOf('kyero'), join(folder, 'config', 'k.xml'))
    const defaults = '{ YearBuilt: 0, DaysOnMarket: 0, ParkingSpots: 0, LotArea: 0 }'
    writeFileSync(
      configFile(),
      `service: { baseUrl: http://127.0.0.1:8080 }\nfeeds:\n  costa: { chatbot: C, source: k.xml, preset: kyero, defaults: ${defaults} }\n`,
    )
    const { findings } = await found('costa')
    expect(findings.preset).toMatchObject({ name: 'kyero', chosen: 'configured' })
    expect(findings.missing.map(({ field }) => field)).not.toContain('YearBuilt')
    expect((await inspect('costb')).stderr).toContain('costb does not exist')
  })

  test('hostile text stays text: no escape sequence or control character reaches the output', async () => {
    const nasty = '\u001b[2J\u001b]0;x\u0007=cmd|calc\u202e<script>alert(1)</script>'
    const name = 'Odd\u001b[31mName'
    const row = `A1,Active,1,${nasty},3\nA2,${nasty},1,${nasty},3\n`
    const source = made('nasty.csv', `MLS #,Status,List Price,"${name}",Beds\n${row}`)
    for (const format of ['text', 'json']) {
      const { stdout } = await inspect(source, '--format', format)
      // oxlint-disable-next-line no-control-regex
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
      expect(stdout).toContain('<script>alert(1)</script>')
    }
  })

  test('secrets of an address are neither shown nor written', async () => {
    const body = zillowFeed([1, 2].map((n) => home(n)))
    const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    try {
      const port = (server.address() as AddressInfo).port
      const { status, stdout, stderr } = await inspect(
        `http://me:hunter2secret@127.0.0.1:${port}/out/feed.xml?token=abcdef123456&kind=xml`,
        '--init',
      )
      const written = readFileSync(configFile(), 'utf8')
      for (const text of [stdout, stderr, written]) expect(text).not.toMatch(/hunter2secret|abcdef123456/)
      expect(status).toBe(0)
      expect(written).toContain(
        `http://me:\${FEED_PASSWORD}@127.0.0.1:${port}/out/feed.xml?token=\${FEED_TOKEN}&kind=xml`,
      )
    } finally {
      server.close()
    }
  })

  test('memory is bounded however many names and words a feed has', async () => {
    const records = Array.from({ length: 1000 }, (_, record) => {
      const fields = Array.from({ length: 100 }, (_, n) => `<f${record}x${n}>v</f${record}x${n}>`).join('')
      return `<Listing><Location><City>C</City></Location><BasicDetails><PropertyType>P${record}</PropertyType></BasicDetails>${fields}</Listing>`
    })
    const { findings } = await inProcess(made('wide.xml', `<Listings>${records.join('')}</Listings>`))
    expect(findings.document.records).toBe(1000)
    expect(findings.fields.length).toBeLessThanOrEqual(2000)
    expect(findings.moreFields).toBe(true)
    for (const { words } of findings.words) expect(words.length).toBeLessThanOrEqual(200)
  })
})

describe('the time for reading (limits.read) is that of a run', () => {
  /** A feed of the configuration with this source and time. */
  function configured(source: string, read: string): void {
    mkdirSync(join(folder, 'config'), { recursive: true })
    const feed = `{ chatbot: C, source: '${source}', preset: zillow, maxRecordBytes: 64MB, maxFields: 10000000, limits: { read: ${read} } }`
    writeFileSync(configFile(), `service: { baseUrl: http://127.0.0.1:8080 }\nfeeds: { slow: ${feed} }\n`)
  }
  /** A feed in which this record has so many elements. */
  function heavy(at: number, elements: number): string {
    const records = homes(1, 250).map((home) => zillowRecord(home))
    records[at] = records[at].replace('</Listing>', `${'<p>x</p>'.repeat(elements)}</Listing>`)
    return made('heavy.xml', `<Listings>${records.join('')}</Listings>`)
  }

  test('a record beyond those that presets are tried on: what comes before it is shown, and why it ends there', async () => {
    const source = heavy(240, 500_000)
    await withPatience(400, async (stall) => {
      configured(source, `{ stall: ${stall}ms }`)
      const { status, stdout } = await inspect('slow', '--format', 'json')
      const { document, preset } = JSON.parse(stdout) as Findings
      expect(status).toBe(1)
      expect(preset).toMatchObject({ name: 'zillow' })
      expect(document).toMatchObject({ complete: false, records: 240 })
      const late = `took longer than ${stall / 1000} s to read (limits.read.stall); it and the rest were not read`
      expect(document.reasons).toEqual([expect.stringContaining(late)])
    })
  })

  test('a record among the first ends it with that sentence', async () => {
    configured(heavy(0, 100_000), '{ stall: 1ms }')
    const { status, stdout, stderr } = await inspect('slow')
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('took longer than 0.001 s to read (limits.read.stall); it and the rest were not read')
  })

  test.each([1000, -100])('a source that stops sending (%i)', async (end) => {
    const text = zillowFeed(homes(1, 1000))
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-length': text.length }).write(text.slice(0, end))
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    try {
      await withPatience(end > 0 ? 300 : 3000, async (total) => {
        configured(`http://127.0.0.1:${(server.address() as AddressInfo).port}/feed.xml`, `{ total: ${total}ms }`)
        const { status, stdout, stderr } = await inspect('slow')
        expect(status).toBe(1)
        expect(stderr).toContain(
          `reading took longer than ${total / 1000} s (limits.read.total); the rest was not read`,
        )
        // What presets are tried on was there; or was not.
        expect(stdout.includes('Preset zillow')).toBe(end < 0)
      })
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })

  test('and so is the number of records', async () => {
    const file = made('many.xml', zillowFeed(homes(1, 5)))
    configured(file, '{}')
    writeFileSync(configFile(), readFileSync(configFile(), 'utf8').replace('limits:', 'maxRecords: 3, limits:'))
    const { status, stderr } = await inspect('slow')
    expect(status).toBe(1)
    expect(stderr).toContain('the document has more than 3 records (maxRecords); the rest was not read')
  })
})

describe('what is no feed', () => {
  const zipOf = (...names: string[]): Buffer => zip(names.map((name) => ({ name, content: 'x' })))
  const months = Array.from({ length: 20 }, (_, n) => `2025-${n},city,Springfield,IL,${n}00000,${n}`).join('\n')
  const wrong: [what: string, content: string | Buffer, said: string][] = [
    ['an empty file', '', 'the document is empty'],
    ['a page', '<!DOCTYPE html><html><body>Log in</body></html>', 'an HTML page'],
    [
      'a workbook',
      zipOf('[Content_Types].xml', 'xl/workbook.xml'),
      'a workbook (.xlsx): save the sheet with the listings as CSV',
    ],
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae100000000', 'hex'), 'an old Excel or Word file'],
    ['a RAR archive', Buffer.from('526172211a070100', 'hex'), 'a RAR archive'],
    ['a part of an archive', Buffer.from('504b0708504b0304', 'hex'), 'one part of a ZIP archive'],
    ['a tar archive', `${'feed.csv'.padEnd(257, '\0')}ustar`, 'a tar archive'],
    ['pictures', zipOf('1.jpg', '2.PNG'), 'an archive without a feed: it holds 2 pictures'],
    ['a PDF', '%PDF-1.7\n', 'a PDF'],
    ['an image', Buffer.from('89504e470d0a1a0a', 'hex'), 'a PNG image'],
    ['a JSON answer', '{"error": {"code": 401}}', 'the error message of a server (its member "error")'],
    ['JSON about nothing', '{"a": {"b": 1}}', 'the document is JSON without an array of records'],
    ['prose', 'Dear all\nplease find attached\n', 'a plain text'],
    [
      'market statistics',
      `period,region_type,city,state,median_sale_price,homes_sold\n${months}\n`,
      'market statistics',
    ],
    ['a table without rows', 'one,two\n', 'the document is a table, but none of its rows can be read'],
    ['XML about nothing', '<a><b>1</b></a>', 'no element in it is repeated'],
    ['binary data', Buffer.from(Array.from({ length: 512 }, (_, n) => n % 256)), 'binary data'],
  ]
  test.each(wrong)('%s: one sentence says what it is', async (_, content, sentence) => {
    const refusal = await inProcess(made('wrong.dat', content)).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(FeedError)
    expect(messageOf(refusal)).toContain(sentence)
    expect(messageOf(refusal).split('\n')).toHaveLength(1)
  })

  test('status 1, the sentence on standard error, nothing on standard output', async () => {
    const { status, stdout, stderr } = await inspect(
      made('stats.csv', `period,city,median_sale_price,homes_sold\n2025-01,A,1,2\n`),
    )
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('market statistics')
  })

  test('a document that was cut off: what is there is shown, and status 1 says that it is not whole', async () => {
    const text = readFileSync(fixtureOf('zillow'), 'utf8')
    const { status, stdout, stderr } = await inspect(made('cut.xml', text.slice(0, text.length / 2)))
    expect(status).toBe(1)
    expect(stdout).toContain('Preset zillow')
    expect(stderr).toContain('the document is incomplete: the document ends in the middle of record')
  })
})

test('a whole document without a record is right, and what it means is said', async () => {
  const source = made('none.xml', '<Listings></Listings>')
  const { status, stdout, stderr } = await inspect(source, '--preset', 'zillow')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/whole +yes\n +the document is whole and has no record, so to a sync every listing/)
})

describe('--init', () => {
  /** Says for each "?" what a person would: nothing runs before that. */
  function fillIn(): void {
    const url = "{ template: 'https://homes.example/{MLSNumber}' }"
    const answers = { currency: 'EUR', SaleType: 'for_sale', Status: 'Active', AreaUnit: 'Square Meters', Url: url }
    const text = Object.entries(answers).reduce(
      (written, [key, answer]) => written.replace(`${key}: "?"`, `${key}: ${answer}`),
      readFileSync(configFile(), 'utf8'),
    )
    // A home without bedrooms stays rejected until somebody says how many it has.
    const rooms = /^ +(defaults|Bedrooms):/m.test(text) ? '' : '$1defaults: { Bedrooms: 2 }'
    const whole = text.replace(/^( +- )"\?"$/m, `$1${url}`)
    writeFileSync(configFile(), whole.replace(/^( +)# MISSING: Bedrooms of .*$/m, rooms))
  }

  /** `diff` of the written configuration against a stand-in on another port than the usual one. */
  async function diffs(): Promise<{ status: number | null; stdout: string; stderr: string }> {
    const standIn = await startStandIn({})
    try {
      const written = readFileSync(configFile(), 'utf8')
      expect(written).toContain('baseUrl: http://127.0.0.1:8080')
      writeFileSync(configFile(), written.replace('http://127.0.0.1:8080', standIn.url))
      return await executed(['--config', configFile(), 'diff'])
    } finally {
      await standIn.close()
    }
  }

  test.each(['zillow'])('%s: what is written runs and finds listings to create', async (name) => {
    const source = fixtureOf(name)
    expect((await inspect(source, '--init')).stderr).toContain(`wrote ${configFile()}`)
    expect(readFileSync(configFile(), 'utf8')).toContain(`preset: ${name} #`)
    const { status, stdout, stderr } = await diffs()
    expect(stderr).toBe('')
    expect(status, stdout).toBe(2)
    expect(stdout).toMatch(/Create \([1-9]/)
  })

  test.each(readdirSync(fixtures).filter((name) => name !== 'rets-compact'))(
    '%s: its configuration is right and makes listings of its fixture',
    async (name) => {
      const source = fixtureOf(name)
      const written = await initialise(configFile(), source, await inProcess(source), () => {
        throw new Error('its preset is known')
      })
      expect(written).toEqual([configFile()])
      fillIn()
      const { findings } = await inProcess('feed')
      expect(findings.preset).toMatchObject({ name, chosen: 'configured' })
      expect(findings.counts.listings).toBeGreaterThan(0)
    },
  )

  test('never over a file that is there', async () => {
    mkdirSync(join(folder, 'config'))
    writeFileSync(configFile(), 'mine')
    const { status, stdout, stderr } = await inspect(fixtureOf('kyero'), '--init')
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('exists and was not changed')
    expect(readFileSync(configFile(), 'utf8')).toBe('mine')
  })

  test('a feed that no preset fits gets a preset of its own, guessed from its names, that runs', async () => {
    const records = [1, 2, 3].map(
      (n) =>
        `<flat code="F-${n}"><price>${n}00000</price><bedrooms>${n}</bedrooms><bathrooms>1</bathrooms><city>Zug</city>` +
        `<living_area>80</living_area><photos><photo><url>https://img.example/${n}.jpg</url></photo></photos><lot_size>0.5</lot_size>` +
        '<heating>gas</heating></flat>',
    )
    const source = made('Our Export.xml', `<stock><flats>${records.join('')}</flats></stock>`)
    const { stderr } = await inspect(source, '--init')
    const preset = join(folder, 'config', 'presets', 'our-export.yaml')
    expect(stderr).toContain(`wrote ${preset}: guessed`)
    expect(existsSync(preset)).toBe(true)
    expect(readFileSync(preset, 'utf8')).toMatch(/^delivery: delta$/m)
    const written = readFileSync(preset, 'utf8')
    expect(written).toContain('#   heating: 100 %: gas')
    // A lot without a unit makes no rule, and is not lost for it; a photo's address is not the listing's page.
    expect(written).toContain('#   lot_size: 100 %: 0.5')
    expect(written).toMatch(/^  Images: .*photos\/photo\/url/m)
    expect(written).not.toMatch(/^  (?:Url|SaleType|Status|CurrencySymbol|BuildingArea):/m)
    // What the feed does not say is left open, and nothing runs before it is filled in.
    const open = await executed(['--config', configFile(), 'diff'])
    expect(open.status).toBe(78)
    for (const key of ['currency', 'fields.Url', 'defaults.SaleType', 'defaults.Status'])
      expect(open.stderr).toContain(`${key}: is not filled in yet`)
    fillIn()
    const { status, stdout } = await diffs()
    expect(status, stdout).toBe(2)
    expect(stdout).toContain('Create (3)')
  })

  test('standard input can not be configured', async () => {
    expect((await inspect('-', '--init')).status).toBe(64)
  })
})
