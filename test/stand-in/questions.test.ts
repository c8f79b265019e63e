import { expect, test } from 'vitest'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import type { StandIn } from '../../src/stand-in/stand-in.ts'
import { ask, chatbot, house, started } from './caller.ts'

/** Invented homes that differ in what a question may ask for. */
const differences: [mlsNumber: string, patch: Record<string, unknown>][] = [
  ['MLS-1001', { Address: '12 Elm St', City: 'Springfield', State: 'IL', ZIP: '62701', SalePrice: 450000 }],
  [
    'MLS-1002',
    { Address: '12 Elm St Apt 4', City: 'Springfield', PropertyType: 'Condo', SalePrice: 200000, Bedrooms: 1 },
  ],
  ['MLS-1003', { Address: '7 Oak Ave', City: 'Shelbyville', SalePrice: 320000, Bedrooms: 4, Status: 'PreOnMarket' }],
  ['MLS-1004', { Address: '9 Oak Ave', City: 'Shelbyville', SaleType: 'for_rent', RentPrice: 2100, Bathrooms: 1 }],
  ['MLS-1005', { Address: '12 Elm St', City: 'Capital City', SalePrice: 1500000, Bedrooms: 5, Bathrooms: 4 }],
  [
    'MLS-1006',
    { Address: '3 Calle Ñandú', City: 'San Martín', PropertyType: 'Townhouse', Status: 'Sold', SalePrice: 99000 },
  ],
  ['77', { City: 'Ogdenville', SalePrice: 500000, Bedrooms: 2 }],
  ['MLS-10011', { City: 'Ogdenville', PropertyType: 'Condo', SaleType: 'for_rent', RentPrice: 950, Bedrooms: 1 }],
]
const homes: StandInListing[] = differences.map(([mlsNumber, patch]) => house(mlsNumber, patch))

async function withHomes(): Promise<StandIn> {
  const standIn = await started()
  standIn.seed(chatbot, homes)
  return standIn
}

/** The last digits of the MLSNumbers that an answer tells, in its order. */
async function answered(standIn: StandIn, content: string): Promise<string> {
  const { json } = await ask(standIn, content)
  const numbers = [...json.Data.content.matchAll(/MLS number (\S+),/g)].map(([, value]) =>
    value.replace(/^MLS-10*/, ''),
  )
  expect(json.Data.noAnswer).toBe(numbers.length === 0)
  return numbers.join(' ')
}

test.each([
  ['What does MLS-1001 cost?', '1'],
  ['what about mls-1001, please', '1'],
  ['Is MLS-1006 still active?', '6'],
  ['Compare MLS-1001 and MLS-10011', '1 11'],
  ['MLS-1001-B', ''],
  ['MLS-100', ''],
  ['XMLS-1001', ''],
  ['What is the price of 12 Elm St Apt 4?', '2'],
  ['What is the price of 12 elm st, Springfield?', '1'],
  ['What is the price of 12 Elm St?', '1 5'],
  ['112 Elm St', ''],
  ['Tell me about 3 calle ñandú', '6'],
  ['homes in Springfield', '1 2'],
  ['Homes in springfield?', '1 2'],
  ['homes in Atlantis', ''],
  ['a lovely home in Springfield', '1 2'],
  ['something on Oak Ave', '3 4'],
  ['anything in capital city', '5'],
  ['homes in 62701', '1'],
  ['condos', '2 11'],
  ['a condo in Ogdenville for rent', '11'],
  ['what is for rent', '4 11'],
  ['I want to buy in Shelbyville', '3'],
  ['homes for sale in San Martín', ''],
  ['what was sold in San Martín', '6'],
  ['which homes are sold', '6'],
  ['coming soon', '3'],
  ['active homes in Shelbyville', '4'],
  ['homes with 3 bedrooms', '1 4'],
  ['a 4-bedroom house', '3'],
  ['at least four bedrooms', '3 5'],
  ['4+ beds', '3 5'],
  ['5 bedrooms and 4 baths', '5'],
  ['one bathroom', '4'],
  ['homes for sale under 500000', '1 2 3 77'],
  ['for sale below $320,000', '2 3'],
  ['under 450k in Springfield', '1 2'],
  ['over 1.5 million', '5'],
  ['between 300k and 460.000', '1 3'],
  ['for sale from 300000 to 1500000', '1 3 5 77'],
  ['for rent under 1000', '11'],
  ['under 100', ''],
  ['the cheapest home for sale', '2 3 1 77 5'],
  ['most expensive condo', '2 11'],
  ['What is the meaning of life?', ''],
  ['Do you like cheese', ''],
  ['77 trombones', ''],
  ['', ''],
])('%j is answered with %j', async (content, expected) => {
  const standIn = await withHomes()
  if (content === '') {
    const { json } = await ask(standIn, '', { chatAskType: 'Image', fileIds: [1] })
    expect(json.Data.noAnswer).toBe(true)
  } else {
    expect(await answered(standIn, content)).toBe(expected)
  }
})

test('five are told, of the others their number', async () => {
  const standIn = await withHomes()
  const { content } = (await ask(standIn, 'Which listings do you have?')).json.Data
  expect(content).toMatch(/^7 listings fit:\n/)
  expect(content.split('\n- ')).toHaveLength(6)
  expect(content).toMatch(/\nand 2 more\.$/)
})

test.each([
  [{ SaleType: 'for_rent', RentPrice: 2100 }, '$2,100 a month'],
  [{ CurrencySymbol: '€', SalePrice: 1234567.891 }, '€1,234,567.89'],
  [{}, 'price on request'],
  [{ Bedrooms: 1, Bathrooms: 1 }, '1 bedroom, 1 bathroom,'],
  [{ Status: 'PreOnMarket' }, 'status PreOnMarket'],
  [{ City: '', Address: '' }, '- Address on request: '],
])('of %j it tells %j', async (patch, text) => {
  const standIn = await started()
  standIn.seed(chatbot, [house('A-1', { City: 'Springfield', ...patch })])
  expect((await ask(standIn, 'A-1')).json.Data.content).toContain(text)
})

test('a short MLSNumber names its listing where it has a letter', async () => {
  const standIn = await started()
  standIn.seed(chatbot, [house('M1'), house('M2'), house('7')])
  expect(await answered(standIn, 'How much is m1?')).toBe('M1')
  expect(await answered(standIn, 'the 7 wonders')).toBe('')
})

test('an empty chatbot has no answer, but a greeting', async () => {
  const standIn = await started({ sessions: { 7: chatbot } })
  expect((await ask(standIn, 'homes')).json.Data.noAnswer).toBe(true)
  expect((await ask(standIn, 'hi')).json.Data.noAnswer).toBe(false)
})

test('a row put there by hand with hardly anything in it disturbs nothing', async () => {
  const standIn = await started()
  standIn.seed(chatbot, [{ MLSNumber: '' }, { MLSNumber: 'A-1' }, house('A-2', { City: 'Springfield' })])
  expect(await answered(standIn, 'homes in Springfield')).toBe('A-2')
  expect((await ask(standIn, 'A-1')).json.Data.content).toContain(
    'Address on request: price on request, MLS number A-1',
  )
})
