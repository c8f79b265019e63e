import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createSafeServer } from 'node:https'
import { createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { messageOf, ServiceError } from '../../src/core/errors.ts'
import { readRetryAfter } from '../../src/core/retry-after.ts'
import { portOf, refusal, startServer, startWorld, stopWorld, success, testKeys, testListing } from './server.ts'
import type { Reply } from './server.ts'

type Verdict = [kind: ServiceError['kind'], effect: ServiceError['effect'], message: RegExp]

const html = '<html><body>Welcome to our Wi-Fi</body></html>'

/** Every kind of answer that docs/design.md, "Apply", names, for one attempt of a Create. */
const verdicts: [what: string, reply: Reply, ...Verdict][] = [
  ['HTTP 500', { status: 500, body: '' }, 'transient', 'unknown', /HTTP 500/],
  ['HTTP 502 with HTML', { status: 502, body: html }, 'transient', 'unknown', /HTTP 502/],
  ['HTTP 503 with an envelope', { status: 503, body: refusal(503, 'busy') }, 'transient', 'unknown', /busy/],
  ['HTTP 504 that says success', { status: 504, body: success('id') }, 'transient', 'unknown', /HTTP 504/],
  ['Code 500', { body: refusal(500, 'oops') }, 'transient', 'unknown', /oops/],
  ['Code 503 in HTTP 400', { status: 400, body: refusal(503, 'oops') }, 'transient', 'unknown', /oops/],
  ['Code 500 with a rate limit message', { body: refusal(500, 'Rate limit') }, 'transient', 'unknown', /Rate limit/],
  ['HTTP 408', { status: 408, body: '' }, 'transient', 'unknown', /HTTP 408/],
  ['Code 408', { body: refusal(408, 'slow') }, 'transient', 'unknown', /slow/],
  ['HTTP 425', { status: 425, body: '' }, 'transient', 'none', /HTTP 425/],
  ['HTTP 429', { status: 429, body: html }, 'transient', 'none', /HTTP 429/],
  ['Code 429', { body: refusal(429, '') }, 'transient', 'none', /Code 429/],
  ['Code 425', { body: refusal(425, '') }, 'transient', 'none', /Code 425/],
  ['rate limit message', { body: refusal(400, 'API rate limit exceeded') }, 'transient', 'none', /rate limit/],
  ['many calls message', { status: 400, body: refusal(1, 'Too many requests') }, 'transient', 'none', /Too many/],
  ['HTML', { body: html }, 'transient', 'unknown', /not in its documented form/],
  ['nothing', { body: '' }, 'transient', 'unknown', /not in its documented form/],
  ['HTTP 204', { status: 204, body: '' }, 'transient', 'unknown', /HTTP 204/],
  ['a cut envelope', { body: '{"Data":"1","Succ' }, 'transient', 'unknown', /not in its documented form/],
  ['a JSON array', { body: [] }, 'transient', 'unknown', /not in its documented form/],
  ['null', { body: 'null' }, 'transient', 'unknown', /not in its documented form/],
  [
    'a word as Success',
    { body: { ...success('1'), Success: 'yes' } },
    'transient',
    'unknown',
    /not in its documented form/,
  ],
  ['a word as Code', { body: { ...success('1'), Code: 'OK' } }, 'transient', 'unknown', /not in its documented form/],
  ['success with null Data', { body: success(null) }, 'transient', 'unknown', /not in its documented form/],
  ['success with a fraction as Data', { body: success(7.5) }, 'transient', 'unknown', /not in its documented form/],
  ['a connection lost after the request', 'reset', 'transient', 'unknown', /lost/],
  ['a connection lost in the answer', { cut: '{"Data":' }, 'transient', 'unknown', /lost/],
  ['HTTP 401', { status: 401, body: '' }, 'credentials', 'none', /HTTP 401/],
  ['HTTP 403 with HTML', { status: 403, body: html }, 'credentials', 'none', /HTTP 403/],
  ['Code 401', { body: refusal(401, 'Invalid key') }, 'credentials', 'none', /Invalid key/],
  ['Code 403 in HTTP 400', { status: 400, body: refusal(403, 'No') }, 'credentials', 'none', /No/],
  ['HTTP 302', { status: 302, headers: { location: '/api/elsewhere' }, body: '' }, 'stopped', 'none', /redirects/],
  ['HTTP 307', { status: 307, headers: { location: '/api/elsewhere' }, body: '' }, 'stopped', 'none', /redirects/],
  ['Success false', { body: refusal(200, 'Bathrooms is wrong') }, 'refused', 'none', /^Bathrooms is wrong$/],
  ['Code 400', { body: refusal(400, 'Url is wrong') }, 'refused', 'none', /^Url is wrong$/],
  ['Success true, Code 0', { body: { ...success('1'), Code: 0 } }, 'refused', 'none', /Code 0/],
  ['HTTP 422 with an envelope', { status: 422, body: refusal(200, 'No State') }, 'refused', 'none', /^No State$/],
  ['HTTP 400 that says success', { status: 400, body: success('1') }, 'refused', 'none', /HTTP 400/],
  [
    'HTTP 404',
    { status: 404, body: html },
    'refused',
    'none',
    /^No listing service answers at this address \(HTTP 404\); check service\.baseUrl$/,
  ],
]

describe('what an answer means', () => {
  test.for(verdicts)('%s', async ([, reply, kind, effect, message]) => {
    const world = await startWorld(() => reply, { attempts: 1 })
    const error = await world
      .chatbot('SN')
      .create(testListing(), () => {})
      .catch((error: unknown) => error)
    await stopWorld(world)
    expect(error).toBeInstanceOf(ServiceError)
    expect(error).toMatchObject({ kind, effect, message: expect.stringMatching(message) })
    expect(world.server.seen).toHaveLength(1)
  })

  test.each([301, 302, 307, 308])('where HTTP %i leads to hears nothing of it, and no key', async (status) => {
    const other = await startServer(() => ({ body: success('id-9') }))
    const headers = { location: new URL('/api/elsewhere', other.baseUrl).href }
    const world = await startWorld(() => ({ status, headers, body: '' }), { attempts: 1 })
    await expect(world.chatbot('SN').lookUp('A-1')).rejects.toMatchObject({ kind: 'stopped', message: /redirects/ })
    await stopWorld(world)
    await other.close()
    expect(world.server.seen).toHaveLength(1)
    expect(other.seen).toEqual([])
  })

  test('success is read with a byte order mark, without Message, with HTTP 201', async () => {
    const { Message: _, ...envelope } = success('id-9')
    const world = await startWorld(() => ({ status: 201, body: `\ufeff${JSON.stringify(envelope)}` }))
    const answer = await world.chatbot('SN').create(testListing(), () => {})
    await stopWorld(world)
    expect(answer).toEqual({ value: 'id-9', unsettled: false })
  })

  test('an answer longer than maxAnswerBytes is not read, whatever it says', async () => {
    const body = (bytes: number) => success({ ...page, filler: 'x'.repeat(bytes) })
    const page = { List: [], VirtualCount: 0 }
    let length = 60_000
    const world = await startWorld(() => ({ body: body(length) }), { attempts: 1, maxAnswerBytes: 64 * 1024 })
    expect(await world.chatbot('SN').lookUp('A-1')).toMatchObject([])
    length = 70_000
    await expect(world.chatbot('SN').lookUp('A-1')).rejects.toMatchObject({
      kind: 'transient',
      effect: 'unknown',
      message: expect.stringContaining('it is longer than maxAnswerBytes of the service'),
    })
    await stopWorld(world)
  })

  test('an answer that a proxy packs with gzip is read; cut, or too long once unpacked, it is lost', async () => {
    const gzip = (data: unknown) => gzipSync(JSON.stringify(success(data)))
    const page = { List: [], VirtualCount: 0 }
    let body: Buffer = gzip(page)
    const headers = { 'content-encoding': 'gzip' }
    const world = await startWorld(() => ({ body, headers }), { attempts: 1, maxAnswerBytes: 64 * 1024 })
    expect(await world.chatbot('SN').lookUp('A-1')).toMatchObject([])
    const bomb = gzip({ ...page, filler: 'x'.repeat(1_000_000) })
    for (const [packed, message] of [
      [body.subarray(0, -20), 'unexpected end of file'],
      [bomb, 'it is longer than maxAnswerBytes of the service'],
    ] as const) {
      body = packed
      await expect(world.chatbot('SN').lookUp('A-1')).rejects.toMatchObject({
        kind: 'transient',
        effect: 'unknown',
        message: expect.stringContaining(`The answer was lost: ${message}`),
      })
    }
    await stopWorld(world)
  })

  test('an answer nested thousands deep is in no documented form', async () => {
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const answer = (levels: number) =>
      `{"Version":"1","Success":true,"Code":200,"Message":"\\"${'['.repeat(200)}","Data":{"VirtualCount":0,"List":[],"More":${deep(levels)}}}`
    let levels = 90
    const world = await startWorld(() => ({ body: answer(levels) }), { attempts: 1 })
    expect(await world.chatbot('SN').lookUp('A-1')).toMatchObject([])
    for (levels of [100, 200_000])
      await expect(world.chatbot('SN').lookUp('A-1')).rejects.toMatchObject({ message: /not in its documented form/ })
    await stopWorld(world)
  })

  test('headers without end', async () => {
    const world = await startWorld(() => ({ body: '', headers: { 'x-long': 'x'.repeat(100_000) } }), { attempts: 1 })
    await expect(world.chatbot('SN').lookUp('A-1')).rejects.toMatchObject({
      message: /its headers are longer than 16 kB/,
    })
    await stopWorld(world)
  })

  test('a refused connection had no effect', async () => {
    const world = await startWorld(() => 'silence', { attempts: 1 })
    await world.server.close()
    const create = world.chatbot('SN').create(testListing(), () => {})
    await expect(create).rejects.toMatchObject({
      kind: 'transient',
      effect: 'none',
      message: /: nothing takes connections there \(ECONNREFUSED\); check service\.baseUrl/,
    })
    await world.client.close()
  })

  test('a name that does not resolve and a failed TLS handshake had no effect', async () => {
    const plain = createServer((socket) => socket.on('error', () => {}).end('this is no TLS'))
    plain.listen(0, '127.0.0.1')
    await once(plain, 'listening')
    for (const baseUrl of ['http://listings.invalid', `https://127.0.0.1:${portOf(plain)}`]) {
      const world = await startWorld(() => 'silence', { attempts: 1, baseUrl })
      const create = world.chatbot('SN').create(testListing(), () => {})
      await expect(create, baseUrl).rejects.toMatchObject({ kind: 'transient', effect: 'none' })
      await stopWorld(world)
    }
    plain.close()
  })

  test('a certificate that nobody vouches for: nothing is sent; one of service.ca is trusted', async () => {
    const [key, cert] = ['key', 'certificate'].map((name) => readFileSync(`fixtures/tls/${name}.pem`))
    let asked = 0
    const safe = createSafeServer({ key, cert }, (_, response) => {
      asked++
      response.end(JSON.stringify({ Data: 'x', Version: '1', Success: true, Code: 200, Message: '' }))
    }).listen(0, '127.0.0.1')
    await once(safe, 'listening')
    const baseUrl = `https://127.0.0.1:${portOf(safe)}`
    const world = await startWorld(() => 'silence', { attempts: 1, baseUrl })
    const create = world.chatbot('SN').create(testListing(), () => {})
    await expect(create).rejects.toMatchObject({ kind: 'transient', effect: 'none' })
    expect(asked).toBe(0)
    await stopWorld(world)
    const vouched = await startWorld(() => 'silence', { attempts: 1, baseUrl, ca: cert.toString() })
    expect(await vouched.chatbot('SN').create(testListing(), () => {})).toMatchObject({ value: 'x' })
    expect(asked).toBe(1)
    await stopWorld(vouched)
    safe.close()
  })

  test('messages are cut, free of control characters and of our keys', async () => {
    const message = `\u001b[31mKey ${testKeys.secretKey}\n or ${testKeys.sessionKey}\u202e ${'x'.repeat(600)}`
    const world = await startWorld(() => ({ body: refusal(400, message) }))
    const create = world.chatbot('SN').create(testListing(), () => {})
    const text = await create.then(String, messageOf)
    await stopWorld(world)
    expect(text).toMatch(/^\[31mKey \*\*\* {2}or \*\*\* x+…$/)
    expect(text).toHaveLength(500)
  })
})

describe('Retry-After', () => {
  const now = Date.UTC(2026, 10, 21, 12)
  test.for<[string | undefined, number | null]>([
    ['5', 5000],
    [' 1.5 ', 1500],
    ['0', 1000],
    ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
    ['Saturday, 21-Nov-26 12:00:30 GMT', 30_000],
    ['Sat Nov 21 12:00:30 2026', 30_000],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 1000],
    ['99999999999999', 2 ** 31 - 1],
    ['1e9', null],
    ['-5', null],
    ['soon', null],
    ['Sat, 99 Nov 2026', null],
    ['2026-11-21', null],
    ['', null],
    [undefined, null],
  ])('%s', ([header, wait]) => {
    expect(readRetryAfter({ 'retry-after': header }, now)).toBe(wait)
  })
})
