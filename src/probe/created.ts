/** A new listing in the list: when, under which filter, how it is counted, with which identifier. */
import { many } from '../core/text.ts'
import { refusalWords } from './calls.ts'
import type { ListItem } from '../service/canonical.ts'
import type { Answer, Context, Question } from './question.ts'
import { mlsNumberOf, requiredFields, wholeListing } from './sentinel-listing.ts'

/** Creates sentinel 2. */
export const creation: Question = {
  key: 'creation',
  unknown: 'S16',
  title: 'How soon a new listing is listed',
  async ask({ sentinels, runtime }, answer): Promise<void> {
    const reply = await sentinels.createAndSee(2, wholeListing(sentinels.names, 2, sentinels.nextWrite()))
    if (!reply.taken)
      return void answer.notLearnt.push(
        `how soon a new listing is listed, because Create refused the test listing (${refusalWords(reply)})`,
      )
    const { rows, missed, milliseconds } = reply.value
    if (rows.length === 0)
      return void answer.notLearnt.push(
        `how soon a new listing is listed, because the test listing was not within ${Math.round(milliseconds / 1000)} s`,
      )
    runtime.log.debug({ item: rows[0] }, 'the test listing as it is listed')
    answer.facts.lookUpsBeforeShown = missed
    answer.words.push(
      missed === 0
        ? 'A new listing is listed at once.'
        : `A new listing is listed after ${Math.round(milliseconds)} ms: ${many(missed, 'look-up')} did not show it.`,
    )
  },
}

/** Whether the identifier from Create is the ID in the list, and whether Update accepts it as NativeId. */
export const identifier: Question = {
  key: 'identifier',
  unknown: 'S2',
  title: 'Identifier of Create, ID of List, NativeId',
  needs: [2],
  async ask({ calls, sentinels }, answer): Promise<void> {
    const mlsNumber = sentinels.names.mlsNumber(2)
    const { id, isShown, why } = await sentinels.certainId(mlsNumber, sentinels.identifier(2))
    if (isShown !== null) {
      answer.facts.identifierIsId = isShown
      answer.words.push(`The identifier from Create is ${isShown ? '' : 'not '}the ID in the list.`)
    }
    if (id === null)
      return void answer.notLearnt.push(`whether Update takes the ID of the list as NativeId, because ${why}`)
    const write = sentinels.nextWrite()
    const reply = await calls.update({ ...wholeListing(sentinels.names, 2, write), Key: id, KeyType: 'NativeId' })
    const isReached = reply.taken && (await sentinels.awaitWrite(2, write)) !== null
    answer.facts.updateByNativeId = isReached
    answer.words.push(`An Update by that ID as NativeId ${isReached ? 'reaches' : 'does not reach'} the listing.`)
    if (!isReached)
      answer.contradictions.push(
        `NativeId is "the identifier returned when the listing was created", but an Update by it ${reply.taken ? `counts ${reply.value} and changes nothing` : `is refused (${refusalWords(reply)})`}`,
      )
  },
}

/** Whether List filters by MLSNumber, and how exactly. */
export const filter: Question = {
  key: 'filter',
  unknown: 'S9',
  title: 'List filtered by MLSNumber',
  needs: [2],
  async ask({ calls, seen, sentinels }, answer): Promise<void> {
    const mlsNumber = sentinels.names.mlsNumber(2)
    const shows = async (MLSNumber: string): Promise<boolean> => {
      const reply = await calls.list({ MLSNumber, PageNumber: 1, PageSize: calls.pageSize })
      return reply.taken && reply.value.List.some((item) => mlsNumberOf(item) === mlsNumber)
    }
    if (!seen.filters) {
      answer.facts.filter = 'ignored'
      answer.words.push('List ignores its MLSNumber filter: each look-up reads the whole list.')
      return void answer.contradictions.push(
        'MLSNumber of List is "filter by listing number", but other listings are shown under it',
      )
    }
    const matchesPart = await shows(mlsNumber.slice(0, -2))
    answer.facts.filter = matchesPart ? 'contains' : 'exact'
    answer.words.push(
      matchesPart
        ? 'List filters by MLSNumber, and a part of the number matches too.'
        : 'List filters by MLSNumber, the whole number only.',
    )
    const folded = await shows(mlsNumber.toUpperCase())
    answer.facts.filterIgnoresCase = folded
    answer.words.push(folded ? 'It ignores case.' : 'It distinguishes case.')
  },
}

/** Asked right after sentinel 2 was created, to recognise an outdated total. */
export const virtualCount: Question = {
  key: 'virtualCount',
  unknown: 'S9',
  title: 'Meaning of VirtualCount',
  needs: [2],
  async ask({ calls, seen }, answer): Promise<void> {
    const because = whyNot(seen)
    if (because !== null) return void answer.notLearnt.push(`what VirtualCount is, because ${because}`)
    const total = seen.listings + 1
    const saw: (number | string)[] = []
    for (const PageSize of [2, 1]) {
      const reply = await calls.list({ PageNumber: 1, PageSize })
      if (!reply.taken)
        return void answer.notLearnt.push(
          `what VirtualCount is, because PageSize ${PageSize} was refused (${refusalWords(reply)})`,
        )
      saw.push(reply.value.VirtualCount ?? 'nothing')
    }
    const isTotal = saw.every((count) => count === total)
    answer.facts.virtualCount = isTotal ? 'total' : 'other'
    answer.words.push(
      isTotal
        ? `VirtualCount is the number of all listings, one just created among them (${total}).`
        : `VirtualCount is not the number of all listings: it says ${saw.join(' and ')}, and there are ${total}.`,
    )
    answer.profile.virtualCount = isTotal ? 'total' : 'unknown'
  },
}

function whyNot({ complete, listings, reasons }: Context['seen']): string | null {
  if (!complete) return `the list could not be read whole: ${reasons.join(' ')}`
  return listings < 2 ? `the chatbot holds ${many(listings, 'other listing')}: that is too few to tell` : null
}

/** Creates sentinel 1 with the required fields only, to see absent values. Then changes sentinel 2, for `order`. */
export const absentValues: Question = {
  key: 'absentValues',
  unknown: 'S12',
  title: 'Create with the required fields only, and how absent values are listed',
  needs: [2],
  async ask({ sentinels }, answer): Promise<void> {
    const { names } = sentinels
    const reply = await sentinels.createAndSee(1, { ...requiredFields(names, 1, sentinels.nextWrite()) })
    const write = sentinels.nextWrite()
    const changed = await sentinels.update(wholeListing(names, 2, write))
    if (changed.taken) await sentinels.awaitWrite(2, write)
    if (!reply.taken || reply.value.rows.length === 0) {
      const why = reply.taken ? 'it was not listed' : `it was refused (${refusalWords(reply)})`
      return void answer.notLearnt.push(
        `how absent values are listed, because a test listing with the required fields only: ${why}`,
      )
    }
    const [row] = reply.value.rows
    tellAbsent(answer, row)
  },
}

const absentTexts = ['Images', 'Description', 'City', 'RentPrice', 'ExtensionColumn']

function tellAbsent(answer: Answer, row: ListItem): void {
  answer.words.push('A listing with the required fields only is taken.')
  const { LATITUDE, LONGITUDE } = row
  const same = JSON.stringify(LATITUDE) === JSON.stringify(LONGITUDE)
  const form = LATITUDE === undefined ? 'missing' : JSON.stringify(LATITUDE)
  answer.facts.absentCoordinates = same ? form : 'differ'
  answer.words.push(`Absent coordinates are listed as ${form}.`)
  if (typeof LATITUDE !== 'number')
    answer.contradictions.push(`LATITUDE of a list item is a number, but where it is absent it is ${form}`)
  const odd = absentTexts.filter((name) => row[name] !== '')
  answer.facts.absentTexts = odd.length === 0 ? 'empty' : 'other'
  if (odd.length === 0) answer.words.push('Other absent values are listed as empty texts.')
  else {
    const shown = odd.map((name) => `${name} as ${JSON.stringify(row[name]) ?? 'missing'}`).join(', ')
    answer.contradictions.push(`absent values are "empty strings", but the list shows ${shown}`)
  }
}
