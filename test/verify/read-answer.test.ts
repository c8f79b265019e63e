/** Reading answers: amounts in every form, of the listing or not; status words; deleted homes. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Listing } from '../../src/core/listing.ts'
import { readAnswer, readAnswerOfGone } from '../../src/verify/read-answer.ts'
import { processorTime } from '../support/cost.ts'

function home(changes: Partial<Listing> = {}): Listing {
  return {
    MLSNumber: 'A-1042',
    SaleType: 'for_sale',
    Status: 'Active',
    CurrencySymbol: '$',
    PropertyType: 'House',
    Bedrooms: 3,
    Bathrooms: 2,
    Url: 'https://homes.example/A-1042',
    YearBuilt: 1987,
    DaysOnMarket: 12,
    LotArea: 5200,
    BuildingArea: 1810,
    AreaUnit: 'Square Feet',
    ParkingSpots: 2,
    Address: '2100 Elm Street',
    City: 'Cedar Falls',
    State: 'IA',
    ZIP: '50613',
    SalePrice: 425_000,
    HOAMonth: 250,
    ...changes,
  }
}

const rental = (RentPrice: number, changes: Partial<Listing> = {}) =>
  home({ SaleType: 'for_rent', SalePrice: undefined, RentPrice, ...changes })

const priceIn = (answer: string, listing: Listing = home()) => readAnswer(answer, listing).price?.verdict

describe('the price agrees', () => {
  test.each([
    ['$425,000'],
    ['The price is 425.000 €.'],
    ['425k'],
    ['It is listed at **$425,000.00**, built in 1987, with 1,810 sq ft.'],
    ['$ 425000'],
    ['It costs 425 000 EUR'],
    ["CHF 425'000.–"],
    ['Der Preis beträgt 425.000,- Euro.'],
    ['El precio es de 425 mil euros.'],
    ['USD 0.425 million'],
    ['السعر هو ٤٢٥٬٠٠٠ دولار'],
    ['价格是42.5万元'],
    ['価格：＄４２５，０００'],
    ['A-1042: $4,25,000 or so'],
    ['2100 Elm Street 12 425 000 €'],
    ['Call +1 (319) 555-0123. 2100 Elm St.: $425,000, $250/month HOA, $235 per sq ft'],
    ['- 9 Oak Lane: $310,000\n- 2100 Elm Street (A-1042): $425,000\n- 3 Ash Way: $99,000'],
    ['The home at 2100 Elm Street is lovely.\n\nPrice: $425,000\nTaxes: $4,100 a year'],
    ['It was $450,000, now $425,000.'],
    ['Reduced from $450,000 to $425,000!'],
  ])('%s', (answer) => expect(priceIn(answer)).toBe('agrees'))

  test.each([
    [1_200_000, '1.2M', '$'],
    [1_200_000, 'about 1,2 Mio. €', '€'],
    [1_199_000, '$1.2 million', '$'],
    [3_200_000, 'R$ 3.200.000,00', 'R$'],
    [3_200_000, 'R$ 3,2 milhões', 'R$'],
    [3_200_000, 'R$ 3,2 mi', 'R$'],
    [12_500_000, '1.25 crore', '₹'],
    [12_500_000, '₹1,25,00,000', '₹'],
    [425_000, 'NOK 425 000', 'kr'],
    [1_234_567.5, '$1,234,567.50', '$'],
    [1_234_567.5, '$1,234,568', '$'],
    [650_000_000, '6.5億円', '¥'],
  ])('%d as %s', (SalePrice, answer, CurrencySymbol) => {
    expect(priceIn(answer, home({ SalePrice, CurrencySymbol }))).toBe('agrees')
  })
})

describe('the price disagrees', () => {
  test.each([
    ['It costs $450,000.'],
    ['The asking price is 450000.'],
    ['2100 Elm Street: $450,000, HOA $250/month, built 1987'],
    ['- 9 Oak Lane: $425,000\n- 2100 Elm Street (A-1042): $450,000'],
    ['A-1042 costs 1.2M'],
    ['It was $425,000, now $399,000.'],
    ['Reduced from $425,000 to $399,000'],
    ['Preis: 450.000 €. Wohnfläche 425 m²'],
    ['It costs $450,000. Call 425-000-1234.'],
  ])('%s', (answer) => expect(priceIn(answer)).toBe('disagrees'))

  test('where its digits are the end of a larger one, in groups with blanks between', () => {
    const listing = home({ SalePrice: 309_500 })
    for (const answer of [
      'A-1042 is on offer: 4 309 500 EUR.',
      'It costs 4 309 500 €.',
      'NOK 4 309 500',
      'Price 4 309 500 €',
    ])
      expect(priceIn(answer, listing), answer).toBe('disagrees')
    expect(priceIn('2100 Elm Street 4 309 500 €', listing)).toBe('agrees')
  })

  test('where only other things have the amount', () => {
    expect(priceIn('Built in 1987, with 1987 sq ft, at 1987 Oak St; rent: $2,100 a month', rental(1987))).toBe(
      'disagrees',
    )
    expect(priceIn('2100 Elm Street rents for $1,950 a month', rental(2100))).toBe('disagrees')
    expect(priceIn('2100 Elm St, built 1950: $2,400/mo', rental(1950))).toBe('disagrees')
  })
})

describe('the price is not said', () => {
  test.each([
    ['It has 3 bedrooms and 1,810 sq ft on 5200 square feet, built in 1987.'],
    ['The price is on request; the HOA fee is $250 a month.'],
    ['I have these instead:\n- 9 Oak Lane: $310,000\n- 3 Ash Way: $99,000'],
    ['Homes there are between $300,000 and $350,000.'],
    ['Call +1 (319) 425-0000 or 425-000-4250.'],
    ['Property tax: $4,100. Deposit: $10,000.'],
    ['It is for rent, 2 pets are welcome.'],
    ['It is for rent from 2027.'],
    ['It lies on the Costa Blanca, 03180 Torrevieja.'],
    ['It is about $0.4 million.'],
    [''],
  ])('%s', (answer) => expect(priceIn(answer)).toBe('not said'))

  test('of a listing without one', () => {
    expect(readAnswer('It is available for $5.', home({ SalePrice: undefined })).price).toBeNull()
  })
})

/** Amounts as people and models write them; each gives the form and whether it says all digits. */
const forms: [name: string, write: (amount: number) => string][] = [
  ['1,234', (amount) => `$${amount.toLocaleString('en-US')}`],
  ['1,234.00', (amount) => `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2 })}`],
  ['1.234 €', (amount) => `${amount.toLocaleString('de-DE')} €`],
  ['1.234,00', (amount) => `R$ ${amount.toLocaleString('de-DE', { minimumFractionDigits: 2 })}`],
  ['1 234 EUR', (amount) => `${amount.toLocaleString('en-US').replaceAll(',', ' ')} EUR`],
  ['1 234 (narrow)', (amount) => `${amount.toLocaleString('en-US').replaceAll(',', '\u202f')} €`],
  ["1'234", (amount) => `CHF ${amount.toLocaleString('en-US').replaceAll(',', '’')}`],
  ['1234', (amount) => `$${amount}`],
  ['plain after a word', (amount) => `the price is ${amount}`],
  ['k', (amount) => `$${amount / 1000}k`],
  ['M', (amount) => `$${amount / 1e6}M`],
  ['Mio.', (amount) => `${String(amount / 1e6).replace('.', ',')} Mio. €`],
  ['bold', (amount) => `**$${amount.toLocaleString('en-US')}**`],
  ['Arabic', (amount) => `${amount.toLocaleString('ar-EG')} $`],
]
const noises = [
  'It has 3 bedrooms, 2.5 baths and 1,810 sq ft.',
  'Built in 1987, on 0.25 acres.',
  'Call +1 (319) 555-0123 to see it.',
  'The HOA fee is $250 a month.',
  'Property taxes were $4,100.',
  'It is at 2100 Elm Street, Cedar Falls, IA 50613.',
  'Open house on 11/28/2026 at 10:30.',
  'See https://homes.example/425000/price-310000.',
]

test('random amounts in random forms: the wanted one agrees, another one disagrees', () => {
  const amount = fc
    .oneof(fc.integer({ min: 20, max: 9000 }), fc.integer({ min: 1, max: 400 }))
    .map((n) => n * 1000 + 500)
  fc.assert(
    fc.property(
      amount,
      amount,
      fc.constantFrom(...forms),
      fc.subarray(noises),
      fc.subarray(noises),
      fc.boolean(),
      (wanted, other, [, write], before, after, named) => {
        fc.pre(Math.abs(wanted - other) / wanted > 0.05)
        const listing = home({ SalePrice: wanted })
        const answer = (said: number) =>
          [...before, `${named ? 'A-1042 is on offer: ' : ''}${write(said)}.`, ...after].join(' ')
        expect(priceIn(answer(wanted), listing), answer(wanted)).toBe('agrees')
        expect(priceIn(answer(other), listing), answer(other)).toBe('disagrees')
        const list = `- 9 Oak Lane: ${write(wanted)}\n- A-1042: ${write(other)}\n- 3 Ash Way: ${write(wanted)}`
        expect(priceIn(list, listing), list).toBe('disagrees')
      },
    ),
    { numRuns: 2000 },
  )
})

test('no answer is too strange to be read, or takes long', () => {
  const piece = fc.constantFrom(
    '$',
    '4',
    '25',
    ',',
    '.',
    ' ',
    '000',
    'k',
    'price ',
    'A-1042',
    '\n- ',
    '(',
    '+',
    '@',
    'R$',
    '\u0665',
    '\ue000',
    'was ',
    'a',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string({ unit: 'binary' })), { maxLength: 200 }), (pieces) => {
      const answer = pieces.join('')
      expect(['agrees', 'disagrees', 'not mentioned']).toContain(readAnswer(answer, home()).verdict)
      expect(['agrees', 'disagrees', 'not mentioned']).toContain(readAnswerOfGone(answer, home()).verdict)
    }),
  )
  for (const one of ['1', '1,', '1 ', ' ', '$', 'price ', 'a@', '(555) ', 'not ', '-', '1.1', '\u0661']) {
    const before = processorTime()
    readAnswer(one.repeat(50_000), home())
    expect(processorTime() - before, one).toBeLessThan(5000)
  }
})

describe('the status', () => {
  const statusOf = (answer: string, changes: Partial<Listing> = {}) => readAnswer(answer, home(changes)).status?.verdict
  test.each([
    ['It is for sale, status Active.', {}, 'agrees'],
    ['Yes, it is still available for $425,000.', {}, 'agrees'],
    ['It is for sale at $425,000.', {}, 'agrees'],
    ['Active, not yet sold.', {}, 'agrees'],
    ['This home was sold in May.', {}, 'disagrees'],
    ['It is no longer available.', {}, 'disagrees'],
    ['House for sale, status Sold', {}, 'disagrees'],
    ['It is coming soon.', {}, 'disagrees'],
    ['It is for rent.', {}, 'disagrees'],
    ['It is lovely.', {}, 'not said'],
    ['It was sold. Others are available.', {}, 'not said'],
    ['It has been sold.', { Status: 'Sold' }, 'agrees'],
    ['It is no longer on the market.', { Status: 'Sold' }, 'agrees'],
    ['It is active at $425,000.', { Status: 'Sold' }, 'disagrees'],
    ['Coming soon to the market', { Status: 'PreOnMarket' }, 'agrees'],
    ['Status: Active', { Status: 'PreOnMarket' }, 'disagrees'],
    ['Das Haus ist leider verkauft.', {}, 'disagrees'],
    ['La casa está disponible.', {}, 'agrees'],
    ['- 9 Oak: sold\n- A-1042: active', {}, 'agrees'],
    ['- 9 Oak: active\n- A-1042: sold', {}, 'disagrees'],
  ] as const)('%s', (answer, changes, verdict) => expect(statusOf(answer, changes)).toBe(verdict))

  test('a right price does not hide a wrong status, and a sold home needs no price', () => {
    expect(readAnswer('A-1042 costs $425,000; it was sold.', home()).verdict).toBe('disagrees')
    expect(readAnswer('It was sold.', home({ Status: 'Sold' })).verdict).toBe('agrees')
    expect(readAnswer('It is active.', home()).verdict).toBe('not mentioned')
    expect(readAnswer('$425,000', home())).toMatchObject({ verdict: 'agrees', status: { verdict: 'not said' } })
  })
})

describe('a deleted home', () => {
  test.each([
    ['I could not find a listing with MLS number A-1042.', 'agrees'],
    ['That property has been removed from the market.', 'agrees'],
    ['A-1042 was taken off the market and is delisted.', 'agrees'],
    ['2100 Elm Street is no longer available. You may like 9 Oak Lane at $310,000.', 'agrees'],
    ['It has been sold.', 'agrees'],
    ['2100 Elm Street costs $425,000.', 'disagrees'],
    ['It is $425,000.', 'disagrees'],
    ['Yes! A-1042 is available.', 'disagrees'],
    ['A-1042 is for sale.', 'disagrees'],
    ['You may like 9 Oak Lane at $310,000.', 'not mentioned'],
    ['Our office is open from 9 to 5.', 'not mentioned'],
    ['Of A-1042 I can say nothing. Similar homes for sale start at $300,000.', 'not mentioned'],
    ['- 9 Oak Lane: for sale\n- A-1042: for sale', 'disagrees'],
  ])('%s', (answer, verdict) => expect(readAnswerOfGone(answer, home()).verdict).toBe(verdict))

  test('of which no more than the number is known', () => {
    expect(readAnswerOfGone('A-1042: $5,000', { MLSNumber: 'A-1042' }).verdict).toBe('disagrees')
    expect(readAnswerOfGone('M1 is available.', { MLSNumber: 'M1' }).verdict).toBe('disagrees')
    expect(readAnswerOfGone('7 homes are available.', { MLSNumber: '7' }).verdict).toBe('not mentioned')
    expect(readAnswerOfGone('That one is not in our listings.', { MLSNumber: 'A-1042' }).verdict).toBe('agrees')
  })
})
