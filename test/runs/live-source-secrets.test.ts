/** What a live source is told, and by whom: its token and client secret reach the host that a person named, and no output. */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { resoSchema } from '../../src/feed/api/settings.ts'
import { RunWorld } from '../support/run-world.ts'

const token = 'the-token-of-the-feed-3390'
const secret = 'the-secret-of-the-client-7715'
const granted = 'the-token-that-was-granted-9042'

let world: RunWorld
const servers: Server[] = []
/** Requests that the other host got, with all that was in them. */
let stolen: string[]
let other: string

async function serve(answer: (request: IncomingMessage, response: ServerResponse, body: string) => void) {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => answer(request, response, body))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

beforeEach(async () => {
  world = await RunWorld.start()
  stolen = []
  other = await serve((request, response, body) => {
    stolen.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`)
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ value: [], access_token: 'x' }))
  })
})
afterEach(async () => {
  await world.end()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

function configure(origin: string, auth: object = { token }): void {
  world.configure({ north: { preset: 'reso-web-api', source: { reso: `${origin}/odata`, vendor: 'generic', auth } } })
}

/** A whole sync, as text and as JSON, with its log: all that anybody sees. */
async function output(): Promise<string> {
  const text = await world.executed('sync')
  const json = await world.executed('sync', '--format', 'json')
  const status = await world.executed('status')
  expect([text.status, json.status]).toEqual([1, 1])
  const all = [text, json, status].map(({ stdout, stderr }) => stdout + stderr).join('\n')
  for (const text of [token, secret, granted]) expect(all).not.toContain(text)
  return all
}

test.each([301, 302, 303, 307, 308])('a redirect (HTTP %i) to another host is not followed', async (status) => {
  const origin = await serve((_, response) => response.writeHead(status, { location: `${other}/odata/Property` }).end())
  configure(origin)
  expect(await output()).toContain('leads to another address, which is not followed')
  expect(stolen).toEqual([])
})

test.each(['@odata.nextLink', 'Link'])('a next page on another host (%s) is not asked for', async (by) => {
  const next = `${other}/odata/Property?$skip=1`
  const record = { ListingKey: '1', ModificationTimestamp: '2026-11-01T00:00:00Z' }
  const origin = await serve((_, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json', ...(by === 'Link' && { link: `<${next}>; rel="next"` }) })
      .end(JSON.stringify({ value: [], ...(by !== 'Link' && { [by]: next }), '@odata.count': 1, record }))
  })
  configure(origin)
  expect(await output()).toContain('another host, which is not followed')
  expect(stolen).toEqual([])
})

test.each([302, 307])('a token endpoint that leads elsewhere (HTTP %i) takes no secret there', async (status) => {
  const origin = await serve((_, response) => response.writeHead(status, { location: `${other}/token` }).end())
  configure(origin, { clientId: 'client', clientSecret: secret, tokenUrl: `${origin}/token` })
  expect(await output()).toContain(`answers HTTP ${status} with no JSON: check auth`)
  expect(stolen).toEqual([])
})

test('a granted token goes to the root alone, and the secret to the token endpoint alone', async () => {
  const seen: string[] = []
  const tokens = await serve((request, response, body) => {
    seen.push(`token ${JSON.stringify(request.headers)} ${body}`)
    response.writeHead(200).end(JSON.stringify({ access_token: granted, expires_in: 3600 }))
  })
  const origin = await serve((request, response) => {
    seen.push(`root ${JSON.stringify(request.headers)} ${request.url}`)
    response.writeHead(403).end(JSON.stringify({ error: { message: `refused ${request.headers.authorization}` } }))
  })
  configure(origin, { clientId: 'client', clientSecret: secret, tokenUrl: `${tokens}/token` })
  await output()
  expect(seen.length).toBeGreaterThan(1)
  for (const text of seen) {
    expect(text.includes(granted)).toBe(text.startsWith('root'))
    expect(text.includes(secret)).toBe(text.startsWith('token'))
  }
})

/** A server that says back what it was told. */
const echoes: [string, (echoed: string) => [number, string]][] = [
  ['an error of OData', (echoed) => [400, JSON.stringify({ error: { message: `bad ${echoed}` } })]],
  ['an error in a 200', (echoed) => [200, JSON.stringify({ error: `bad ${echoed}` })]],
  ['a record', (echoed) => [200, JSON.stringify({ value: [{ ListingKey: echoed, ModificationTimestamp: 'never' }] })]],
  [
    'the value of a record',
    (echoed) => [
      200,
      JSON.stringify({
        '@odata.count': 1,
        value: [{ ListingKey: echoed, ModificationTimestamp: '2026-11-01T00:00:00Z', PropertyType: echoed }],
      }),
    ],
  ],
]
test.each(echoes)('a token that is sent back in %s is in no output', async (_, answer) => {
  let echoed = 0
  const origin = await serve((request, response) => {
    const secret = request.headers.authorization ?? ''
    expect(secret).toBe(`Bearer ${token}`)
    echoed++
    const [status, body] = answer(secret)
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  configure(origin)
  const outputs = [await world.executed('sync'), await world.executed('diff', '--format', 'json')]
  expect(echoed).toBeGreaterThan(1)
  for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(token)
})

test.each(['reso', 'tokenUrl'])('%s is https, or http on this machine', (setting) => {
  const taken = (address: string): boolean => {
    const auth = { clientId: 'client', clientSecret: secret, tokenUrl: 'https://identity.example.com/token' }
    const source = { reso: 'https://api.example.com/odata', vendor: 'generic', auth }
    if (setting === 'reso') source.reso = address
    else auth.tokenUrl = address
    return resoSchema.safeParse(source).success
  }
  for (const right of ['https://a.example.com/x', 'http://127.0.0.1:8080/x', 'http://[::1]/x', 'http://localhost/x'])
    expect(taken(right), right).toBe(true)
  for (const wrong of [
    'http://a.example.com/x',
    'http://10.0.0.1/x',
    'http://127.0.0.1.example.com/x',
    'http://localhost.example.com/x',
    'ftp://127.0.0.1/x',
    'https://user:word@a.example.com/x',
    'https://a.example.com/x?access_token=1',
  ])
    expect(taken(wrong), wrong).toBe(false)
})
