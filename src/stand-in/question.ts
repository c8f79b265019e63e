/** What a message asks for, as far as understood. */
export interface Question {
  /** The folded message, for numbers and addresses in it. */
  folded: string
  greeting: boolean
  /** It asks for a person. */
  human: boolean
  /** The remaining words; a listing may have them or not. */
  words: string[]
  /** Places, as in "in" or "near" a place: only listings with these words fit. */
  places: string[]
  saleType?: 'for_sale' | 'for_rent'
  status?: 'Active' | 'PreOnMarket' | 'Sold'
  bedrooms?: Range
  bathrooms?: Range
  price?: Range
  order?: 'cheapest' | 'dearest'
  /** It asks for listings in general: "which homes do you have". */
  anything: boolean
}

/** Both ends are included. */
export interface Range {
  least: number
  most: number
}

/** Lower case, NFKC, one blank between words. */
export function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim()
}

/** The words and numbers of a text, folded. `a-12` and `o'hare` are one word. */
export function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+(?:['’\-_.][\p{L}\p{N}]+)*/gu) ?? []
}

/** Reads a message in English; what it does not understand is left among the words. */
export function readQuestion(message: string): Question {
  const folded = fold(message)
  const reading: Reading = {
    rest: folded,
    question: { folded, greeting: false, human: false, words: [], places: [], anything: false },
  }
  const { question } = reading
  takeRooms(reading)
  takePrice(reading)
  for (const [pattern, patch] of phrases) if (take(reading, pattern)) Object.assign(question, patch)
  let afterPlaceWord = false
  for (const word of wordsOf(reading.rest)) {
    if (placeWords.has(word)) afterPlaceWord = true
    else if (glue.has(word)) afterPlaceWord = false
    else if (general.has(word)) [question.anything, afterPlaceWord] = [true, false]
    else (afterPlaceWord ? question.places : question.words).push(word)
  }
  return question
}

/** A message from which understood parts are removed one by one. */
interface Reading {
  rest: string
  question: Question
}

function take(reading: Reading, pattern: RegExp): RegExpExecArray | null {
  const found = pattern.exec(reading.rest)
  if (found) reading.rest = `${reading.rest.slice(0, found.index)} ${reading.rest.slice(found.index + found[0].length)}`
  return found
}

const phrases: [RegExp, Partial<Question>][] = [
  [/\b(?:talk|speak) (?:to|with) (?:a |an )?(?:human|person|agent|somebody|someone)\b/, { human: true }],
  [/^(?:hello|hi|hey|good (?:morning|afternoon|evening|day))\b/, { greeting: true }],
  [/\b(?:for|to) (?:rent|lease|let)\b|\b(?:rent|rental|rentals|renting|lease)\b/, { saleType: 'for_rent' }],
  [/\b(?:for|on) sale\b|\bto buy\b|\b(?:buy|buying|purchase)\b/, { saleType: 'for_sale' }],
  [/\b(?:pre-?market|pre-?on-?market|coming soon)\b/, { status: 'PreOnMarket' }],
  [/\b(?:active|available)\b/, { status: 'Active' }],
  [/\bsold\b/, { status: 'Sold' }],
  [/\b(?:cheapest|least expensive|lowest price)\b/, { order: 'cheapest', anything: true }],
  [/\b(?:dearest|most expensive|highest price)\b/, { order: 'dearest', anything: true }],
]

const number = '(\\d+(?:\\.\\d+)?|one|two|three|four|five|six)'
const least = '(?:(at least|from|minimum|more than|over)\\s+)?'
const rooms = { bedrooms: '(?:bed|bedroom|br|bd)s?', bathrooms: '(?:bath|bathroom|ba)s?' }
const numerals = ['zero', 'one', 'two', 'three', 'four', 'five', 'six']

/** "3 bedrooms", "at least two bathrooms", "3+ beds", "2-bedroom". */
function takeRooms(reading: Reading): void {
  for (const name of ['bedrooms', 'bathrooms'] as const) {
    const found = take(reading, new RegExp(`\\b${least}${number}(\\+)?(?:\\s+or more)?[\\s-]*${rooms[name]}\\b`))
    if (!found) continue
    const count = numerals.includes(found[2]) ? numerals.indexOf(found[2]) : Number(found[2])
    const open = Boolean(found[1]) || Boolean(found[3]) || found[0].includes('or more')
    reading.question[name] = { least: count, most: open ? Infinity : count }
  }
}

const money = '(?:[$€£]|usd |eur )?\\s?(\\d[\\d,.]*\\d|\\d)\\s?(k|m|thousand|million)?(?![\\p{L}\\p{N}])'
const between = new RegExp(`\\b(?:between|from)\\s+${money}\\s+(?:and|to)\\s+${money}`, 'u')
const atMost = new RegExp(`\\b(?:under|below|less than|up to|at most|max|maximum|cheaper than)\\s+${money}`, 'u')
const atLeast = new RegExp(`\\b(?:over|above|more than|at least|min|minimum|from)\\s+${money}`, 'u')

/** "between 300,000 and 400k", "under $500000", "over 1.5 million". Under and over include the number itself. */
function takePrice(reading: Reading): void {
  const both = take(reading, between)
  if (both) reading.question.price = { least: amount(both[1], both[2]), most: amount(both[3], both[4]) }
  const most = take(reading, atMost)
  if (most) reading.question.price = { least: 0, most: amount(most[1], most[2]) }
  const lowest = take(reading, atLeast)
  if (lowest) {
    const before = reading.question.price?.most ?? Infinity
    reading.question.price = { least: amount(lowest[1], lowest[2]), most: before }
  }
}

/** Three digits after every separator mean thousands; else a point means a fraction. */
function amount(digits: string, unit: string | undefined): number {
  const plain = /^\d{1,3}(?:[,.]\d{3})+$/.test(digits) ? digits.replaceAll(/[,.]/g, '') : digits.replaceAll(',', '')
  const units: Record<string, number> = { k: 1e3, thousand: 1e3, m: 1e6, million: 1e6 }
  return Number.parseFloat(plain) * (unit === undefined ? 1 : units[unit])
}

const placeWords = new Set(['in', 'near', 'around', 'within'])

const glue = new Set(
  `a about address ago all am an and any are area around as ask at available be but by can city cost could currently did do
  does either else ever for from get give got had has have he hello help her here hi his how i if info information is
  it its just know let like list located located look looking made many market may me mls mlsnumber more much my need no
  number of off on one or our out please price priced prices room she show so some status still street tell than thank
  thanks that the their them then there these they this to today tour up us want was we were what what's when where which
  while who why will with would yes you your`.split(/\s+/),
)

/** Words that fit any listing. */
const general = new Set(
  'listing listings home homes house houses property properties place places anything something offer offers'.split(
    ' ',
  ),
)
