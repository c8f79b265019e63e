/** How to clear a field, and which required fields an Update must have. */
import { optionalFields } from '../core/listing.ts'
import type { FieldName, Listing } from '../core/listing.ts'
import { refusalWords, resultWords } from './calls.ts'
import type { ListItem } from '../service/canonical.ts'
import type { Answer, Question } from './question.ts'
import { textOf, wholeListing, requiredFields } from './sentinel-listing.ts'
import type { Tried } from './sentinels.ts'

/** Location is not listed. */
const watched = optionalFields.filter((name) => name !== 'Location')
const shownNames: Partial<Record<FieldName, string>> = { Latitude: 'LATITUDE', Longitude: 'LONGITUDE' }

/** Empty values and the fields to try them in. */
const empties = {
  emptyText: { what: '"" in a text', sent: { Description: '', Address: '', City: '', State: '', ZIP: '' } },
  emptyChoice: { what: '"" in a field with a value set', sent: { Tours: '', SpaceType: '' } },
  emptyArray: { what: '[] in Images and ExtensionColumn', sent: { Images: [], ExtensionColumn: [] } },
} as const

type Effect = 'clears' | 'ignored' | 'refused' | 'mixed' | 'unknown'

export const clearing: Question = {
  key: 'clearing',
  unknown: 'S4',
  title: 'Fields that an Update leaves out or sends empty',
  needs: [2],
  async ask({ sentinels }, answer): Promise<void> {
    const omitted = await sentinels.trySend(2, (write) => requiredFields(sentinels.names, 2, write))
    const leftOut = effectOf(omitted, watched)
    answer.facts.omitted = leftOut === 'clears' ? 'cleared' : leftOut === 'ignored' ? 'kept' : leftOut
    answer.words.push(`Optional fields that an Update leaves out are ${omittedWords(leftOut, omitted)}.`)
    const effects: Effect[] = []
    for (const [key, { what, sent }] of Object.entries(empties)) {
      // Restores the fields, so that there is something to clear.
      await sentinels.tryUpdate(2, {})
      const tried = await sentinels.tryUpdate(2, sent, { unchecked: true })
      const effect = effectOf(tried, Object.keys(sent) as FieldName[])
      effects.push(effect)
      answer.facts[key] = effect
      answer.words.push(`${what}: ${emptyWords(effect, tried)}.`)
    }
    tellClear(answer, leftOut, effects)
  },
}

/** The effect of one Update on these fields, all filled before. */
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
  if (row === null) return 'not known: the Update was never listed'
  if (effect === 'clears') return 'cleared'
  if (effect === 'ignored') return 'kept'
  const gone = watched.filter((name) => isAbsent(row, name))
  return `cleared in ${gone.join(', ')} and kept in the others`
}

function emptyWords(effect: Effect, { refusal }: Tried): string {
  if (refusal !== null) return `refused (${refusalWords(refusal)})`
  const words = { clears: 'clears it', ignored: 'is ignored', mixed: 'clears some of them' }
  return effect === 'unknown' || effect === 'refused' ? 'not learnt: the Update was never listed' : words[effect]
}

function tellClear(answer: Answer, leftOut: Effect, effects: Effect[]): void {
  if (leftOut === 'unknown' || effects.includes('unknown'))
    return void answer.notLearnt.push('how to clear a field, because an Update was never listed')
  const doEmpties = effects.every((effect) => effect === 'clears')
  if (doEmpties) answer.profile.clear = 'empty'
  else if (leftOut === 'clears' || effects.includes('refused')) answer.profile.clear = 'omit'
  else answer.profile.clear = 'empty'
  if (leftOut === 'clears') return
  const kept = doEmpties ? 'A number' : 'A number, and what is not cleared above,'
  answer.words.push(`${kept} cannot be cleared: it has no empty form, and what is left out is kept.`)
}

/** An Update without most of the required fields, one that changes nothing, and 0 and "" in required fields. */
export const requiredOnUpdate: Question = {
  key: 'requiredOnUpdate',
  unknown: 'S21',
  title: 'Required fields on Update, and 0 and "" in them',
  needs: [2],
  async ask({ sentinels }, answer): Promise<void> {
    const { names } = sentinels
    const whole = await sentinels.trySend(2, (write) => wholeListing(names, 2, write))
    if (whole.row !== null) {
      const again = await sentinels.update(whole.sent)
      answer.facts.unchangedUpdate = again.taken ? again.value : 'refused'
      answer.words.push(`An Update that changes nothing ${resultWords(again)}.`)
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
  },
}

/** Keeps the fields that select the row, mark the write and say that it is a test. */
function fewFields({ AreaUnit: _1, LotArea: _2, ParkingSpots: _3, PropertyType: _4, ...few }: Listing): typeof few {
  return few
}

function tell(answer: Answer, key: string, { row, refusal }: Tried, what: string): void {
  if (row === null && refusal === null) answer.notLearnt.push(`${what}: the Update was never listed`)
  answer.facts[key] = refusal !== null ? 'refused' : row === null ? null : 'accepted'
  if (row !== null) answer.words.push(`${what} is taken.`)
  if (refusal !== null) answer.words.push(`${what} is refused (${refusalWords(refusal)}).`)
}
