/** How a listing's values look in the list. */
import { unescapeHtml } from '../core/listing.ts'
import type { Listing } from '../core/listing.ts'
import type { ListItem } from '../service/canonical.ts'
import { emptyAnswer } from './question.ts'
import type { Answer, Question } from './question.ts'
import { textOf, wholeListing } from './sentinel-listing.ts'

/** Both sale types, one after the other. */
export const saleType: Question = {
  key: 'saleType',
  unknown: 'U10',
  title: 'SaleType in the list',
  needs: [2],
  async ask({ sentinels }) {
    const answer = emptyAnswer()
    const seen: Partial<Record<Listing['SaleType'], string>> = {}
    for (const SaleType of ['for_rent', 'for_sale'] as const) {
      const { row } = await sentinels.tryUpdate(2, { SaleType })
      if (row === null) answer.notLearnt.push(`how ${SaleType} is listed, because the Update did not show`)
      else {
        const shown = textOf(row, 'SaleType')
        seen[SaleType] = shown
        answer.facts[SaleType] = shown
        answer.words.push(`${SaleType} is listed as "${shown}".`)
      }
    }
    const { for_sale, for_rent } = seen
    if (for_sale === undefined || for_rent === undefined) return answer
    if (isRead('for_sale', for_sale) && isRead('for_rent', for_rent)) return answer
    if (for_sale.trim() === '' || for_rent.trim() === '' || for_sale.trim() === for_rent.trim())
      answer.words.push('By that the two cannot be told apart: SaleType is not compared.')
    else answer.profile.saleTypeShown = { for_sale, for_rent }
    return answer
  },
}

/** Whether the client reads it without being told. */
function isRead(saleType: Listing['SaleType'], shown: string): boolean {
  const letters = shown.toLowerCase().replaceAll(/[^a-z]/g, '')
  const sale = letters.includes('sale')
  const rent = letters.includes('rent') || letters.includes('lease')
  return sale !== rent && sale === (saleType === 'for_sale')
}

/** The forms of everything that is not plain text. */
export const valueForms: Question = {
  key: 'valueForms',
  unknown: 'U11, U12',
  title: 'Images, ExtensionColumn and numbers in the list',
  needs: [2],
  async ask({ sentinels }) {
    const answer = emptyAnswer()
    const write = sentinels.nextWrite()
    const sent = wholeListing(sentinels.names, 2, write)
    const reply = await sentinels.update(sent)
    const row = reply.taken ? await sentinels.awaitWrite(2, write) : null
    if (row === null) {
      answer.notLearnt.push('how Images, ExtensionColumn and numbers are listed, because the Update did not show')
      return answer
    }
    tellImages(answer, textOf(row, 'Images'), sent.Images)
    tellExtension(answer, row, sent.ExtensionColumn)
    const money = { SalePrice: sent.SalePrice, RentPrice: sent.RentPrice }
    const numbers = { Bathrooms: sent.Bathrooms, Bedrooms: sent.Bedrooms }
    tellNumbers(answer, 'money', row, money)
    tellNumbers(answer, 'numbers', row, numbers)
    tellCoordinates(answer, row, { LATITUDE: sent.Latitude, LONGITUDE: sent.Longitude })
    return answer
  },
}

const separators = { comma: ',', semicolon: ';', bar: '|', blank: ' ' }

function tellImages(answer: Answer, shown: string, sent: readonly string[]): void {
  const plain = unescapeHtml(shown)
  const split = Object.entries(separators).find(([, separator]) => plain === sent.join(separator))
  const form = plain === JSON.stringify(sent) ? 'json' : (split?.[0] ?? null)
  answer.facts.images = form
  if (form === null)
    answer.notLearnt.push(`the form of Images, because two addresses are listed as ${JSON.stringify(shown)}`)
  else
    answer.words.push(form === 'json' ? 'Images is a JSON array of addresses.' : `Images are separated by a ${form}.`)
}

function tellExtension(answer: Answer, row: ListItem, sent: object): void {
  const shown = textOf(row, 'ExtensionColumn')
  const isJson = unescapeHtml(shown) === JSON.stringify(sent)
  answer.facts.extensionColumn = isJson ? 'json' : null
  if (isJson) answer.words.push('ExtensionColumn is the JSON array that was sent.')
  else answer.words.push(`ExtensionColumn is listed as ${JSON.stringify(row['ExtensionColumn'])}.`)
}

function tellNumbers(answer: Answer, what: string, row: ListItem, sent: Record<string, number>): void {
  const forms = Object.entries(sent).map(([name, value]) => ({ value, shown: textOf(row, name) }))
  const decimals = forms.map(({ shown }) => decimalsOf(shown))
  const wrong = forms.filter(({ shown, value }) => shown === '' || Number(shown) !== value)
  const isPlain = forms.every(({ shown, value }) => shown === String(value))
  const isFixed = decimals.every((count) => count === decimals[0])
  answer.facts[what] = wrong.length > 0 ? 'changed' : isPlain ? 'plain' : isFixed ? `${decimals[0]} decimals` : 'mixed'
  const examples = forms.map(({ shown, value }) => `${value} as "${shown}"`).join(', ')
  answer.words.push(`${what === 'money' ? 'Money is' : 'Other numbers are'} listed so: ${examples}.`)
  if (typeof Object.keys(sent).map((name) => row[name])[0] === 'number')
    answer.contradictions.push(`numbers of a list item are texts, but ${Object.keys(sent)[0]} is a number`)
}

function tellCoordinates(answer: Answer, row: ListItem, sent: Record<string, number>): void {
  const kept = Object.entries(sent).map(([name, value]) => {
    const shown = Number(textOf(row, name) || Number.NaN)
    return Array.from({ length: 10 }, (_, count) => count).find((count) => Number(value.toFixed(count)) === shown)
  })
  const decimals = kept.every((count) => count === kept[0]) ? (kept[0] ?? null) : null
  answer.facts.coordinateDecimals = decimals
  const shown = Object.keys(sent).map((name) => JSON.stringify(row[name]))
  if (decimals === null)
    answer.words.push(`Coordinates ${Object.values(sent).join(', ')} are listed as ${shown.join(', ')}.`)
  else if (decimals === 9) answer.words.push('Coordinates keep all of 9 decimals.')
  else
    answer.words.push(
      `Coordinates keep ${decimals} decimals${decimals < 6 ? ': what was cut is remembered, not fought' : ''}.`,
    )
}

function decimalsOf(shown: string): number {
  return shown.includes('.') ? shown.length - shown.indexOf('.') - 1 : 0
}
