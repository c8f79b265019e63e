/** What becomes of texts on their way to the list and back. */
import { unescapeHtml } from '../core/listing.ts'
import { refusalWords } from './calls.ts'
import { emptyAnswer } from './question.ts'
import type { Answer, Question } from './question.ts'
import { textOf } from './sentinel-listing.ts'

/** Sent as Description, which feeds fill with markup, blanks and letters of all kinds. */
const marked = `  <Test> & "quoted" 'text' of a test listing, Zoë's café 🏠,\nsecond line  `

export const textForms: Question = {
  key: 'textForms',
  unknown: 'U13',
  title: 'Changes to texts',
  needs: [2],
  async ask({ sentinels }) {
    const answer = emptyAnswer()
    const { row, refusal } = await sentinels.tryUpdate(2, { Description: marked })
    if (row === null) {
      const why = refusal === null ? 'the Update did not show' : `the Update was refused (${refusalWords(refusal)})`
      answer.notLearnt.push(`what becomes of markup, blanks and other letters in a text, because ${why}`)
      return answer
    }
    tellText(answer, textOf(row, 'Description'))
    return answer
  },
}

function tellText(answer: Answer, shown: string): void {
  const plain = unescapeHtml(shown)
  const isEscaped = plain !== shown
  // Sent as it is there is no reference in it, so one that is cut off at the end can only be the service's.
  const read = isEscaped ? plain.replace(/&[#a-z\d]{0,6}$/i, '') : plain
  const isTrimmed = !read.startsWith(' ')
  const expected = isTrimmed ? marked.trim() : marked
  if (!expected.startsWith(read) || read.length < 4) {
    answer.facts.text = 'changed'
    answer.words.push(`Sent as ${JSON.stringify(marked)}, a Description is listed as ${JSON.stringify(shown)}.`)
    return
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
  unknown: 'U13, U22',
  title: 'Length of Description and number of Images',
  needs: [2],
  async ask({ sentinels }) {
    const answer = emptyAnswer()
    for (const length of [longText, 1000, 200]) {
      const Description = `TEST LISTING: ${'a long text. '.repeat(length / 10)}`.slice(0, length - 1).concat('.')
      const { row, refusal } = await sentinels.tryUpdate(2, { Description })
      if (row !== null) {
        tellLength(answer, 'Description', Description.length, textOf(row, 'Description').length, 'characters')
        break
      }
      const why = refusal === null ? 'the Update did not show' : refusalWords(refusal)
      answer.words.push(`A Description of ${length} characters is refused (${why}).`)
      answer.facts.descriptionRefused = length
    }
    const Images = Array.from({ length: manyImages }, (_, i) => `https://listing-sync.invalid/probe/${i + 1}.jpg`)
    const { row, refusal } = await sentinels.tryUpdate(2, { Images })
    if (row === null) {
      const why = refusal === null ? 'the Update did not show' : refusalWords(refusal)
      answer.words.push(`${manyImages} Images are refused (${why}).`)
      answer.facts.imagesRefused = manyImages
    } else {
      const shown = (unescapeHtml(textOf(row, 'Images')).match(/https:\/\/listing-sync\.invalid\//g) ?? []).length
      tellLength(answer, 'Images', manyImages, shown, 'addresses')
    }
    return answer
  },
}

function tellLength(answer: Answer, name: 'Description' | 'Images', sent: number, shown: number, what: string): void {
  const isCut = shown < sent
  answer.facts[`${name.toLowerCase()}CutAt`] = isCut ? shown : null
  answer.words.push(
    isCut
      ? `${name} is cut at ${shown} ${what} in the list: what was cut is remembered, not fought.`
      : `${name} of ${sent} ${what} is kept whole; more was not tried.`,
  )
}
