/** A dropped file is read once it is complete: by a marker beside it, or by unchanged size and time. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Clock } from '../../../src/core/machine.ts'
import { file } from '../../../src/feed/transport/file.ts'
import { ftp } from '../../../src/feed/transport/ftp.ts'
import { glob } from '../../../src/feed/transport/glob.ts'
import { sftp } from '../../../src/feed/transport/sftp.ts'
import type { Login } from '../../../src/feed/transport/settings.ts'
import type { Transport, TransportOptions } from '../../../src/feed/transport/transport.ts'
import { open, optionsWith, receive, received } from '../../contract/transport.ts'
import { startFtpServer } from '../../support/ftp-server.ts'
import { hostKey, startSftpServer } from '../../support/sftp-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'listing-sync-ready-'))
const drop = join(folder, 'drop')
const login: Login = { user: 'agency', password: 'secret-word', hostKey: [hostKey] }
const servers = {
  sftp: await startSftpServer({ folder, user: 'agency', password: 'secret-word' }),
  ftp: await startFtpServer({ folder, user: 'agency', password: 'secret-word' }),
}
afterAll(async () => {
  await servers.sftp.close()
  await servers.ftp.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  rmSync(drop, { recursive: true, force: true })
  mkdirSync(drop)
})

const now = Date.parse('2026-11-21T12:00:00Z')

/** Writes a file that was last written so many seconds ago. */
function put(name: string, content: string, ago = 3600): void {
  writeFileSync(join(drop, name), content)
  utimesSync(join(drop, name), now / 1000 - ago, now / 1000 - ago)
}

/** A clock on which `meanwhile` happens at the first sleep. */
function sleeping(meanwhile: () => void) {
  const slept: number[] = []
  const clock: Clock = {
    now: () => now,
    async sleep(milliseconds, signal) {
      slept.push(milliseconds)
      meanwhile()
      signal?.throwIfAborted()
    },
  }
  return { clock, slept }
}

const here = (name: string): string => join(drop, name)
const places: { where: string; at: (name: string) => string; one: Transport; many: Transport }[] = [
  { where: 'here', at: here, one: file, many: glob },
  { where: 'sftp', at: (name) => `sftp://127.0.0.1:${servers.sftp.port}/drop/${name}`, one: sftp, many: sftp },
  { where: 'ftp', at: (name) => `ftp://127.0.0.1:${servers.ftp.port}/drop/${name}`, one: ftp, many: ftp },
]

describe.each(places)('$where', ({ where, at, one, many }) => {
  const options = (ready: TransportOptions['ready'], more: Partial<TransportOptions> = {}) =>
    optionsWith({ directory: drop, login, ready, ...more })

  test('a marker has to be beside the file, whatever it is called', async () => {
    put('feed.xml', 'whole')
    for (const [marker, name] of [
      ['{name}.done', 'feed.xml.done'],
      ['{stem}.ok', 'feed.ok'],
      ['_SUCCESS', '_SUCCESS'],
    ]) {
      const early = one(at('feed.xml'), options({ marker }))
      await expect(early).rejects.toThrow(
        `feed.xml is not complete yet: its marker ${name} is missing; the next run looks again`,
      )
      put(name, '')
      expect(await receive(one, at('feed.xml'), options({ marker }))).toMatchObject({ text: 'whole' })
    }
    await expect(one(at('none.xml'), options({ marker: '{name}.done' }))).rejects.toThrow(/none\.xml does not exist$/)
  })

  test('of a folder the newest with its marker is taken, never a marker itself', async () => {
    put('1.xml', 'old', 50)
    put('2.xml', 'newest whole one', 40)
    put('3.xml', 'half', 30)
    put('1.xml.done', '', 20)
    await expect(many(at('*3*'), options({ marker: '{name}.done' }))).rejects.toThrow(
      /no file that matches .*\*3\* is complete yet: none of 1 has its marker \{name\}\.done; the next run looks again$/,
    )
    put('2.xml.done', '', 10)
    expect(await receive(many, at('*'), options({ marker: '{name}.done' }))).toMatchObject({ text: 'newest whole one' })
    put('_SUCCESS', 'not a feed', 0)
    expect(await receive(many, at('{_S*,*.xml}'), options({ marker: '_SUCCESS' }))).toMatchObject({ text: 'half' })
  })

  test('the older files come with the newest one, the oldest first, each to be opened once its marker is there', async () => {
    put('b.xml', 'second', 40)
    put('a.xml', 'first', 50)
    put('c.xml', 'third', 30)
    put('d.xml', 'newest', 20)
    put('e.xml', 'half', 10)
    for (const name of ['a', 'b', 'd']) put(`${name}.done`, '')
    const { clock, slept } = sleeping(() => {})
    const newest = await open(many, at('*.xml'), options({ marker: '{stem}.done', unchanged: 30_000 }, { clock }))
    expect(await received(newest)).toMatchObject({ text: 'newest', reasons: [] })
    const { besides } = newest
    expect(besides?.changedAt).toBe(now - 20_000)
    expect(besides?.older).toMatchObject([
      { name: 'a.xml', changedAt: now - 50_000 },
      { name: 'b.xml', changedAt: now - 40_000 },
      { name: 'c.xml', changedAt: now - 30_000 },
    ])
    const [first, second, third] = besides!.older
    expect(await received(await first.open())).toMatchObject({ text: 'first', reasons: [] })
    expect(await received(await second.open())).toMatchObject({ text: 'second', reasons: [] })
    await expect(third.open()).rejects.toThrow('its marker c.done is missing; the next run looks again')
    expect(slept).toEqual([30_000])
    const again = await first.open()
    await received(again)
    for (const file of [newest, again]) {
      const inScratch = where !== 'here'
      expect(existsSync(file.file!)).toBe(true)
      await file.release?.()
      expect(existsSync(file.file!)).toBe(!inScratch)
    }
    rmSync(here('b.xml'))
    await expect(second.open()).rejects.toThrow(/b\.xml does not exist$/)
  })

  test.runIf(where !== 'here')('a server that is gone is asked for three older files, not for each', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) put(`${name}.xml`, name)
    let [isGone, asked] = [false, 0]
    const remote = servers[where as keyof typeof servers]
    const gate = createServer((socket) => {
      asked++
      if (isGone) socket.destroy()
      else
        socket
          .on('error', () => {})
          .pipe(connect(remote.port, '127.0.0.1'))
          .on('error', () => {})
          .pipe(socket)
    })
    await new Promise<void>((done) => gate.listen(0, '127.0.0.1', done))
    const { port } = gate.address() as AddressInfo
    const newest = await open(many, at('*.xml').replace(`:${remote.port}`, `:${port}`), options({}))
    await received(newest)
    ;[isGone, asked] = [true, 0]
    const words: string[] = []
    for (const older of newest.besides!.older) await older.open().catch(({ message }) => words.push(message))
    gate.close()
    expect(asked).toBe(3)
    expect(words).toHaveLength(5)
    expect(words.at(-1)).toMatch(/^s?ftp:.*\*\.xml: the server can't be reached any more$/)
  })

  test('a file that stays as it is for the time asked is read', async () => {
    put('feed.xml', 'whole', 5)
    const { clock, slept } = sleeping(() => {})
    expect(await receive(many, at('f*.xml'), options({ unchanged: 30_000 }, { clock }))).toMatchObject({
      text: 'whole',
    })
    expect(slept).toEqual([30_000])
  })

  test.each([
    [
      'grew',
      () => put('feed.xml', 'half and more', 1),
      /is still being written: it had 4 bytes, 30 s later 13; nothing/,
    ],
    [
      'was written again',
      () => put('feed.xml', 'HALF', 1),
      /was written again within 30 s; nothing was read, the next/,
    ],
    [
      'went away',
      () => rmSync(here('feed.xml')),
      /disappeared within 30 s; nothing was read, the next run looks again$/,
    ],
  ])('a file that %s meanwhile is not', async (_, meanwhile, words) => {
    put('feed.xml', 'half', 5)
    const { clock } = sleeping(meanwhile)
    await expect(one(at('feed.xml'), options({ unchanged: 30_000 }, { clock }))).rejects.toThrow(words)
  })

  test('a run can be stopped while it waits', async () => {
    put('feed.xml', 'whole', 5)
    const stop = new AbortController()
    const { clock } = sleeping(() => stop.abort(new Error('stopped by the test')))
    const waiting = one(at('feed.xml'), options({ unchanged: 30_000 }, { clock, signal: stop.signal }))
    await expect(waiting).rejects.toThrow('stopped by the test')
  })

  test('only here, where the clock is ours, an old file is not waited for', async () => {
    put('feed.xml', 'whole', 31)
    const { clock, slept } = sleeping(() => {})
    expect(await receive(one, at('feed.xml'), options({ unchanged: 30_000 }, { clock }))).toMatchObject({
      text: 'whole',
    })
    expect(slept).toEqual(where === 'here' ? [] : [30_000])
  })
})

test('no connection is held while it waits', async () => {
  put('feed.xml', 'whole', 5)
  let open = -1
  const before = servers.sftp.connections
  const { clock } = sleeping(() => (open = servers.sftp.connections - before))
  const source = `sftp://127.0.0.1:${servers.sftp.port}/drop/feed.xml`
  await receive(sftp, source, optionsWith({ login, clock, ready: { unchanged: 30_000 } }))
  expect([open, servers.sftp.connections - before]).toEqual([1, 2])
})
