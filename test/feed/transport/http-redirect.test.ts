/** Redirects of a source on the internet into our own network (docs/faults.md, F20), and drips (F17). */
import type { LookupAddress } from 'node:dns'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { LookupFunction } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { http, httpWith } from '../../../src/feed/transport/http.ts'
import { isPrivateAddress } from '../../../src/feed/transport/private-address.ts'
import { optionsWith, receive } from '../../contract/transport.ts'

let server: Server
let port = 0
let answer: (request: IncomingMessage, response: ServerResponse) => void
let asked: string[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.headers.host}${request.url}`)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server does not listen')
  ;({ port } = address)
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})
beforeEach(() => {
  asked = []
})

/** A resolver that returns one more address at each query of a name, and records queries. */
function resolver(names: Record<string, string[]>): { lookup: LookupFunction; questions: string[] } {
  const questions: string[] = []
  const lookup: LookupFunction = (hostname, options, callback) => {
    questions.push(hostname)
    const known = names[hostname] ?? []
    const address = known[Math.min(questions.filter((text) => text === hostname).length, known.length) - 1]
    const found: LookupAddress[] = [{ address, family: address.includes(':') ? 6 : 4 }]
    if (options.all) callback(null, found)
    else callback(null, address, found[0].family)
  }
  return { lookup, questions }
}

/** Loopback stands for the internet here; other private addresses stay private. */
const isPrivate = (address: string): boolean => address !== '127.0.0.1' && isPrivateAddress(address)

const redirectTo = (location: string) => (request: IncomingMessage, response: ServerResponse) => {
  if (request.url?.startsWith('/feed')) response.writeHead(302, { location }).end()
  else response.end('followed')
}

describe('a source on the internet', () => {
  test.each([
    ['http://10.0.0.8/', '10.0.0.8'],
    ['http://0x0a.8/', '10.0.0.8'],
    ['http://2130706434:1/', '127.0.0.2'],
    ['http://[::1]/', '::1'],
    ['http://[::ffff:10.0.0.1]/', '::ffff:a00:1'],
    ['http://[64:ff9b::192.168.1.1]/', '64:ff9b::c0a8:101'],
    ['http://inside.example/', '192.168.4.4'],
    ['http://inside6.example/', 'fd12::1'],
  ])('is not followed to %s', async (location, address) => {
    answer = redirectTo(location)
    const names = { 'feed.example': ['127.0.0.1'], 'inside.example': ['192.168.4.4'], 'inside6.example': ['fd12::1'] }
    const transport = httpWith({ lookup: resolver(names).lookup, isPrivate })
    const source = `http://user:hidden@feed.example:${port}/feed?key=hidden`
    const error = await transport(source, optionsWith()).then(String, String)
    expect(error).toContain(`at the private address ${address}, which is not followed`)
    expect(error).toContain('allowPrivateRedirects')
    expect(error).not.toContain('hidden')
    expect(asked).toHaveLength(1)
  })

  test.each([
    ['http://169.254.169.254/latest/meta-data/', '169.254.169.254'],
    ['http://0xa9fea9fe/', '169.254.169.254'],
    ['http://[::ffff:169.254.1.1]/', '::ffff:a9fe:101'],
    ['http://[fd00:ec2::254]/', 'fd00:ec2::254'],
    ['http://[febf::1]/', 'febf::1'],
    ['http://100.100.100.200/', '100.100.100.200'],
    ['http://cable.example/', 'fe80::1'],
  ])('is never followed to %s, whatever is allowed', async (location, address) => {
    answer = redirectTo(location)
    const { lookup } = resolver({ 'feed.example': ['127.0.0.1'], 'cable.example': ['fe80::1'] })
    const options = optionsWith({ allowPrivateRedirects: true })
    const error = await httpWith({ lookup, isPrivate })(`http://feed.example:${port}/feed`, options).then(
      String,
      String,
    )
    expect(error).toMatch(new RegExp(`at the private address ${address}, which is not followed$`))
    expect(asked).toHaveLength(1)
  })

  test('is not followed to a name of which one address is private', async () => {
    answer = redirectTo(`http://both.example:${port}/copy`)
    const lookup: LookupFunction = (hostname, _, callback) => {
      const addresses = hostname === 'feed.example' ? ['127.0.0.1'] : ['127.0.0.1', '10.0.0.9']
      callback(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      )
    }
    const error = await httpWith({ lookup, isPrivate })(`http://feed.example:${port}/feed`, optionsWith()).then(
      String,
      String,
    )
    expect(error).toContain('at the private address 10.0.0.9')
    expect(asked).toHaveLength(1)
  })

  test('is followed to another one, and with allowPrivateRedirects anywhere', async () => {
    answer = redirectTo(`http://mirror.example:${port}/copy`)
    const names = { 'feed.example': ['127.0.0.1'], 'mirror.example': ['127.0.0.1'] }
    const source = `http://feed.example:${port}/feed`
    const transport = httpWith({ lookup: resolver(names).lookup, isPrivate })
    expect(await receive(transport, source, optionsWith())).toMatchObject({ text: 'followed' })

    const strict = httpWith({
      lookup: resolver({ ...names, 'feed.example': ['127.0.0.1'] }).lookup,
      isPrivate: (address) => asked.length > 2 && isPrivateAddress(address),
    })
    const allowed = optionsWith({ allowPrivateRedirects: true })
    expect(await receive(strict, source, allowed)).toMatchObject({ text: 'followed' })
  })

  test('whose name leads elsewhere the second time is not followed there', async () => {
    answer = (request, response) =>
      response.writeHead(302, { location: `http://feed.example:${port}/again`, connection: 'close' }).end()
    const { lookup, questions } = resolver({ 'feed.example': ['127.0.0.1', '10.1.1.1'] })
    const error = await httpWith({ lookup, isPrivate })(`http://feed.example:${port}/feed`, optionsWith()).then(
      String,
      String,
    )
    expect(error).toContain('at the private address 10.1.1.1')
    expect(questions).toEqual(['feed.example', 'feed.example'])
  })

  test('is connected to at the address that was looked at: a name is asked for once a connection', async () => {
    answer = (_, response) => response.end('whole')
    const { lookup, questions } = resolver({ 'feed.example': ['127.0.0.1', '10.1.1.1'] })
    const received = await receive(httpWith({ lookup, isPrivate }), `http://feed.example:${port}/`, optionsWith())
    expect(received.text).toBe('whole')
    expect(questions).toEqual(['feed.example'])
  })
})

test('a source on a private network may lead around on its own host, and to no other', async () => {
  answer = redirectTo('/copy')
  expect(await receive(http, `http://localhost:${port}/feed`, optionsWith())).toMatchObject({ text: 'followed' })
  expect(asked).toHaveLength(2)
  answer = redirectTo(`http://127.0.0.1:${port}/copy`)
  await expect(receive(http, `http://localhost:${port}/feed`, optionsWith())).rejects.toThrow(
    /at the private address 127.0.0.1, which is not followed; set allowPrivateRedirects/,
  )
  expect(asked).toHaveLength(3)
})

describe('private addresses', () => {
  const closed =
    '0.0.0.0 0.1.2.3 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.168.0.1 198.18.0.1 198.19.255.255 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:ffff:a9fe:a9fe 64:ff9b::10.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 2001::1 2002:7f00:1:: fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1 [::1] not-an-address 0x7f.1 2130706433 017700000001 127.1'
  const opened =
    '1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 128.0.0.1 169.253.0.1 169.255.0.1 172.15.255.255 172.32.0.0 192.167.0.1 192.169.0.1 198.17.0.1 198.20.0.1 203.0.113.7 223.255.255.255 2606:4700::1111 2a00::1 ::ffff:1.1.1.1 64:ff9b::1.1.1.1 64:ff9b::808:808 2001:4860::1 [2606:4700::1111]'

  test.each(closed.split(' '))('%s', (address) => expect(isPrivateAddress(address)).toBe(true))
  test.each(opened.split(' '))('not %s', (address) => expect(isPrivateAddress(address)).toBe(false))
})

describe('a drip', () => {
  /** Sends so many pieces, each after the last was read, `tick` milliseconds apart. */
  async function dripped(pieces: number, size: number, tick: number, readFor = 0) {
    let now = 0
    const clock = { now: () => now, sleep: () => Promise.resolve() }
    let next: () => void = () => {}
    answer = (_, response) => {
      let sent = 0
      next = () => {
        now += tick
        if (sent++ < pieces) response.write(Buffer.alloc(size, 'x'))
        else response.end()
      }
      response.writeHead(200, { 'transfer-encoding': 'chunked' })
      next()
    }
    const opened = await http(`http://127.0.0.1:${port}/`, optionsWith({ clock }))
    if (opened === 'not-modified') throw new Error('not modified')
    let bytes = 0
    for await (const block of opened.bytes) {
      bytes += block.length
      now += readFor
      setImmediate(next)
    }
    return { bytes, ...opened.end() }
  }

  test('of a byte every 200 ms is given up after a minute', async () => {
    const { bytes, proven, reasons } = await dripped(1000, 1, 200)
    expect(bytes).toBeLessThan(310)
    expect({ proven, reasons }).toEqual({
      proven: false,
      reasons: [expect.stringMatching(/^only \d+ bytes came in 60 s; gave up after \d+ bytes$/)],
    })
  })

  test('of 2 kB a second is slow but no drip', async () => {
    expect(await dripped(150, 2000, 1000)).toEqual({ bytes: 300_000, proven: true, reasons: [] })
  })

  test('a reader that takes its time is not the server', async () => {
    expect(await dripped(20, 10, 10, 30_000)).toEqual({ bytes: 200, proven: true, reasons: [] })
  })
})
