import { describe, expect, it } from 'vitest'
import type { RecordFields } from '../../../../src/feed/format/format.ts'
import { dateReader, dayOf, instantOf, readTime } from '../../../../src/feed/mapping/converters/date.ts'
import { numberReader } from '../../../../src/feed/mapping/converters/number.ts'
import { withUnit, withoutCity } from '../../../../src/feed/mapping/converters/street.ts'
import { isKey, readableLine, readableLines, webAddress } from '../../../../src/feed/mapping/converters/text.ts'
import { elementPaths } from '../../../../src/feed/mapping/path.ts'
import {
  hidesPrice,
  is3dTour,
  monthlyFactors,
  readBoolean,
  saysNothing,
  squareFeetIn,
  wordKey,
} from '../../../../src/feed/mapping/vocabulary.ts'

describe('numbers', () => {
  it.each([
    ['535000.00', 535000],
    ['1,775,000', 1775000],
    ['.0307', 0.0307],
    ['-118.24', -118.24],
    ['161,151', 161151],
    ['1,5', null],
    ['12,34', null],
    ['350.000.000', null],
    ['1e5', null],
    ['0x10', null],
    ['Infinity', null],
    ['1 000', null],
    ['', null],
    [`1${'0'.repeat(400)}`, null],
  ])('with decimal point: %s', (text, value) => {
    expect(numberReader({ decimal: '.', group: ',' })(text)).toBe(value)
  })

  it.each([
    ['350.000', 350000],
    ['65,9000', 65.9],
    ['3.200.000,50', 3200000.5],
    ['750000.00', null],
  ])('with decimal comma: %s', (text, value) => {
    expect(numberReader({ decimal: ',', group: '.' })(text)).toBe(value)
  })

  it.each([
    ["1'250'000.50", 1250000.5],
    ['1’250’000', 1250000],
    ["1'25", null],
    ['1,250,000', null],
  ])('with apostrophes, straight or not: %s', (text, value) => {
    expect(numberReader({ decimal: '.', group: "'" })(text)).toBe(value)
  })
})

describe('dates', () => {
  it.each([
    ['ISO', '2026-02-02', '2026-02-02'],
    ['ISO', '2014-07-24T00:00:00.000', '2014-07-24'],
    ['ISO', '2021-07-28T00:00:01+03:00', '2021-07-28'],
    ['ISO', '2015-07-02 00:00:00', '2015-07-02'],
    ['YYYY-MM-DD-HH:mm:ss', '2009-01-01-12:30:00', '2009-01-01'],
    ['D-MMM-YYYY h:mmA', '21-Dec-2010 11:00am', '2010-12-21'],
    ['MMMM-D-YYYY', 'October-8-2022', '2022-10-08'],
    ['MMMM-D-YYYY h:mm A', 'October-8-2022 11:00 AM', '2022-10-08'],
    ['D/M/YYYY H:mm', '28/2/2011 17:30', '2011-02-28'],
    ['D/M/YYYY', '1/6/2012', '2012-06-01'],
    ['DD.MM.YYYY', '25.02.2015', '2015-02-25'],
    ['DDMMYYYY', '01022015', '2015-02-01'],
    ['DD.MM.YY', '23.06.26', '2026-06-23'],
  ])('%s reads %s', (format, text, day) => {
    const written = dateReader([format])(text)
    expect(written && dayOf(written)).toBe(day)
  })

  it.each([
    ['ISO', '2026-02-29'],
    ['ISO', '2026-13-01'],
    ['ISO', '02/03/2026'],
    ['ISO', 'tomorrow'],
    ['D/M/YYYY', '31/4/2026'],
    ['MMMM-D-YYYY h:mm A', 'October-8-2022 13:00 PM'],
    ['MMMM-D-YYYY', 'Smarch-8-2022'],
  ])('%s refuses %s', (format, text) => {
    expect(dateReader([format])(text)).toBeNull()
  })

  it.each([
    ['13:00', 780],
    ['1:00 PM', 780],
    ['12:30am', 30],
    ['11am', 660],
    ['13', null],
    ['25:00', null],
    ['13:00 PM', null],
  ])('reads the time %s', (text, minutes) => {
    expect(readTime(text)).toBe(minutes)
  })

  it.each([
    ['2026-11-22', 930, 'America/Chicago', '2026-11-22T21:30:00Z'],
    ['2026-07-01', 930, 'America/Chicago', '2026-07-01T20:30:00Z'],
    ['2026-03-08', 180, 'America/Chicago', '2026-03-08T08:00:00Z'],
    ['2026-11-01', 180, 'America/Chicago', '2026-11-01T09:00:00Z'],
    ['2026-11-22', 1440, 'Asia/Kolkata', '2026-11-22T18:30:00Z'],
    ['2026-11-22T10:00:00+03:00', 600, 'America/Chicago', '2026-11-22T07:00:00Z'],
  ])('%s at minute %i in %s', (text, minutes, timezone, instant) => {
    const written = dateReader(['ISO'])(text)
    expect(written && new Date(instantOf(written, minutes, timezone)).toISOString()).toBe(instant.replace('Z', '.000Z'))
  })
})

describe('text', () => {
  it.each([
    ['a < b and c > d', 'a < b and c > d'],
    ['<3 bedrooms & 2 baths', '<3 bedrooms & 2 baths'],
    ['Tom &amp; Jerry', 'Tom & Jerry'],
    ['<p>One</p><p>Two</p>', 'One\n\nTwo'],
    ['One<br/>Two<br>Three', 'One\nTwo\nThree'],
    ['<ul><li>a</li><li>b</li></ul>', 'a\nb'],
    ['x<script>alert("<b>")</script>y', 'x y'],
    ['x<style>p{}', 'x'],
    ['&lt;script&gt;alert(1)&lt;/script&gt;safe', 'safe'],
    ['<!-- hidden -->shown', 'shown'],
    ['Cafe\u0301', 'Café'],
    ['bell\u0007 lone\ud800 zero\u200b', 'bell lone zero'],
    ['  many \t blanks\u00a0 here ', 'many blanks here'],
    ['a\n\n\n\nb', 'a\n\nb'],
    ['&eacute;&#233;&#xE9;', 'ééé'],
  ])('%j is read as %j', (text, clean) => {
    expect(readableLines(text)).toBe(clean)
  })

  it('is read in time that grows with its length only', () => {
    for (const part of ['<', '<a ', '&', '<script>', '<!--', ' \n', '&lt;']) {
      const text = part.repeat(50_000)
      const before = process.cpuUsage().user
      readableLines(text)
      expect((process.cpuUsage().user - before) / 1000, part).toBeLessThan(2000)
    }
  })

  it('comes on one line where a line is wanted', () => {
    expect(readableLine('a<br>b\r\nc')).toBe('a b c')
  })

  it.each([
    ['https://a.example/x y.jpg', 'https://a.example/x%20y.jpg'],
    [' http://a.example ', 'http://a.example'],
    ['https://a.example/ü?q=[1]', 'https://a.example/ü?q=[1]'],
    ['HTTPS://a.example/x', 'HTTPS://a.example/x'],
    ['https://a.example/"<script>', 'https://a.example/%22%3Cscript%3E'],
    ['https://', null],
    ['https:///x', null],
    ['https://a b.example', null],
    ['javascript:alert(1)', null],
    ['//a.example/x', null],
    ['photo.jpg', null],
  ])('%j as a web address is %j', (text, address) => {
    expect(webAddress(text)).toBe(address)
  })

  it.each([
    ['A-1', true],
    ['ü'.repeat(500), true],
    ['a'.repeat(501), false],
    ['a\u0000', false],
    ['a\ud800', false],
    ['', false],
  ])('%j as a key: %s', (text, fits) => {
    expect(isKey(text)).toBe(fits)
  })
})

describe('streets', () => {
  it.each([
    ['1185 Boylston St.', '45', '1185 Boylston St. #45'],
    ['1 Main St', '# 411', '1 Main St #411'],
    ['1 Main St #411', '411', '1 Main St #411'],
    ['1 Main St Unit 411', '# 411', '1 Main St Unit 411'],
    ['1401 Valley View 206', '206', '1401 Valley View 206'],
    ['1 Main St', 'Apt 4', '1 Main St Apt 4'],
    ['1 Main St', 'PH1', '1 Main St #PH1'],
    ['1 Main St', '#', '1 Main St'],
    ['12 Route 1206', '206', '12 Route 1206 #206'],
    ['1 Main St', 'Northern half', '1 Main St Northern half'],
  ])('%s with unit %s is %s', (address, unit, whole) => {
    expect(withUnit(address, unit)).toBe(whole)
  })

  it.each([
    ['500 Bay Rd, Springfield, CA 02134', '500 Bay Rd'],
    ['500 Bay Rd, Springfield', '500 Bay Rd'],
    ['500 Bay Rd, Springfield CA 02134-1000', '500 Bay Rd'],
    ['500 Springfield Ave', '500 Springfield Ave'],
    ['5 A St, Springfield Gardens Unit 3', '5 A St, Springfield Gardens Unit 3'],
  ])('%s without its city is %s', (address, short) => {
    expect(withoutCity(address, 'Springfield', 'CA', '02134')).toBe(short)
  })
})

describe('words', () => {
  it('compares as the vocabulary does', () => {
    for (const word of ['Single Family Residence', 'SINGLE_FAMILY_RESIDENCE', ' single-family  residence ']) {
      expect(wordKey(word)).toBe('singlefamilyresidence')
    }
  })
  it.each(['', '—', '--', '---', 'N/A', 'null', 'None', 'NaN', 'not specified', 'Non précisé'])(
    '%j says nothing',
    (text) => {
      expect(saysNothing(text)).toBe(true)
    },
  )
  it.each(['0', 'NA', 'no', '-1', 'nullarbor'])('%j says something', (text) => {
    expect(saysNothing(text)).toBe(false)
  })
  it.each([
    ['Yes', true],
    ['1', true],
    ['oui', true],
    ['да', true],
    ['False', false],
    ['N', false],
    ['off', false],
    ['perhaps', null],
  ])('%s is %s', (text, value) => {
    expect(readBoolean(text)).toBe(value)
  })
  it('knows units, periods, prices on request and tours', () => {
    expect(squareFeetIn().get(wordKey('Acres'))).toBe(43_560)
    expect(squareFeetIn().get(wordKey('m²'))).toBeCloseTo(10.7639104, 6)
    expect(monthlyFactors().get(wordKey('Semi-Annually'))).toBeCloseTo(1 / 6)
    expect(hidesPrice('P.O.A.')).toBe(true)
    expect(is3dTour('https://my.matterport.com/show/?m=1')).toBe(true)
    expect(is3dTour('https://www.youtube.com/watch?v=matterport')).toBe(false)
  })
})

describe('paths', () => {
  const home: RecordFields = {
    '@status': 'current',
    price: { '@currency': 'EUR', '#text': ' 5 ' },
    Fees: {
      Fee: [
        { FeeType: 'Parking', FeeAmount: '1' },
        { FeeType: 'h.o.a.', FeeAmount: '2' },
      ],
    },
    kind: { flat: { '@type': 'loft' } },
    photo: ['a', '', 'b'],
    Office: { City: 'Elsewhere' },
  }
  it.each([
    ['@status', ['current']],
    ['price', ['5']],
    ['price/@currency', ['EUR']],
    ['Fees/Fee[FeeType=HOA]/FeeAmount', ['2']],
    ['Fees/Fee[FeeType!=HOA|Tax]/FeeAmount', ['1']],
    ['Fees/Fee/FeeAmount', ['1', '2']],
    ['kind/*/name()', ['flat']],
    ['kind/*/@type', ['loft']],
    ['photo', ['a', 'b']],
    ['.[@status=Current]/photo', ['a', 'b']],
    ['.[@status!=Current]/photo', []],
    ['.[price/@currency=EUR]/price/.', ['5']],
    ['City', []],
    ['price/City', []],
    ['fees/Fee/FeeAmount', []],
  ])('%s finds %j', (path, texts) => {
    const select = elementPaths().compile(path)
    expect(select.all(home)).toEqual(texts)
    expect(select.first(home)).toBe(texts[0] ?? '')
  })
})
