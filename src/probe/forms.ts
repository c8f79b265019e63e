/** How the list shows values and texts that were sent. */
import { unescapeHtml } from '../core/listing.ts'
import type { Listing } from '../core/listing.ts'
import { refusalWords } from './calls.ts'
import { readSaleType } from '../service/canonical.ts'
import type { ListItem } from '../service/canonical.ts'
import type { Answer, Question } from './question.ts'
import { textOf, wholeListing } from './sentinel-listing.ts'

export const saleType: Question = {
  key: 'saleType',
  unknown: 'S10',
  title: 'SaleType in the list',
  needs: [2],
  async ask({ sentinels }, answer): Promise<void> {
    const seen: Partial<Record<Listing['SaleType'], string>> = {}
    for (const SaleType of ['for_rent', 'for_sale'] as const) {
      const { row } = await sentinels.tryUpdate(2, { SaleType })
      if (row === null) answer.notLearnt.push(`how ${SaleType} is listed, because the Update was never listed`)
      else {
        const shown = textOf(row, 'SaleType')
        seen[SaleType] = shown
        answer.facts[SaleType] = shown
        answer.words.push(`${SaleType} is listed as "${shown}".`)
      }
    }
    const { for_sale, for_rent } = seen
    if (for_sale === undefined || for_rent === undefined) return
    // The client reads both without configuration.
    if (readSaleType(for_sale) === 'for_sale' && readSaleType(for_rent) === 'for_rent') return
    if (for_sale.trim() === '' || for_rent.trim() === '' || for_sale.trim() === for_rent.trim())
      answer.words.push('The two cannot be told apart by that, so SaleType is not compared.')
    else answer.profile.saleTypeShown = { for_sale, for_rent }
  },
}

/** All values that are not plain text. */
export const valueForms: Question = {
  key: 'valueForms',
  unknown: 'S11, S12',
  title: 'Images, ExtensionColumn and numbers in the list',
  needs: [2],
  async ask({ sentinels }, answer): Promise<void> {
    const write = sentinels.nextWrite()
    const sent = wholeListing(sentinels.names, 2, write)
    const reply = await sentinels.update(sent)
    const row = reply.taken ? await sentinels.awaitWrite(2, write) : null
    if (row === null)
      return void answer.notLearnt.push(
        'how Images, ExtensionColumn and numbers are listed, because the Update was never listed',
      )
    tellImages(answer, textOf(row, 'Images'), sent.Images)
    tellExtension(answer, row, sent.ExtensionColumn)
    tellNumbers(answer, 'money', row, { SalePrice: sent.SalePrice, RentPrice: sent.RentPrice })
    tellNumbers(answer, 'numbers', row, { Bathrooms: sent.Bathrooms, Bedrooms: sent.Bedrooms })
    tellCoordinates(answer, row, { LATITUDE: sent.Latitude, LONGITUDE: sent.Longitude })
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
  answer.words.push(`${what === 'money' ? 'Money is' : 'Other numbers are'} listed like this: ${examples}.`)
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
      `Coordinates keep ${decimals} decimals${decimals < 6 ? ': the cut value is accepted, not sent again' : ''}.`,
    )
}

function decimalsOf(shown: string): number {
  return shown.includes('.') ? shown.length - shown.indexOf('.') - 1 : 0
}

/** Sent as Description: markup, blanks and letters of all kinds. */
const marked = `  <Test> & "quoted" 'text' of a test listing, Zoë's café 🏠,\nsecond line  `

export const textForms: Question = {
  key: 'textForms',
  unknown: 'S13',
  title: 'Changes to texts',
  needs: [2],
  async ask({ sentinels }, answer): Promise<void> {
    const { row, refusal } = await sentinels.tryUpdate(2, { Description: marked })
    if (row === null) {
      const why = refusal === null ? 'the Update was never listed' : `the Update was refused (${refusalWords(refusal)})`
      return void answer.notLearnt.push(`what becomes of markup, blanks and other letters in a text, because ${why}`)
    }
    tellText(answer, textOf(row, 'Description'))
  },
}

function tellText(answer: Answer, shown: string): void {
  const plain = unescapeHtml(shown)
  const isEscaped = plain !== shown
  // The sent text has no references, so one cut off at the end is the service's.
  const read = isEscaped ? plain.replace(/&[#a-z\d]{0,6}$/i, '') : plain
  const isTrimmed = !read.startsWith(' ')
  const expected = isTrimmed ? marked.trim() : marked
  if (!expected.startsWith(read) || read.length < 4) {
    answer.facts.text = 'changed'
    return void answer.words.push(
      `Sent as ${JSON.stringify(marked)}, a Description is listed as ${JSON.stringify(shown)}.`,
    )
  }
  const isCut = read.length < expected.length
  answer.facts.text = isCut ? 'cut' : 'kept'
  answer.facts.trim = isTrimmed
  answer.facts.htmlEscape = isEscaped
  answer.words.push(isTrimmed ? 'Blanks around a text go.' : 'Blanks around a text stay.')
  answer.words.push(isEscaped ? 'Markup in a text is escaped as HTML.' : 'Markup in a text stays as it is.')
  if (!isCut) answer.words.push('Letters with accents, emoji and line breaks stay.')
}

const longText = 5000
const manyImages = 30

/** How long a text and how many images may be. */
export const lengths: Question = {
  key: 'lengths',
  unknown: 'S13, S22',
  title: 'Length of Description and number of Images',
  needs: [2],
  async ask({ sentinels }, answer): Promise<void> {
    for (const length of [longText, 1000, 200]) {
      const Description = `TEST LISTING: ${'a long text. '.repeat(length / 10)}`.slice(0, length - 1).concat('.')
      const { row, refusal } = await sentinels.tryUpdate(2, { Description })
      if (row !== null) {
        tellLength(answer, 'Description', Description.length, textOf(row, 'Description').length, 'characters')
        break
      }
      const why = refusal === null ? 'the Update was never listed' : refusalWords(refusal)
      answer.words.push(`A Description of ${length} characters is refused (${why}).`)
      answer.facts.descriptionRefused = length
    }
    const Images = Array.from({ length: manyImages }, (_, i) => `https://listing-sync.invalid/probe/${i + 1}.jpg`)
    const { row, refusal } = await sentinels.tryUpdate(2, { Images })
    if (row === null) {
      const why = refusal === null ? 'the Update was never listed' : refusalWords(refusal)
      answer.words.push(`${manyImages} Images are refused (${why}).`)
      answer.facts.imagesRefused = manyImages
    } else {
      const shown = (unescapeHtml(textOf(row, 'Images')).match(/https:\/\/listing-sync\.invalid\//g) ?? []).length
      tellLength(answer, 'Images', manyImages, shown, 'addresses')
    }
  },
}

function tellLength(answer: Answer, name: 'Description' | 'Images', sent: number, shown: number, what: string): void {
  const isCut = shown < sent
  const verb = name === 'Images' ? 'are' : 'is'
  answer.facts[`${name.toLowerCase()}CutAt`] = isCut ? shown : null
  answer.words.push(
    isCut
      ? `${name} ${verb} cut at ${shown} ${what} in the list: the cut value is accepted, not sent again.`
      : `${sent} ${what} of ${name} are kept whole; larger numbers were not tried.`,
  )
}
