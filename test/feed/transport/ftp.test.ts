import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { ftp, ftpWith } from '../../../src/feed/transport/ftp.ts'
import type { Login } from '../../../src/feed/transport/settings.ts'
import type { TransportOptions } from '../../../src/feed/transport/transport.ts'
import { optionsWith, receive, transportContract } from '../../contract/transport.ts'
import { startFtpServer } from '../../support/ftp-server.ts'
import type { FtpServer, FtpServerOptions } from '../../support/ftp-server.ts'
import { withPatience } from '../../support/patience.ts'

const folder = mkdtempSync(join(tmpdir(), 'listing-sync-ftp-'))
mkdirSync(join(folder, 'home'))
mkdirSync(join(folder, 'drop'))
const servers: FtpServer[] = []
const login: Login = { user: 'agency', password: 'p@ss word/1' }
const credentials = 'agency:p%40ss%20word%2F1@'
const ca = readFileSync('fixtures/tls/certificate.pem', 'utf8')

async function started(options: Partial<FtpServerOptions> = {}): Promise<FtpServer> {
  const server = await startFtpServer({ folder, user: 'agency', password: 'p@ss word/1', ...options })
  servers.push(server)
  return server
}

const plain = await started()
const secure = await started({ tls: 'explicit' })
afterAll(async () => {
  for (const server of servers) await server.close()
  rmSync(folder, { recursive: true })
})
afterEach(() => {
  for (const server of servers) {
    server.commands.length = 0
    server.answers.clear()
    server.moreNames = []
    server.transfer = 'whole'
    server.onRetrieve = () => {}
  }
})

const logged = (more: Partial<TransportOptions> = {}) => optionsWith({ login, ...more })
const at = (path: string, server = plain): string => `ftp://127.0.0.1:${server.port}${path}`
const safe = (path: string, server = secure): string => `ftps://127.0.0.1:${server.port}${path}`
let count = 0

function put(path: string, content: string | Buffer, day = 1): string {
  writeFileSync(join(folder, path), content)
  utimesSync(join(folder, path), day * 86_400, day * 86_400)
  return path
}

transportContract({
  name: 'ftp',
  transport: ftp,
  directory: '/',
  put: async (content) => at(put(`/drop/feed-${++count}.xml`, content)).replace('//', `//${credentials}`),
  missing: async () => at('/drop/nowhere.xml').replace('//', `//${credentials}`),
})

transportContract({
  name: 'ftps',
  transport: ftp,
  directory: '/',
  ca,
  put: async (content) => safe(put(`/drop/feed-${++count}.xml`, content)).replace('//', `//${credentials}`),
  missing: async () => safe('/drop/nowhere.xml').replace('//', `//${credentials}`),
})

test('a folder of more files than maxFiles is refused', async () => {
  mkdirSync(join(folder, 'full'))
  for (let i = 0; i < 4; i++) put(`/full/${i}.xml`, 'x', i)
  const source = at('/full/*.xml')
  expect(await receive(ftp, source, logged({ maxFiles: 4 }))).toMatchObject({ text: 'x' })
  await expect(ftp(source, logged({ maxFiles: 3 }))).rejects.toThrow(/holds more than 3 files \(maxFiles\)/)
})

test.each([
  ['out of the folder', '../drop/feed-1.xml'],
  ['with a control character', 'x\u0007.xml'],
  ['longer than any', `${'ab'.repeat(150)}.xml`],
])('a name that leads %s is of no file', async (_, name) => {
  mkdirSync(join(folder, 'named'), { recursive: true })
  put('/named/a.xml', 'x')
  plain.moreNames = [`type=file;size=1;modify=20990101000000; ${name}`]
  expect(await receive(ftp, at('/named/*.xml'), logged())).toMatchObject({ text: 'x', name: at('/named/a.xml') })
  expect(plain.commands.join()).not.toContain(name.slice(0, 12))
})

describe('who is let in, and to whom', () => {
  const path = put('/drop/who.xml', 'whole')

  test('anonymous where nobody is named', async () => {
    const open = await started({ user: 'anonymous', password: 'anonymous@' })
    expect(await receive(ftp, at(path, open), optionsWith())).toMatchObject({ text: 'whole', proven: true })
  })

  test('a wrong login is refused, and what the server repeats of it is not', async () => {
    const error = await ftp(at(path), logged({ login: { user: 'agency', password: 'hunter2' } })).catch(String)
    expect(error).toBe(
      `FeedError: ${at(path)}: the server refused the login; check user and password (the server says: 530 not you, *** with ***)`,
    )
  })

  test('nothing is sent before TLS is agreed, and the certificate is checked', async () => {
    await expect(ftp(safe(path), logged())).rejects.toThrow(/certificate of the server is not trusted \(DEPTH_ZERO/)
    expect(secure.commands).toEqual(['AUTH TLS'])
    plain.commands.length = 0
    await expect(ftp(safe(path, plain), logged())).rejects.toThrow(
      /refused a command \(the server says: 502 no TLS here/,
    )
    expect(plain.commands).toEqual(['AUTH TLS'])
  })

  // Elsewhere there is no second loopback address.
  test.skipIf(process.platform !== 'linux')('a certificate of another server is not taken for its own', async () => {
    const other = await started({ tls: 'explicit', host: '127.0.0.2' })
    const source = safe(path, other).replace('127.0.0.1', '127.0.0.2')
    const fetching = ftp(source, logged({ ca }))
    await expect(fetching).rejects.toThrow(/certificate of the server is not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\)/)
    expect(other.commands).toEqual(['AUTH TLS'])
  })

  test('port 990 is TLS from the first byte on', async ({ skip }) => {
    // Only a privileged user may listen there, and only one at a time.
    const implicit = await started({ tls: 'implicit', port: 990 }).catch(() => null)
    if (implicit === null) return skip()
    const received = await receive(ftp, safe(path, implicit), logged({ ca }))
    expect(received).toMatchObject({ text: 'whole', proven: true, name: safe(path, implicit) })
    expect(implicit.commands).not.toContain('AUTH TLS')
    return undefined
  })

  test.each(['192,0,2,7', '0,0,0,0'])('a data connection goes to the server itself, not to %s', async (host) => {
    const inside = await started({ lacks: ['EPSV'], passiveHost: host })
    expect(await receive(ftp, at(path, inside), logged())).toMatchObject({ text: 'whole', proven: true })
  })

  test('passive mode of old servers, and a server without SIZE, MDTM and MLSD', async () => {
    const old = await started({ lacks: ['EPSV', 'SIZE', 'MDTM', 'MLSD', 'OPTS'] })
    const received = await receive(ftp, at(path, old), logged())
    expect(received).toMatchObject({ text: 'whole', proven: false, reasons: [] })
    await expect(ftp(at('/drop/*.xml', old), logged())).rejects.toThrow(/does not say when its files changed; name the/)
    expect(await receive(ftp, at('/drop/who.*', old), logged())).toMatchObject({ text: 'whole' })
    await expect(ftp(at('/drop/none.xml', old), logged())).rejects.toThrow(/is not there or may not be read/)
    await expect(ftp(at(put('/drop/12.xml', '123456789012'), old), logged({ maxBytes: 11 }))).rejects.toThrow(
      /more than the 11 bytes accepted/,
    )
  })
})

test('the newest that matches, by MLSD, and by MDTM where there is only LIST', async () => {
  mkdirSync(join(folder, 'many'))
  put('/many/a 1.xml', 'old', 1)
  put('/many/b 2.xml', 'newest', 5)
  put('/many/c.xml.filepart', 'half', 9)
  put('/many/d.csv', 'other', 9)
  mkdirSync(join(folder, 'many/f.xml'))
  const older = await started({ lacks: ['MLSD'] })
  for (const server of [plain, older]) {
    const received = await receive(ftp, at('/many/*.{xml,filepart}', server), logged())
    expect(received).toMatchObject({ text: 'newest', proven: true, name: at('/many/b 2.xml', server) })
  }
  put('/home/own.xml', 'at home')
  expect(await receive(ftp, at('/~/own.xml'), logged())).toMatchObject({ text: 'at home', name: at('/~/own.xml') })
  expect(await receive(ftp, at('/~/o*.xml'), logged())).toMatchObject({ text: 'at home', name: at('/~/own.xml') })
  await expect(ftp(at('/many/z*'), logged())).rejects.toThrow(/no file matches ftp:.*\/many\/z\*$/)
})

describe('a server that answers oddly', () => {
  const path = put('/drop/odd.xml', 'whole')

  test.each([
    ['no size', 'SIZE', '502 no'],
    ['no number for the size', 'SIZE', '213 many'],
    ['a size below zero', 'SIZE', '213 -1'],
  ])('%s: half a file would look like a whole one', async (_, command, answer) => {
    plain.answers.set(command, answer)
    expect(await receive(ftp, at(path), logged())).toMatchObject({
      text: 'whole',
      proven: false,
      reasons: [],
      doubt: expect.stringMatching(/does not say how large the file is/),
    })
  })

  test.each([
    ['no date', '213 yesterday'],
    ['no right to ask', '550 permission denied'],
  ])('%s for the time: the file did not change meanwhile', async (_, answer) => {
    plain.answers.set('MDTM', answer)
    expect(await receive(ftp, at(path), logged())).toMatchObject({ text: 'whole', proven: true, reasons: [] })
  })

  test('a list that hidden files are not asked for', async () => {
    const older = await started({ lacks: ['MLSD'] })
    expect(await receive(ftp, at('/drop/od*.xml', older), logged())).toMatchObject({ text: 'whole' })
    expect(older.commands.filter((line) => line.startsWith('LIST'))).toEqual(['LIST /drop'])
  })

  test('names in Latin-1', async () => {
    mkdirSync(join(folder, 'old'))
    put('/old/\u00fcbersicht.csv', 'whole')
    const older = await started({ lacks: ['MLSD'], encoding: 'latin1' })
    for (const name of ['*.csv', '\u00fcbersicht.csv'])
      expect(await receive(ftp, at(`/old/${name}`, older), logged())).toMatchObject({ text: 'whole', proven: true })
    await expect(ftp(at('/old/\u00fc.csv', older), logged())).rejects.toThrow(/\u00fc\.csv does not exist$/)
  })

  test('one name in Latin-1 does not spoil those in UTF-8', async () => {
    mkdirSync(join(folder, 'mixed'))
    put('/mixed/H\u00e4user.csv', 'whole')
    const mixed = await started({ lacks: ['MLSD'] })
    const line = (name: string): string => `-rw-r--r-- 1 u g 5 Nov 28 2025 ${name}`
    mixed.lists = `${line('H\u00e4user.csv')}\r\n${line('\uFFFDbersicht.csv')}`
    expect(await receive(ftp, at('/mixed/H\u00e4*.csv', mixed), logged())).toMatchObject({ text: 'whole' })
  })

  test('that a file is missing whose name has to do with TLS asks for no TLS', async () => {
    await expect(ftp(at('/drop/SSL.xml'), logged())).rejects.toThrow(/SSL\.xml does not exist$/)
  })

  test.each([
    [
      'USER',
      '530 Must use TLS',
      /the server wants TLS: write ftps:\/\/ in place of ftp:\/\/ \(the server says: 530 Must/,
    ],
    ['EPSV', '425 no ports left', /no connection for the data can be opened: 425 no ports left$/],
  ])('%s %s is told with what to do', async (command, answer, words) => {
    plain.answers.set(command, answer)
    if (command === 'EPSV') plain.answers.set('PASV', answer)
    await expect(ftp(at(path), logged())).rejects.toThrow(words)
  })

  test.each(['export.csv;1  2/4  28-NOV-2026 08:00:00', 'type=file;size=5;modify=yesterday; odd.xml'])(
    'a folder that it lists as %s is told with what to do',
    async (line) => {
      const older = await started({ lacks: line.startsWith('type') ? [] : ['MLSD'] })
      older.lists = line
      await expect(ftp(at('/drop/*.xml', older), logged())).rejects.toThrow(
        /lists its folder in a way that is not known; name the one file in place of a pattern$/,
      )
    },
  )
})

describe('what happens on the way', () => {
  const whole = Buffer.alloc(6_000_000, 'listing\n')
  const path = put('/drop/whole.xml', whole)

  test.each(['plain', 'secure'])('a connection cut in the middle gives nothing but the reason (%s)', async (kind) => {
    const [server, source] = kind === 'plain' ? [plain, at(path)] : [secure, safe(path)]
    server.transfer = 'cut'
    const fetching = ftp(source, logged({ ca }))
    await expect(fetching).rejects.toThrow(/whole\.xml: the connection was lost after \d+ of 6000000 bytes$/)
  })

  test('less than the server said it has is doubtful, though the server calls it all', async () => {
    plain.transfer = 'short'
    const { reasons, proven } = await receive(ftp, at(path), logged())
    expect({ reasons, proven }).toEqual({ reasons: ['3000000 of 6000000 bytes arrived'], proven: false })
  })

  test('a file that is written meanwhile is doubtful', async () => {
    const growing = put('/drop/grows.xml', 'some')
    plain.onRetrieve = () => appendFileSync(join(folder, growing), ' more')
    const { reasons } = await receive(ftp, at(growing), logged())
    expect(reasons).toEqual(['the file changed while it was fetched'])
  })

  test('a peer that stalls is given up: silent for too long, or too long in all', async () => {
    plain.transfer = 'stall'
    await withPatience(200, (stall) =>
      expect(ftpWith(stall)(at(path), logged())).rejects.toThrow(/silent for too long after 3000000 of 6000000 bytes$/),
    )
    await withPatience(300, (transferTimeout) =>
      expect(ftp(at(path), logged({ transferTimeout }))).rejects.toThrow(
        /gave up after \d+ ms \(transferTimeout\) after 3000000 of/,
      ),
    )
  })

  test('a server that never greets, never shakes hands, takes no connections', async () => {
    const mute = createServer((socket) => socket.on('error', () => {}).resume())
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    const there = `ftp://127.0.0.1:${(mute.address() as AddressInfo).port}/a.xml`
    await expect(ftp(there, logged({ transferTimeout: 150 }))).rejects.toThrow(
      /a\.xml: gave up after 150 ms \(transferTimeout\)$/,
    )
    await expect(ftpWith(100)(there, logged())).rejects.toThrow(/silent for too long$/)
    await new Promise((resolve) => mute.close(resolve))
    await expect(ftp(there, logged())).rejects.toThrow(/the server refused the connection$/)
    plain.answers.set('AUTH', '234 go ahead')
    await expect(ftp(safe(path, plain), logged({ transferTimeout: 300 }))).rejects.toThrow(
      /gave up after 300 ms \(transferTimeout\)$|TLS/,
    )
    plain.answers.set('welcome', '421 too many of you')
    await expect(ftp(at(path), logged())).rejects.toThrow(/refused a command \(the server says: 421 too many of you\)$/)
  })

  test('a stop in the middle throws its reason', async () => {
    const stop = new AbortController()
    plain.transfer = 'stall'
    plain.onRetrieve = () => stop.abort(new Error('stopped by the test'))
    await expect(ftp(at(path), logged({ signal: stop.signal }))).rejects.toThrow('stopped by the test')
  })
})
