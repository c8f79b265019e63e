import { expect, onTestFinished, test } from 'vitest'
import { readStandInSettings } from '../../src/stand-in/settings.ts'
import { startStandIn } from '../../src/stand-in/stand-in.ts'
import type { StandIn, StandInOptions } from '../../src/stand-in/stand-in.ts'
import { ask, chatbot, create, edit, house, post, remove, started, update } from './caller.ts'

const elm = house('A-101', {
  Address: '12 Elm St',
  City: 'Springfield',
  State: 'IL',
  ZIP: '62701',
  SalePrice: 450000,
})

/** A stand-in with one house, and a second chatbot if asked for. */
async function withHouse(options: StandInOptions = {}): Promise<StandIn> {
  const standIn = await started(options)
  standIn.seed(chatbot, [elm])
  return standIn
}

test('an answer has the form of the interface, and in it address, price, status and number', async () => {
  const standIn = await withHouse()
  const { status, headers, json } = await ask(standIn, 'What is there in Springfield?')
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  expect(json).toMatchObject({ Version: '1.0.0', Success: true, Code: 200, Message: '' })
  expect(json.Data).toEqual({
    messageid: expect.any(Number),
    content:
      '1 listing fits:\n- 12 Elm St, Springfield, IL 62701: House for sale, $450,000, 3 bedrooms, 2.5 bathrooms, ' +
      'status Active, MLS number A-101, https://homes.example/A-101',
    totalToken: expect.any(Number),
    noAnswer: false,
  })
  expect(Number.isInteger(json.Data.messageid) && Number.isInteger(json.Data.totalToken)).toBe(true)
  expect(json.Data.totalToken).toBeGreaterThan(0)
  expect(standIn.counts.ClientAsk).toBe(1)
  expect(standIn.requests).toMatchObject([{ operation: 'ClientAsk', success: true, body: { sessionID: 7 } }])
})

test('the same question over the same listings gets the same answer under another message ID', async () => {
  const standIn = await withHouse()
  const [first, second] = [await ask(standIn, 'homes'), await ask(standIn, 'homes')]
  expect(second.json.Data).toEqual({ ...first.json.Data, messageid: expect.any(Number) })
  expect(second.json.Data.messageid).toBeGreaterThan(first.json.Data.messageid)
})

test('answers follow what is created, updated and deleted', async () => {
  const standIn = await started()
  const content = async () => (await ask(standIn, 'the price of A-101')).json.Data
  await create(standIn, elm)
  expect(await content()).toMatchObject({ content: expect.stringContaining('$450,000'), noAnswer: false })
  await update(standIn, 'A-101', { ...elm, SalePrice: 439500.5, Status: 'Sold' })
  expect((await content()).content).toMatch(/\$439,500\.5, .*status Sold/)
  await remove(standIn, ['A-101'])
  expect(await content()).toMatchObject({ content: 'I found no listing that fits.', noAnswer: true })
})

test('a lag of the listings is one of the answers, too', async () => {
  const standIn = await started({ profile: { listLag: 1 } })
  await edit(standIn, { Name: 'Ada' })
  await create(standIn, elm)
  const answers = [await ask(standIn, 'A-101'), await ask(standIn, 'A-101')]
  expect(answers.map(({ json }) => json.Data.noAnswer)).toEqual([true, false])
})

test('AnswerSuffix is appended, to what is no answer as well', async () => {
  const standIn = await withHouse()
  await edit(standIn, { AnswerSuffix: ' – Call us!' })
  expect((await ask(standIn, 'A-101')).json.Data.content).toMatch(/A-101 – Call us!$/)
  expect((await ask(standIn, 'in Atlantis')).json.Data).toMatchObject({
    content: 'I found no listing that fits. – Call us!',
    noAnswer: true,
  })
})

test('a greeting is answered with WelcomeMessage', async () => {
  const standIn = await withHouse()
  expect((await ask(standIn, 'Hello!')).json.Data.content).toContain('Ask me')
  await edit(standIn, { WelcomeMessage: 'Welcome to 1 home.' })
  expect((await ask(standIn, 'good morning')).json.Data).toMatchObject({
    content: 'Welcome to 1 home.',
    noAnswer: false,
  })
  expect((await ask(standIn, 'Hello, what is there in Springfield?')).json.Data.content).toContain('12 Elm St')
})

test('who asks for a person gets TalkToHumanResponseMessage', async () => {
  const standIn = await withHouse()
  expect((await ask(standIn, 'I want to talk to a human')).json.Data.noAnswer).toBe(true)
  await edit(standIn, { TalkToHumanResponseMessage: 'One moment.' })
  expect((await ask(standIn, 'I want to talk to a human')).json.Data).toMatchObject({
    content: 'One moment.',
    noAnswer: false,
  })
})

test.each([
  ['{"content":"hi"}', 'sessionID is required'],
  ['{"sessionID":"7","content":"hi"}', 'sessionID must be an integer'],
  ['{"sessionID":7.5,"content":"hi"}', 'sessionID must be an integer'],
  ['{"sessionID":null,"content":"hi"}', 'sessionID must be an integer'],
  ['{"sessionID":7}', 'content is required'],
  ['{"sessionID":7,"content":null}', 'content must be a string'],
  ['{"sessionID":7,"content":""}', 'content must not be empty unless'],
  ['{"sessionID":7,"content":"","chatAskType":null}', 'content must not be empty unless'],
  ['{"sessionID":7,"content":"","chatAskType":"Text"}', 'content must not be empty unless'],
  ['{"sessionID":7,"content":"hi","chatAskType":"text"}', 'chatAskType must be one of Text, Audio, Image, Video'],
  ['{"sessionID":7,"content":"hi","chatAskType":1}', 'chatAskType must be one of'],
  ['{"sessionID":7,"content":"hi","stream":"true"}', 'stream must be a boolean'],
  ['{"sessionID":7,"content":"hi","stream":null}', 'stream must be a boolean'],
  ['{"sessionID":7,"content":"hi","fileIds":[1]}', 'fileIds is valid only when chatAskType is Image, Video or Audio'],
  ['{"sessionID":7,"content":"hi","fileIds":1,"chatAskType":"Image"}', 'fileIds must be an array of integers'],
  ['{"sessionID":7,"content":"hi","fileIds":["1"],"chatAskType":"Image"}', 'fileIds must be an array of integers'],
  ['{"sessionID":7,"content":"hi","fileIds":[1.5],"chatAskType":"Image"}', 'fileIds must be an array of integers'],
  ['{"sessionID":7,"content":"hi","fileIds":[],"chatAskType":"Image"}', 'fileIds must name at least one file'],
  ['{"sessionID":7,"content":"hi","fileIds":[1,2],"chatAskType":"Video"}', 'fileIds must name exactly one file'],
  ['{"sessionID":7,"content":"hi","chatAskType":"Audio"}', 'fileIds must name exactly one file'],
  ['{"sessionID":7,"content":"hi","SerialNumber":"SN-1"}', 'SerialNumber is not a field of ClientAsk'],
  ['{"sessionID":7,"content":"hi","sessionId":7}', 'sessionId is not a field of ClientAsk'],
  ['{"sessionID":7,"content":"hi","__proto__":{}}', '__proto__ is not a field of ClientAsk'],
  ['"hi"', 'The body must be a JSON object'],
  ['', 'The body must be JSON'],
])('%s is refused', async (body, message) => {
  const standIn = await withHouse()
  const { status, json } = await post(standIn, 'ClientAsk', body)
  expect({ status, ...json }).toMatchObject({ status: 200, Success: false, Code: 400, Data: null })
  expect(json.Message).toContain(message)
})

test.each([
  { chatAskType: null },
  { chatAskType: 'Text', stream: false },
  { chatAskType: 'Image', fileIds: [1, 2, 3] },
  { chatAskType: 'Image', fileIds: [1], content: '' },
  { chatAskType: 'Video', fileIds: [1], content: '' },
  { chatAskType: 'Audio', fileIds: [1], content: '' },
])('%j is taken', async (body) => {
  const standIn = await withHouse()
  expect((await ask(standIn, 'A-101', body)).json.Success).toBe(true)
})

test('an Image message without a file is let in where the profile says so', async () => {
  const standIn = await withHouse({ profile: { imageWithoutFile: 'accepted' } })
  expect((await ask(standIn, 'A-101', { chatAskType: 'Image' })).json.Success).toBe(true)
})

const megabyte = 1024 * 1024
test.each([
  ['Image', { name: 'a.PNG', bytes: 20 * megabyte }, ''],
  ['Image', { name: 'a.jpeg' }, ''],
  ['Image', { name: 'a.webp' }, ''],
  ['Image', { name: 'a.gif' }, ''],
  ['Image', { name: 'a.gif', animated: true }, 'File 31 must not be animated'],
  ['Image', { name: 'a.bmp' }, 'File 31 must be one of png, jpeg, jpg, webp, gif'],
  ['Image', { name: 'a.png', bytes: 20 * megabyte + 1 }, 'File 31 must not be larger than 20971520 bytes'],
  ['Video', { name: 'a.mkv', bytes: 100 * megabyte }, ''],
  ['Video', { name: 'a.mp4', bytes: 100 * megabyte + 1 }, 'File 31 must not be larger than 104857600 bytes'],
  ['Video', { name: 'a.wav' }, 'File 31 must be one of mp4, mkv, avi, flv, mpeg, mpg'],
  ['Audio', { name: 'a.wav', bytes: 500 * megabyte }, ''],
  ['Audio', { name: 'a.mp3' }, 'File 31 must be one of wav'],
  ['Audio', undefined, 'There is no file 31'],
])('%s with the file %j: %j', async (chatAskType, file, message) => {
  const standIn = await withHouse({ files: file ? { 31: file } : {} })
  const { json } = await ask(standIn, 'A-101', { chatAskType, fileIds: [31] })
  expect(json).toMatchObject({ Success: message === '', Code: message === '' ? 200 : 400, Message: message })
})

test('a session is one of the only chatbot, or of the one that it is given to', async () => {
  const standIn = await started()
  const message = async (sessionID: number) => (await ask(standIn, 'homes', { sessionID })).json.Message
  expect(await message(1)).toContain('There is no chat session 1')
  standIn.seed(chatbot, [elm])
  expect([await message(1), await message(-5)]).toEqual(['', ''])
  standIn.seed('SN-2', [house('B-202')])
  expect(await message(1)).toContain('it has chatbots SN-1, SN-2')
  standIn.changeProfile({ chatbots: ['SN-2'] })
  expect((await ask(standIn, 'homes')).json.Data.content).toContain('B-202')

  const given = await started({ sessions: { 7: 'SN-2', 8: chatbot } })
  given.seed(chatbot, [elm])
  given.seed('SN-2', [house('B-202')])
  expect((await ask(given, 'homes')).json.Data.content).toContain('B-202')
  expect((await ask(given, 'homes', { sessionID: 8 })).json.Data.content).toContain('A-101')
  expect((await ask(given, 'homes', { sessionID: 9 })).json).toMatchObject({
    Success: false,
    Code: 404,
    Message: 'There is no chat session 9',
  })
  given.changeProfile({ chatbots: ['SN-2'] })
  expect((await ask(given, 'homes', { sessionID: 8 })).json.Message).toBe('There is no chatbot SN-1')
})

test('sessions and files from YAML, and what is none', async () => {
  const settings = readStandInSettings('sessions: { 7: SN-1 }\nfiles: { 31: { name: a.wav } }')
  const standIn = await startStandIn(settings)
  onTestFinished(() => standIn.close())
  standIn.seed(chatbot, [elm])
  standIn.seed('SN-2', [house('B-202')])
  const audio = { chatAskType: 'Audio', fileIds: [31] }
  expect((await ask(standIn, 'homes', audio)).json.Data.content).toContain('A-101')
  expect(() => readStandInSettings('sessions: { seven: SN-1 }')).toThrow('sessions.seven: ')
  expect(() => readStandInSettings('files: { 31: { bytes: 1 } }')).toThrow('files.31.name: ')
  expect(() => readStandInSettings('profile: { stream: { framing: morse } }')).toThrow('profile.stream.framing: ')
})

/** The results of so many messages, one a second. */
async function outcomes(standIn: StandIn, clock: { now: number }, count: number, body: object = {}): Promise<string> {
  let letters = ''
  for (let message = 0; message < count; message++) {
    const { json } = await ask(standIn, 'homes', body)
    letters += json.Success && !json.Data.noAnswer ? '+' : '-'
    clock.now += 1000
  }
  return letters
}

async function limited(settings: object, profile: StandInOptions['profile'] = {}, at = '2026-11-21T10:00:00Z') {
  const clock = { now: Date.parse(at) }
  const standIn = await withHouse({ now: () => clock.now, profile })
  await edit(standIn, settings)
  return { standIn, clock }
}

test('RateLimitCount messages in any RateLimitTime seconds; one that is turned away does not count', async () => {
  const { standIn, clock } = await limited({ RateLimitCount: 2, RateLimitTime: 4, RateLimitMessage: 'Slowly, please.' })
  expect(await outcomes(standIn, clock, 9)).toBe('++--++--+')
  const { status, json } = await ask(standIn, 'homes')
  expect({ status, ...json }).toMatchObject({ status: 200, Success: true })
  expect((await ask(standIn, 'homes')).json).toMatchObject({ Success: false, Code: 429, Message: 'Slowly, please.' })
})

test('the rate is counted per session or per chatbot', async () => {
  const settings = { RateLimitCount: 1, RateLimitTime: 60 }
  const first = await limited(settings)
  expect(await outcomes(first.standIn, first.clock, 2)).toBe('+-')
  expect(await outcomes(first.standIn, first.clock, 2, { sessionID: 8 })).toBe('+-')
  const second = await limited(settings, { messagesCountedPer: 'chatbot' })
  expect(await outcomes(second.standIn, second.clock, 2)).toBe('+-')
  expect(await outcomes(second.standIn, second.clock, 2, { sessionID: 8 })).toBe('--')
})

test.each([{ RateLimitCount: 1 }, { RateLimitTime: 60 }, { MessageLimit: -1 }, {}])(
  '%j alone limits nothing',
  async (settings) => {
    const { standIn, clock } = await limited(settings)
    expect(await outcomes(standIn, clock, 4)).toBe('++++')
  },
)

test('MessageLimit messages in a calendar month, of all sessions', async () => {
  const { standIn, clock } = await limited({ MessageLimit: 3 }, {}, '2026-11-30T23:59:55Z')
  expect(await outcomes(standIn, clock, 2)).toBe('++')
  expect(await outcomes(standIn, clock, 2, { sessionID: 8 })).toBe('+-')
  expect((await ask(standIn, 'homes')).json).toMatchObject({ Code: 429, Message: expect.stringContaining('monthly') })
  clock.now += 5000
  expect(await outcomes(standIn, clock, 4)).toBe('+++-')
  await edit(standIn, { MessageLimit: -1 })
  expect(await outcomes(standIn, clock, 2)).toBe('++')
  await edit(standIn, { MessageLimit: 0 })
  expect(await outcomes(standIn, clock, 1)).toBe('-')
})

test('a message too many may be turned away by an answer', async () => {
  const settings = { RateLimitCount: 0, RateLimitTime: 60, RateLimitMessage: 'Slowly!', AnswerSuffix: '…' }
  const { standIn } = await limited(settings, { tooManyMessages: 'answered' })
  expect((await ask(standIn, 'homes')).json).toMatchObject({
    Success: true,
    Data: { content: 'Slowly!', noAnswer: true, totalToken: 0 },
  })
})

test('refusals over HTTP have their status', async () => {
  const { standIn } = await limited({ MessageLimit: 0 }, { refusalsVia: 'http' })
  expect((await ask(standIn, 'homes')).status).toBe(429)
  expect((await ask(standIn, 'homes', { sessionID: 'x' })).status).toBe(400)
})

test.each([
  ['either', { authorization: 'secret' }, true],
  ['either', { 'chatrobot-sessionkey': 'session' }, true],
  ['either', {}, false],
  ['secret', { 'chatrobot-sessionkey': 'session' }, false],
  ['session', { 'chatrobot-sessionkey': 'session' }, true],
  ['either', { authorization: 'Bearer secret' }, false],
] as const)('S1: with %s asked for, %j opens ClientAsk: %j', async (wanted, key, letIn) => {
  const keys = { secret: 'secret', session: 'session' }
  const standIn = await withHouse({ keys, profile: { headers: { ClientAsk: wanted } } })
  const { json } = await ask(standIn, 'homes', {}, { 'content-type': 'application/json', ...key })
  expect(json).toMatchObject({ Success: letIn, Code: letIn ? 200 : 401 })
})

test.each([
  [{ kind: 'status', status: 503 } as const, 503, '<!DOCTYPE html>'],
  [{ kind: 'refuse', message: 'No' } as const, 200, '"Success":false'],
  [{ kind: 'credentials' } as const, 401, '"Code":401'],
  [{ kind: 'body', form: 'cut-json' } as const, 200, '{"Data":{"messageid"'],
  [{ kind: 'pretend' } as const, 200, '"content":"","totalToken":0'],
  [{ kind: 'drip', bytes: 10, pause: 1 } as const, 200, '12 Elm St'],
  [{ kind: 'say', content: 'It costs $1.' } as const, 200, '"content":"It costs $1.","totalToken":5,"noAnswer":false'],
  [{ kind: 'say', content: '?', noAnswer: true } as const, 200, '"noAnswer":true'],
])('the fault %j strikes ClientAsk', async (fault, status, text) => {
  const standIn = await withHouse()
  standIn.addFault({ operations: ['ClientAsk'], fault })
  expect(await ask(standIn, 'homes')).toMatchObject({ status, text: expect.stringContaining(text) })
  expect((await edit(standIn, { Name: 'Ada' })).json.Success).toBe(true)
  expect(standIn.requests).toMatchObject([{ operation: 'ClientAsk', fault: fault.kind }, { fault: null }])
})

test('faults of streams and answers leave the other operations and whole answers alone', async () => {
  const standIn = await withHouse()
  standIn.addFault({ nth: 1, fault: { kind: 'cut-stream' } })
  standIn.addFault({ nth: 1, fault: { kind: 'say', content: 'Said.' } })
  expect((await create(standIn, house('A-102'))).json.Success).toBe(true)
  expect((await ask(standIn, 'homes')).json.Data.content).toBe('Said.')
})
