import { expect, test } from 'vitest'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import type { StandIn } from '../../src/stand-in/stand-in.ts'
import { chatbot, create, house, list, remove, send, shown, started, update } from './caller.ts'

type Fault = FaultRuleInput['fault']

/** HTTP status, form of the body, and whether the listing is there afterwards; `lost` where no whole answer came. */
async function createUnder(fault: Fault) {
  const standIn = await started()
  standIn.addFault({ operations: ['Create'], fault })
  const answered = await create(standIn).catch(() => null)
  return { standIn, answered, done: standIn.listings(chatbot).length === 1 }
}

test.each([
  [{ kind: 'status', status: 503 }, 503, '<!DOCTYPE html>', false],
  [{ kind: 'status', status: 502, carriedOut: true }, 502, '<!DOCTYPE html>', true],
  [
    { kind: 'status', status: 500, body: 'envelope', message: 'Oops' },
    500,
    '"Success":false,"Code":500,"Message":"Oops"',
    false,
  ],
  [{ kind: 'status', status: 404, body: 'empty' }, 404, '', false],
  [{ kind: 'refuse', code: 400, message: 'Bad price' }, 200, '"Success":false,"Code":400,"Message":"Bad price"', false],
  [{ kind: 'credentials' }, 401, '"Code":401', false],
  [{ kind: 'credentials', code: 403, via: 'envelope' }, 200, '"Code":403', false],
  [{ kind: 'body', form: 'html' }, 200, '<!DOCTYPE html>', true],
  [{ kind: 'body', form: 'html', carriedOut: false }, 200, '<!DOCTYPE html>', false],
  [{ kind: 'body', form: 'cut-json' }, 200, '{"Data":"1001"', true],
  [{ kind: 'body', form: 'empty' }, 200, '', true],
  [{ kind: 'body', form: 'success-false' }, 200, '"Success":false', true],
  [{ kind: 'body', form: 'null-data' }, 200, '{"Data":null,"Version":"1.0.0","Success":true', true],
  [{ kind: 'pretend' }, 200, '"Data":"999999999","Version":"1.0.0","Success":true', false],
  [{ kind: 'redirect', location: 'http://elsewhere.example/' }, 307, '<!DOCTYPE html>', false],
  [{ kind: 'drip', bytes: 10, pause: 1 }, 200, '"Success":true', true],
  [{ kind: 'slow', wait: 1 }, 200, '"Success":true', true],
] as [Fault, number, string, boolean][])('%j', async (fault, status, text, done) => {
  const under = await createUnder(fault)
  expect(under.answered).toMatchObject({ status, text: expect.stringContaining(text) })
  if (text === '') expect(under.answered?.text).toBe('')
  expect(under.done).toBe(done)
})

test('cut JSON is not JSON', async () => {
  const { answered } = await createUnder({ kind: 'body', form: 'cut-json' })
  expect(() => JSON.parse(answered?.text ?? '{}')).toThrow(SyntaxError)
})

test.each([
  [{ kind: 'reset', when: 'before-reading' }, false],
  [{ kind: 'reset', when: 'after-reading' }, false],
  [{ kind: 'reset', when: 'after-carrying-out' }, true],
  [{ kind: 'reset', when: 'in-the-answer' }, true],
] as [Fault, boolean][])('%j loses the answer; carried out: %j', async (fault, done) => {
  const under = await createUnder(fault)
  expect(under.answered).toBeNull()
  expect(under.done).toBe(done)
  expect(under.standIn.requests).toMatchObject([{ operation: 'Create', fault: 'reset', success: done || null }])
  expect(under.standIn.requests[0].body === undefined).toBe(fault.kind === 'reset' && fault.when === 'before-reading')
})

test('a reset in the answer comes after the head and half of the body', async () => {
  const standIn = await started()
  standIn.addFault({ fault: { kind: 'reset', when: 'in-the-answer' } })
  const response = await fetch(`${standIn.url}/chat/Chatbot/RealEstateList`, {
    method: 'POST',
    headers: { authorization: 'k', 'content-type': 'application/json' },
    body: JSON.stringify({ SerialNumber: chatbot }),
  })
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow()
})

test.each([false, true])('a hanging call is never answered; carried out: %j', async (carriedOut) => {
  const standIn = await started()
  standIn.addFault({ operations: ['Create'], times: 1, fault: { kind: 'hang', carriedOut } })
  const hanging = create(standIn).then(
    () => 'answered',
    () => 'cut',
  )
  // The journal shows that the call is in; one more round trip shows that the answer is not out.
  while (standIn.counts.Create === 0) await list(standIn)
  expect(await shown(standIn)).toEqual(carriedOut ? ['A-1'] : [])
  await standIn.close()
  expect(await hanging).toBe('cut')
})

test.each([
  ['reset', null],
  ['gateway-timeout', 504],
] as const)('a late call lands after the further requests, its answer (%s) lost', async (answer, status) => {
  const standIn = await started()
  standIn.addFault({ operations: ['Create'], times: 1, fault: { kind: 'late', requests: 2, answer } })
  expect((await create(standIn).catch(() => null))?.status ?? null).toBe(status)
  expect([await shown(standIn), await shown(standIn), await shown(standIn)]).toEqual([[], [], ['A-1']])
})

test('a late call with a hanging answer can be landed by hand', async () => {
  const standIn = await started()
  standIn.addFault({ operations: ['Create'], fault: { kind: 'late', requests: 1000, answer: 'hang' } })
  const hanging = create(standIn).catch(() => 'cut')
  while (standIn.counts.Create === 0) await list(standIn)
  expect(standIn.listings(chatbot)).toHaveLength(0)
  expect(standIn.landLateCalls()).toBe(1)
  expect(standIn.landLateCalls()).toBe(0)
  expect(standIn.listings(chatbot)).toHaveLength(1)
  await standIn.close()
  expect(await hanging).toBe('cut')
})

test('a late call is not let in when it would be refused', async () => {
  const standIn = await started()
  standIn.addFault({ times: 1, fault: { kind: 'late', requests: 0 } })
  await create(standIn, house('A-1', { Status: 'Gone' })).catch(() => null)
  expect(standIn.landLateCalls()).toBe(1)
  expect(standIn.listings(chatbot)).toHaveLength(0)
})

test.each([
  [7, '7'],
  ['Sat, 21 Nov 2026 10:00:00 GMT', 'Sat, 21 Nov 2026 10:00:00 GMT'],
])('Retry-After %j', async (retryAfter, header) => {
  const { answered } = await createUnder({ kind: 'status', status: 429, retryAfter })
  expect(answered?.headers.get('retry-after')).toBe(header)
})

test('a redirect names where to', async () => {
  const { answered } = await createUnder({ kind: 'redirect', status: 302, location: 'http://elsewhere.example/' })
  expect([answered?.status, answered?.headers.get('location')]).toEqual([302, 'http://elsewhere.example/'])
})

test('the pauses of a drip and the wait of a slow answer go through the delay handed in', async () => {
  const waits: number[] = []
  const standIn = await started({ delay: async (milliseconds) => void waits.push(milliseconds) })
  standIn.addFault({ operations: ['List'], fault: { kind: 'drip', bytes: 40, pause: 250 } })
  standIn.addFault({ operations: ['Update'], fault: { kind: 'slow', wait: 90_000 } })
  const { text } = await list(standIn)
  await update(standIn, 'A-1', house())
  expect(waits).toEqual([...Array.from({ length: Math.ceil(text.length / 40) }, () => 250), 90_000])
})

test('partly: Delete does the first keys only', async () => {
  const standIn = await started({ profile: { order: 'id' } })
  standIn.seed(chatbot, [house('A-1'), house('A-2'), house('A-3')])
  standIn.addFault({ fault: { kind: 'partly', keys: 2 } })
  expect((await remove(standIn, ['A-1', 'A-2', 'A-3'])).json.Data.SuccessCount).toBe(2)
  expect(await shown(standIn)).toEqual(['A-3'])
})

test('hide: List shows the first items and says that this is all', async () => {
  const standIn = await started({ profile: { order: 'id' } })
  standIn.seed(chatbot, [house('A-1'), house('A-2')])
  standIn.addFault({ times: 1, fault: { kind: 'hide', shown: 1 } })
  standIn.addFault({ nth: 2, fault: { kind: 'hide' } })
  expect((await list(standIn)).json.Data).toMatchObject({ List: [{ MLSNumber: 'A-1' }], VirtualCount: 1 })
  expect((await list(standIn)).json.Data).toEqual({ List: [], VirtualCount: 0 })
  expect(await shown(standIn)).toEqual(['A-1', 'A-2'])
})

test.each([
  ['Update', { ...house(), Key: 'A-1', KeyType: 'MLSNumber' }, 1],
  ['List', {}, { List: [], VirtualCount: 0 }],
  ['Delete', { Keys: ['A-1', 'A-2'], KeyType: 'MLSNumber' }, { SuccessCount: 2 }],
])('pretend: %s looks done and is not', async (operation, body, data) => {
  const standIn = await started()
  standIn.seed(chatbot, [house('A-1', { City: 'Springfield' })])
  const before = standIn.listings(chatbot)
  standIn.addFault({ fault: { kind: 'pretend' } })
  expect((await send(standIn, operation, body)).json).toMatchObject({ Success: true, Data: data })
  expect(standIn.listings(chatbot)).toEqual(before)
})

/** Which of six Lists are struck. */
async function struck(...rules: Omit<FaultRuleInput, 'fault'>[]): Promise<number[]> {
  const standIn: StandIn = await started()
  for (const rule of rules) standIn.addFault({ ...rule, fault: { kind: 'status', status: 500 } })
  const calls = []
  for (let call = 1; call <= 6; call++) if ((await list(standIn)).status === 500) calls.push(call)
  return calls
}

test.each([
  [{}, [1, 2, 3, 4, 5, 6]],
  [{ operations: ['Create', 'List'] }, [1, 2, 3, 4, 5, 6]],
  [{ operations: ['Create'] }, []],
  [{ nth: 3 }, [3]],
  [{ every: 2 }, [2, 4, 6]],
  [{ times: 2 }, [1, 2]],
  [{ every: 2, times: 2 }, [2, 4]],
  [{ probability: 0 }, []],
  [{ probability: 1 }, [1, 2, 3, 4, 5, 6]],
] as [Omit<FaultRuleInput, 'fault'>, number[]][])('%j strikes calls %j', async (rule, calls) => {
  expect(await struck(rule)).toEqual(calls)
})

test('a probability strikes some, by its seed', async () => {
  const first = await struck({ probability: 0.5, seed: 5 })
  expect(first).toEqual(await struck({ probability: 0.5, seed: 5 }))
  expect(first.length).toBeGreaterThan(0)
  expect(first.length).toBeLessThan(6)
  expect(first).not.toEqual(await struck({ probability: 0.5, seed: 6 }))
})

test('a call counts for every rule that it matches, and the first that trips decides', async () => {
  expect(await struck({ nth: 1 }, { nth: 2 })).toEqual([1, 2])
})

test('a rule about one listing strikes that one only, in every operation that names it', async () => {
  const standIn = await started()
  standIn.addFault({ mlsNumber: 'A-2', fault: { kind: 'refuse' } })
  expect((await create(standIn, house('A-1'))).json.Success).toBe(true)
  expect((await create(standIn, house('A-2'))).json.Success).toBe(false)
  expect((await update(standIn, 'A-2', house('A-1'))).json.Success).toBe(false)
  expect((await list(standIn, { MLSNumber: 'A-2' })).json.Success).toBe(false)
  expect((await list(standIn)).json.Success).toBe(true)
  expect((await remove(standIn, ['A-1', 'A-2'])).json.Success).toBe(false)
  expect((await remove(standIn, ['A-1'])).json.Success).toBe(true)
})

test('a rule about one page strikes that page only', async () => {
  const standIn = await started()
  standIn.addFault({ page: 2, fault: { kind: 'status', status: 500 } })
  expect((await list(standIn)).status).toBe(200)
  expect((await list(standIn, { PageNumber: 2 })).status).toBe(500)
  expect((await list(standIn, { PageNumber: 3 })).status).toBe(200)
})

test('cleared faults strike no more', async () => {
  const standIn = await started({ faults: [{ fault: { kind: 'refuse' } }] })
  expect((await list(standIn)).json.Success).toBe(false)
  standIn.clearFaults()
  expect((await list(standIn)).json.Success).toBe(true)
})

test.each([
  [{ fault: { kind: 'explode' } }],
  [{ fault: { kind: 'reset' } }],
  [{ fault: { kind: 'status', status: 200 } }],
  [{ page: 2, fault: { kind: 'reset', when: 'before-reading' } }],
  [{ nht: 2, fault: { kind: 'pretend' } }],
])('the rule %j is refused', async (rule) => {
  const standIn = await started()
  // @ts-expect-error what a settings file may hold is not of the type either
  expect(() => standIn.addFault(rule)).toThrow()
})
