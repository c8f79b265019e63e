import { readQuestion } from './question.ts'
import type { Row } from './rows.ts'
import { priceOf, search } from './search.ts'
import type { ChatbotSettings } from './setting-fields.ts'

/** What a chatbot says to one message. */
export interface Said {
  content: string
  noAnswer: boolean
}

/** So many listings are told in full; of the others only their number is. */
const mostTold = 5

/**
 * The answer to a message from the listings that the chatbot holds; the same message over the same listings always gets the
 * same one. English, whatever AIResponseLanguage says: there is no model behind it.
 */
export function answerTo(message: string, rows: readonly Row[], settings: ChatbotSettings): Said {
  const question = readQuestion(message)
  const { TalkToHumanResponseMessage, WelcomeMessage } = settings
  if (question.human && TalkToHumanResponseMessage) return { content: TalkToHumanResponseMessage, noAnswer: false }
  const found = search(rows, question)
  if (found.length > 0) return { content: told(found), noAnswer: false }
  if (question.greeting && question.words.length + question.places.length === 0) {
    return { content: WelcomeMessage ?? 'Hello! Ask me about the listings.', noAnswer: false }
  }
  return { content: 'I found no listing that fits.', noAnswer: true }
}

function told(found: readonly Row[]): string {
  const [intro, more] = [
    found.length === 1 ? '1 listing fits:' : `${found.length} listings fit:`,
    found.length - mostTold,
  ]
  const lines = found.slice(0, mostTold).map(({ listing }) => `- ${sentence(listing)}`)
  return [intro, ...lines, ...(more > 0 ? [`and ${more} more.`] : [])].join('\n')
}

/** One listing with what a caller may want to hold against its data: address, price, status, number. */
function sentence(listing: Row['listing']): string {
  const { Address, City, State, ZIP, Bedrooms, Bathrooms, PropertyType, SaleType, Status, Url, MLSNumber } = listing
  const region = [State, ZIP].filter(Boolean).join(' ')
  const place = [Address, City, region].filter(Boolean).join(', ') || 'Address on request'
  const sale = { for_sale: 'for sale', for_rent: 'for rent' }[SaleType ?? ''] ?? SaleType ?? ''
  const facts = [
    [PropertyType, sale].filter(Boolean).join(' '),
    price(listing),
    Bedrooms === undefined ? '' : `${Bedrooms} ${Bedrooms === 1 ? 'bedroom' : 'bedrooms'}`,
    Bathrooms === undefined ? '' : `${Bathrooms} ${Bathrooms === 1 ? 'bathroom' : 'bathrooms'}`,
    Status && `status ${Status}`,
    `MLS number ${MLSNumber}`,
    Url,
  ]
  return `${place}: ${facts.filter(Boolean).join(', ')}`
}

function price(listing: Row['listing']): string {
  const value = priceOf(listing)
  if (value === undefined) return 'price on request'
  const amount = `${listing.CurrencySymbol ?? ''}${value.toLocaleString('en-US', { maximumFractionDigits: 2 })}`
  return listing.SaleType === 'for_rent' ? `${amount} a month` : amount
}
