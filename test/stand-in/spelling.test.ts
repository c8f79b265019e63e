/** The bytes of answers that are off by a type or a letter case: a client that bears with all of them would notice none. */
import { expect, test } from 'vitest'
import type { StandInProfileInput } from '../../src/stand-in/profile.ts'
import { ask, create, edit, list, started } from './caller.ts'

type Spelling = NonNullable<StandInProfileInput['answers']>

/** The empty list, a created listing, the list with it, an answer of the chatbot, and the end of a streamed one. */
async function keysOf(answers: Spelling): Promise<string[]> {
  const standIn = await started({ profile: { answers, stream: { framing: 'lines', pieceLength: 0 } } })
  const empty = await list(standIn)
  const created = await create(standIn)
  await edit(standIn, { WelcomeMessage: 'Hi' })
  const answered = [empty, created, await list(standIn), await ask(standIn, 'Hello')]
  return [...answered, await ask(standIn, 'Hello', { stream: true })].map(({ text }) => text)
}

const envelope = (Data: unknown): string =>
  JSON.stringify({ Data, Version: '1.0.0', Success: true, Code: 200, Message: '' })

test('as documented', async () => {
  const [empty, created, listed, answered, streamed] = await keysOf({})
  expect(empty).toBe(envelope({ List: [], VirtualCount: 0 }))
  expect(created).toBe(envelope('1001'))
  expect(listed).toContain('{"ID":1001,"PropertyType":"House",')
  expect(answered).toMatch(/^\{"Data":\{"messageid":\d+,"content":"Hi","totalToken":\d+,"noAnswer":false\},/)
  expect(streamed).toMatch(/^\{"QuestionID":\d+,"AnswerID":\d+,"Answer":"Hi","TotalToken":\d+\}\n$/)
})

test('null in place of an empty list, and none', async () => {
  expect((await keysOf({ noListings: 'null' }))[0]).toBe(envelope({ List: null, VirtualCount: 0 }))
  expect((await keysOf({ noListings: 'missing' }))[0]).toBe(envelope({ VirtualCount: 0 }))
})

test('whole numbers as text, and an identifier as a number', async () => {
  const [empty, created, listed, answered, streamed] = await keysOf({ integers: 'text' })
  expect(empty).toBe(
    '{"Data":{"List":[],"VirtualCount":"0"},"Version":"1.0.0","Success":true,"Code":"200","Message":""}',
  )
  expect(created).toContain('"Data":"1001"')
  expect(listed).toContain('{"ID":"1001",')
  expect(answered).toMatch(/"messageid":"\d+".*"totalToken":"\d+"/)
  expect(streamed).toMatch(/"QuestionID":"\d+","AnswerID":"\d+","Answer":"Hi","TotalToken":"\d+"/)
  expect((await keysOf({ createdAs: 'number' }))[1]).toBe(envelope(1001))
})

test.each([
  ['camelCase', ['list', 'virtualCount'], ['id', 'propertyType'], 'success', ['questionID', 'answerID', 'answer']],
  ['lower-case', ['list', 'virtualcount'], ['id', 'propertytype'], 'success', ['questionid', 'answerid', 'answer']],
  ['upper-case', ['LIST', 'VIRTUALCOUNT'], ['ID', 'PROPERTYTYPE'], 'SUCCESS', ['QUESTIONID', 'ANSWERID', 'ANSWER']],
] as const)('names in %s', async (names, data, item, success, final) => {
  const [, , listed, , streamed] = (await keysOf({ names })).map((text) => JSON.parse(text) as Record<string, any>)
  const page = Object.values(listed)[0] as Record<string, any>
  expect(Object.keys(page)).toEqual(data)
  expect(Object.keys(page[data[0]][0]).slice(0, 2)).toEqual(item)
  expect(listed[success]).toBe(true)
  expect(Object.keys(streamed).slice(0, 3)).toEqual(final)
})

test('tokens null, and none', async () => {
  const [, , , answered, streamed] = await keysOf({ tokens: 'null' })
  expect(answered).toContain('"totalToken":null')
  expect(streamed).toContain('"TotalToken":null')
  for (const text of await keysOf({ tokens: 'missing' })) expect(text).not.toMatch(/token/i)
})

test('members that the interface does not name', async () => {
  for (const text of await keysOf({ moreMembers: true })) expect(text).toContain('"traceId":"00-4bf92f35"')
})
