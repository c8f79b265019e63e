/** How a field is made to disappear, and which required fields an Update must carry. */
import { optionalFields } from '../core/listing.ts'
import type { FieldName, Listing } from '../core/listing.ts'
import { refusalWords } from './calls.ts'
import type { ListItem } from '../service/canonical.ts'
import { emptyAnswer } from './question.ts'
import type { Answer, Question } from './question.ts'
import { textOf, wholeListing, requiredFields } from './sentinel-listing.ts'
import type { Tried } from './sentinels.ts'

/** Location is in no list item. */
const watched = optionalFields.filter((name) => name !== 'Location')
const shownNames: Partial<Record<FieldName, string>> = { Latitude: 'LATITUDE', Longitude: 'LONGITUDE' }

/** Each way of being empty with the fields that it is for. */
const empties = {
  emptyText: { what: '"" in a text', sent: { Description: '', Address: '', City: '', State: '', ZIP: '' } },
  emptyChoice: { what: '"" in a field with a value set', sent: { Tours: '', SpaceType: '' } },
  emptyArray: { what: '[] in Images and ExtensionColumn', sent: { Images: [], ExtensionColumn: [] } },
} as const

type Effect = 'clears' | 'ignored' | 'refused' | 'mixed' | 'unknown'

export const clearing: Question = {
  key: 'clearing',
  unknown: 'U4',
  title: 'Fields that an Update leaves out or sends empty',
  needs: [2],
  async ask({ sentinels }) {
    const answer = emptyAnswer()
    const omitted = await sentinels.trySend(2, (write) => requiredFields(sentinels.names, 2, write))
    const leftOut = effectOf(omitted, watched)
    answer.facts.omitted = leftOut === 'clears' ? 'cleared' : leftOut === 'ignored' ? 'kept' : leftOut
    answer.words.push(`Optional fields that an Update leaves out are ${omittedWords(leftOut, omitted)}.`)
    const effects: Effect[] = []
    for (const [key, { what, sent }] of Object.entries(empties)) {
      // With its fields back, so that there is something to clear.
      await sentinels.tryUpdate(2, {})
      const tried = await sentinels.tryUpdate(2, sent, { unchecked: true })
      const effect = effectOf(tried, Object.keys(sent) as FieldName[])
      effects.push(effect)
      answer.facts[key] = effect
      answer.words.push(`${what}: ${emptyWords(effect, tried)}.`)
    }
    tellClear(answer, leftOut, effects)
    return answer
  },
}

/** What one Update made of these fields, all of which were filled before. */
function effectOf({ row, refusal }: Tried, fields: readonly FieldName[]): Effect {
  if (refusal !== null) return 'refused'
  if (row === null) return 'unknown'
  const gone = fields.filter((name) => isAbsent(row, name))
  return gone.length === fields.length ? 'clears' : gone.length === 0 ? 'ignored' : 'mixed'
}

function isAbsent(row: ListItem, name: FieldName): boolean {
  const shown = textOf(row, shownNames[name] ?? name).trim()
  return shown === '' || shown === '[]' || (name in shownNames && Number(shown) === 0)
}

function omittedWords(effect: Effect, { row, refusal }: Tried): string {
  if (refusal !== null) return `refused (${refusalWords(refusal)})`
  if (row === null) return 'not shown: the Update did not come'
  if (effect === 'clears') return 'cleared'
  if (effect === 'ignored') return 'kept'
  const gone = watched.filter((name) => isAbsent(row, name))
  return `cleared in ${gone.join(', ')} and kept in the others`
}

function emptyWords(effect: Effect, { refusal }: Tried): string {
  if (refusal !== null) return `refused (${refusalWords(refusal)})`
  const words = { clears: 'clears it', ignored: 'is ignored', mixed: 'clears some of them' }
  return effect === 'unknown' || effect === 'refused' ? 'not learnt: the Update did not show' : words[effect]
}

function tellClear(answer: Answer, leftOut: Effect, effects: Effect[]): void {
  if (leftOut === 'unknown' || effects.includes('unknown'))
    return void answer.notLearnt.push('how a field is made to disappear, because an Update did not show')
  const doEmpties = effects.every((effect) => effect === 'clears')
  if (doEmpties) answer.profile.clear = 'empty'
  else if (leftOut === 'clears' || effects.includes('refused')) answer.profile.clear = 'omit'
  else answer.profile.clear = 'empty'
  if (leftOut === 'clears') return
  const kept = doEmpties ? 'A number' : 'A number, and what is not cleared above,'
  answer.words.push(`${kept} can't be made to disappear: it has no empty form, and what is left out is kept.`)
}

/** An Update without most of the required fields, one that changes nothing, and 0 and "" in required fields. */
export const requiredOnUpdate: Question = {
  key: 'requiredOnUpdate',
  unknown: 'U21',
  title: 'Required fields on Update, and 0 and "" in them',
  needs: [2],
  async ask({ sentinels }) {
    const answer = emptyAnswer()
    const { names } = sentinels
    const whole = await sentinels.trySend(2, (write) => wholeListing(names, 2, write))
    if (whole.row !== null) {
      const again = await sentinels.update(whole.sent)
      const counted = again.taken ? `counts ${again.value}` : `is refused (${refusalWords(again)})`
      answer.facts.unchangedUpdate = again.taken ? again.value : 'refused'
      answer.words.push(`An Update that changes nothing ${counted}.`)
    }
    const few = await sentinels.trySend(2, (write) => fewFields(requiredFields(names, 2, write)), { unchecked: true })
    tell(answer, 'requiredOnUpdate', few, 'An Update without AreaUnit, LotArea, ParkingSpots and PropertyType')
    tell(
      answer,
      'zeroRequired',
      await sentinels.tryUpdate(2, { YearBuilt: 0, ParkingSpots: 0 }),
      '0 in YearBuilt and ParkingSpots',
    )
    tell(answer, 'emptyRequired', await sentinels.tryUpdate(2, { PropertyType: '' }), '"" in PropertyType')
    return answer
  },
}

/** What selects the row, marks the write and says what it is stays in. */
function fewFields({ AreaUnit: _1, LotArea: _2, ParkingSpots: _3, PropertyType: _4, ...few }: Listing): typeof few {
  return few
}

function tell(answer: Answer, key: string, { row, refusal }: Tried, what: string): void {
  if (row === null && refusal === null) answer.notLearnt.push(`${what}: the Update did not show`)
  answer.facts[key] = refusal !== null ? 'refused' : row === null ? null : 'accepted'
  if (row !== null) answer.words.push(`${what} is taken.`)
  if (refusal !== null) answer.words.push(`${what} is refused (${refusalWords(refusal)}).`)
}
