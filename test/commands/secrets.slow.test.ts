/**
 * Every place of a configuration that can hold a secret holds one; every command fails in every way there is, with the
 * servers echoing what they were sent; then every byte that came out is searched, in every spelling (docs/faults.md, F143).
 */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createRawServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { hostKey, startSftpServer } from '../support/sftp-server.ts'
import type { SftpServer } from '../support/sftp-server.ts'
import { home, zillowEnd, zillowFeed, zillowRecord } from '../support/homes.ts'
import { command, executed } from '../support/program.ts'
import type { Ended } from '../support/program.ts'
import { until } from '../support/until.ts'

/** By the place it stands in. Special characters, so that the spellings differ. */
const secrets = {
  secretKey: 'sk+Vq3/plain key=71',
  bearer: 'brr-9tQ2xZ/8+w',
  sessionKey: 'ses:Kf5&77?x',
  password: 'p@ss/w0rd+Nine',
  token: 'url-user-token-31',
  query: 'query+secret/55=x',
  header: 'header&secret 66',
  file: 'from-a-file/44+y',
  variable: 'from=a/variable+57',
  place: 'place-from-a-variable',
  pathToken: '8f14e45fceea167a5a36dedd4bea2543',
  ftpPassword: 'ftp:p@ss/5+9',
  ftpToken: 'c9f0f895fb98ab9159f51fd0297e236d',
  sftpPassword: 'sftp p@ss+8/k',
  sftpToken: '45c48cce2e2d7fbdea1afc51c7c6ad26',
  ftpsPassword: 'ftps+p@ss/21',
  tlsPassword: 'tls/p@ss+64',
  tlsToken: 'd3d9446802a44259755d38e6d163e820',
  retsQuery: 'rets+query/90=k',
  loginPassword: 'login p@ss+33/z',
  passphrase: 'phr&se of a key 22',
  hookToken: 'B0C1/xoxb-hook-token-77',
  pingToken: '7d1b2c3e-ping-token-0f9a',
  privateKey:
    '-----BEGIN OPENSSH PRIVATE KEY-----\nbm90LXJlYWxseS1hLWtleS1hdC1hbGwtMTEx\n-----END OPENSSH PRIVATE KEY-----',
}

/** All the ways in which a secret might stand somewhere, in lower case. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      // Without what hangs on the neighbours.
      .slice(offset === 0 ? 0 : 4, -4),
  )
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    encodeURI(secret),
    new URLSearchParams({ x: secret }).toString().slice(2),
    bytes.toString('hex'),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    ...(secret.includes('\n') ? secret.split('\n').slice(1, 2) : []),
  ].map((text) => text.toLowerCase())
}

let folder: string
let server: Server
let ftpServer: ReturnType<typeof createRawServer>
let sftpServer: SftpServer
let tlsServer: Server
let origin: string
let feedAnswer: (request: IncomingMessage, response: ServerResponse) => void
let serviceAnswer: (request: IncomingMessage, response: ServerResponse) => void
const outputs = new Map<string, string>()
let echoes = 0
let ftpEchoes = 0
let hookCalls = 0
let tlsRequests = 0
let written = 0

const sent = (request: IncomingMessage): string => {
  const { authorization = '', 'chatrobot-sessionkey': session = '', 'x-feed-key': key = '' } = request.headers
  const more = [request.headers['x-more'], request.headers['x-other']].map((value) => String(value ?? ''))
  return `${authorization} ${String(session)} ${String(key)} ${more.join(' ')} ${request.url}`
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-secrets-'))
  server = createServer((request, response) => {
    request.resume()
    if (Object.keys(request.headers).some((name) => ['authorization', 'x-feed-key'].includes(name))) echoes++
    if (request.url?.startsWith('/hook/')) {
      hookCalls++
      // Refused with all that it was sent, and where to; asked again it would take the time of this test.
      response.writeHead(404, request.url.slice(0, 40), { location: request.url }).end(sent(request))
    } else if (request.url?.startsWith('/feed/rets')) retsAnswer(request, response)
    else if (request.url?.startsWith('/feed')) feedAnswer(request, response)
    else serviceAnswer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `127.0.0.1:${portOf(server)}`
  // One that is known by its certificate to those who are told of it, and to nobody else.
  const certificate = { cert: readFileSync('fixtures/tls/certificate.pem'), key: readFileSync('fixtures/tls/key.pem') }
  tlsServer = createTlsServer(certificate, (request, response) => {
    tlsRequests++
    response.writeHead(302, { location: `http://${origin}/${encodeURI(sent(request))}` }).end(sent(request))
  })
  await new Promise<void>((resolve) => tlsServer.listen(0, '127.0.0.1', resolve))
  // It lets its user in, and repeats the password and the path to whatever it is asked.
  sftpServer = await startSftpServer({ folder, user: 'robin', password: secrets.sftpPassword })
  sftpServer.refusal = `not ${secrets.sftpPassword} with ${code(secrets.sftpPassword)} in /${secrets.sftpToken}/`
  // An FTP server that lets nobody in, and repeats all that it was told.
  ftpServer = createRawServer((socket) => {
    let heard = ''
    socket.on('error', () => {})
    socket.write('220 hello\r\n')
    socket.on('data', (bytes) => {
      heard += bytes.toString().replaceAll('\r\n', ' ')
      socket.write(`${heard.includes('PASS') ? 530 : 331} not ${heard} from /${secrets.ftpToken}/\r\n`)
      ftpEchoes++
    })
  })
  await new Promise<void>((resolve) => ftpServer.listen(0, '127.0.0.1', resolve))
  writeFileSync(join(folder, 'secret.txt'), `${secrets.file}\n`)
  mkdirSync(join(folder, 'tmp'))
  writeFileSync(join(folder, 'settings.yaml'), `Name: North\nWelcomeMessage: Hello\n`)
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  tlsServer.close()
  tlsServer.closeAllConnections()
  await sftpServer.close()
  ftpServer.close()
  rmSync(folder, { recursive: true, force: true })
})

const code = encodeURIComponent

function portOf(listening: { address(): AddressInfo | string | null }): number {
  const address = listening.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server does not listen')
  return address.port
}

/** A configuration with every secret in its place; `changes` are laid over feed and service. */
function configure(feed: object = {}, service: object = {}, host = origin): string {
  const common = { chatbot: 'SN-1', preset: 'zillow', schedule: '* * * * * *' }
  const feeds = {
    north: {
      ...common,
      source: `http://robin:${code(secrets.password)}@${host}/feed.xml?kind=full&key=${code(secrets.query)}`,
      headers: { 'X-Feed-Key': secrets.header, 'X-Other': 'Bearer ${file:./secret.txt}', 'X-More': '${MARKED}' },
      service: { secretKey: `Bearer ${secrets.bearer}` },
      ...feed,
    },
    south: {
      ...common,
      chatbot: 'SN-2',
      source: `http://${secrets.token}@${host}/feed/${secrets.pathToken}/south.xml`,
    },
    east: {
      ...common,
      chatbot: 'SN-4',
      source: `ftp://127.0.0.1:${portOf(ftpServer)}/${secrets.ftpToken}/\${PLACE}/export.xml`,
      login: { user: 'robin', password: secrets.ftpPassword },
    },
    west: {
      ...common,
      chatbot: 'SN-3',
      source: 'sftp://127.0.0.1:1/export.xml',
      login: {
        user: 'robin',
        password: secrets.loginPassword,
        privateKey: secrets.privateKey,
        passphrase: secrets.passphrase,
        hostKey: `SHA256:${'A'.repeat(43)}`,
      },
    },
  }
  const more: Record<string, object> = {
    sftp: {
      source: `sftp://127.0.0.1:${sftpServer.port}/${secrets.sftpToken}/export.xml`,
      login: { user: 'robin', password: secrets.sftpPassword, hostKey },
    },
    'sftp-refused': {
      source: `sftp://robin:${code(secrets.tlsPassword)}@127.0.0.1:${sftpServer.port}/${secrets.sftpToken}/*.xml`,
      login: { hostKey },
    },
    // Greeted in plain words by a server that knows no TLS.
    ftps: {
      source: `ftps://127.0.0.1:${portOf(ftpServer)}/${secrets.ftpToken}/export.xml`,
      login: { user: 'robin', password: secrets.ftpsPassword },
    },
    tls: {
      source: `https://robin:${code(secrets.tlsPassword)}@127.0.0.1:${portOf(tlsServer)}/${secrets.tlsToken}/export.xml`,
    },
    'tls-trusted': {
      source: `https://robin:${code(secrets.tlsPassword)}@127.0.0.1:${portOf(tlsServer)}/${secrets.tlsToken}/export.xml`,
      ca: readFileSync('fixtures/tls/certificate.pem', 'utf8'),
    },
    rets: { source: `http://${host}/feed/rets?key=${code(secrets.retsQuery)}`, preset: 'rets-compact' },
  }
  for (const [index, [name, value]] of Object.entries(more).entries())
    Object.assign(feeds, { [name]: { ...common, chatbot: `SN-${10 + index}`, ...value } })
  const settings = {
    service: {
      baseUrl: `http://${host}`,
      secretKey: secrets.secretKey,
      sessionKey: secrets.sessionKey,
      rate: 1000,
      attempts: 2,
      timeout: '5s',
      backoff: { base: '1ms', max: '2ms' },
      ...service,
    },
    store: './state/store.db',
    metrics: './state/metrics.prom',
    notify: [
      { url: `http://${origin}/hook/${secrets.hookToken}` },
      { url: `http://${host}/hook/${secrets.hookToken}`, form: 'slack' },
    ],
    heartbeat: `http://${origin}/hook/${secrets.pingToken}`,
    feeds: Object.fromEntries(
      Object.entries(feeds).map(([name, settings], i) => [name, { ...settings, verify: { session: 7 + i } }]),
    ),
  }
  const path = join(folder, `listing-sync-${++written}.yaml`)
  mkdirSync(join(folder, 'state'), { recursive: true })
  writeFileSync(path, stringify(settings))
  return path
}

/** Runs commands and keeps all that they say and leave. */
async function outcomes(name: string, configFile: string, ...commands: string[]): Promise<Ended[]> {
  const env = environment()
  const runs: Ended[] = []
  for (const words of commands)
    runs.push(await command(['--config', configFile, ...words.split(' ')], { env, cwd: folder }))
  for (const [index, { stdout, stderr }] of runs.entries()) outputs.set(`${name}: ${commands[index]}`, stdout + stderr)
  collectFiles(name)
  return runs
}

const environment = (): Record<string, string> => ({
  LISTING_SYNC_LOG: 'debug',
  MARKED: secrets.variable,
  PLACE: secrets.place,
  TMPDIR: join(folder, 'tmp'),
})

/** The store, metrics, reports, and what lies in the temporary folder. */
function collectFiles(name: string): void {
  for (const file of readdirSync(join(folder, 'tmp'), { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, 'tmp', file)
    if (statSync(path).isFile()) outputs.set(`${name}: ${file}`, readFileSync(path, 'latin1'))
  }
  const state = join(folder, 'state')
  for (const file of readdirSync(state)) outputs.set(`${name}: ${file}`, readFileSync(join(state, file), 'latin1'))
}

/** What was found where; empty is right. */
function leaks(): string[] {
  const found: string[] = []
  for (const [output, text] of outputs) {
    const lower = text.toLowerCase()
    for (const [place, secret] of Object.entries(secrets)) {
      for (const spelling of spellings(secret)) {
        const at = lower.indexOf(spelling)
        if (at >= 0) found.push(`${place} in ${output}: ${JSON.stringify(text.slice(Math.max(0, at - 60), at + 60))}`)
      }
    }
  }
  return found
}

/** A RETS server that refuses, with what it was sent. */
function retsAnswer(request: IncomingMessage, response: ServerResponse): void {
  const text = `no ${decodeURIComponent(request.url ?? '')} or ${request.url}`
    .replaceAll('&', '&amp;')
    .replaceAll('"', '')
  response.end(`<?xml version="1.0"?>\n<RETS ReplyCode="20203" ReplyText="${text}"></RETS>\n`)
}

const envelope = (data: unknown, message = '', success = true): string =>
  JSON.stringify({ Version: '1.0.0', Success: success, Code: success ? 200 : 400, Message: message, Data: data })
const emptyList = (response: ServerResponse): void =>
  void response.end(envelope({ Page: 1, PageSize: 100, VirtualCount: 0, Items: [] }))
const soundFeed = (response: ServerResponse): void => void response.end(zillowFeed([home(1), home(2), home(3)]))

/** How feed and service fail, each echoing what it was sent. */
const failures: [name: string, feed: typeof feedAnswer, service: typeof serviceAnswer][] = [
  [
    'feed says 401',
    (request, response) => void response.writeHead(401, { 'www-authenticate': sent(request) }).end(sent(request)),
    (_, response) => emptyList(response),
  ],
  [
    'feed says 404',
    (request, response) => void response.writeHead(404).end(`nothing for ${sent(request)}`),
    (_, response) => emptyList(response),
  ],
  [
    'feed is a page',
    (request, response) => void response.end(`<!doctype html><html><body>${sent(request)}</body></html>`),
    (_, response) => emptyList(response),
  ],
  [
    'feed is of another root',
    (request, response) => void response.end(`<X${Buffer.from(sent(request)).toString('hex')}/>`),
    (_, response) => emptyList(response),
  ],
  [
    'feed redirects with what it was sent',
    (request, response) => void response.writeHead(302, { location: `gopher://x/${encodeURI(sent(request))}` }).end(),
    (_, response) => emptyList(response),
  ],
  [
    'feed redirects to where nobody may go, with what it was sent',
    (request, response) =>
      void response.writeHead(302, { location: `http://10.9.8.7/${encodeURI(sent(request))}` }).end(),
    (_, response) => emptyList(response),
  ],
  [
    'feed redirects for ever, with what it was sent',
    (request, response) =>
      void response.writeHead(302, { location: `/feed${encodeURI(sent(request)).slice(0, 4000)}` }).end(),
    (_, response) => emptyList(response),
  ],
  [
    'feed is cut, with what it was sent in a field',
    (request, response) => {
      const text = sent(request).replaceAll('&', '&amp;').replaceAll('<', '')
      const record = zillowRecord(home(1)).replace(/<Bedrooms>.*?</, `<Bedrooms>${text}<`)
      response.end(zillowFeed([home(2)]).replace(zillowEnd, record))
    },
    (_, response) => emptyList(response),
  ],
  [
    'service refuses the keys',
    (_, response) => soundFeed(response),
    (request, response) =>
      void response.writeHead(401).end(envelope(null, `the key ${sent(request)} is not known`, false)),
  ],
  [
    'service refuses each listing',
    (_, response) => soundFeed(response),
    (request, response) => {
      if (/list/i.test(request.url ?? '')) emptyList(response)
      else {
        const [, bare = ''] = (request.headers.authorization ?? '').split(' ')
        const encoded = Buffer.from(`x:${sent(request)}`).toString('base64')
        response.end(envelope(null, `${sent(request)} ${bare} ${encoded} ${code(sent(request))}`, false))
      }
    },
  ],
  [
    'service fails',
    (_, response) => soundFeed(response),
    (request, response) => void response.writeHead(500).end(envelope(null, sent(request), false)),
  ],
  [
    'service answers with a page',
    (_, response) => soundFeed(response),
    (request, response) => void response.end(`<html>${sent(request)}</html>`),
  ],
  [
    'service redirects',
    (_, response) => soundFeed(response),
    (request, response) => void response.writeHead(307, { location: `/${encodeURI(sent(request))}` }).end(),
  ],
  [
    'connection is lost',
    (request, response) =>
      void response.writeHead(200, { 'content-length': 99_999 }).write(sent(request), () => response.destroy()),
    (_, response) => void response.destroy(),
  ],
]

/** Every other command that calls the service or reads the store. */
const asking = [
  'ask hello --feed north --session 7',
  'ask hello --feed north --session 7 --stream',
  'verify M-1 --feed north',
  'settings --feed north --file settings.yaml',
  'repair north --yes',
  'backfill north',
  'probe --feed north --yes --format json',
  'probe --feed north --yes',
  'approve north --refuse',
  'status --ready',
]

test('no failing run shows a secret, in any output, in any spelling', async () => {
  for (const [name, feed, service] of failures) {
    feedAnswer = (request, response) => {
      response.on('error', () => {})
      feed(request, response)
    }
    serviceAnswer = service
    const report = join(folder, 'state', 'report.html')
    const file = configure()
    // inspect calls no service: where the feed is sound, it says the same each time.
    const looks = name.startsWith('service') ? [] : ['inspect north', 'inspect north --format json']
    const [runs] = await Promise.all([
      outcomes(name, file, `diff --format html --out ${report}`, 'sync --format json'),
      outcomes(name, file, ...looks, 'check north --format json'),
    ])
    expect(
      runs.map(({ status }) => status),
      name,
    ).not.toContain(0)
  }
  const forms = [
    'inspect north',
    'sync',
    'diff --format markdown',
    'status',
    'status --format json',
    'runs',
    'runs north --format json',
    'check',
    'approve north --yes',
  ]
  await outcomes('in other forms', configure(), ...forms)
  feedAnswer = (_, response) => soundFeed(response)
  serviceAnswer = (request, response) => void response.writeHead(400).end(envelope(null, sent(request), false))
  const asked = await outcomes('where the service repeats what it was sent', configure(), ...asking)
  expect(asked.map(({ stderr, stdout }) => (stdout + stderr).includes('***')).filter(Boolean).length).toBeGreaterThan(5)
  expect(leaks()).toEqual([])
  expect(ftpEchoes).toBeGreaterThan(failures.length)
  expect(sftpServer.connections).toBeGreaterThan(failures.length)
  // One feed trusts its certificate, the other never gets so far.
  expect(tlsRequests).toBeGreaterThan(failures.length)
  expect(echoes).toBeGreaterThan(failures.length * 2)
  expect(hookCalls).toBeGreaterThan(failures.length)
  // Else nothing was said that could have been scrubbed.
  expect([...outputs.values()].filter((text) => text.includes('***')).length).toBeGreaterThan(5)
})

test('nor does a wrong host, or a configuration that is wrong around them', async () => {
  outputs.clear()
  const wrong: Record<string, string> = {
    'unknown settings': configure({ maxbites: 5, maxBytes: '1' }, { retries: 3 }),
    'wrong types': configure({ headers: [secrets.header], login: secrets.loginPassword }),
    'wrong header': configure({ headers: { 'X-Feed-Key': `${secrets.header}\n` } }),
    'wrong key': configure({}, { secretKey: `${secrets.secretKey}\n`, sessionKey: { is: secrets.sessionKey } }),
    'wrong port': configure({ source: `http://robin:${code(secrets.password)}@:x/?key=${secrets.query}` }),
    'password with marks': configure({ source: `http://robin:${secrets.password}@127.0.0.1/${secrets.query}` }),
    'wrong scheme': configure({ source: `gopher://robin:${code(secrets.password)}@h/?${secrets.query}` }),
    'wrong service': configure({}, { baseUrl: `http://robin:${code(secrets.password)}@${origin}/` }),
  }
  for (const [name, file] of Object.entries(wrong)) {
    const [{ status }] = await outcomes(name, file, 'sync')
    expect(status, name).toBe(78)
  }
  await outcomes('wrong host', configure({}, {}, '127.0.0.1:9'), 'sync', 'diff --format json', 'status')
  expect(leaks()).toEqual([])
})

test('nor does a wrong line of YAML, wherever it is', async () => {
  outputs.clear()
  const sound = readFileSync(configure(), 'utf8').split('\n')
  const damaged: Record<string, string> = {}
  for (const [index, line] of sound.entries()) {
    if (!Object.values(secrets).some((secret) => line.includes(secret))) continue
    const changed = [
      `${line}: x`,
      line.replace(': ', ': !'),
      line.replace(': ', ': *'),
      line.replace(': ', ' '),
      `\t${line}`,
    ]
    for (const [way, wrong] of [...changed, line.replace(': ', ': "'), line.replace(': ', ': |')].entries())
      damaged[`line ${index + 1}, way ${way}`] = sound.with(index, wrong).join('\n')
  }
  expect(Object.keys(damaged).length).toBeGreaterThan(50)
  const file = join(folder, 'damaged.yaml')
  for (const [name, text] of Object.entries(damaged)) {
    writeFileSync(file, text)
    const { status, stdout, stderr } = await executed(['--config', file, 'status'], { env: environment() })
    if (status !== 78) expect(status, name).toBe(0)
    outputs.set(name, stdout + stderr)
  }
  expect([...outputs.values()].filter((text) => text.includes('…')).length).toBeGreaterThan(20)
  expect(leaks()).toEqual([])
})

test('nor does a scratch folder or a store that a killed run leaves behind', async () => {
  outputs.clear()
  feedAnswer = (_, response) => soundFeed(response)
  let asked = false
  // No answer, ever.
  serviceAnswer = () => void (asked = true)
  await command(['--config', configure(), 'sync', 'north'], {
    env: environment(),
    onStart: async (child) => {
      await until(() => asked)
      child.kill('SIGKILL')
    },
  })
  collectFiles('killed')
  expect([...outputs.keys()].join()).toContain('workspace.db')
  expect(leaks()).toEqual([])
})

test('nor does the daemon, with its heartbeat', async () => {
  outputs.clear()
  feedAnswer = (request, response) => void response.writeHead(401).end(sent(request))
  serviceAnswer = (request, response) => void response.writeHead(401).end(envelope(null, sent(request), false))
  const env = environment()
  const ended = await command(['--config', configure(), 'daemon'], {
    env,
    onStart: async (child) => {
      let output = ''
      child.stderr!.on('data', (text: string) => (output += text))
      await until(() => output.includes('run failed'))
      child.kill('SIGTERM')
    },
  })
  expect(ended.status).toBe(0)
  outputs.set('daemon', ended.stdout + ended.stderr)
  collectFiles('daemon')
  expect([...outputs.keys()]).toContain('daemon: store.db.alive')
  expect(leaks()).toEqual([])
})
