/** ClientAsk against a real HTTP server: the rules before sending, answers in one piece and streamed, lost ones. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { BrokenAnswerError, ListingServiceClient, RequestError, ServiceError } from '../../src/index.ts'
import type { ChatEnd, ChatPiece, ChatQuestion, ClientOptions } from '../../src/index.ts'
import { ManualClock } from './clock.ts'
import { portOf, refusal, success } from './server.ts'

type Answerer = (body: Record<string, unknown>, response: ServerResponse, request: IncomingMessage) => void

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function world(answer: Answerer, options: Partial<ClientOptions> = {}) {
  const seen: { path: string; headers: IncomingMessage['headers']; body: Record<string, unknown> }[] = []
  const server = createServer((request, response) => {
    void text(request).then((json) => {
      const body = JSON.parse(json) as Record<string, unknown>
      seen.push({ path: request.url!, headers: request.headers, body })
      answer(body, response, request)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const clock = new ManualClock(20_000)
  const client = new ListingServiceClient({
    baseUrl: `http://127.0.0.1:${portOf(server)}/api`,
    secretKey: 'secret-Zq71',
    sessionKey: 'session-Kp93',
    timeout: 1_000_000,
    rate: Infinity,
    runtime: { clock, random: () => 0.5 },
    ...options,
  })
  closing.push(
    () => (server.closeAllConnections(), server.close()),
    () => client.close(),
  )
  return { client, seen, clock }
}

const question: ChatQuestion = { sessionID: 7, content: 'What is for sale in Cedar Falls?' }
const data = { messageid: 12, content: 'Two homes.', totalToken: 40, noAnswer: false }
const end: ChatEnd = { QuestionID: 11, AnswerID: 12, Answer: 'Two homes: 🏡 {1}.', TotalToken: 40 }

async function collect(pieces: AsyncIterable<ChatPiece | ChatEnd>): Promise<(ChatPiece | ChatEnd)[]> {
  const collected: (ChatPiece | ChatEnd)[] = []
  for await (const part of pieces) collected.push(part)
  return collected
}

describe('in one piece', () => {
  test('sends what the document says, with both keys, and gives Data', async () => {
    const { client, seen } = await world((_, response) => response.end(JSON.stringify(success(data))))
    expect(await client.ask(question)).toEqual(data)
    expect(await client.ask({ ...question, content: '', chatAskType: 'Image', fileIds: [3, 4] })).toEqual(data)
    expect(seen.map(({ path }) => path)).toEqual(['/api/chat/Chat/ClientAsk', '/api/chat/Chat/ClientAsk'])
    expect(seen[0].body).toEqual(question)
    expect(seen[1].body).toEqual({ sessionID: 7, content: '', chatAskType: 'Image', fileIds: [3, 4] })
    expect(seen[0].headers).toMatchObject({
      authorization: 'secret-Zq71',
      'chatrobot-sessionkey': 'session-Kp93',
      'content-type': 'application/json',
    })
  })

  test('a lost answer is an error that says so, and the message is not sent again', async () => {
    const { client, seen } = await world((_, response, request) => request.socket.destroy())
    const error = await client.ask(question).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ServiceError)
    expect(error).toMatchObject({
      effect: 'unknown',
      message: expect.stringContaining('may have received the message'),
    })
    expect(seen).toHaveLength(1)
  })

  test('is asked again where the service surely took nothing, and waits as long as it is told', async () => {
    let number = 0
    const { client, clock } = await world((_, response) => {
      if (++number === 1) response.writeHead(429, { 'retry-after': '3' }).end(JSON.stringify(refusal(429, 'slow down')))
      else response.end(JSON.stringify(success(data)))
    })
    const before = clock.now()
    expect(await client.ask(question)).toEqual(data)
    expect(clock.now() - before).toBeGreaterThanOrEqual(3000)
  })

  test('no answer is an answer', async () => {
    const none = { ...data, content: null, noAnswer: true }
    const { client } = await world((_, response) => response.end(JSON.stringify(success(none))))
    expect(await client.ask(question)).toEqual({ ...data, content: '', noAnswer: true })
  })

  test('a signal ends it', async () => {
    const stop = new AbortController()
    const { client } = await world(() => stop.abort())
    await expect(client.ask(question, { signal: stop.signal })).rejects.toMatchObject({ kind: 'stopped' })
  })
})

describe('what the document forbids is not sent', () => {
  const forbidden: [Partial<ChatQuestion>, string][] = [
    [{ sessionID: 1.5 }, 'sessionID: takes a whole number'],
    [{ content: '' }, 'content: may be empty only where a file is sent'],
    [{ content: '', chatAskType: 'Image', fileIds: [] }, 'content: may be empty only where a file is sent'],
    [{ fileIds: [1] }, 'fileIds: only Image, Audio and Video take files'],
    [{ chatAskType: 'Text', fileIds: [1] }, 'fileIds: only Image, Audio and Video take files'],
    [{ chatAskType: 'Video', fileIds: [1, 2] }, 'fileIds: Video takes exactly one file, not 2'],
    [{ chatAskType: 'Audio' }, 'fileIds: Audio takes exactly one file, not 0'],
    [{ chatAskType: 'Image', fileIds: ['1'] as unknown as number[] }, 'fileIds: takes a list of whole numbers'],
    [{ chatAskType: 'Picture' as 'Image' }, 'chatAskType: takes Text, Audio, Image or Video, not "Picture"'],
    [{ stram: true } as object, 'stram: unknown field; use one of sessionID, content, chatAskType, fileIds'],
  ]
  test.each(forbidden)('%j', async (changes, problem) => {
    const { client, seen } = await world((_, response) => response.end(JSON.stringify(success(data))))
    const asked = { ...question, ...changes }
    for (const attempt of [client.ask(asked), collect(client.askStreaming(asked))]) {
      const error = await attempt.then(
        () => null,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(RequestError)
      expect((error as RequestError).message).toContain(problem)
    }
    expect(seen).toEqual([])
  })
})

describe('streamed', () => {
  const pieces = ['Two homes: ', '🏡', ' {1}.'].map((content) => ({ content }))

  /** Writes the chunks one after another, each as a packet of its own. */
  const streaming = (chunks: (string | Buffer)[], after: (response: ServerResponse) => void): Answerer =>
    async function answer(_, response) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.socket!.setNoDelay(true)
      for (const chunk of chunks) await new Promise<void>((resolve) => response.write(chunk, () => resolve()))
      after(response)
    }
  const finish = (response: ServerResponse): void => void response.end()

  test('gives the pieces as they come, then the final object', async () => {
    const bytes = Buffer.from([...pieces, end].map((part) => `data: ${JSON.stringify(part)}\n\n`).join(''))
    const { client, seen } = await world(
      streaming(
        [...bytes].map((byte) => Buffer.from([byte])),
        finish,
      ),
    )
    expect(await collect(client.askStreaming(question))).toEqual([...pieces, end])
    expect(seen[0].body).toEqual({ ...question, stream: true })
  })

  test('a piece is there before the next one was sent', async () => {
    let go: () => void = () => undefined
    const { client } = await world((_, response) => {
      response.write(JSON.stringify(pieces[0]))
      go = () => response.end(JSON.stringify(end))
    })
    const arriving = client.askStreaming(question)
    expect(await arriving.next()).toEqual({ done: false, value: pieces[0] })
    go()
    expect(await collect(arriving)).toEqual([end])
  })

  test('is read where a proxy packs it with gzip, piece by piece; cut, it is lost', async () => {
    let go: () => void = () => undefined
    const packing = (isCut: boolean): Answerer =>
      function answer(_, response) {
        response.writeHead(200, { 'content-encoding': 'gzip' })
        const gzip = createGzip()
        gzip.pipe(response)
        gzip.write(JSON.stringify(pieces[0]))
        gzip.flush()
        go = () => (isCut ? response.end() : gzip.end(JSON.stringify(end)))
      }
    for (const isCut of [false, true]) {
      const { client } = await world(packing(isCut))
      const arriving = client.askStreaming(question)
      expect(await arriving.next()).toEqual({ done: false, value: pieces[0] })
      go()
      if (!isCut) expect(await collect(arriving)).toEqual([end])
      else await expect(collect(arriving)).rejects.toThrow(/unexpected end of file; 11 characters of it had arrived/)
    }
  })

  test.each<[string, Answerer]>([
    ['plain', streaming([JSON.stringify(end)], () => undefined)],
    [
      'packed',
      (_, response) => {
        const gzip = createGzip()
        gzip.pipe(response)
        gzip.write(JSON.stringify(end))
        gzip.flush()
      },
    ],
  ])('does not wait for a service that keeps the connection after the final object, %s', async (_, answer) => {
    const { client } = await world(answer)
    expect(await collect(client.askStreaming(question))).toEqual([end])
  })

  const half = [JSON.stringify(pieces[0]), '{"content":"hal']
  test.each<[string, Answerer, string?]>([
    ['ends', streaming(half, finish)],
    ['breaks off', streaming(half, (response) => void response.socket!.destroy())],
    ['contains invalid JSON', streaming([half[0], '{"content":oops}'], finish)],
    ['has another error', streaming([half[0], '{"error":"no model now"}'], finish), 'no model now'],
  ])('says what had come where it %s', async (_, answer, text = '') => {
    const { client, seen } = await world(answer)
    const came: unknown[] = []
    const error = await (async () => {
      for await (const part of client.askStreaming(question)) came.push(part)
    })().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(BrokenAnswerError)
    expect(error).toMatchObject({ received: 'Two homes: ', effect: 'unknown' })
    expect((error as Error).message).toMatch(new RegExp(`${text}.*11 characters of it had arrived`))
    expect(came).toEqual([pieces[0]])
    expect(seen).toHaveLength(1)
  })

  test('a stream that falls silent is given up', async () => {
    const { client } = await world(
      streaming(half.slice(0, 1), () => undefined),
      { timeout: 15_000 },
    )
    await expect(collect(client.askStreaming(question))).rejects.toThrow('silent for 15 s')
  })

  test('it may take longer to begin than to go on', async () => {
    // The clock jumps to what is due within 20 s.
    const begun = await world(
      streaming(half.slice(0, 1), () => undefined),
      { chat: { first: 1_000_000, idle: 9000 } },
    )
    await expect(collect(begun.client.askStreaming(question))).rejects.toThrow('silent for 9 s')
    const mute = await world((_, response) => response.writeHead(200).flushHeaders(), {
      chat: { first: 15_000, idle: 1_000_000 },
    })
    await expect(collect(mute.client.askStreaming(question))).rejects.toThrow('silent for 15 s')
    await expect(mute.client.ask(question)).rejects.toThrow('longer than 15 s')
    await expect(mute.client.ask(question, { timeout: 3000 })).rejects.toThrow('longer than 3 s')
  })

  test.each<[string, Answerer]>([
    ['status', (_, response) => response.writeHead(401).end(JSON.stringify(refusal(401, 'who is secret-Zq71')))],
    ['envelope', streaming([JSON.stringify(refusal(401, 'who is secret-Zq71'))], finish)],
    ['framed envelope', streaming([`data: ${JSON.stringify(refusal(401, 'who is secret-Zq71'))}\n\n`], finish)],
  ])('a refusal by %s is the same error, without the key', async (_, answer) => {
    const { client } = await world(answer)
    const error = await collect(client.askStreaming(question)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: 'credentials', code: 401 })
    expect((error as Error).message).toContain('who is ***')
  })

  test('a service that answers in one piece all the same', async () => {
    const { client } = await world((_, response) => response.end(JSON.stringify(success(data))))
    expect(await collect(client.askStreaming(question))).toEqual([
      { content: 'Two homes.' },
      { QuestionID: null, AnswerID: 12, Answer: 'Two homes.', TotalToken: 40, noAnswer: false },
    ])
  })

  test('is asked again where the service took nothing; more streams than calls at a time', async () => {
    let number = 0
    const waiting: ServerResponse[] = []
    const { client } = await world(
      (_, response) => {
        number++
        if (number === 1) response.writeHead(503, { 'retry-after': '1' }).end()
        else if (number === 2) response.writeHead(429).end(JSON.stringify(refusal(429, 'slow down')))
        else waiting.push(response)
        if (number > 2) response.write(JSON.stringify(pieces[0]))
        if (waiting.length === 3) for (const unanswered of waiting) unanswered.end(JSON.stringify(end))
      },
      { concurrency: 1 },
    )
    await expect(collect(client.askStreaming(question))).rejects.toMatchObject({ code: 503, effect: 'unknown' })
    const streams = [1, 2, 3].map(() => collect(client.askStreaming(question)))
    expect(await Promise.all(streams)).toEqual([1, 2, 3].map(() => [pieces[0], end]))
  })

  test('leaving it early ends the connection', async () => {
    const ended = Promise.withResolvers<void>()
    const { client } = await world((_, response) => {
      response.write(JSON.stringify(pieces[0]))
      response.on('close', () => ended.resolve())
    })
    for await (const part of client.askStreaming(question)) {
      expect(part).toEqual(pieces[0])
      break
    }
    await ended.promise
  })
})
