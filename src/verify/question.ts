import type { Listing } from '../core/listing.ts'
import { printable, shorten } from '../core/text.ts'

/** If an answer only repeats it, nothing is read: the line then has neither an amount nor one status. */
export const defaultQuestion =
  'What is the current price and the current status of the listing with MLS number {MLSNumber} ({address})? ' +
  'Answer with one line of this form and nothing else, with "none" where you know no such listing: ' +
  'PRICE=<amount in digits>; STATUS=<Active, PreOnMarket or Sold>'

const placeholders = ['MLSNumber', 'address']
const braced = /\{([A-Za-z]\w*)\}/g

/** What is wrong with a template, with {MLSNumber} and {address}; null: nothing. */
export function questionProblem(template: string): string | null {
  const names = [...template.matchAll(braced)].map(([, name]) => name)
  const unknown = names.find((name) => !placeholders.includes(name))
  if (unknown !== undefined) return `{${unknown}} is unknown; use {MLSNumber} or {address}`
  return names.length > 0 ? null : 'needs {MLSNumber} or {address}: the chatbot must know which listing is meant'
}

/** The address of a deleted listing may be unknown. The result is one line. */
export function questionOf(template: string, listing: Listing | { MLSNumber: string }): string {
  const values: Record<string, string> = { MLSNumber: listing.MLSNumber, address: addressOf(listing) }
  const question = template.replaceAll(braced, (whole, name: string) =>
    Object.hasOwn(values, name) ? shorten(printable(values[name]), 200) : whole,
  )
  return printable(question.replaceAll(/ ?\( *\)/g, ''))
}

function addressOf(listing: Partial<Listing>): string {
  const { Address, City, State, ZIP } = listing
  return [Address, City, [State, ZIP].filter(Boolean).join(' ')].filter(Boolean).join(', ')
}
