/**
 * Odd values in a feed's bytes and what they become in the listing. Each value is in the middle of three homes; the other two
 * always arrive.
 */
import { describe, expect, test } from 'vitest'
import type { Listing } from '../../../src/core/listing.ts'
import type { FieldMapping, Numbers } from '../../../src/feed/mapping/rule-keys.ts'
import { delivered, resoRow, resoTable, zillowDocument, zillowHome } from '../../support/delivery.ts'
import type { DeliveryOptions } from '../../support/delivery.ts'

/** The place of a value in each format. */
interface Place {
  element: string
  column: string
}

const price: Place = { element: 'ListingDetails/Price', column: 'ListPrice' }
const lot: Place = { element: 'BasicDetails/LotSize', column: 'LotSizeAcres' }
const date: Place = { element: 'ListingDetails/DateListed', column: 'DaysOnMarket' }
const text: Place = { element: 'BasicDetails/Description', column: 'PublicRemarks' }
const number: Place = { element: 'ListingDetails/MlsId', column: 'ListingId' }
const page: Place = { element: 'ListingDetails/ListingUrl', column: 'ListingURL' }

const escaped = (value: string): string => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const quoted = (value: string): string => `"${value.replaceAll('"', '""')}"`

const containers = {
  XML: (place: Place, value: string, options: Omit<DeliveryOptions, 'preset'>) => {
    const dirty = zillowHome('M2', { [place.element]: escaped(value) })
    return delivered(zillowDocument(zillowHome('M1'), dirty, zillowHome('M3')), { preset: 'zillow', ...options })
  },
  CSV: (place: Place, value: string, options: Omit<DeliveryOptions, 'preset'>) => {
    const dirty = resoRow('M2', { [place.column]: quoted(value) })
    return delivered(resoTable(resoRow('M1'), dirty, resoRow('M3')), { preset: 'reso-csv', ...options })
  },
}

/** The listing, or its problems. */
async function became(
  container: keyof typeof containers,
  place: Place,
  value: string,
  options: Omit<DeliveryOptions, 'preset'> = {},
): Promise<Listing | string[]> {
  const { listings, rejects, complete, reasons } = await containers[container](place, value, options)
  // One unreadable value affects no other.
  expect({ complete, reasons }).toEqual({ complete: true, reasons: [] })
  expect(listings).toHaveProperty('M1')
  expect(listings).toHaveProperty('M3')
  const others = new Set(['M1', 'M3'])
  const found = Object.values(listings).filter(({ MLSNumber }) => !others.has(MLSNumber))
  expect(found.length + rejects.length).toBe(1)
  return found[0] ?? rejects[0].problems
}

describe.each(['XML', 'CSV'] as const)('%s', (container) => {
  const from = (place: Place) => (container === 'XML' ? place.element : place.column)

  describe('prices', () => {
    const point: Numbers = { decimal: '.', group: ',' }
    const comma: Numbers = { decimal: ',', group: '.' }
    const blank: Numbers = { decimal: ',', group: ' ' }
    // For this field only: lots are written with a point all the same.
    const written = (numbers: Numbers) => ({
      fields: { SalePrice: { from: from(price), as: 'money', numbers } as const },
    })
    test.each<[string, Numbers, number | undefined]>([
      ['535000.00', point, 535_000],
      ['159,950', point, 159_950],
      ['"$499,000 "'.replaceAll('"', ''), point, 499_000],
      ['$1,200', point, 1200],
      ['485000 USD', point, 485_000],
      ['200,000.00 USD', point, 200_000],
      ['AED 1,200,000', point, 1_200_000],
      ['R$ 3.200.000', comma, 3_200_000],
      ['R$\u00a03.200.000,00', comma, 3_200_000],
      ['350.000', comma, 350_000],
      // The same text in a feed that writes a decimal point: decided by the feed, never by the value.
      ['350.000', point, 350],
      ['65,9000', comma, 65.9],
      ['381,55', comma, 381.55],
      ['350 000 €', blank, 350_000],
      ['€ 350.000,-', comma, 350_000],
      ['350.000,-- €', comma, 350_000],
      ['350,000.–', point, 350_000],
      ['350\u202f000\u00a0€', blank, 350_000],
      ['$160K', point, 160_000],
      ['1.2M', point, 1_200_000],
      ['$1.15M', point, 1_150_000],
      ['1,2M', comma, 1_200_000],
    ])('%j written with %j is %j', async (value, numbers, expected) => {
      expect(await became(container, price, value, written(numbers))).toMatchObject({ SalePrice: expected })
    })

    test.each([
      'POA',
      'P.O.A.',
      'price on application',
      'auf Anfrage',
      'Contact agent',
      '0',
      '0.0',
      '1',
      '—',
      'N/A',
      '',
      'Between $400,000 and $600,000',
      '400,000 - 600,000',
      'from 400,000 to 600,000',
      'make an offer',
      'offers over 400,000',
      'TBA',
      'EOI',
    ])('%j is no public price', async (value) => {
      const listing = await became(container, price, value)
      expect(listing).toMatchObject({ MLSNumber: 'M2' })
      expect(listing).not.toHaveProperty('SalePrice')
    })

    test.each([
      ['750000.00', comma],
      ['3.200.000', point],
      // Cents behind a comma tell that the point stands between thousands.
      ['350.000,-', point],
      ['1,5', point],
      ['12 34', point],
      ['1e6', point],
      ['-5', point],
      ['9'.repeat(400), point],
    ])('%j is a reject that says what was wanted', async (value, numbers) => {
      expect(await became(container, price, value, written(numbers))).toEqual([
        expect.stringMatching(/^SalePrice: '.*' needs an amount of money written like 1[.,]234[.,]5$/),
      ])
    })
  })

  describe('rents become those of a month', () => {
    test.each<[string, string, number | undefined]>([
      ['600', 'week', 2600],
      ['600', 'pw', 2600],
      ['1,500', 'month', 1500],
      ['$1,500.00', 'pcm', 1500],
      ['18000', 'year', 1500],
      ['18,000', 'per annum', 1500],
      ['60', 'per night', 1825],
      ['4500', 'quarterly', 1500],
      // Not a repeated payment, so no rent.
      ['9000', 'seasonal', undefined],
    ])('%s a %s', async (amount, period, expected) => {
      const rent: FieldMapping = { from: from(price), as: 'money', period: from(text) }
      const options = { fields: { SaleType: { value: 'for_rent' }, SalePrice: { value: 1 }, RentPrice: rent } }
      const dirty = { [from(price)]: container === 'XML' ? amount : quoted(amount), [from(text)]: period }
      const [feed, preset] =
        container === 'XML'
          ? [zillowDocument(zillowHome('M2', dirty)), 'zillow']
          : [resoTable(resoRow('M2', dirty)), 'reso-csv']
      const { listings } = await delivered(feed, { preset, ...options })
      expect(listings['M2'].RentPrice).toBe(expected)
    })

    test('a period that nobody knows is a reject', async () => {
      const rent: FieldMapping = { from: from(price), as: 'money', per: 'month', period: from(text) }
      const { rejects } = await containers[container](text, 'fortnight', { fields: { RentPrice: rent } })
      expect(rejects.map(({ problems }) => problems[0])).toContain(
        "RentPrice: 'fortnight' needs a period such as monthly, quarterly or yearly",
      )
    })
  })

  describe('dates', () => {
    // Today is 2026-11-21.
    test.each<[string, string, number | undefined]>([
      ['2026-11-11', 'ISO', 10],
      ['2026-11-11T00:00:00.000', 'ISO', 10],
      ['2026-11-11T14:15:22Z', 'ISO', 10],
      ['2026-11-11T16:21:03.0+00:00', 'ISO', 10],
      ['2026-11-11T00:00:01+03:00', 'ISO', 10],
      ['2026-11-11 00:00:00', 'ISO', 10],
      ['2026-11-11-12:30:00', 'YYYY-MM-DD-HH:mm:ss', 10],
      ['21-Oct-2026', 'D-MMM-YYYY', 31],
      ['21-Oct-2026 11:00am', 'D-MMM-YYYY h:mmA', 31],
      ['October-20-2026', 'MMMM-D-YYYY', 32],
      ['October-8-2026 11:00 AM', 'MMMM-D-YYYY h:mm A', 44],
      ['28/2/2026 17:30', 'D/M/YYYY H:mm', 266],
      ['1/6/2026', 'D/M/YYYY', 173],
      ['1/6/2026', 'M/D/YYYY', 319],
      ['22/01/2026 05:17:29 PM', 'DD/MM/YYYY hh:mm:ss A', 303],
      ['Sat, 21 Feb 2026 23:40:21 GMT', 'RFC822', 273],
      ['Sat, 21 Feb 2026 23:40:21 +0100', 'RFC822', 273],
      ['21 Feb 2026', 'RFC822', 273],
      ['2026-02-21 6:40:20 PM', 'YYYY-MM-DD h:mm:ss A', 273],
      ['25.02.2026', 'DD.MM.YYYY', 269],
      ['04.07.2026 13:45:00', 'DD.MM.YYYY HH:mm:ss', 140],
      ['11/12/2025', 'DD/MM/YYYY', 345],
      ['01012026', 'DDMMYYYY', 324],
      ['23.06.26', 'DD.MM.YY', 151],
      // A future date counts as today.
      ['2026-12-24', 'ISO', 0],
    ])('%s written %s was %j days ago', async (value, format, days) => {
      const rule: FieldMapping = { from: from(date), as: 'daysSince', formats: [format] }
      const others = { fields: { DaysOnMarket: [rule] }, defaults: { DaysOnMarket: 5 } }
      const { listings } = await containers[container](date, value, others)
      expect(listings['M2']).toMatchObject({ DaysOnMarket: days })
    })

    test.each(['1970-01-01T03:00:00+03:00', '0001-01-01T00:00:00', '1900-01-01', '', '--', 'N/A'])(
      '%j is no date: the default counts',
      async (value) => {
        const rule: FieldMapping = { from: from(date), as: 'daysSince' }
        const others = { fields: { DaysOnMarket: rule }, defaults: { DaysOnMarket: 5 } }
        const { listings } = await containers[container](date, value, others)
        expect(listings['M2']).toMatchObject({ DaysOnMarket: 5 })
      },
    )

    test.each(['2026-02-29', '11/21/2026', '0000-00-00', 'yesterday', '1'.repeat(100_000)])(
      'a date that is none, or in another form: a reject that names the form',
      async (value) => {
        const rule: FieldMapping = { from: from(date), as: 'daysSince' }
        const { rejects } = await containers[container](date, value, { fields: { DaysOnMarket: rule } })
        const problems = rejects.find(({ mlsNumber }) => mlsNumber === 'M2')?.problems ?? []
        expect(problems).toEqual([`DaysOnMarket: '${value.slice(0, 200)}' needs a date written as ISO`])
      },
    )
  })

  describe('lots', () => {
    const rule: FieldMapping = {
      from: from(lot),
      as: 'area',
      unit: 'acres',
      dimensions: 'square feet',
      range: 'least',
      zero: 'missing',
    }
    const defaults = { LotArea: 7 }
    test.each([
      ['50x125', 6250],
      ['68 X 132', 8976],
      ["127' x 146'", 18_542],
      ['2 - 4.99 acres', 87_120],
      ['10000 square feet', 10_000],
      ['4000 sqft', 4000],
      ['4,000 Sq. Ft.', 4000],
      ['0.25', 10_890],
      ['.0307', 1337.29],
      ['1 ha', 107_639.1],
      ['500 m²', 5381.96],
      ['---', 7],
      ['--', 7],
      ['-', 7],
      ['0', 7],
      ['', 7],
    ])('%j is %d square feet', async (value, expected) => {
      expect(await became(container, lot, value, { fields: { LotArea: rule }, defaults })).toMatchObject({
        LotArea: expected,
      })
    })

    test.each(['50x125x60', '50 + 75 terrace', 'irregular', '221 ft frontage', '2 acres, 3 lots', '50x'])(
      '%j is a reject that shows it',
      async (value) => {
        const found = await became(container, lot, value, { fields: { LotArea: rule }, defaults })
        expect(found).toEqual([expect.stringContaining(`LotArea: '${value}`)])
      },
    )
  })

  describe('addresses', () => {
    test.each([
      ['https://homes.example/a b.html', 'https://homes.example/a%20b.html'],
      [' https://homes.example/ü/"x"\t', 'https://homes.example/ü/%22x%22'],
      ['https://homes.example/?q=a&b=<c>', 'https://homes.example/?q=a&b=%3Cc%3E'],
    ])('of the page: %j', async (value, expected) => {
      expect(await became(container, page, value)).toMatchObject({ Url: expected })
    })

    test.each(['homes.example/1', 'javascript:alert(1)', 'https://', 'https://a b.example'])(
      'of the page that are none: %j',
      async (value) => {
        expect(await became(container, page, value)).toEqual([
          `Url: '${value}' needs an address that begins with http:// or https://`,
        ])
      },
    )

    test.each([
      ['https://agent:hunter2@homes.example/1', 'https://…@homes.example/1'],
      ['https://token@homes.example/1', 'https://…@homes.example/1'],
      ['http://169.254.169.254/latest/', 'http://169.254.169.254/latest/'],
      ['http://0xa9.254.1/', 'http://0xa9.254.1/'],
      ['http://2851995905/', 'http://2851995905/'],
      ['http://[fe80::1]/', 'http://[fe80::1]/'],
      ['http://[::ffff:169.254.1.1]/', 'http://[::ffff:169.254.1.1]/'],
      ['http://169.254.\u202e1.1/', 'http://169.254.1.1/'],
    ])('of the page that may not be published: %j', async (value, shown) => {
      expect(await became(container, page, value)).toEqual([
        `Url: '${shown}' needs an address without user or password, and not link-local`,
      ])
    })

    test('with a host longer than any are none, and are not parsed', async () => {
      const value = `https://${'a.'.repeat(600)}example/1`
      const [problem] = (await became(container, page, value)) as string[]
      expect(problem).toMatch(/^Url: 'https:\/\/a\.a\..*needs an address that begins with http:\/\/ or https:\/\/$/)
      expect(problem.length).toBeLessThan(300)
    })

    test('carry no bidirectional controls', async () => {
      const value = 'https://homes.example/\u202efdp.exe\u2066?a=1\u200e'
      expect(await became(container, page, value)).toMatchObject({ Url: 'https://homes.example/fdp.exe?a=1' })
    })

    test('of images that may not be published are left out', async () => {
      const images: FieldMapping = { from: from(text), as: 'images', split: ' ' }
      const value =
        'https://me:pw@i.example/1.jpg https://i.example/2.jpg http://169.254.1.1/3.jpg http://0xa9fe0101/4.jpg https://i.example/\u200f5.jpg'
      const found = await became(container, text, value, { fields: { Images: images } })
      expect(found).toMatchObject({ Images: ['https://i.example/2.jpg', 'https://i.example/5.jpg'] })
    })

    test('of images with blanks, doubles and things that are none', async () => {
      const value =
        'https://p.example/front door.jpg | https://p.example/b.jpg|photo.jpg|https://p.example/front door.jpg|' +
        '  https://p.example/c (1).jpg?w=1,h=2 |'
      const images: FieldMapping = { from: from(text), as: 'images', split: '|' }
      expect(await became(container, text, value, { fields: { Images: images } })).toMatchObject({
        Images: [
          'https://p.example/front%20door.jpg',
          'https://p.example/b.jpg',
          'https://p.example/c%20(1).jpg?w=1,h=2',
        ],
      })
    })
  })

  describe('MLSNumbers', () => {
    test.each([
      'A/12/7',
      'A 12  b',
      '00012',
      '1e5',
      '0x1F',
      '#12?&=%20',
      "O'Neill-7",
      'Ñandú-7',
      'Nan\u0303du-7',
      '東京-7',
      'W<12>&',
      '🏠7',
      'x'.repeat(300),
      'x'.repeat(500),
    ])('%j stays as it is', async (value) => {
      expect(await became(container, number, value)).toMatchObject({ MLSNumber: value })
    })

    test('HTML escapes left in it are undone: the service may show any & as &amp;', async () => {
      expect(await became(container, number, 'A&amp;amp;B &#x41;')).toMatchObject({ MLSNumber: 'A&B A' })
      const controls = await became(container, number, 'A&#0;B')
      expect(controls).toEqual([expect.stringMatching(/^MLSNumber: '/)])
    })

    test('blanks around it are not part of it', async () => {
      expect(await became(container, number, '  A 12 \t')).toMatchObject({ MLSNumber: 'A 12' })
    })

    test.each(['x'.repeat(501), 'é'.repeat(501), 'A\n12', 'A\t12', 'A\u009f12'])('%j is a reject', async (value) => {
      expect(await became(container, number, value)).toEqual([
        expect.stringMatching(/^MLSNumber: '[^]{1,200}' needs 1 to 500 characters, none of them a control character$/),
      ])
    })
  })
})

test('a date in parts, as MITS has it', async () => {
  const parts = '<Ready Month="11" Day="1" Year="2026"/>'
  const rule: FieldMapping = {
    from: ['Ready/@Year', 'Ready/@Month', 'Ready/@Day'],
    as: 'daysSince',
    separator: '-',
    formats: ['YYYY-M-D'],
  }
  const options = { preset: 'zillow', fields: { DaysOnMarket: rule }, defaults: { DaysOnMarket: 5 } }
  const feed = zillowDocument(
    zillowHome('M1', {}, parts),
    zillowHome('M2'),
    zillowHome('M3', {}, parts.replace('"11"', '""')),
  )
  const { listings, rejects } = await delivered(feed, options)
  expect(Object.values(listings).map(({ DaysOnMarket }) => DaysOnMarket)).toEqual([20, 5])
  expect(rejects).toEqual([{ mlsNumber: 'M3', problems: ["DaysOnMarket: '2026--1' needs a date written as YYYY-M-D"] }])
})

describe('a price that may not be shown', () => {
  test('REAXML: display="no", and a text in its place', async () => {
    const home = (id: string, price: string) => `<residential modTime="2026-11-11-12:30:00" status="current">
      <uniqueID>${id}</uniqueID><listingId>1</listingId><headline>Home</headline>${price}
      <address display="yes"><street>Main St</street><suburb>Perth</suburb><state>WA</state><postcode>6000</postcode></address>
      <category name="House"/><features><bedrooms>2</bedrooms><bathrooms>1</bathrooms></features></residential>`
    const feed = `<propertyList>${home('M1', '<price display="no">500000</price>')}${home('M2', '<price>POA</price>')}${home(
      'M3',
      '<price display="yes">500000</price>',
    )}</propertyList>`
    const defaults = {
      Url: 'https://homes.example/',
      YearBuilt: 0,
      LotArea: 0,
      BuildingArea: 0,
      ParkingSpots: 0,
      DaysOnMarket: 0,
    }
    const { listings, rejects } = await delivered(feed, { preset: 'reaxml', defaults })
    expect(rejects).toEqual([])
    expect(Object.values(listings).map(({ SalePrice }) => SalePrice)).toEqual([undefined, undefined, 500_000])
  })
})
