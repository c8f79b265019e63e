import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createSafeServer } from 'node:https'
import { createServer as createRawServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FeedError } from '../../../src/core/errors.ts'
import { decompressed } from '../../../src/feed/transport/decompress.ts'
import { http } from '../../../src/feed/transport/http.ts'
import { transportSettings } from '../../../src/feed/transport/settings.ts'
import { open, optionsWith, receive, transportContract } from '../../contract/transport.ts'
import { withPatience } from '../../support/patience.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const answers = new Map<string, Answer>()
const seen: { origin: string; headers: IncomingMessage['headers'] }[] = []
const servers: Server[] = []
let here = ''
let elsewhere = ''
let count = 0

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server does not listen')
  return address.port
}

async function started(): Promise<string> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0]
    seen.push({ origin: `http://${request.headers.host}`, headers: request.headers })
    const answer = answers.get(path)
    if (answer) answer(request, response)
    else response.writeHead(404).end('not here')
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${portOf(server.address())}`
}

beforeAll(async () => {
  here = await started()
  elsewhere = await started()
})
afterAll(() => {
  for (const server of servers) server.close()
})

function serve(answer: Answer): string {
  const path = `/feed-${++count}.xml`
  answers.set(path, answer)
  return `http://${here}${path}`
}

/** A server that sends these bytes as they are and then ends or resets the connection. */
async function raw(bytes: string | Buffer, reset: boolean): Promise<string> {
  const server = createRawServer((socket: Socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(bytes, () => (reset ? socket.resetAndDestroy() : socket.end()))
      server.close()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${portOf(server.address())}/feed`
}

transportContract({
  name: 'http',
  transport: http,
  directory: '/',
  put: async (content) => {
    const address = serve((_, response) => response.setHeader('content-length', content.length).end(content))
    return `${address.replace('//', '//user:secret@')}?key=secret`
  },
  missing: async () => `http://${here}/nowhere?key=secret`,
})

describe('how the bytes ended', () => {
  test.each([
    ['a length that is met', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole', false, true, []],
    [
      'chunks that end',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n',
      false,
      true,
      [],
    ],
    [
      'chunks that end, and something after them',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\nmore',
      false,
      true,
      [],
    ],
    ['a length, and a line break after it', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole\r\n', false, true, []],
    ['no framing', 'HTTP/1.1 200 OK\r\n\r\nwhole', false, false, []],
    [
      'a length cut short',
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nwhole',
      false,
      false,
      [/lost after 5 of 9 bytes/],
    ],
    ['a reset', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nwhole', true, false, [/lost after 5 of 9 bytes/]],
    [
      'chunks cut short',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n',
      false,
      false,
      [/lost after 5 bytes \((its answer is not valid HTTP|the connection broke \(UND_ERR_SOCKET\))\)/],
    ],
  ])('%s', async (_, bytes, reset, proven, reasons) => {
    expect(await receive(http, await raw(bytes, reset), optionsWith())).toMatchObject({
      text: 'whole',
      proven,
      reasons: reasons.map((reason) => expect.stringMatching(reason)),
    })
  })

  test('a length that counts letters, not bytes', async () => {
    const bytes = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole and more'
    expect(await receive(http, await raw(bytes, false), optionsWith())).toMatchObject({
      text: 'whole',
      proven: false,
      reasons: [],
      surplus: 'the server sent more bytes than it said (Content-Length: 5)',
    })
  })

  test('a body without end is cut at the cap', async () => {
    const address = serve((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(100_000, 'x')));
      }
      response.on('drain', more)
      more()
    })
    const { text, reasons } = await receive(http, address, optionsWith({ maxBytes: 300_000 }))
    expect(text.length).toBeLessThanOrEqual(300_000)
    expect(reasons).toEqual(['more than 300000 bytes were sent (maxBytes); the rest was not read'])
  })

  test('a server that stalls is given up when told to stop', async () => {
    const stop = new AbortController()
    const silent = serve(() => stop.abort(new Error('stopped by the test')))
    await expect(http(silent, optionsWith({ signal: stop.signal }))).rejects.toThrow('stopped by the test')
  })

  test('the deadline is for the whole transfer', async () => {
    const drip = serve((_, response) => response.writeHead(200, { 'content-length': 100 }).write('x'))
    await withPatience(200, async (transferTimeout) => {
      const { text, reasons } = await receive(http, drip, optionsWith({ transferTimeout }))
      expect(text).toBe('x')
      const after = 'gave up after 1 of 100 bytes'
      expect(reasons).toEqual([`the transfer took longer than ${transferTimeout} ms (transferTimeout); ${after}`])
    })
    await expect(
      http(
        serve(() => {}),
        optionsWith({ transferTimeout: 100 }),
      ),
    ).rejects.toThrow(/did not answer within 100 ms/)
  })
})

describe('compressed bodies', () => {
  const document = '<Listings>é</Listings>'.repeat(200)
  const whole = gzipSync(document)

  const unpacking = (maxBytes: number) => ({
    ...transportSettings.parse({ maxUnpackedBytes: `${maxBytes}B` }),
    scratch: tmpdir(),
  })

  async function unpacked(body: Buffer, headers: Record<string, string>) {
    const address = serve((_, response) => response.writeHead(200, headers).end(body))
    const result = decompressed(await open(http, address, optionsWith()), unpacking(1_000_000))
    const pieces: Buffer[] = []
    for await (const part of result.bytes) pieces.push(part)
    return { text: Buffer.concat(pieces).toString(), ...result.end() }
  }

  test.each([
    ['by Content-Encoding', whole, { 'content-encoding': 'gzip' }],
    ['by its first bytes', whole, {}],
    ['twice', gzipSync(whole), { 'content-encoding': 'gzip' }],
    ['in two members', Buffer.concat([gzipSync(document.slice(0, 50)), gzipSync(document.slice(50))]), {}],
  ])('%s', async (_, body, headers) => {
    expect(await unpacked(body, headers)).toEqual({ text: document, proven: true, reasons: [] })
  })

  test('cut anywhere, or with something behind, it is doubtful', async () => {
    for (const cut of [2, 11, whole.length - 9, whole.length - 8, whole.length - 1]) {
      expect((await unpacked(whole.subarray(0, cut), {})).reasons, `cut at ${cut}`).toEqual([
        expect.stringMatching(/broken or cut off/),
      ])
    }
    for (const rest of ['rest', '\u0000\u0000', '\u001f\u008b']) {
      const { proven, reasons } = await unpacked(Buffer.concat([whole, Buffer.from(rest, 'latin1')]), {})
      expect({ proven, reasons: reasons.length }).toEqual({ proven: false, reasons: 1 })
    }
  })

  test('bombs are stopped by length and by ratio', async () => {
    expect((await unpacked(gzipSync(Buffer.alloc(2_000_000)), {})).reasons).toEqual([
      'the document unpacks to more than 1000000 bytes (maxUnpackedBytes); the rest was not read',
    ])
    const address = serve((_, response) => response.end(gzipSync(Buffer.alloc(40_000_000))))
    const result = decompressed(await open(http, address, optionsWith()), unpacking(1e9))
    let size = 0
    for await (const part of result.bytes) size += part.length
    expect(size).toBeLessThan(12_000_000)
    expect(result.end().reasons).toEqual([
      'the document unpacks to more than 200 times what was sent (maxRatio); the rest was not read',
    ])
  })

  test('leaving early is no error, an unknown encoding is', async () => {
    const address = serve((_, response) => response.end(gzipSync(Buffer.alloc(5_000_000))))
    for await (const part of decompressed(await open(http, address, optionsWith()), unpacking(1e9)).bytes) {
      expect(part.length).toBeGreaterThan(0)
      break
    }
    await expect(unpacked(whole, { 'content-encoding': 'rot13' })).rejects.toThrow(
      /with Content-Encoding "rot13", which is not known; known are gzip, /,
    )
  })
})

describe('what is asked and answered', () => {
  test('credentials and headers go to the configured origin alone', async () => {
    answers.set('/moved', (_, response) => response.end('moved'))
    const source = serve((_, response) => response.writeHead(302, { location: `http://${elsewhere}/moved` }).end())
    seen.length = 0
    const options = optionsWith({ headers: { 'X-Api-Key': 'secret' } })
    const received = await receive(http, source.replace('//', '//me%40x:p%3Aw@'), options)
    expect(received).toMatchObject({ text: 'moved', name: `http://${elsewhere}/moved` })
    expect(seen[0].headers).toMatchObject({
      'x-api-key': 'secret',
      authorization: `Basic ${Buffer.from('me@x:p:w').toString('base64')}`,
    })
    expect(seen[1].origin).toBe(`http://${elsewhere}`)
    expect(Object.keys(seen[1].headers)).not.toEqual(expect.arrayContaining(['authorization']))
    expect(JSON.stringify(seen[1].headers)).not.toContain('secret')
  })

  test('an unchanged feed is not modified, by what it said before', async () => {
    const source = serve((request, response) => {
      if (request.headers['if-none-match'] === '"v1"') response.writeHead(304).end()
      else response.writeHead(200, { etag: '"v1"', 'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT' }).end('x')
    })
    const opened = await open(http, source, optionsWith())
    for await (const part of opened.bytes) expect(part.toString()).toBe('x')
    expect(opened.validators).toEqual({ etag: '"v1"', lastModified: 'Sat, 21 Nov 2026 10:00:00 GMT' })
    expect(await http(source, optionsWith({ validators: opened.validators }))).toBe('not-modified')
  })

  test('a certificate that nobody vouches for ends it before anything is sent; one of ca is trusted', async () => {
    const [key, cert] = ['key', 'certificate'].map((name) => readFileSync(`fixtures/tls/${name}.pem`))
    let asked = 0
    let location = ''
    const server = createSafeServer({ key, cert }, (_, response) => {
      asked++
      if (location === '') response.end('<listings/>')
      else response.writeHead(302, { location }).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const source = `https://127.0.0.1:${portOf(server.address())}/`
      await expect(open(http, source, optionsWith())).rejects.toThrow(/can't be reached: .*(certificate|CERT)/)
      expect(asked).toBe(0)
      const trusting = optionsWith({ ca: cert.toString() })
      expect(await receive(http, source, trusting)).toMatchObject({ text: '<listings/>', proven: true })
      location = serve((_, response) => response.end('in the clear'))
      await expect(open(http, source, trusting)).rejects.toThrow(/leads from https to http, which is not followed$/)
      expect(asked).toBe(2)
    } finally {
      server.close()
    }
  })

  test('the charset of the header is passed on', async () => {
    const source = serve((_, response) => response.setHeader('content-type', 'text/csv; charset="ISO-8859-1"').end('x'))
    const opened = await open(http, source, optionsWith())
    for await (const part of opened.bytes) expect(part.toString()).toBe('x')
    expect(opened).toMatchObject({ charset: 'ISO-8859-1', contentEncoding: null })
  })

  test.each<[string, number, Record<string, string>, RegExp]>([
    ['401', 401, {}, /answers HTTP 401: it wants a user and password, .*check those of the source/],
    ['503 with a wait', 503, { 'retry-after': '120' }, /answers HTTP 503; it asks to wait 120 s$/],
    ['206, unasked', 206, {}, /answers HTTP 206, which is no whole document/],
    ['304, unasked', 304, {}, /answers HTTP 304$/],
    ['a redirect to itself', 302, { location: '' }, /redirects more than 3 times \(HTTP 302\)/],
    ['a redirect to a file', 302, { location: 'file:///etc/passwd' }, /leads to file:, which is not followed/],
  ])('%s is a FeedError without secrets', async (_, status, headers, message) => {
    const source = serve((_, response) => response.writeHead(status, headers).end(status === 304 ? undefined : 'no'))
    const secret = `${source.replace('//', '//user:hidden@')}?key=hidden`
    const error = await http(secret, optionsWith()).then(
      () => null,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(FeedError)
    expect(String(error)).toMatch(message)
    expect(String(error)).not.toContain('hidden')
  })

  test('redirects without end are followed three times', async () => {
    let requests = 0
    const source = serve((_, response) => {
      requests++
      response.writeHead(302, { location: '' }).end()
    })
    await expect(http(source, optionsWith())).rejects.toThrow('redirects more than 3 times')
    expect(requests).toBe(4)
  })

  test('the address of a redirect is named without the key in its path', async () => {
    const target = serve((_, response) => response.writeHead(500).end())
    const tokens = `${target}/a8f3b2c9d4e5f6a7b8c9d0/export.csv`
    answers.set(new URL(tokens).pathname, (_, response) => response.writeHead(500).end())
    const source = serve((_, response) => response.writeHead(302, { location: `${tokens}?sig=hidden` }).end())
    await expect(http(source, optionsWith())).rejects.toThrow(`${target}/***/export.csv answers HTTP 500`)
  })

  test.each([
    ['a redirect to nowhere', 302, {}, /answers HTTP 302, a redirect that does not say where to/],
    ['no content', 204, {}, /answers HTTP 204, which is no whole document/],
    ['a part', 206, {}, /answers HTTP 206, which is no whole document/],
    ['Digest', 401, { 'www-authenticate': 'Digest realm="x", nonce="y"' }, /401: it wants Digest authentication.*SFTP/],
    ['Basic', 401, { 'www-authenticate': 'Basic realm="x"' }, /401: it wants a user and password, or other ones/],
  ])('%s is told with what to do', async (_, status, headers: Record<string, string>, words) => {
    const source = serve((_request, response) => response.writeHead(status, headers).end())
    await expect(http(source, optionsWith())).rejects.toThrow(words)
  })

  test.each([
    ['no HTTP', 'hello\r\n\r\n', /: its answer is not valid HTTP$/],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 5\r\n\r\nwhole',
      /: its answer has a length that is not true/,
    ],
    [
      'endless headers',
      `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
      /: the headers of its answer are too long/,
    ],
  ])('an answer that is %s is told as that', async (_, bytes, words) => {
    await expect(http(await raw(bytes, false), optionsWith())).rejects.toThrow(words)
  })

  test('what is no address, or refuses, is named without secrets', async () => {
    await expect(http('http://user:hidden@', optionsWith())).rejects.toThrow(
      'the address of the feed is not a valid URL',
    )
    const free = await raw('', true)
    await receive(http, free, optionsWith()).catch(() => {})
    await expect(http(free.replace('//', '//user:hidden@'), optionsWith())).rejects.toThrow(
      /^http:\/\/127\.0\.0\.1:\d+\/feed can't be reached: (?:nothing takes connections there \(ECONNREFUSED\)|the connection broke \(UND_ERR_SOCKET\))$/,
    )
  })
})
