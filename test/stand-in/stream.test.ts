import { request } from 'node:http'
import { expect, test } from 'vitest'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import type { StandInProfileInput } from '../../src/stand-in/profile.ts'
import type { StandIn, StandInOptions } from '../../src/stand-in/stand-in.ts'
import { ask, chatbot, edit, house, started } from './caller.ts'

/** Texts that are difficult for readers of streams. */
const awkward = house('A-101', {
  Address: '12 Ñandú {"content":"no"}\n\ndata: [DONE] 🏡',
  City: 'Springfield',
  SalePrice: 450000,
})

async function withHouse(stream: StandInProfileInput['stream'] = {}, options: StandInOptions = {}): Promise<StandIn> {
  const standIn = await started({ ...options, profile: { stream, ...options.profile } })
  standIn.seed(chatbot, [awkward])
  return standIn
}

interface Streamed {
  status: number | undefined
  type: string | undefined
  /** What came with each chunk of the transfer. */
  chunks: Buffer[]
  text: string
  /** False where the connection was cut before the end of the body. */
  whole: boolean
}

/** Asks for a stream, and notes how it comes. */
function stream(standIn: StandIn, body: object = {}): Promise<Streamed> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: 'secret' }
    const call = request(`${standIn.url}/chat/Chat/ClientAsk`, { method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', () => {})
      response.on('close', () => {
        const { statusCode: status, complete: whole, headers: got } = response
        resolve({ status, type: got['content-type'], chunks, text: Buffer.concat(chunks).toString(), whole })
      })
    })
    call.on('error', reject)
    call.end(JSON.stringify({ sessionID: 7, content: 'homes', stream: true, ...body }))
  })
}

/** Parses objects that follow each other without separators. */
function backToBack(text: string): any[] {
  const objects: unknown[] = []
  for (let from = 0, to = 1; to <= text.length; to++) {
    if (text[to - 1] !== '}') continue
    try {
      objects.push(JSON.parse(text.slice(from, to)))
      from = to
    } catch {
      // This brace closes an inner object.
    }
  }
  return objects
}

/** The whole answer, to compare the stream with. */
const wholeAnswer = async (standIn: StandIn): Promise<string> => (await ask(standIn, 'homes')).json.Data.content

/** Expects pieces that add up to the answer, then the final object, and nothing else. */
async function expectStream(standIn: StandIn, objects: any[]): Promise<void> {
  const answer = await wholeAnswer(standIn)
  const pieces = objects.slice(0, -1)
  expect(pieces.every((piece) => Object.keys(piece).join() === 'content')).toBe(true)
  expect(pieces.map((piece) => piece.content).join('')).toBe(answer)
  const final = objects.at(-1)
  expect(Object.keys(final)).toEqual(['QuestionID', 'AnswerID', 'Answer', 'TotalToken'])
  expect(final.Answer).toBe(answer)
  for (const name of ['QuestionID', 'AnswerID', 'TotalToken']) expect(Number.isInteger(final[name])).toBe(true)
  expect(final.AnswerID).not.toBe(final.QuestionID)
}

test('bare: objects back to back, and nothing between', async () => {
  const standIn = await withHouse({ framing: 'bare', done: true, comments: true })
  const { status, type, text, whole } = await stream(standIn)
  expect([status, type, whole]).toEqual([200, 'text/event-stream', true])
  const objects = backToBack(text)
  expect(objects.length).toBeGreaterThan(5)
  expect(objects.map((value) => JSON.stringify(value)).join('')).toBe(text)
  await expectStream(standIn, objects)
})

test.each([
  ['lf', '\n'],
  ['crlf', '\r\n'],
] as const)('lines: one object a line, ended by %s', async (lineEnd, end) => {
  const standIn = await withHouse({ framing: 'lines', lineEnd })
  const { type, text } = await stream(standIn)
  expect([type, text.endsWith(end)]).toEqual(['text/event-stream', true])
  const lines = text.slice(0, -end.length).split(end)
  expect(lines.join('')).not.toMatch(/[\r\n]/)
  await expectStream(
    standIn,
    lines.map((line) => JSON.parse(line)),
  )
})

test.each([
  ['data-lines', 'lf', true, '\n'],
  ['data-lines', 'crlf', false, '\r\n'],
  ['events', 'lf', true, '\n\n'],
  ['events', 'lf', false, '\n\n'],
  ['events', 'crlf', true, '\r\n\r\n'],
] as const)('%s with %s, blank after the colon: %j', async (framing, lineEnd, blankAfterColon, end) => {
  const standIn = await withHouse({ framing, lineEnd, blankAfterColon })
  const { text } = await stream(standIn)
  expect(text.endsWith(end)).toBe(true)
  const events = text.slice(0, -end.length).split(end)
  const start = blankAfterColon ? 'data: {' : 'data:{'
  expect(events.every((event) => event.startsWith(start))).toBe(true)
  await expectStream(
    standIn,
    events.map((event) => JSON.parse(event.slice(start.length - 1))),
  )
})

test('comments come before each object, [DONE] after the last', async () => {
  const standIn = await withHouse({ comments: true, done: true })
  const lines = (await stream(standIn)).text.split('\n')
  expect(lines.slice(-3)).toEqual(['data: [DONE]', '', ''])
  const data = lines.slice(0, -3).filter((line) => line.startsWith('data: '))
  expect(lines.filter((line) => line.startsWith(':'))).toHaveLength(data.length)
  expect(lines[0]).toBe(': still here')
  await expectStream(
    standIn,
    data.map((line) => JSON.parse(line.slice(6))),
  )
})

test('pieces have so many characters; none at all leaves the final object', async () => {
  const standIn = await withHouse({ framing: 'lines', pieceLength: 1 })
  const answer = await wholeAnswer(standIn)
  const pieces = (await stream(standIn)).text.split('\n').slice(0, -2)
  expect(pieces.map((line) => JSON.parse(line).content)).toEqual(Array.from(answer))
  standIn.changeProfile({ stream: { framing: 'lines', pieceLength: 0 } })
  const lines = (await stream(standIn)).text.split('\n')
  expect([lines.length, JSON.parse(lines[0]).Answer]).toEqual([2, answer])
})

test('by default one piece comes at a time', async () => {
  const { chunks } = await stream(await withHouse())
  expect(chunks.length).toBeGreaterThan(5)
  expect(chunks.every((chunk) => chunk.toString().startsWith('data: ') && chunk.toString().endsWith('\n\n'))).toBe(true)
})

test.each([1, 2, 3, 7, 100_000])('writes of %i bytes cut anywhere, characters too', async (bytesPerWrite) => {
  const standIn = await withHouse({ framing: 'bare', bytesPerWrite })
  const { chunks, text } = await stream(standIn)
  expect(chunks.map((chunk) => chunk.length).slice(0, -1)).toEqual(
    Array.from({ length: chunks.length - 1 }, () => bytesPerWrite),
  )
  const isText = (chunk: Buffer) => Buffer.from(chunk.toString()).equals(chunk)
  if (bytesPerWrite < 4) expect(chunks.every(isText)).toBe(false)
  await expectStream(standIn, backToBack(text))
})

test('pauses go through the delay handed in', async () => {
  const waits: number[] = []
  const delay = async (milliseconds: number) => void waits.push(milliseconds)
  const { chunks } = await stream(await withHouse({ pause: 250 }, { delay }))
  expect(waits).toEqual(Array.from({ length: chunks.length - 1 }, () => 250))
})

test('AnswerSuffix is in the pieces and in the whole', async () => {
  const standIn = await withHouse({ framing: 'lines' })
  await edit(standIn, { AnswerSuffix: ' – Call us!' })
  const { text } = await stream(standIn)
  const objects = text.trim().split('\n')
  expect(JSON.parse(objects.at(-1) ?? '').Answer).toMatch(/ – Call us!$/)
  await expectStream(
    standIn,
    objects.map((line) => JSON.parse(line)),
  )
})

test.each([
  ['envelope', 200],
  ['http', 400],
] as const)('S18: a streamed call that is refused gets an envelope (%s)', async (refusalsVia, status) => {
  const standIn = await withHouse({}, { profile: { refusalsVia } })
  const answered = await stream(standIn, { content: '' })
  expect(answered).toMatchObject({ status, type: 'application/json; charset=utf-8', whole: true })
  expect(JSON.parse(answered.text)).toMatchObject({ Success: false, Code: 400 })
})

test('a message too many is answered in a stream where answers turn away', async () => {
  const standIn = await withHouse({ framing: 'lines' }, { profile: { tooManyMessages: 'answered' } })
  await edit(standIn, { RateLimitCount: 0, RateLimitTime: 60, RateLimitMessage: 'Slowly!' })
  const lines = (await stream(standIn)).text.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { content: 'Slowly!' },
    { Answer: 'Slowly!', TotalToken: 0 },
  ])
})

type Fault = FaultRuleInput['fault']

async function streamUnder(fault: Fault): Promise<Streamed & { standIn: StandIn }> {
  const standIn = await withHouse({ framing: 'lines' })
  standIn.addFault({ times: 1, fault })
  return { ...(await stream(standIn)), standIn }
}

test.each([
  [{ kind: 'cut-stream', pieces: 3, by: 'end' }, 3, true],
  [{ kind: 'cut-stream', pieces: 0, by: 'end' }, 0, true],
  [{ kind: 'cut-stream', pieces: 1000 }, 14, true],
  [{ kind: 'cut-stream', pieces: 2, by: 'cut' }, 2, false],
] as [Fault, number, boolean][])('%j: no final object', async (fault, pieces, whole) => {
  const streamed = await streamUnder(fault)
  const lines = streamed.text.split('\n').slice(0, -1)
  if (fault.kind === 'cut-stream' && fault.pieces === 1000) expect(lines.length).toBeGreaterThan(5)
  else expect(lines).toHaveLength(pieces)
  expect(lines.every((line) => 'content' in JSON.parse(line))).toBe(true)
  expect([streamed.status, streamed.whole]).toEqual([200, whole])
  expect(streamed.standIn.requests).toMatchObject([{ fault: 'cut-stream', success: true }])
})

test('a stream may break off with an envelope', async () => {
  const { text, whole } = await streamUnder({ kind: 'cut-stream', pieces: 1, by: 'envelope' })
  const lines = text.split('\n').map((line) => JSON.parse(line))
  expect([whole, lines]).toMatchObject([true, [{ content: expect.any(String) }, { Success: false, Code: 500 }]])
})

test('a stream may go silent', async () => {
  const standIn = await withHouse()
  standIn.addFault({ fault: { kind: 'cut-stream', pieces: 1, by: 'hang' } })
  const [first, close] = await new Promise<[string, Promise<boolean>]>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: 'secret' }
    request(`${standIn.url}/chat/Chat/ClientAsk`, { method: 'POST', headers }, (response) => {
      response.on('error', () => {})
      const closed = new Promise<boolean>((done) => void response.on('close', () => done(response.complete)))
      response.once('data', (chunk: Buffer) => resolve([chunk.toString(), closed]))
    })
      .on('error', reject)
      .end(JSON.stringify({ sessionID: 7, content: 'homes', stream: true }))
  })
  expect(first).toMatch(/^data: \{"content":/)
  await standIn.close()
  expect(await close).toBe(false)
})

test.each([
  [{ kind: 'status', status: 503 }, 503, 'text/html', '<!DOCTYPE html>'],
  [{ kind: 'credentials', via: 'envelope' }, 200, 'application/json', '"Code":401'],
  [{ kind: 'body', form: 'cut-json' }, 200, 'text/event-stream', '{"content":'],
  [{ kind: 'body', form: 'empty' }, 200, 'text/event-stream', ''],
  [{ kind: 'body', form: 'success-false' }, 200, 'application/json', '"Success":false'],
  [{ kind: 'drip', bytes: 50, pause: 0 }, 200, 'text/event-stream', '"TotalToken"'],
  [{ kind: 'slow', wait: 0 }, 200, 'text/event-stream', '"TotalToken"'],
  [{ kind: 'say', content: 'It costs $1.' }, 200, 'text/event-stream', '"Answer":"It costs $1."'],
] as [Fault, number, string, string][])('the fault %j strikes a stream', async (fault, status, type, text) => {
  const streamed = await streamUnder(fault)
  expect(streamed).toMatchObject({ status, type: expect.stringContaining(type), whole: true })
  expect(streamed.text).toContain(text)
  if (fault.kind === 'body') expect(streamed.text).not.toContain('TotalToken')
})

test('a reset in the answer cuts the stream in the middle', async () => {
  const { text, whole } = await streamUnder({ kind: 'reset', when: 'in-the-answer' })
  expect([whole, text.length > 0, text.includes('TotalToken')]).toEqual([false, true, false])
})

test('a refused call has no stream to cut', async () => {
  const standIn = await withHouse()
  standIn.addFault({ fault: { kind: 'cut-stream' } })
  expect(JSON.parse((await stream(standIn, { content: 7 })).text)).toMatchObject({ Success: false })
})
