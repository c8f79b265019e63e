/** Ten questions about a listing, with what the answer has to hold: the start of a question file. */
import type { Listing } from '../core/listing.ts'
import type { Test } from './questions.ts'

const home = 'the listing with MLS number {{MLSNumber}} ({{address}})'
const statuses: Record<Listing['Status'], string> = {
  Active: String.raw`\b[Aa]ctive\b`,
  PreOnMarket: String.raw`\b(?:[Pp]re-? ?[Oo]n-? ?[Mm]arket|[Cc]oming [Ss]oon)\b`,
  Sold: String.raw`\b[Ss]old\b`,
}
const denial = String.raw`\b(?:[Nn]o|[Nn]ot|[Ss]old|[Uu]navailable|\w+n['’]t)\b`
const offer = String.raw`\b(?:[Yy]es|[Aa]vailable|[Aa]ctive|[Ff]or (?:sale|rent)|[Cc]oming [Ss]oon|[Pp]re)`

/** The questions, without those about fields that the listing lacks, as no answer can be expected. */
export function questionsAbout(listing: Listing): Test[] {
  const { MLSNumber, SaleType, Status } = listing
  const price = SaleType === 'for_rent' ? 'RentPrice' : 'SalePrice'
  const amount = (field: keyof Listing): Test['assert'] => [
    { type: 'contains-any', value: [`{{${field}}}`, `{{${field} | grouped}}`] },
  ]
  const number = (field: keyof Listing): Test['assert'] => [
    { type: 'regex', value: String.raw`(?<![\d.,])` + `{{${field}}}` + String.raw`(?![\d]|[.,]\d)` },
  ]
  const all: [topic: string, field: keyof Listing, question: string, assert: Test['assert']][] = [
    ['price', price, `What is the price of ${home}?`, amount(price)],
    ['status', 'Status', `What is the status of ${home}?`, [{ type: 'regex', value: statuses[Status] }]],
    ['beds', 'Bedrooms', `How many bedrooms has ${home}?`, number('Bedrooms')],
    ['baths', 'Bathrooms', `How many bathrooms has ${home}?`, number('Bathrooms')],
    ['area', 'BuildingArea', `What is the living area of ${home}?`, amount('BuildingArea')],
    ['parking', 'ParkingSpots', `How many parking spots has ${home}?`, number('ParkingSpots')],
    ['HOA', 'HOAMonth', `What is the monthly association fee of ${home}?`, amount('HOAMonth')],
    [
      'address',
      'Address',
      'What is the address of the listing with MLS number {{MLSNumber}}?',
      [{ type: 'icontains', value: '{{Address}}' }],
    ],
    ['link', 'Url', `Where can I see ${home} on the web?`, [{ type: 'contains', value: '{{Url}}' }]],
    [
      'available',
      'Status',
      `Is ${home} still available?`,
      [{ type: 'regex', value: Status === 'Sold' ? denial : `^(?![^]*${denial})[^]*${offer}` }],
    ],
  ]
  return all.flatMap(([topic, field, question, assert]) => {
    const value = listing[field]
    if (value === undefined || value === '') return []
    const asked = hasAddress(listing) ? question : question.replace(' ({{address}})', '')
    return { description: topic, vars: { MLSNumber, question: asked }, assert }
  })
}

function hasAddress({ Address, City, State, ZIP }: Listing): boolean {
  return [Address, City, State, ZIP].some((part) => part !== undefined && part !== '')
}
