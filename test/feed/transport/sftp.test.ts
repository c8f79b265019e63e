import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { sftp, sftpWith } from '../../../src/feed/transport/sftp.ts'
import type { Login } from '../../../src/feed/transport/settings.ts'
import type { TransportOptions } from '../../../src/feed/transport/transport.ts'
import { open, optionsWith, receive, transportContract } from '../../contract/transport.ts'
import { fingerprint, hostKey, hostKeys, keyPair, startSftpServer } from '../../support/sftp-server.ts'
import { withPatience } from '../../support/patience.ts'

const folder = mkdtempSync(join(tmpdir(), 'listing-sync-sftp-'))
mkdirSync(join(folder, 'home'))
mkdirSync(join(folder, 'drop'))
const password = 'p@ss word/1'
const keys = keyPair()
const encrypted = keyPair('open-sesame')
const server = await startSftpServer({ folder, user: 'agency', password, publicKey: keys.public })
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})
afterEach(() => {
  server.onRead = () => null
  server.onOpen = () => {}
  server.tells = (known) => known
  server.attempts.length = 0
})

const login: Login = { user: 'agency', password, hostKey: [hostKey] }
const with_ = (more: Partial<TransportOptions> = {}) => optionsWith({ login, ...more })
const address = (path: string): string => `sftp://127.0.0.1:${server.port}${path}`
let count = 0

function put(path: string, content: string | Buffer, day = 1): string {
  writeFileSync(join(folder, path), content)
  utimesSync(join(folder, path), day * 86_400, day * 86_400)
  return address(path)
}

transportContract({
  name: 'sftp',
  transport: sftp,
  directory: '/',
  login: { hostKey: [hostKey] },
  put: async (content) =>
    put(`/drop/feed-${++count}.xml`, content).replace('//', `//agency:${encodeURIComponent(password)}@`),
  missing: async () => address('/drop/nowhere.xml').replace('//', `//agency:${encodeURIComponent(password)}@`),
})

describe('who is let in', () => {
  const source = put('/drop/who.xml', 'whole')
  const attempt = (login: Login) => receive(sftp, source, optionsWith({ login }))

  test('a password, or a private key, encrypted or not', async () => {
    expect(await attempt(login)).toMatchObject({ text: 'whole', proven: true, name: source })
    const key = { user: 'agency', hostKey: [hostKey] }
    expect(await attempt({ ...key, privateKey: keys.private })).toMatchObject({ text: 'whole' })
    const other = await startSftpServer({ folder, user: 'agency', publicKey: encrypted.public })
    const there = source.replace(String(server.port), String(other.port))
    const sealed = { ...key, privateKey: encrypted.private }
    const opened = await receive(sftp, there, optionsWith({ login: { ...sealed, passphrase: 'open-sesame' } }))
    expect(opened).toMatchObject({ text: 'whole' })
    for (const passphrase of [undefined, 'open-barley']) {
      const refused = receive(sftp, there, optionsWith({ login: { ...sealed, passphrase } }))
      await expect(refused).rejects.toThrow(/privateKey is encrypted, and login.passphrase does not open it$/)
    }
    await expect(attempt({ ...key, privateKey: 'no key at all' })).rejects.toThrow(/is not a private key that can be/)
    await other.close()
  })

  test('a server that asks for the password by prompts gets it', async () => {
    const prompting = await startSftpServer({ folder, user: 'agency', password, promptsOnly: true })
    const there = source.replace(String(server.port), String(prompting.port))
    expect(await receive(sftp, there, with_())).toMatchObject({ text: 'whole' })
    expect(prompting.attempts).toContain('keyboard-interactive')
    await prompting.close()
  })

  test('a wrong login is refused in words without it', async () => {
    for (const wrong of [{ password: 'hunter2' }, { user: 'nobody-here' }]) {
      const error = await attempt({ ...login, ...wrong }).catch(String)
      expect(error).toBe(`FeedError: ${source}: the server refused the login; check user, password and key`)
    }
  })

  test('a server with another key gets no attempt to log in', async () => {
    const other = fingerprint(keyPair().public)
    const error = await attempt({ ...login, hostKey: [other] }).catch(String)
    expect(error).toContain(`the server's ssh-ed25519 key ${hostKey} is not in login.hostKey`)
    expect(error).not.toMatch(/agency|p@ss/)
    expect(server.attempts).toEqual([])
    expect(await attempt({ ...login, hostKey: [other, `${hostKey}=`] })).toMatchObject({ text: 'whole' })
    expect(hostKeys.public).toMatch(/^ssh-ed25519 /)
  })
})

describe('which file', () => {
  test('by a path from the root, from the login folder, through a link, with any character', async () => {
    put('/home/own.xml', 'at home')
    expect(await receive(sftp, address('/~/own.xml'), with_())).toMatchObject({
      text: 'at home',
      name: address('/~/own.xml'),
    })
    symlinkSync(join(folder, 'home/own.xml'), join(folder, 'drop/latest.xml'))
    expect(await receive(sftp, address('/drop/latest.xml'), with_())).toMatchObject({ text: 'at home', proven: true })
    put('/drop/my feed é%#1.xml', 'odd')
    const odd = address('/drop/my%20feed%20%C3%A9%25#1.xml')
    expect(await receive(sftp, odd, with_())).toMatchObject({ text: 'odd' })
  })

  test('a folder of more files than maxFiles is refused, and not read to its end', async () => {
    mkdirSync(join(folder, 'full'))
    for (let i = 0; i < 350; i++) put(`/full/${i}.xml`, 'x', i)
    const source = address('/full/*.xml')
    expect(await receive(sftp, source, with_({ maxFiles: 350 }))).toMatchObject({ name: address('/full/349.xml') })
    const asked = server.names
    await expect(sftp(source, with_({ maxFiles: 120 }))).rejects.toThrow(/holds more than 120 files \(maxFiles\)/)
    expect(server.names - asked).toBe(200)
  })

  test('the newest that matches; no folder, no hidden file, no upload under way, and links as what they lead to', async () => {
    mkdirSync(join(folder, 'many'))
    put('/many/a.xml', 'old', 1)
    put('/many/b.xml', 'newest', 5)
    put('/many/.c.xml', 'hidden', 9)
    put('/many/d.xml.part', 'half', 9)
    put('/many/e.csv', 'other', 9)
    mkdirSync(join(folder, 'many/f.xml'))
    symlinkSync('nowhere', join(folder, 'many/g.xml'))
    symlinkSync(join(folder, 'many/a.xml'), join(folder, 'many/h.xml'))
    const received = await receive(sftp, address('/many/?.{xml,part,xml.part}'), with_())
    expect(received).toMatchObject({ text: 'newest', name: address('/many/b.xml') })
    put('/home/own-2.xml', 'newer at home', 2)
    expect(await receive(sftp, address('/~/own*.xml'), with_())).toMatchObject({ text: 'newer at home' })
    await expect(sftp(address('/many/z*'), with_())).rejects.toThrow(/no file matches sftp:.*\/many\/z\*$/)
    await expect(sftp(address('/nowhere/*.xml'), with_())).rejects.toThrow(
      /the file or its folder does not exist, or no longer$/,
    )
    await expect(sftp(address('/many'), with_())).rejects.toThrow(/\/many is not a regular file$/)
  })
})

describe('a server that leaves out what others tell of a file', () => {
  test('its kind, or its whole mode: it is one', async () => {
    const source = put('/drop/kindless.xml', 'a feed')
    server.tells = (known) => ({ ...known, mode: known.mode & 0o777 })
    expect(await receive(sftp, source, with_())).toMatchObject({ text: 'a feed', proven: true })
    server.tells = ({ size, atime, mtime }) => ({ size, atime, mtime })
    expect(await receive(sftp, source, with_())).toMatchObject({ text: 'a feed', proven: true })
  })

  test('its time: it did not change meanwhile, and of several files none is the newest', async () => {
    mkdirSync(join(folder, 'timeless'))
    put('/timeless/a.xml', 'a feed', 5)
    server.tells = ({ mode, uid, gid, size }) => ({ mode, uid, gid, size })
    expect(await receive(sftp, address('/timeless/*.xml'), with_())).toMatchObject({ text: 'a feed', reasons: [] })
    put('/timeless/b.xml', 'an older one', 1)
    await expect(sftp(address('/timeless/*.xml'), with_())).rejects.toThrow(/does not say when its files changed/)
  })

  test('its size: it is not fetched, as its end would not be known', async () => {
    const source = put('/drop/sizeless.xml', 'a feed')
    server.tells = ({ mode, uid, gid, atime, mtime }) => ({ mode, uid, gid, atime, mtime })
    await expect(sftp(source, with_())).rejects.toThrow(/sizeless\.xml: the server does not say how large the file is/)
  })
})

describe('what happens on the way', () => {
  const whole = Buffer.alloc(6_000_000, 'listing\n')

  test('a connection cut in the middle gives nothing but the reason, and leaves nothing', async () => {
    const source = put('/drop/cut.xml', whole)
    server.onRead = (offset) => (offset > 3_000_000 ? 'cut' : null)
    const scratch = mkdtempSync(join(folder, 'scratch-'))
    await expect(sftp(source, with_({ scratch }))).rejects.toThrow(
      /cut\.xml: the connection was lost after \d+ of 6000000 bytes$/,
    )
    await expect.poll(() => readdirSync(scratch)).toEqual([])
  })

  test('a file that grows or is replaced meanwhile is doubtful', async () => {
    const source = put('/drop/grows.xml', whole)
    server.onRead = (offset) => {
      if (offset === 0) appendFileSync(join(folder, 'drop/grows.xml'), 'more')
      return null
    }
    const { reasons, proven } = await receive(sftp, source, with_())
    expect({ reasons, proven }).toEqual({ reasons: ['the file changed while it was fetched'], proven: false })
  })

  test('a file that goes before it is fetched is told as the file', async () => {
    const source = put('/drop/goes.xml', whole)
    server.onOpen = () => rmSync(join(folder, 'drop/goes.xml'), { force: true })
    await expect(sftp(source, with_())).rejects.toThrow(
      /goes\.xml: the file or its folder does not exist, or no longer$/,
    )
  })

  test('a file that is cut short meanwhile is given up', async () => {
    const source = put('/drop/shrinks.xml', whole)
    server.onRead = (offset) => {
      if (offset === 0) truncateSync(join(folder, 'drop/shrinks.xml'), 4_000_000)
      return null
    }
    await expect(sftp(source, with_())).rejects.toThrow(/cut short while it was fetched after \d+ of 6000000 bytes$/)
  })

  test('a file that grew beyond what is accepted is given up', async () => {
    const source = put('/drop/large.xml', whole)
    server.onOpen = () => appendFileSync(join(folder, 'drop/large.xml'), 'more')
    const fetching = sftp(source, with_({ maxBytes: whole.length }))
    await expect(fetching).rejects.toThrow(/grew beyond the 6000000 bytes accepted/)
  })

  test('a peer that stalls is given up: silent for too long, or too long in all', async () => {
    const source = put('/drop/slow.xml', whole)
    server.onRead = (offset) => (offset > 1_000_000 ? 'stall' : null)
    await withPatience(300, (stall) =>
      expect(sftpWith(stall)(source, with_())).rejects.toThrow(/no byte came for [\d.]+ s after \d+ of 6000000 bytes$/),
    )
    await withPatience(400, (transferTimeout) =>
      expect(sftp(source, with_({ transferTimeout }))).rejects.toThrow(
        /gave up after \d+ ms \(transferTimeout\) after \d+ of/,
      ),
    )
  })

  test('a server that never greets, takes no connections, or speaks something else', async () => {
    const mute = createServer((socket) => socket.on('error', () => {}).resume())
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    const there = `sftp://127.0.0.1:${(mute.address() as AddressInfo).port}/a.xml`
    await expect(sftp(there, with_({ transferTimeout: 200 }))).rejects.toThrow(
      /a\.xml: gave up after 200 ms \(transferTimeout\)$/,
    )
    await expect(sftpWith(100)(there, with_())).rejects.toThrow(/no byte came for 0\.1 s$|finish its greeting in time$/)
    mute
      .removeAllListeners('connection')
      .on('connection', (socket) => socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await expect(sftp(there, with_())).rejects.toThrow(/a\.xml: the server does not speak SSH/)
    await new Promise((resolve) => mute.close(resolve))
    await expect(sftp(there, with_())).rejects.toThrow(/the server refused the connection$/)
  })

  test('a stop in the middle throws its reason, and leaves no connection', async () => {
    const source = put('/drop/stop.xml', whole)
    const stop = new AbortController()
    server.onRead = (offset) => {
      if (offset > 1_000_000) stop.abort(new Error('stopped by the test'))
      return null
    }
    await expect(sftp(source, with_({ signal: stop.signal }))).rejects.toThrow('stopped by the test')
  })

  test('the delivery is a file of the run, for who needs one', async () => {
    const { file } = await open(sftp, put('/drop/file.zip', 'PK'), with_({ scratch: join(folder, 'home') }))
    expect(file?.startsWith(join(folder, 'home'))).toBe(true)
  })
})
