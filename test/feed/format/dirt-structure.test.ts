/**
 * Documents that are slightly wrong, read from the bytes to listings, rejects, and whether anything may be missing.
 */
import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { delivered, resoHeader, resoRow, resoTable, zillowDocument, zillowHome } from '../../support/delivery.ts'
import type { Delivery, DeliveryOptions } from '../../support/delivery.ts'

const zillow: DeliveryOptions = { preset: 'zillow' }
const reso: DeliveryOptions = { preset: 'reso-csv' }
const [text, two, three] = ['M1', 'M2', 'M3'].map((number) => zillowHome(number))
const [rowOne, rowTwo, rowThree] = ['M1', 'M2', 'M3'].map((number) => resoRow(number))

/** Every home arrived and nothing may be missing. */
function whole(delivery: Delivery, numbers = ['M1', 'M2', 'M3']): void {
  const { listings, rejects, complete, reasons, notes } = delivery
  expect({ rejects, complete, reasons, notes }).toEqual({ rejects: [], complete: true, reasons: [], notes: [] })
  expect(Object.keys(listings)).toEqual(numbers)
}

describe('a DOCTYPE', () => {
  test('with entities of its own is refused before anything of it is used', async () => {
    const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('')
    for (const subset of [
      `<!ENTITY l0 "lol">${laughs}`,
      '<!ENTITY x SYSTEM "file:///etc/passwd">',
      '<!ENTITY % remote SYSTEM "http://127.0.0.1:1/x.dtd"> %remote;',
    ]) {
      const text = zillowDocument(zillowHome('M1', { 'Location/City': '&l9;&x;' }))
      const feed = text.replace('<Listings>', `<!DOCTYPE Listings [${subset}]>\n<Listings>`)
      await expect(delivered(feed, zillow)).rejects.toThrow(/declares entities of its own in its DOCTYPE/)
    }
  })

  test('that names another file is passed over, and the file never fetched', async () => {
    let asked = 0
    const server = createServer((_, response) => {
      asked++
      response.end('<!ENTITY city "Elsewhere">')
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    try {
      const address = server.address()
      const port = typeof address === 'object' ? address?.port : ''
      const city = zillowHome('M2', { 'Location/City': 'A&city;B' })
      for (const doctype of [
        `<!DOCTYPE Listings SYSTEM "http://127.0.0.1:${port}/feed.dtd">`,
        `<!DOCTYPE Listings PUBLIC "-//X//Y" "http://127.0.0.1:${port}/feed.dtd" [<!ELEMENT Listing ANY>]>`,
      ]) {
        const feed = zillowDocument(text, city, three).replace('<Listings>', `${doctype}<Listings>`)
        const delivery = await delivered(feed, zillow)
        whole(delivery)
        expect(delivery.listings['M2'].City).toBe('A&city;B')
      }
      expect(asked).toBe(0)
    } finally {
      server.close()
    }
  })
})

describe('between the records of XML', () => {
  test('a > after the root tag', async () => {
    whole(await delivered(zillowDocument(text, two, three).replace('<Listings>', '<Listings>>'), zillow))
  })

  test('text, dates, comments, instructions and elements of no record', async () => {
    const feed = zillowDocument(
      '2026-11-21 10:00',
      text,
      'next &amp; next',
      two,
      '<!-- <Listing> --> <?page 2?> <![CDATA[<Listing>]]> <Total>3</Total>',
      three,
      ']]> 3 < 4 records',
    )
    whole(await delivered(feed, zillow))
  })

  test('text after the root is a reason: two documents may have been joined', async () => {
    const { listings, complete, reasons } = await delivered(`${zillowDocument(text, two)}done`, zillow)
    expect(Object.keys(listings)).toEqual(['M1', 'M2'])
    expect({ complete, reasons }).toEqual({ complete: false, reasons: ['there is text after the root element'] })
  })
})

describe('descriptions', () => {
  const soup =
    '<p>Large <b>kitchen<br>with <i>view</b></i> &amp; <FONT color=red>pool</p><script>alert(1)</script>' +
    '<a href="x" onclick=\'y\'>tour</a> <3 < 4 &nbsp;&lt;b&gt;sunny&lt;/b&gt; &copy; <!-- note --><img src=x onerror=alert(2)>'
  const clean = 'Large kitchen\nwith view & pool\n tour <3 < 4 sunny ©'

  test('of tag soup in CDATA, escaped, and in a cell', async () => {
    const escaped = soup.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    const inCdata = zillowHome('M1', { 'BasicDetails/Description': `<![CDATA[${soup}]]>` })
    const inText = zillowHome('M2', { 'BasicDetails/Description': escaped })
    const xml = await delivered(zillowDocument(inCdata, inText, three), zillow)
    whole(xml)
    const cell = `"${soup.replaceAll('"', '""')}"`
    const csv = await delivered(resoTable(resoRow('M1', { PublicRemarks: cell }), rowTwo, rowThree), reso)
    whole(csv)
    const found = [xml.listings['M1'], xml.listings['M2'], csv.listings['M1']].map((home) => home.Description ?? '')
    for (const text of found) expect(text.replaceAll(/\s+/g, ' ')).toBe(clean.replaceAll(/\s+/g, ' '))
  })

  test('of tag soup not even escaped: that record is a reject, the ones around it arrive', async () => {
    const { listings, rejects, complete } = await delivered(
      zillowDocument(text, zillowHome('M2', { 'BasicDetails/Description': '<p>Large <br>kitchen</p>' }), three),
      zillow,
    )
    expect(Object.keys(listings)).toEqual(['M1', 'M3'])
    expect(rejects).toEqual([{ mlsNumber: null, problems: ['record: <br> is closed by </p>'] }])
    expect(complete).toBe(true)
  })

  test('of a million characters', async () => {
    const long = 'Quiet street. '.repeat(1_000_000 / 14)
    const xml = await delivered(
      zillowDocument(text, zillowHome('M2', { 'BasicDetails/Description': long }), three),
      zillow,
    )
    whole(xml)
    expect(xml.listings['M2'].Description).toBe(long.trim())
    const csv = await delivered(resoTable(rowOne, resoRow('M2', { PublicRemarks: `"${long}"` }), rowThree), reso)
    whole(csv)
    expect(csv.listings['M2'].Description).toBe(long.trim())
  })

  test('longer than a record may be: a reject that says so, and the ones around it arrive', async () => {
    const long = 'Quiet street. '.repeat(100_000)
    const small = { maxRecordBytes: 100_000 }
    const xml = await delivered(zillowDocument(text, zillowHome('M2', { 'BasicDetails/Description': long }), three), {
      ...zillow,
      ...small,
    })
    expect(Object.keys(xml.listings)).toEqual(['M1', 'M3'])
    expect(xml.rejects).toEqual([
      { mlsNumber: null, problems: ['record: the record is longer than 100000 bytes (maxRecordBytes)'] },
    ])
    expect(xml.complete).toBe(true)
    const row = resoRow('M2', { PublicRemarks: `"${long}"` })
    const csv = await delivered(resoTable(rowOne, row, rowThree), { ...reso, ...small })
    expect(csv.listings).toHaveProperty('M1')
    expect(csv.rejects[0].problems[0]).toMatch(
      /^record: (the row|row 3) is longer than 100000 bytes \(maxRecordBytes\)/,
    )
  })
})

describe('quotes and lines of CSV', () => {
  test('an unterminated quote: the rows before it arrive, and the delivery is not taken for whole', async () => {
    const rows = Array.from({ length: 50 }, (_, index) => resoRow(`N${index}`))
    const feed = resoTable(rowOne, resoRow('M2', { PublicRemarks: '"Large kitchen' }), ...rows)
    const delivery = await delivered(feed, reso)
    expect(Object.keys(delivery.listings)).toEqual(['M1'])
    expect(delivery.complete).toBe(false)
    expect(delivery.reasons).toEqual(['the document ends in row 3: a quote in it is never closed'])
    expect(delivery.rejects).toHaveLength(1)
    const bounded = await delivered(feed, { ...reso, maxRecordBytes: 1000 })
    expect(bounded.reasons).toEqual([
      expect.stringMatching(/^row 3 is longer than 1000 bytes \(maxRecordBytes\), probably because a quote/),
    ])
  })

  test('a quote within a text, and quotes that do not fit, harm their own row at most', async () => {
    const inches = resoRow('M1', { PublicRemarks: `10' x 12" deck` })
    whole(await delivered(resoTable(inches, rowTwo, rowThree), reso))
    const broken = resoRow('M2', { PublicRemarks: '"Large "kitchen" here"' })
    const { listings, rejects, complete } = await delivered(resoTable(rowOne, broken, rowThree), reso)
    expect(Object.keys(listings)).toEqual(['M1', 'M3'])
    expect(rejects).toEqual([{ mlsNumber: null, problems: ['record: a quoted cell is not closed where it should be'] }])
    expect(complete).toBe(true)
  })

  test('line breaks within quotes', async () => {
    const row = resoRow('M2', { PublicRemarks: '"Large\r\nkitchen,\n""new"""' })
    const delivery = await delivered(resoTable(rowOne, row, rowThree), reso)
    whole(delivery)
    expect(delivery.listings['M2'].Description).toBe('Large\nkitchen,\n"new"')
  })

  test('lines that end in CR only, in CR LF, and in both and LF', async () => {
    const feed = resoTable(rowOne, rowTwo, rowThree)
    whole(await delivered(feed.replaceAll('\n', '\r'), reso))
    whole(await delivered(feed.replaceAll('\n', '\r\n'), reso))
    whole(await delivered(feed.replace('\n', '\r\n'), reso))
  })

  test('blank lines and rows of nothing but delimiters', async () => {
    whole(await delivered(resoTable(rowOne, '', ',,,,,,', '""', rowTwo, '   ', rowThree, '', ''), reso))
  })
})

describe('headers of CSV', () => {
  test('a notice in row 2, and one at the end', async () => {
    const notice = '"In accordance with local MLS rules, some listings are not in this file"'
    whole(await delivered(resoTable(notice, rowOne, rowTwo, rowThree, '"3 rows"'), reso))
  })

  test('longer than the rows: what is missing is absent, not blank', async () => {
    const feed = [`${resoHeader},Heating,Cooling`, rowOne, rowTwo, rowThree].join('\n')
    whole(await delivered(`${feed}\n`, reso))
    const short = rowTwo.split(',').slice(0, 6).join(',')
    const { listings, rejects, complete } = await delivered(resoTable(rowOne, short, rowThree), reso)
    expect(Object.keys(listings)).toEqual(['M1', 'M3'])
    expect(rejects).toEqual([
      { mlsNumber: 'M2', problems: expect.arrayContaining([expect.stringMatching(/^Url: is missing/)]) },
    ])
    expect(complete).toBe(true)
  })

  test('shorter than a row: cells without a name are a shifted row', async () => {
    const { listings, rejects } = await delivered(resoTable(rowOne, `${rowTwo},more`, `${rowThree},,`), reso)
    expect(Object.keys(listings)).toEqual(['M1', 'M3'])
    expect(rejects[0].problems).toEqual(['record: the row has 16 cells where the header has 15'])
  })

  test('repeated: the first cell with something in it counts', async () => {
    const feed = [`City,${resoHeader},City,City`, `,${rowOne},,`, `Oakton,${rowTwo},,`, `,${rowThree},Elm,Elm`].join(
      '\n',
    )
    const delivery = await delivered(`${feed}\n`, reso)
    whole(delivery)
    const cities = Object.values(delivery.listings).map(({ City }) => City)
    expect(cities).toEqual(['Springfield', 'Oakton', 'Springfield'])
  })

  test('repeated as a row, as joined files have it', async () => {
    whole(await delivered(resoTable(rowOne, resoHeader, rowTwo, resoHeader, rowThree), reso))
  })

  test('with an empty first name (an index column), spaces around names and other case', async () => {
    const named = resoHeader.replace('ListPrice', ' list price ').replace('City', 'CITY')
    const feed = [`,${named}`, `0,${rowOne}`, `1,${rowTwo}`, `2,${rowThree}`].join('\n')
    const delivery = await delivered(`${feed}\n`, reso)
    whole(delivery)
    expect(delivery.listings['M1']).toMatchObject({ SalePrice: 250_000, City: 'Springfield' })
  })

  test('of names that would touch an object', async () => {
    const feed = [`__proto__,${resoHeader},constructor`, `x,${rowOne},y`, `x,${rowTwo},y`, `x,${rowThree},y`].join('\n')
    whole(await delivered(`${feed}\n`, reso))
    expect({}).not.toHaveProperty('x')
  })
})
