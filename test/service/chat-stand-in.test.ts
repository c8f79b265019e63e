/** The client's chat against the stand-in, an independent reading of the documentation: every framing, every break. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ListingServiceClient, ServiceError } from '../../src/index.ts'
import type { ChatEnd } from '../../src/index.ts'
import { startStandIn } from '../../src/stand-in/stand-in.ts'
import type { StandIn } from '../../src/stand-in/stand-in.ts'
import { ManualClock } from './clock.ts'

const question = { sessionID: 1, content: 'What about 12 Elm Street?' }

const keys = { secret: 'stand-in-key', session: 'stand-in-session' }
let standIn: StandIn
let client: ListingServiceClient
beforeAll(async () => {
  standIn = await startStandIn({ keys })
  standIn.seed('SN-1', [{ MLSNumber: 'A-1', City: 'Größe {"x"}', Address: '12 Elm Street', SaleType: 'for_sale' }])
  client = clientOf()
})
afterAll(async () => {
  await client.close()
  await standIn.close()
})

function clientOf(clock?: ManualClock): ListingServiceClient {
  return new ListingServiceClient({
    baseUrl: standIn.url,
    secretKey: keys.secret,
    rate: Infinity,
    ...(clock && { runtime: { clock } }),
  })
}

/** The text of the pieces and the final object; `onPiece` is called with their number. */
async function streamed(asked = client, onPiece: (count: number) => void = () => undefined) {
  let text = ''
  let end: ChatEnd | null = null
  let count = 0
  for await (const part of asked.askStreaming(question)) {
    if ('content' in part) text += part.content
    else end = part
    onPiece(++count)
  }
  return { text, end }
}

const framings = (['bare', 'lines', 'data-lines', 'events'] as const).flatMap((framing) =>
  (['lf', 'crlf'] as const).flatMap((lineEnd) =>
    [1, 7, null].map((bytesPerWrite) => ({ framing, lineEnd, bytesPerWrite })),
  ),
)

test.each(framings)('$framing, $lineEnd, $bytesPerWrite bytes a write', async (stream) => {
  const isBare = stream.framing === 'bare'
  const isEvents = stream.framing === 'events' || stream.framing === 'data-lines'
  standIn.changeProfile({
    stream: {
      ...stream,
      done: !isBare,
      comments: isEvents,
      blankAfterColon: stream.bytesPerWrite === 1,
      pieceLength: 3,
    },
  })
  const { text, end } = await streamed()
  expect(end).toMatchObject({ Answer: text })
  expect(text).toContain('12 Elm Street')
})

test('no pieces, the final object only', async () => {
  standIn.changeProfile({ stream: { pieceLength: 0 } })
  const { text, end } = await streamed()
  expect(text).toBe('')
  expect(end!.Answer).toContain('12 Elm Street')
})

test.each(['end', 'cut', 'envelope', 'hang'] as const)(
  'a stream ended by %s is an error, and asked once',
  async (by) => {
    standIn.changeProfile({ stream: { pieceLength: 4 } })
    standIn.resetCounts()
    standIn.addFault({ operations: ['ClientAsk'], times: 1, fault: { kind: 'cut-stream', pieces: 2, by } })
    const clock = new ManualClock()
    const impatient = clientOf(clock)
    const silence = (count: number): void => void (by === 'hang' && count === 2 && clock.advance(60_000))
    const error = await streamed(impatient, silence).catch((thrown: unknown) => thrown)
    await impatient.close()
    expect(error).toBeInstanceOf(ServiceError)
    if (by !== 'envelope')
      expect(error).toMatchObject({ name: 'BrokenAnswerError', received: expect.stringMatching(/^.{8}$/) })
    if (by === 'hang') expect((error as Error).message).toContain('silent for 30 s')
    expect(standIn.counts.ClientAsk).toBe(1)
  },
)

test('rules of the messages are refusals', async () => {
  await client.edit({ serialNumber: 'SN-1', MessageLimit: 0 })
  const quick = clientOf(new ManualClock(20_000))
  await expect(quick.ask(question)).rejects.toMatchObject({ name: 'ServiceError', effect: 'none' })
  await expect(streamed(quick)).rejects.toMatchObject({ name: 'ServiceError', effect: 'none' })
  await quick.close()
  await client.edit({ serialNumber: 'SN-1', MessageLimit: -1 })
  expect((await client.ask(question)).noAnswer).toBe(false)
})
