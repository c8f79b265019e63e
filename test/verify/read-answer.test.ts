/** Answers of many styles, written down with what they say: what is read of them is unclear at times, and hardly ever wrong. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Listing } from '../../src/core/listing.ts'
import { defaultQuestion, questionOf } from '../../src/verify/question.ts'
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

const rental: Partial<Listing> = { SaleType: 'for_rent', SalePrice: undefined, RentPrice: 2100 }
const homes = {
  sale: home(),
  rent: home({ MLSNumber: 'R-77', Address: '18 Canal Road, Unit 4', ...rental }),
  sold: home({ MLSNumber: 'S-9', Address: '5 Mill Lane', Status: 'Sold', SalePrice: 612_500 }),
  soon: home({
    MLSNumber: 'P-300',
    Address: 'Rue de la Gare 7',
    Status: 'PreOnMarket',
    SalePrice: 389_900,
    CurrencySymbol: '€',
  }),
}

interface Written {
  home: keyof typeof homes | 'gone'
  /** What a person reads in the answer. */
  truth: 'agrees' | 'disagrees' | 'unclear'
  answer: string
}
const answers = JSON.parse(readFileSync(join(import.meta.dirname, 'answers.json'), 'utf8')) as Written[]
const verdictOf = ({ home: of, answer }: Written) =>
  of === 'gone' ? readAnswerOfGone(answer, home()).verdict : readAnswer(answer, homes[of]).verdict

describe(`${answers.length} answers`, () => {
  test('what is read as agreement or as disagreement is so', () => {
    expect(answers.length).toBeGreaterThanOrEqual(200)
    for (const verdict of ['agrees', 'disagrees'] as const) {
      const read = answers.filter((written) => verdictOf(written) === verdict)
      const wrong = read.filter(({ truth }) => truth !== verdict)
      // 3 of 100 are allowed; a defence that is gone shows as one.
      expect(wrong).toEqual([])
    }
  })

  test('nine of ten that say something are understood, and each that fills in the line and ends it', () => {
    const telling = answers.filter(({ truth }) => truth !== 'unclear')
    const understood = telling.filter((written) => verdictOf(written) === written.truth)
    expect(understood.length / telling.length).toBeGreaterThanOrEqual(0.9)
    const lines = telling.filter(({ answer }) => /PRICE ?[=:].*STATUS ?[=:][^.\n]*\.?$/m.test(answer))
    expect(lines.length).toBeGreaterThan(50)
    for (const written of lines) expect(verdictOf(written), written.answer).toBe(written.truth)
  })

  test('a question that is repeated as the answer says nothing', () => {
    const question = questionOf(defaultQuestion, home())
    expect(readAnswer(question, home()).verdict).toBe('unclear')
    expect(readAnswerOfGone(question, home()).verdict).toBe('unclear')
  })
})

describe('what is said is told', () => {
  test('with the value that was wanted', () => {
    expect(readAnswer('PRICE=$1,950/month; STATUS=Sold', homes.rent)).toEqual({
      verdict: 'disagrees',
      price: { verdict: 'disagrees', wanted: '$2,100 a month', said: ['$1,950/month'] },
      status: { verdict: 'disagrees', wanted: 'Active', said: ['Sold'] },
    })
    const withCents = readAnswer('PRICE=1950; STATUS=Active', { ...homes.rent, RentPrice: 2100.5 })
    expect(withCents.price?.wanted).toBe('$2,100.50 a month')
  })

  test('a listing without a price is judged by its status', () => {
    const unpriced = home({ SalePrice: undefined })
    expect(readAnswer('PRICE=none; STATUS=Active', unpriced)).toMatchObject({ verdict: 'agrees', price: null })
  })
})

/** Amounts as a model fills them in. */
const forms: ((amount: number) => string)[] = [
  (amount) => `${amount}`,
  (amount) => `$${amount.toLocaleString('en-US')}`,
  (amount) => `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2 })}`,
  (amount) => `${amount.toLocaleString('de-DE')} €`,
  (amount) => `R$ ${amount.toLocaleString('de-DE', { minimumFractionDigits: 2 })}`,
  (amount) => `${amount.toLocaleString('en-US').replaceAll(',', '\u202f')} EUR`,
  (amount) => `CHF ${amount.toLocaleString('en-US').replaceAll(',', '’')}`,
  (amount) => `${amount.toLocaleString('ar-EG')} $`,
]

test('random amounts in random forms: the wanted one agrees, another one disagrees', () => {
  const amount = fc.integer({ min: 20, max: 9_000_000 }).map((n) => n * 10)
  fc.assert(
    fc.property(amount, amount, fc.constantFrom(...forms), (wanted, other, write) => {
      // 1.200 may be 1200 or 1.2.
      fc.pre(wanted !== other && Math.abs(wanted - other * 1000) > 1 && Math.abs(wanted * 1000 - other) > 1)
      const listing = home({ SalePrice: wanted })
      const verdictOf = (price: number) => readAnswer(`PRICE=${write(price)}; STATUS=Active`, listing).verdict
      expect(verdictOf(wanted)).toBe('agrees')
      expect(verdictOf(other)).toBe('disagrees')
    }),
    { numRuns: 500 },
  )
})

test('no answer is too strange to be read, or takes long', () => {
  const words = [
    '$',
    '4',
    '25',
    ',',
    '.',
    ' ',
    '000',
    'k',
    'price ',
    'PRICE=',
    ';',
    'STATUS=',
    'Active',
    'A-1042',
    '\n',
  ]
  const piece = fc.constantFrom(...words, 'R$', '\u0665', 'not ', '|', ':', '"')
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string({ unit: 'binary' })), { maxLength: 200 }), (pieces) => {
      const answer = pieces.join('')
      expect(['agrees', 'disagrees', 'unclear']).toContain(readAnswer(answer, home()).verdict)
      expect(['agrees', 'disagrees', 'unclear']).toContain(readAnswerOfGone(answer, home()).verdict)
    }),
  )
  for (const text of [...words, '1,', '1 ', '"price": ', 'status is ', 'price=;', '1.1', '\u0661']) {
    const before = processorTime()
    readAnswer(text.repeat(50_000), home())
    expect(processorTime() - before, text).toBeLessThan(5000)
  }
})
