import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { ConfigError } from '../../../src/core/errors.ts'
import type { Delivered, Listing } from '../../../src/core/listing.ts'
import { createMapping } from '../../../src/feed/mapping/create-mapping.ts'
import { loadPreset } from '../../../src/feed/mapping/load-preset.ts'
import type { KnownListing } from '../../../src/feed/mapping/mapping.ts'
import { mappingOptionsSchema } from '../../../src/feed/mapping/preset.ts'
import { readingOf } from '../../support/reading.ts'

const moment = { now: Date.UTC(2026, 10, 21, 18), today: '2026-11-21', timezone: 'America/Chicago' }
const presetText = (name: string): string =>
  readFileSync(join(import.meta.dirname, `../../../config/presets/${name}.yaml`), 'utf8')

function mappingOf(text: string, options: object) {
  return createMapping(loadPreset(text, 'preset.yaml'), mappingOptionsSchema.parse(options), 'north')
}

/** Reads bytes as a delivery, with the text of a preset and a feed's options. */
async function read(text: string, document: string, options: object, known?: KnownListing): Promise<Delivered[]> {
  const mapping = mappingOf(text, options)
  const bytes = (async function* () {
    yield Buffer.from(document)
  })()
  const reading = readingOf(mapping, bytes)
  const found: Delivered[] = []
  for await (const batch of reading.records) {
    for (const record of batch) {
      const asked = mapping.asksFor?.(reading.parse(record), moment) ?? []
      const foretold: KnownListing = (mlsNumber) => {
        expect(asked).toContain(mlsNumber)
        return known?.(mlsNumber) ?? null
      }
      found.push(...mapping.normalise(reading.parse(record), record.at, moment, foretold))
    }
  }
  expect(reading.end().reasons).toEqual([])
  return found
}

const whole = {
  ListingId: 'A1',
  StandardStatus: 'Active',
  PropertyType: 'Residential',
  ListPrice: '400000',
  BedroomsTotal: '3',
  BathroomsFull: '2',
  YearBuilt: '1990',
  DaysOnMarket: '12',
  LotSizeAcres: '0.5',
  LivingArea: '1500',
  ParkingTotal: '2',
  ListingURL: 'https://homes.example/a1',
  UnparsedAddress: '12 Sitter Street',
  City: 'Springfield',
  Latitude: '39.1',
  Longitude: '-94.5',
  Country: 'US',
  PublicRemarks: 'Come to 12 Sitter Street today',
  ListOfficeName: 'Acme Realty',
}

const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`

/** Records of the preset reso-csv: the whole one with other cells or more of them. */
function resoRows(...changes: Record<string, string>[]): string {
  const rows = (changes.length === 0 ? [{}] : changes).map((change) => ({ ...whole, ...change }))
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const lines = rows.map((row) => names.map((name) => quoted((row as Record<string, string>)[name] ?? '')).join(','))
  return `${[names.join(','), ...lines].join('\n')}\n`
}

const reso = (options: object, ...changes: Record<string, string>[]): Promise<Delivered[]> =>
  read(presetText('reso-csv'), resoRows(...changes), options)

async function resoListing(options: object, change: Record<string, string> = {}): Promise<Listing> {
  const [delivered] = await reso(options, change)
  if (delivered.kind !== 'listing') throw new Error(JSON.stringify(delivered))
  return delivered.listing
}

describe('display opt-outs', () => {
  const optOut = [{ flag: { from: 'IDXEntireListingDisplayYN', is: false }, why: 'not for IDX' }]

  it("a feed's own take listings off beside those of the preset", async () => {
    const found = await reso(
      { removeWhen: optOut },
      { ListingId: 'A1', IDXEntireListingDisplayYN: 'N' },
      { ListingId: 'A2', InternetEntireListingDisplayYN: 'false' },
      { ListingId: 'A3', IDXEntireListingDisplayYN: 'Y', InternetEntireListingDisplayYN: 'true' },
      { ListingId: 'A4', MlgCanView: 'false' },
    )
    expect(found).toMatchObject([
      { kind: 'removal', mlsNumber: 'A1', why: 'not for IDX' },
      { kind: 'removal', mlsNumber: 'A2', why: 'the feed says not to display it (InternetEntireListingDisplayYN)' },
      { kind: 'listing' },
      { kind: 'removal', mlsNumber: 'A4', why: 'the feed says that it may no longer be shown (MlgCanView)' },
    ])
  })

  it('one that is neither yes nor no rejects its record, so that nothing is shown by mistake', async () => {
    expect(await reso({ removeWhen: optOut }, { IDXEntireListingDisplayYN: 'perhaps' })).toMatchObject([
      { kind: 'reject', mlsNumber: 'A1', problems: [{ field: 'Status', value: 'perhaps' }] },
    ])
  })

  it('hides street and coordinates wherever they are told, by the preset or by the feed', async () => {
    const extension = { Showing: 'ShowingInstructions' }
    const hideAddress = [{ from: 'AddressDisplay', equals: ['Area only'] }]
    const flags = { InternetAddressDisplayYN: '0', AddressDisplay: 'AREA ONLY' }
    for (const [name, word] of Object.entries(flags)) {
      const listing = await resoListing(
        { hideAddress, extension },
        { [name]: word, ShowingInstructions: 'Ring at 12 SITTER STREET' },
      )
      expect(JSON.stringify(listing)).not.toMatch(/sitter|39\.1|94\.5/i)
      expect(listing).toMatchObject({ City: 'Springfield', Description: 'Come to … today' })
    }
    expect(await resoListing({ hideAddress }, { AddressDisplay: 'Full' })).toMatchObject({
      Address: '12 Sitter Street',
      Latitude: 39.1,
    })
  })

  // The street, a text that names it, and what is left of the text.
  const respelled = [
    ['12 Oak Street', 'Welcome to 12 Oak St! No 112 Oak St.', 'Welcome to …! No 112 Oak St.'],
    ['12 Oak St', 'On 12 Oak Street, near 12 Oakland Ave', 'On …, near 12 Oakland Ave'],
    ['12A Oak Street', 'At 12 A OAK STREET and 12a Oak St.', 'At … and ….'],
    ['12 N Main St Apt 4', 'at 12 North Main Street #4', 'at … #4'],
    ['Hauptstr. 5', 'in der Hauptstraße 5 (Haupt Str. 5), nicht Hauptstr. 55', 'in der … (…), nicht Hauptstr. 55'],
    ['Kölner Straße 5', 'Kölner Str. 5, auch Koelner Str. 5', '…, auch Koelner Str. 5'],
    ['Rua São João 5', 'na Rua Sao Joao, 5', 'na …'],
    ['100 Highway 5', 'From 100 Hwy 5: 1005 acres', 'From …: 1005 acres'],
    ['Oak Street', 'Oak floors on Oak St.', 'Oak floors on ….'],
    ['1 A Street', 'Unit 1 A at 1 A St', 'Unit 1 A at …'],
    ['2/39 Main Road', 'Unit 2, 39 Main Rd.', 'Unit 2, ….'],
    ['Apartment 2/39 Main Road', 'Apartment 2, 39 Main Rd. or 39 Main Road', '…. or …'],
    ['Townhouse 2/39 Main Road', 'At 39 Main Rd.', 'At ….'],
    ['ul. Długa 5/7', 'przy ul. Długa 5/7, nie ul. Długa 57', 'przy …/7, nie ul. Długa 57'],
    ['Via Roma 12/3 int. 4', 'In via Roma 12/3 int. 4', 'In …'],
    ['東京都港区1-2-3', 'は東京都港区1-2-3にある', 'は…にある'],
    // What is no street stays.
    ['5 Acre Lane', 'on a 5 acre lot in 5 Acre Ln', 'on a 5 acre lot in …'],
  ]
  it.each(respelled)('a hidden %s is found however it is spelled', async (street, text, left) => {
    const extension = { Plan: 'Plan', Other: 'Other' }
    const change = {
      InternetAddressDisplayYN: '0',
      UnparsedAddress: street,
      PublicRemarks: text,
      Plan: text,
      Other: 'x',
    }
    const listing = await resoListing({ extension }, change)
    expect(listing.Description).toBe(left)
    expect(listing.ExtensionColumn).toContainEqual({ Key: 'Other', value: 'x' })
    expect(listing.ExtensionColumn?.map(({ Key }) => Key)).not.toContain('Plan')
  })

  it.each(['444_nightingaleRd', '444-nightingale', '444%20Nightingale%20Road', '444NightingaleRd'])(
    'a hidden street is found in the address of a tour: %s',
    async (slug) => {
      const VirtualTourURLUnbranded = `https://tours.example/unbranded/${slug}/`
      const change = { UnparsedAddress: '444 Nightingale Road', VirtualTourURLUnbranded }
      const listing = await resoListing({}, { ...change, InternetAddressDisplayYN: '0' })
      expect(JSON.stringify(listing)).not.toMatch(/nightingale/i)
      const shown = await resoListing({}, { ...change, InternetAddressDisplayYN: '1' })
      expect(JSON.stringify(shown)).toContain(slug)
    },
  )

  it('a word that is in many texts is no street to look for', async () => {
    const change = {
      InternetAddressDisplayYN: '0',
      UnparsedAddress: 'Square',
      PublicRemarks: '100 sq ft, square rooms',
    }
    expect((await resoListing({}, change)).Description).toBe('100 sq ft, square rooms')
  })

  it.each([
    [`12 oak${' st'.repeat(60)}`, `12oak${'st'.repeat(60)}x `.repeat(50)],
    ['1 '.repeat(100), '1 '.repeat(99) + '2 ' + '1 '.repeat(400_000)],
  ])('a hostile street costs no time (%#)', async (UnparsedAddress, PublicRemarks) => {
    const listing = await resoListing({}, { InternetAddressDisplayYN: '0', UnparsedAddress, PublicRemarks })
    expect(listing.Description?.slice(0, 4)).toBe(PublicRemarks.slice(0, 4))
  })

  const named: [string, string, 'removal' | 'hidden'][] = [
    ['Internet Entire Listing Display YN', 'N', 'removal'],
    ['Internet Entire Listing Display', 'No', 'removal'],
    ['display_internet_entire_listing', 'N', 'removal'],
    ['PermitInternetYN', '0', 'removal'],
    ['Display On Internet', 'false', 'removal'],
    ['Internet Address Display', 'N', 'hidden'],
    ['displayAddressOnInternet', 'N', 'hidden'],
    ['PermitAddressInternetYN', 'False', 'hidden'],
    ['Hide Address', 'Yes', 'hidden'],
  ]
  test.each(named)('mls-csv heeds %s', async (header, word, effect) => {
    const document = `MLS Number,Status,Type,Price,Bedrooms,Baths,Sqft Main,Acres,Year Built,DOM,Parking Spaces,Address,City,URL,${header}
7,Active,Single Family,400000,3,2,1500,.5,1990,12,2,5 Elm Street,Springfield,https://a.example/7,${word}
`
    const ours = { defaults: { SaleType: 'for_sale' }, currency: 'USD' }
    const [found] = await read(presetText('mls-csv'), document, ours)
    expect(found).toMatchObject({ kind: effect === 'removal' ? 'removal' : 'listing' })
    expect(JSON.stringify(found)).not.toContain('Elm Street')
  })
})

describe('coming soon', () => {
  const soon = { StandardStatus: 'Coming Soon' }

  it('is shown unless the feed or its preset says hide, and a feed wins over its preset', async () => {
    const hiding = `${presetText('reso-csv')}\ncomingSoon: hide\n`
    const why = 'coming soon, which this feed hides (comingSoon: hide)'
    expect(await reso({}, soon)).toMatchObject([{ kind: 'listing', listing: { Status: 'PreOnMarket' } }])
    expect(await reso({ comingSoon: 'hide' }, soon, {})).toMatchObject([
      { kind: 'removal', mlsNumber: 'A1', why },
      { kind: 'listing' },
    ])
    expect(await read(hiding, resoRows(soon), {})).toMatchObject([{ kind: 'removal', why }])
    expect(await read(hiding, resoRows(soon), { comingSoon: 'show' })).toMatchObject([{ kind: 'listing' }])
  })

  it('is whatever would become PreOnMarket, be it by a word of the feed or by default', async () => {
    const comingSoon = 'hide'
    const early = { StandardStatus: 'Early Bird' }
    expect(await reso({ comingSoon, statuses: { 'Early Bird': 'PreOnMarket' } }, early)).toMatchObject([
      { kind: 'removal' },
    ])
    const byDefault = { comingSoon, defaults: { Status: 'PreOnMarket' } }
    expect(await reso(byDefault, { StandardStatus: '' })).toMatchObject([{ kind: 'removal' }])
    expect(await reso({ comingSoon, statuses: { 'Coming Soon': 'Active' } }, soon)).toMatchObject([{ kind: 'listing' }])
  })
})

describe('attribution', () => {
  it('rejects a listing that does not name its source', async () => {
    const found = await reso({ attribution: 'ListOfficeName' }, {}, { ListingId: 'A2', ListOfficeName: ' ' })
    const problem = 'is missing, but attribution requires it in every listing; ask the sender to fill it'
    expect(found).toMatchObject([
      { kind: 'listing' },
      { kind: 'reject', mlsNumber: 'A2', problems: [{ field: 'ExtensionColumn ListOfficeName', problem }] },
    ])
    expect(await reso({}, { ListOfficeName: '' })).toMatchObject([{ kind: 'listing' }])
  })

  it('asks nothing of a record that takes its listing off', async () => {
    const sold = { StandardStatus: 'Withdrawn', ListOfficeName: '' }
    expect(await reso({ attribution: 'ListOfficeName' }, sold)).toMatchObject([{ kind: 'removal' }])
  })

  it('is one problem where the column is there and cannot be read', async () => {
    const own = { attribution: 'Licence', extension: { Licence: { from: 'Licence', as: 'number' } } }
    const problems = [{ field: 'ExtensionColumn Licence', value: 'twelve' }]
    const [found] = await reso(own, { Licence: 'twelve' })
    expect(found).toMatchObject({ kind: 'reject', problems })
    expect(found).toHaveProperty('problems.length', 1)
  })

  it('needs a column that has a rule, of the preset or of the feed', async () => {
    const wrong = (options: object) => {
      try {
        mappingOf(presetText('reso-csv'), options)
      } catch (error) {
        if (error instanceof ConfigError) return error.problems
        throw error
      }
      return []
    }
    expect(wrong({ attribution: 'ListOficeName' })).toEqual([
      'attribution: no column ListOficeName has a rule under extension; did you mean ListOfficeName?',
    ])
    expect(wrong({ attribution: 'Zzzzzzzz' })).toEqual([
      'attribution: no column Zzzzzzzz has a rule under extension; give it one',
    ])
    const own = { attribution: 'Courtesy', extension: { Courtesy: { template: 'Courtesy of {ListOfficeName}' } } }
    expect((await resoListing(own)).ExtensionColumn).toContainEqual({
      Key: 'Courtesy',
      value: 'Courtesy of Acme Realty',
    })
  })
})

describe('imagesNotFrom', () => {
  const fields = { Images: { from: 'Photos', as: 'images', split: [',', '|'] } }
  const barred = 'https://media.example.com/1.jpg'
  const allowed = 'https://photos.example/1.jpg'

  it('leaves images of these hosts and of those below them out, and says how many', async () => {
    const photos = [
      barred,
      'http://MEDIA.example.com:8080/2.jpg?x=1',
      'https://eu.media.example.com/3.jpg',
      'https://media.example.com./4.jpg',
      'https://xn--bcher-kva.example/5.jpg',
      allowed,
      'https://notmedia.example.com/6.jpg',
      'https://media.example.com.other.example/7.jpg',
      'https://photos.example/media.example.com/8.jpg',
    ]
    const imagesNotFrom = ['Media.Example.com', 'bücher.example']
    const [found] = await reso({ fields, imagesNotFrom }, { Photos: photos.join('|') })
    expect(found).toMatchObject({
      kind: 'listing',
      listing: { Images: photos.slice(5) },
      imagesLeftOut: { 'Media.Example.com': 4, 'bücher.example': 1 },
    })
  })

  it('leaves a listing without an image where none may be passed on', async () => {
    const [found] = await reso({ fields, imagesNotFrom: ['example.com'] }, { Photos: barred })
    expect(found).toMatchObject({ kind: 'listing', imagesLeftOut: { 'example.com': 1 } })
    expect(found).not.toHaveProperty('listing.Images')
  })

  it('keeps their addresses out of columns and texts', async () => {
    const extension = { Photos: 'Photos', First: 'First', Note: 'Note' }
    const listing = await resoListing(
      { extension, imagesNotFrom: ['media.example.com'] },
      {
        Photos: `${barred}, ${allowed},${barred};${barred}`,
        First: barred,
        Note: 'See (//media.example.com/n.jpg), then ring',
        PublicRemarks: `Seen at ${barred}. Bright`,
        VirtualTourURLUnbranded: barred,
      },
    )
    const columns = Object.fromEntries((listing.ExtensionColumn ?? []).map(({ Key, value }) => [Key, value]))
    expect(columns).toMatchObject({ Photos: allowed, Note: 'See (), then ring' })
    expect(Object.keys(columns)).not.toContain('First')
    expect(Object.keys(columns)).not.toContain('VirtualTour')
    expect(listing.Description).toBe('Seen at …. Bright')
  })

  it("a feed's list takes the place of its preset's, as the images of one's own licence may be shown", async () => {
    const photos = { Photos: 'https://media.mlsgrid.com/a.jpg' }
    expect(await reso({ fields }, photos)).toMatchObject([{ imagesLeftOut: { 'media.mlsgrid.com': 1 } }])
    expect(await resoListing({ fields, imagesNotFrom: [] }, photos)).toMatchObject({ Images: [photos.Photos] })
  })

  it('no spelling of a host that may not be passed on gets through (random)', async () => {
    const spelled = fc
      .tuple(
        fc.constantFrom('http:', 'https:', 'HTTPS:'),
        fc.constantFrom('', 'me@', 'me:word@'),
        fc.constantFrom('', 'a.', 'a.b-c.', 'xn--bcher-kva.'),
        fc.constantFrom(
          'media.example.com',
          'MEDIA.Example.COM',
          'media%2Eexample.com',
          'ｍedia.example.com',
          'media。example.com',
        ),
        fc.constantFrom('', '.', ':81', '!', ';x', '.)'),
        fc.constantFrom('', '/', '/secret.jpg', '/secret.jpg?u=a&b=c', '?secret', '\\secret'),
      )
      .map(([scheme, user, below, host, end, rest]) => `${scheme}//${user}${below}${host}${end}${rest}`)
    const other = fc.constantFrom(allowed, 'https://photos.example/b.jpg', 'http://xmedia.example.com/c.jpg')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(spelled, other), { minLength: 1, maxLength: 8 }), async (addresses) => {
        const [found] = await reso(
          { fields, imagesNotFrom: ['media.example.com'], extension: { Photos: 'Photos', Spaced: 'Spaced' } },
          { Photos: addresses.join('|'), Spaced: addresses.join(' '), PublicRemarks: addresses.join(', ') },
        )
        const listing = found.kind === 'listing' ? found.listing : {}
        const good = new Set(addresses.filter((text) => /photos\.example|xmedia/.test(text)))
        expect((listing as Partial<Listing>).Images ?? []).toEqual([...good])
        const text = JSON.stringify(listing).replaceAll('xmedia.example.com', '')
        expect(text).not.toMatch(/media(\.|%2e|。)example|ｍedia|secret/i)
        for (const one of good) expect(text.includes(one) || one.includes('xmedia')).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})

describe('mlsPrefix', () => {
  const mlsPrefix = 'NWMLS-'

  it('stands before the number of a listing, a removal, a record left out and a reject', async () => {
    const found = await reso(
      { mlsPrefix, where: { City: ['Springfield'] } },
      {},
      { ListingId: 'A2', StandardStatus: 'Withdrawn' },
      { ListingId: 'A3', City: 'Shelbyville' },
      { ListingId: 'A4', YearBuilt: 'old' },
    )
    expect(found).toMatchObject([
      { kind: 'listing', listing: { MLSNumber: 'NWMLS-A1' } },
      { kind: 'removal', mlsNumber: 'NWMLS-A2' },
      { kind: 'filtered', mlsNumber: 'NWMLS-A3' },
      { kind: 'reject', mlsNumber: 'NWMLS-A4' },
    ])
  })

  it('is in {MLSNumber} of a template; the path gives the number of the board', async () => {
    const template = (text: string) =>
      resoListing({ mlsPrefix, fields: { Url: { template: `https://x.example/${text}` } } })
    expect((await template('{MLSNumber}')).Url).toBe('https://x.example/NWMLS-A1')
    expect((await template('{ListingId}')).Url).toBe('https://x.example/A1')
  })

  it('a number that is too long with it is a reject without a number', async () => {
    const long = 'A'.repeat(495)
    expect(await reso({ mlsPrefix }, { ListingId: long })).toMatchObject([
      {
        kind: 'reject',
        mlsNumber: null,
        problems: [{ field: 'MLSNumber', value: long.slice(0, 200), problem: 'is too long with NWMLS- before it' }],
      },
    ])
    expect(await reso({ mlsPrefix: 'B' }, { ListingId: long })).toMatchObject([{ kind: 'listing' }])
  })

  it("a variant's suffix goes behind it", async () => {
    const imovel = (more: string): string => `<Carga><Imoveis><Imovel><CodigoImovel>Z1</CodigoImovel>
      <TipoImovel>Casa</TipoImovel><AreaUtil>87</AreaUtil><UnidadeMetrica>M2</UnidadeMetrica>${more}</Imovel></Imoveis></Carga>`
    const fields = { Url: { template: 'https://x.example/{CodigoImovel}' } }
    const defaults = { DaysOnMarket: 0, LotArea: 0, YearBuilt: 0, Bedrooms: 0, Bathrooms: 0, ParkingSpots: 0 }
    const both = imovel('<PrecoVenda>350.000</PrecoVenda><PrecoLocacao>3.000</PrecoLocacao>')
    const found = await read(presetText('zap'), both, { mlsPrefix, fields, defaults })
    expect(found).toMatchObject([{ listing: { MLSNumber: 'NWMLS-Z1' } }, { listing: { MLSNumber: 'NWMLS-Z1-rent' } }])
    const neither = await read(presetText('zap'), imovel(''), { mlsPrefix, fields, defaults })
    expect(neither).toMatchObject([{ mlsNumber: 'NWMLS-Z1' }, { mlsNumber: 'NWMLS-Z1-rent' }])
  })

  it('a record that tells only what changed is completed from the listing under the prefixed number', async () => {
    const before = await resoListing({ mlsPrefix })
    const asked: string[] = []
    const known: KnownListing = (mlsNumber) => {
      asked.push(mlsNumber)
      return { listing: { ...before, MLSNumber: mlsNumber }, moving: {} }
    }
    const stub =
      '<propertyList><residential status="current"><uniqueID>S1</uniqueID><price>99</price></residential></propertyList>'
    const found = await read(presetText('reaxml'), stub, { mlsPrefix }, known)
    expect(asked).toEqual(['NWMLS-S1'])
    expect(found).toMatchObject([{ kind: 'listing', listing: { MLSNumber: 'NWMLS-S1', SalePrice: 99 } }])
  })
})

describe('records that tell only what changed', () => {
  const stub =
    '<propertyList><residential status="current"><uniqueID>S1</uniqueID><price>99</price></residential></propertyList>'
  const over = async (listing: Partial<Listing>, options: object): Promise<Delivered> => {
    const before = { ...(await resoListing({})), MLSNumber: 'S1', ...listing }
    const [found] = await read(presetText('reaxml'), stub, options, () => ({ listing: before, moving: {} }))
    return found
  }
  const early = { from: '@status', as: 'status' }

  it('take a listing off that may not be shown any more', async () => {
    const soon = { statuses: { current: 'PreOnMarket' }, fields: { Status: early } }
    expect(await over({}, soon)).toMatchObject({ kind: 'listing', listing: { Status: 'PreOnMarket', SalePrice: 99 } })
    expect(await over({}, { ...soon, comingSoon: 'hide' })).toMatchObject({ kind: 'removal', mlsNumber: 'S1' })
    const listing = { Status: 'PreOnMarket' as const }
    const nothingSaid = { comingSoon: 'hide', fields: { Status: { from: 'state', as: 'status' } } }
    expect(await over(listing, nothingSaid)).toMatchObject({ kind: 'removal', mlsNumber: 'S1' })
  })

  it('lose the images that may not be passed on, and need their source named as all do', async () => {
    const images = { Images: ['https://media.example.com/1.jpg', 'https://photos.example/2.jpg'] }
    const found = await over(images, { imagesNotFrom: ['media.example.com'] })
    expect(found).toMatchObject({ kind: 'listing', listing: { Images: ['https://photos.example/2.jpg'] } })
    const agency = { attribution: 'Agency', extension: { Agency: 'agencyName' } }
    expect(await over({}, agency)).toMatchObject({ kind: 'reject', problems: [{ field: 'ExtensionColumn Agency' }] })
    const named = { ExtensionColumn: [{ Key: 'Agency', value: 'Acme Realty' }] }
    expect(await over(named, agency)).toMatchObject({ kind: 'listing', listing: { SalePrice: 99 } })
  })
})

test('each switch changes the version of the mapping, so that every record is read anew', () => {
  const switches = [
    {},
    { removeWhen: [{ flag: { from: 'X', is: false }, why: 'x' }] },
    { hideAddress: [{ from: 'X', is: false }] },
    { comingSoon: 'hide' },
    { attribution: 'ListOfficeName' },
    { imagesNotFrom: ['media.example.com'] },
    { mlsPrefix: 'A-' },
  ]
  const versions = switches.map((options) => mappingOf(presetText('reso-csv'), options).version)
  expect(new Set(versions).size).toBe(switches.length)
})
