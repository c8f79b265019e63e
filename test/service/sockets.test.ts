/** Raw sockets: what undici does on connections that end at every moment, and what the client makes of it (docs/faults.md, F107). */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { ServiceClient } from '../../src/service/client.ts'
import type { Chatbot } from '../../src/service/service.ts'
import { seeded } from '../support/random.ts'
import { ManualClock } from './clock.ts'
import { chatbotOf, keepLog, portOf, success, testListing, testSettings } from './server.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A client for the server on this port; returns a chatbot for each run. */
function clientOf(
  port: number,
  concurrency = 1,
  { log } = keepLog(),
  clock = new ManualClock(20_000),
): { chatbot(this: void): Chatbot } {
  const settings = testSettings(`http://127.0.0.1:${port}`, { concurrency, backoff: { base: 1, max: 1 } })
  const client = new ServiceClient(settings, { clock, random: () => 0.5, log })
  closing.push(() => client.close())
  return { chatbot: () => chatbotOf(client, settings, 'SN') }
}

/** A server that gives each connection to `serve`, and a client that calls it. */
async function begin(
  serve: (socket: Socket) => void,
  concurrency = 1,
  kept = keepLog(),
  clock = new ManualClock(20_000),
): Promise<{ chatbot(this: void): Chatbot }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    serve(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = clientOf(portOf(server), concurrency, kept, clock)
  closing.push(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return client
}

/** Calls `whole` with every complete request, and `part` with every incomplete one so far. */
function requests(socket: Socket, whole: (body: string) => void, part: (text: string) => void = () => undefined): void {
  let text = ''
  socket.on('data', (piece: Buffer) => {
    text += piece.toString('latin1')
    part(text)
    for (;;) {
      const head = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
      if (head < 0 || text.length < head + 4 + length) return
      const body = text.slice(head + 4, head + 4 + length)
      text = text.slice(head + 4 + length)
      whole(body)
    }
  })
}

const answerOf = (data: unknown, rest = ''): string => {
  const body = JSON.stringify(success(data))
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${rest}\r\n${body}`
}
const nothing = (): void => undefined
const large = testListing({ Description: 'x'.repeat(2_000_000) })

describe('a create whose connection ends', () => {
  test.for<[string, (socket: Socket, came: () => void) => void]>([
    [
      'before its head is read',
      (socket, came) => {
        came()
        socket.pause()
        setImmediate(() => socket.resetAndDestroy())
      },
    ],
    [
      'after its head, before its body',
      (socket, came) =>
        requests(socket, nothing, (text) => {
          if (!text.includes('\r\n\r\n') || socket.destroyed) return
          came()
          socket.resetAndDestroy()
        }),
    ],
    [
      'in the middle of its body',
      (socket, came) =>
        requests(socket, nothing, (text) => {
          if (text.length < 500_000 || socket.destroyed) return
          came()
          socket.resetAndDestroy()
        }),
    ],
    [
      'after it was carried out, before the answer',
      (socket, came) =>
        requests(socket, () => {
          came()
          socket.resetAndDestroy()
        }),
    ],
    [
      'closed politely before the answer',
      (socket, came) =>
        requests(socket, () => {
          came()
          socket.end()
        }),
    ],
    [
      'in the head of the answer',
      (socket, came) =>
        requests(socket, () => {
          came()
          socket.write('HTTP/1.1 200 OK\r\ncontent-le', () => socket.resetAndDestroy())
        }),
    ],
    [
      'in the body of the answer',
      (socket, came) =>
        requests(socket, () => {
          came()
          const answer = answerOf('id')
          socket.write(answer.slice(0, -10), () => socket.resetAndDestroy())
        }),
    ],
    [
      'with bytes that are no HTTP',
      (socket, came) =>
        requests(socket, () => {
          came()
          socket.end('SSH-2.0-OpenSSH_9.6\r\n')
        }),
    ],
  ])('%s: may have been carried out, and is not sent again', async ([, serve]) => {
    let came = 0
    const { chatbot } = await begin((socket) => serve(socket, () => came++))
    const create = chatbot().create(large, nothing)
    await expect(create).rejects.toMatchObject({ kind: 'transient', effect: 'unknown' })
    expect(came).toBe(1)
  })

  test('before anything could be written: surely had no effect, and is tried again', async () => {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const port = portOf(server)
    server.close()
    await once(server, 'close')
    const kept = keepLog()
    const { chatbot } = clientOf(port, 1, kept)
    const create = chatbot().create(testListing(), nothing)
    await expect(create).rejects.toMatchObject({ kind: 'transient', effect: 'none' })
    expect(kept.lines).toHaveLength(3)
  })
})

test('an answer in single bytes is read whole', async () => {
  const { chatbot } = await begin((socket) =>
    requests(socket, () => {
      socket.setNoDelay(true)
      const bytes = answerOf('id')
      const drip = (at: number): void => {
        if (at < bytes.length) socket.write(bytes[at], () => setImmediate(drip, at + 1))
      }
      drip(0)
    }),
  )
  await expect(chatbot().create(testListing(), nothing)).resolves.toMatchObject({ value: 'id' })
})

test('a call that the process was frozen before is not sent, and made ready anew', async () => {
  const clock = new ManualClock(20_000)
  const came: string[] = []
  const { chatbot } = await begin(
    (socket) =>
      requests(socket, (body) => {
        came.push(body)
        socket.write(answerOf('id'))
      }),
    1,
    keepLog(),
    clock,
  )
  let ready = 0
  const isReady = async (): Promise<void> => {
    if (++ready > 1) return
    // After the call has begun, and before its connection is there.
    void (async () => {
      for (let i = 0; i < 100; i++) await Promise.resolve()
      clock.skip(10_001)
    })()
  }
  await expect(chatbot().create(testListing(), isReady)).resolves.toMatchObject({ value: 'id' })
  expect([ready, came.length]).toEqual([2, 1])
})

/**
 * The server closes kept-alive connections just when the next request may be on its way: right after an answer, a little
 * later, or when the next request begins to arrive, announced or not.
 */
test.each([1, 2, 3])(
  'keep-alive races, seed %i: no create comes twice, and what is called without effect had none',
  async (seed) => {
    const random = seeded(seed)
    const seen = new Map<string, number>()
    const { chatbot } = await begin((socket) => {
      requests(
        socket,
        (body) => {
          const key = String((JSON.parse(body) as Record<string, unknown>)['MLSNumber'])
          seen.set(key, (seen.get(key) ?? 0) + 1)
          const dice = random()
          const announced = dice < 0.1 ? 'connection: close\r\n' : dice < 0.2 ? 'keep-alive: timeout=1\r\n' : ''
          socket.write(answerOf(key, announced), () => {
            if (dice < 0.15) socket.end()
            else if (dice < 0.3) socket.resetAndDestroy()
            else if (dice < 0.45) setImmediate(() => socket.end())
            else if (dice < 0.6) setImmediate(() => setImmediate(() => socket.resetAndDestroy()))
          })
        },
        (text) => {
          // The other side of the race: the request arrived, and the connection ends before it is read.
          if (text !== '' && random() < 0.1) socket.resetAndDestroy()
        },
      )
    }, 4)
    const outcomes = { done: 0, unknown: 0, none: 0 }
    for (let round = 0; round < 60; round++) {
      // Another run, as ten failures in a row may have stopped the last one.
      const writer = chatbot()
      const keys = Array.from({ length: 8 }, (_, i) => `K-${seed}-${round}-${i}`)
      await Promise.all(
        keys.map(async (key) => {
          try {
            const { value } = await writer.create(testListing({ MLSNumber: key }), nothing)
            expect(value).toBe(key)
            expect(seen.get(key)).toBe(1)
            outcomes.done++
          } catch (error) {
            const { effect } = error as { effect: 'none' | 'unknown' }
            outcomes[effect]++
            expect(seen.get(key) ?? 0).toBeLessThanOrEqual(effect === 'none' ? 0 : 1)
          }
        }),
      )
    }
    expect(outcomes.done).toBeGreaterThan(200)
    expect(outcomes.unknown).toBeGreaterThan(10)
  },
)
