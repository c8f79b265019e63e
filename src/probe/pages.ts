/** The pages of List: largest size, what follows the last, and their order. */
import { many } from '../core/text.ts'
import type { ListItem } from '../service/canonical.ts'
import { refusalWords } from './calls.ts'
import type { Calls } from './calls.ts'
import { largestTaken, searchLimit } from './largest.ts'
import type { Answer, Question } from './question.ts'
import { textOf } from './sentinel-listing.ts'

export const pageSize: Question = {
  key: 'pageSize',
  unknown: 'S8',
  title: 'Largest PageSize, and pages after the last',
  async ask({ calls, seen }, answer): Promise<void> {
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
    } else answer.words.push(`PageSize ${searchLimit} is taken; larger numbers were not tried.`)
    if (isClamped) {
      answer.facts.clampedTo = shown
      answer.words.push(
        `A larger PageSize than ${shown} gives ${many(shown, 'listing')} a page: it is clamped, not refused.`,
      )
    } else if (shown < largest)
      answer.notLearnt.push(
        `whether a PageSize above ${shown} is clamped, because the chatbot holds ${many(shown, 'listing')} only`,
      )
    // A refused size costs a call in each run, and a size that was never filled is not known to work.
    const useful = isClamped || shown === largest ? Math.min(shown, largest) : largest < searchLimit ? largest : null
    if (useful !== null && useful > 0) answer.profile.pageSize = useful
    else if (shown > 100) answer.profile.pageSize = shown
    await askPastTheEnd(answer, calls, isClamped ? shown : Math.max(1, largest), seen.listings)
  },
}

/** Whether page 2 has other listings; after its last page a service may repeat it. */
async function isFollowed(calls: Calls, items: readonly ListItem[], PageSize: number): Promise<boolean> {
  const known = new Set(items.map(({ ID }) => ID))
  const reply = await calls.list({ PageNumber: 2, PageSize })
  return reply.taken && reply.value.List.some(({ ID }) => !known.has(ID))
}

async function askPastTheEnd(answer: Answer, calls: Calls, size: number, listings: number): Promise<void> {
  // Listings may have been added since they were counted.
  const PageNumber = Math.ceil(listings / size) + 10
  const reply = await calls.list({ PageNumber, PageSize: size })
  const [what, words] = !reply.taken
    ? ['refused', `is refused (${refusalWords(reply)})`]
    : reply.value.List.length === 0
      ? ['empty', 'is empty']
      : ['shows listings again', 'shows listings again']
  answer.facts.pastTheEnd = what
  answer.words.push(`A page after the last ${words}.`)
}

const mostPages = 20

/** Needs sentinels 1 and 2: 2 was created before 1 and changed after it, so 1 has the higher ID and the lower MLSNumber. */
export const order: Question = {
  key: 'order',
  unknown: 'S9',
  title: 'Order of List',
  async ask({ calls, seen, sentinels: { names } }, answer): Promise<void> {
    const [first, second] = [await firstItems(calls), await firstItems(calls)]
    if (first.length < fewest)
      return void answer.notLearnt.push(
        `the order of List, because the chatbot holds ${many(seen.listings, 'listing')} only`,
      )
    const isStable = JSON.stringify(first.map(({ ID }) => ID)) === JSON.stringify(second.map(({ ID }) => ID))
    answer.facts.stable = isStable
    if (!isStable) {
      answer.facts.order = 'none'
      return void answer.words.push('The same page shows listings in another order from one call to the next.')
    }
    const name = orderOf(seen.pages <= mostPages ? await walked(calls) : first, names.mlsNumber(2))
    answer.facts.order = name
    answer.words.push(sentences[name])
    if (seen.pages > mostPages)
      answer.words.push(`(By the first page alone: the chatbot holds ${seen.listings} listings.)`)
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

/** `changed`: the MLSNumber that was changed last. */
function orderOf(items: readonly ListItem[], changed: string): keyof typeof sentences {
  const ids = items.map(({ ID }) => Number(ID))
  const numbers = items.map((item) => textOf(item, 'MLSNumber'))
  const pairs = items.slice(1).map((_, index) => index)
  if (pairs.every((i) => ids[i] < ids[i + 1])) return 'ID ascending'
  if (pairs.every((i) => ids[i] > ids[i + 1])) return 'ID descending'
  if (pairs.every((i) => numbers[i] <= numbers[i + 1])) return 'MLSNumber'
  return numbers[0].trim() === changed ? 'last changed first' : 'other'
}

/** Fewer may be in the same order twice by chance. */
const fewest = 6

/** The first pages, until there are a few items: a page may have only one. */
async function firstItems(calls: Calls): Promise<ListItem[]> {
  const items: ListItem[] = []
  for (let PageNumber = 1; items.length < fewest && PageNumber <= fewest; PageNumber++) {
    const reply = await calls.list({ PageNumber, PageSize: calls.pageSize })
    if (!reply.taken || reply.value.List.length === 0) break
    items.push(...reply.value.List)
  }
  return items
}

async function walked(calls: Calls): Promise<ListItem[]> {
  let items: ListItem[] = []
  await calls.walk(
    {},
    {
      reset: () => void (items = []),
      add: (more) => void items.push(...more.map(({ ID, MLSNumber }) => ({ ID, MLSNumber }))),
    },
  )
  return items
}
