/** The pages of List: how large they may be, what comes after the last, in which order they show. */
import type { ListItem } from '../service/canonical.ts'
import { refusalWords } from './calls.ts'
import type { Calls } from './calls.ts'
import { largestTaken, searchLimit } from './largest.ts'
import { emptyAnswer } from './question.ts'
import type { Answer, Question } from './question.ts'
import { textOf } from './sentinel-listing.ts'

/** Reads only. */
export const pageSize: Question = {
  key: 'pageSize',
  unknown: 'U8',
  title: 'Largest PageSize, and pages after the last',
  async ask({ calls, seen }) {
    const answer = emptyAnswer()
    let items: ListItem[] = []
    let refusal = ''
    const largest = await largestTaken(100, async (size) => {
      const reply = await calls.list({ PageNumber: 1, PageSize: size })
      if (!reply.taken) refusal = refusalWords(reply)
      else items = reply.value.List
      return reply.taken
    })
    const shown = items.length
    const isClamped = shown < largest && shown > 0 && (await isFollowed(calls, items, largest))
    if (largest < searchLimit) {
      answer.facts.refusedAbove = largest
      answer.words.push(`PageSize up to ${largest} is taken; ${largest + 1} is refused (${refusal}).`)
    } else answer.words.push(`PageSize ${searchLimit} is taken; more was not tried.`)
    if (isClamped) {
      answer.facts.clampedTo = shown
      answer.words.push(`A larger PageSize than ${shown} gives ${shown} listings a page: it is clamped, not refused.`)
    } else if (shown < largest)
      answer.notLearnt.push(
        `whether a PageSize above ${shown} is clamped, because the chatbot holds ${shown} listings only`,
      )
    // A refused size costs a call in each run, and a larger one than was ever filled is not known to do any good.
    const useful = isClamped || shown === largest ? Math.min(shown, largest) : largest < searchLimit ? largest : null
    if (useful !== null && useful > 0) answer.profile.pageSize = useful
    else if (shown > 100) answer.profile.pageSize = shown
    await askPastTheEnd(answer, calls, isClamped ? shown : Math.max(1, largest), seen.listings)
    return answer
  },
}

/** Whether page 2 shows other listings; past its last page a service may show that again. */
async function isFollowed(calls: Calls, items: readonly ListItem[], PageSize: number): Promise<boolean> {
  const known = new Set(items.map(({ ID }) => ID))
  const reply = await calls.list({ PageNumber: 2, PageSize })
  return reply.taken && reply.value.List.some(({ ID }) => !known.has(ID))
}

async function askPastTheEnd(answer: Answer, calls: Calls, size: number, listings: number): Promise<void> {
  // Listings may have been added since they were counted.
  const PageNumber = Math.ceil(listings / size) + 10
  const reply = await calls.list({ PageNumber, PageSize: size })
  const what = !reply.taken ? 'refused' : reply.value.List.length === 0 ? 'empty' : 'shows listings again'
  answer.facts.pastTheEnd = what
  answer.words.push(
    `A page after the last ${reply.taken ? `is ${what}` : `is refused (${refusalWords(reply)})`}.`.replace(
      'is shows',
      'shows',
    ),
  )
}

/** What a walk over all pages tells of their order. */
interface Sorted {
  byId: boolean
  byIdDescending: boolean
  byMlsNumber: boolean
  first: string
  rows: number
}

const mostPages = 20

/** Needs sentinels 1 and 2: 2 was created before 1 and changed after it, so 1 has the higher ID and the lower MLSNumber. */
export const order: Question = {
  key: 'order',
  unknown: 'U9',
  title: 'Order of List',
  async ask({ calls, seen, sentinels: { names } }) {
    const answer = emptyAnswer()
    const [one, other] = [await firstItems(calls), await firstItems(calls)]
    if (one.length < fewest) {
      answer.notLearnt.push(`the order of List, because the chatbot holds ${seen.listings} listings only`)
      return answer
    }
    const isStable = JSON.stringify(one.map(({ ID }) => ID)) === JSON.stringify(other.map(({ ID }) => ID))
    answer.facts.stable = isStable
    if (!isStable) {
      answer.facts.order = 'none'
      answer.words.push('The same page shows listings in another order from one call to the next.')
      return answer
    }
    const sorted = seen.pages <= mostPages ? await walked(calls) : sortedBy(one)
    answer.facts.order = nameOf(sorted, names.mlsNumber(2))
    answer.words.push(sentences[answer.facts.order as keyof typeof sentences])
    if (seen.pages > mostPages)
      answer.words.push(`(By the first page alone: the chatbot holds ${seen.listings} listings.)`)
    return answer
  },
}

const sentences = {
  'last changed first':
    'The listing that was changed last comes first: while a run writes, rows move from page to page.',
  'ID descending': 'The newest listing comes first, by ID: while a run creates, rows move from page to page.',
  'ID ascending': 'The oldest listing comes first, by ID.',
  MLSNumber: 'Listings are sorted by MLSNumber.',
  other: 'The order is the same from call to call, and neither by ID nor by MLSNumber.',
}

function nameOf({ byId, byIdDescending, byMlsNumber, first }: Sorted, changed: string): keyof typeof sentences {
  if (byId) return 'ID ascending'
  if (byIdDescending) return 'ID descending'
  if (byMlsNumber) return 'MLSNumber'
  return first === changed ? 'last changed first' : 'other'
}

/** Fewer may come in the same order twice by chance. */
const fewest = 6

/** The first page, and as many more as it takes to have a few items: a service may show one a page. */
async function firstItems(calls: Calls): Promise<ListItem[]> {
  const items: ListItem[] = []
  for (let PageNumber = 1; items.length < fewest && PageNumber <= fewest; PageNumber++) {
    const reply = await calls.list({ PageNumber, PageSize: calls.pageSize })
    if (!reply.taken || reply.value.List.length === 0) break
    items.push(...reply.value.List)
  }
  return items
}

async function walked(calls: Calls): Promise<Sorted> {
  let items: Pick<ListItem, 'ID' | 'MLSNumber'>[] = []
  await calls.walk(
    {},
    {
      reset: () => void (items = []),
      add: (more) => void items.push(...more.map(({ ID, MLSNumber }) => ({ ID, MLSNumber }))),
    },
  )
  return sortedBy(items)
}

function sortedBy(items: ListItem[]): Sorted {
  const ids = items.map(({ ID }) => Number(ID))
  const numbers = items.map((item) => textOf(item, 'MLSNumber'))
  const pairs = items.slice(1).map((_, index) => index)
  return {
    byId: pairs.every((i) => ids[i] < ids[i + 1]),
    byIdDescending: pairs.every((i) => ids[i] > ids[i + 1]),
    byMlsNumber: pairs.every((i) => numbers[i] <= numbers[i + 1]),
    first: numbers[0]?.trim() ?? '',
    rows: items.length,
  }
}
