/** `ask` as its users start it, against the stand-in and against misbehaving servers. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChatPrinter } from '../../src/commands/ask.ts'
import { questionsOf } from '../../src/commands/transcript.ts'
import { home, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
})
afterEach(() => world.end())

/** Messages that came so far. */
const asks = (): number => world.standIn.requests.filter(({ operation }) => operation === 'ClientAsk').length
const ask = (...words: string[]) => world.executed('ask', '--feed', 'north', '--session', '7', ...words)

test('answers from what was synced, in one piece and streamed the same', async () => {
  world.deliver(zillowFeed([home(1), home(2)]))
  await world.run()
  const { Address } = world.listings()[0] as { Address: string }
  const whole = await ask(`What about ${Address}?`)
  expect(whole.status).toBe(0)
  expect(whole.stdout).toContain(Address)
  expect(whole.stderr).toMatch(/^\d+ tokens\n$/)
  for (const framing of ['bare', 'lines', 'data-lines', 'events'] as const) {
    world.standIn.changeProfile({ stream: { framing, comments: true, bytesPerWrite: 3, pieceLength: 5 } })
    expect(await ask('--stream', `What about ${Address}?`)).toMatchObject({ status: 0, stdout: whole.stdout })
  }
})

test('no answer → 4, refusal → 1, wrong words → 64', async () => {
  world.deliver(zillowFeed([home(1)]))
  await world.run()
  const none = await ask('castles on the moon, please')
  expect(none).toMatchObject({ status: 4, stderr: expect.stringContaining('the chatbot had no answer') })
  world.standIn.addFault({ operations: ['ClientAsk'], fault: { kind: 'status', status: 401 } })
  const refused = await ask('--stream', 'anything')
  expect(refused).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('north: ') })
  expect(await world.executed('ask', '--feed', 'north', '--session', 'seven', 'hello')).toMatchObject({ status: 64 })
  expect(await world.executed('ask', '--feed', 'north', 'hello')).toMatchObject({ status: 64 })
  expect(await world.executed('ask', '--feed', 'west', '--session', '7', 'hello')).toMatchObject({ status: 64 })
  expect(await ask('  ')).toMatchObject({ status: 64 })
})

test('--format json and jsonl: each part with its time, then the whole', async () => {
  world.deliver(zillowFeed([home(1), home(2)]))
  await world.run()
  const { Address } = world.listings()[0] as { Address: string }
  const question = `What about ${Address}?`
  const lines = (await ask('--stream', '--format', 'jsonl', question)).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const whole = lines.pop()!
  expect(lines.length).toBeGreaterThan(2)
  for (const line of lines)
    expect(line).toEqual({ at: expect.stringMatching(/^2026-11-21T/), content: expect.any(String) })
  expect(lines.map(({ content }) => content).join('')).toBe(whole.answer)
  expect(whole).toMatchObject({ session: 7, question, noAnswer: false, tokens: expect.any(Number), problem: null })
  const { status, stdout } = await ask('--format', 'json', question)
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    version: 1,
    feed: 'north',
    answers: [{ session: 7, question, answer: whole.answer, noAnswer: false, problem: null }],
  })
})

test('--transcript keeps what was answered and what was not; one that cannot be written fails before the first question', async () => {
  world.deliver(zillowFeed([home(1)]))
  await world.run()
  const file = join(world.folder, 'transcript.jsonl')
  writeFileSync(file, 'no JSON\n')
  await ask('--transcript', file, 'What is for sale?')
  world.standIn.addFault({ operations: ['ClientAsk'], fault: { kind: 'status', status: 401 } })
  expect(await ask('--transcript', file, 'What is for rent?')).toMatchObject({ status: 1 })
  const lines = readFileSync(file, 'utf8').trim().split('\n').slice(1)
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { question: 'What is for sale?', problem: null },
    { question: 'What is for rent?', answer: null, problem: expect.stringContaining('401') },
  ])
  expect(questionsOf(file)).toEqual(['What is for rent?', 'What is for sale?'])
  const asked = asks()
  const refused = await ask('--transcript', world.folder, 'What?')
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining("the transcript can't be written") })
  expect(asks()).toBe(asked)
})

test('files: number and kind are checked before anything is sent, all in one error', async () => {
  world.deliver(zillowFeed([home(1)]))
  await world.run()
  expect(await ask('--type', 'Image', '--files', '31,32', 'Which home is this?')).toMatchObject({ status: 0 })
  const { body } = world.standIn.requests.at(-1) as unknown as { body: unknown }
  expect(body).toMatchObject({ chatAskType: 'Image', fileIds: [31, 32] })
  const asked = asks()
  const wrong: [string[], string][] = [
    [
      ['--type', 'Audio', '--files', '1,x'],
      '--files: "x" is no file ID, which is a number; --type Audio takes exactly one file, not 2',
    ],
    [['--files', '1'], '--files: files need --type Image, Audio or Video'],
    [['--type', 'Video'], '--files: --type Video takes exactly one file, not 0'],
    [['--type', 'Image'], '--files: --type Image takes at least one file'],
    [['--type', 'Picture'], 'Picture'],
  ]
  for (const [words, problem] of wrong)
    expect(await ask(...words, 'Look')).toMatchObject({ status: 64, stderr: expect.stringContaining(problem) })
  expect(asks()).toBe(asked)
})

test('a missing session is wrong usage that says where one comes from', async () => {
  expect(await world.executed('ask', '--feed', 'north', 'hello')).toMatchObject({
    status: 64,
    stderr: expect.stringContaining('Create Chat Session'),
  })
})

test("a 429 with the chatbot's own message is shown, not retried", async () => {
  world.deliver(zillowFeed([home(1)]))
  await world.run()
  writeFileSync(
    join(world.folder, 'bot.yaml'),
    'RateLimitCount: 1\nRateLimitTime: 60\nRateLimitMessage: Have a cup of tea first.\n',
  )
  await world.executed('settings', '--feed', 'north', '--file', join(world.folder, 'bot.yaml'))
  await ask('What is for sale?')
  const asked = asks()
  expect(await ask('And for rent?')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Have a cup of tea first.'),
  })
  expect(asks()).toBe(asked + 1)
})

let server: Server | null = null
afterEach(() => server?.close())

/** Lets the feed's service be one that answers like this. */
async function answering(answer: (response: ServerResponse) => void): Promise<void> {
  server = createServer((request, response) => {
    request.resume().on('end', () => answer(response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  world.configure({ north: {} }, { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

test('an answer is a stranger to the terminal, but keeps its lines', async () => {
  const hostile = 'Two homes:\n\n  1. Elm \u001b[31mred\u001b[0m\u202e\n  2. Oak 🏡 \u001b]0;title\u0007\u009b2Jend'
  const shown = 'Two homes:\n\n  1. Elm red\n  2. Oak 🏡 end\n'
  const pieces = hostile.split('').map((content) => JSON.stringify({ content }))
  const end = JSON.stringify({ QuestionID: 1, AnswerID: 2, Answer: hostile, TotalToken: 9 })
  await answering((response) => response.end(pieces.join('') + end))
  expect(await ask('--stream', 'hello')).toEqual({ status: 0, stdout: shown, stderr: '9 tokens\n' })
  server!.close()
  const data = { messageid: 1, content: hostile, totalToken: 9, noAnswer: false }
  await answering((response) =>
    response.end(JSON.stringify({ Data: data, Version: '1.0.0', Success: true, Code: 200, Message: '' })),
  )
  expect(await ask('hello')).toEqual({ status: 0, stdout: shown, stderr: '9 tokens\n' })
})

test('a key that the chatbot says is not shown, wherever its pieces are cut', async () => {
  const answer = 'The key is test-secret-key, is it'
  for (const length of [1, 4, 15]) {
    const cut = answer.match(new RegExp(`.{1,${length}}`, 'g'))!
    const end = { QuestionID: 1, AnswerID: 2, Answer: answer, TotalToken: 9 }
    const lines = [...cut.map((content) => ({ content })), end].map((piece) => JSON.stringify(piece))
    await answering((response) => response.end(lines.join('')))
    expect(await ask('--stream', 'hello')).toMatchObject({ status: 0, stdout: 'The key is ***, is it\n' })
    server!.close()
  }
})

test('a stream that breaks off prints what came, ends its line, and fails', async () => {
  await answering((response) => {
    response.write('data: {"content":"Two ho"}\n\n', () => response.socket!.destroy())
  })
  const broken = await ask('--stream', 'hello')
  expect(broken).toMatchObject({ status: 1, stdout: 'Two ho\n' })
  expect(broken.stderr).toContain('6 characters of it had arrived')
})

test('a complete answer that differs from its pieces is shown as well', async () => {
  const end = JSON.stringify({ QuestionID: 1, AnswerID: 2, Answer: 'Three homes.', TotalToken: 9 })
  await answering((response) => response.end(`{"content":"Two"}${end}`))
  const asked = await ask('--stream', 'hello')
  expect(asked).toMatchObject({ status: 0, stdout: 'Two\nThree homes.\n' })
  expect(asked.stderr).toContain('differs from its pieces')
})

test('a sequence that never ends holds nothing back for long', () => {
  let printed = ''
  const printer = new ChatPrinter((text) => (printed += text))
  printer.print(`a\u001b[${'1;'.repeat(40)}`)
  expect(printed).toContain('a')
  printer.print('b')
  printer.end()
  expect(printed.endsWith('b\n')).toBe(true)
  expect(printed).not.toContain('\u001b')
})
