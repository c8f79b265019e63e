/** Whole runs of a feed that lies on an SFTP server, through the program as its users start it. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { home, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { hostKey, keyPair, startSftpServer } from '../support/sftp-server.ts'
import type { SftpServer } from '../support/sftp-server.ts'

const passphrase = 'open-sesame'
const keys = keyPair(passphrase)
const homes = Array.from({ length: 20 }, (_, index) => home(index + 1))

let world: RunWorld
let server: SftpServer
let folder: string
afterEach(async () => {
  await world.end()
  await server.close()
  rmSync(folder, { recursive: true })
})

/** Puts a delivery on the server, last written on this day of the month. */
function put(name: string, content: string, day: number): void {
  writeFileSync(join(folder, 'home', name), content)
  utimesSync(join(folder, 'home', name), day * 86_400, day * 86_400)
}

test('a feed on an SFTP server, by key: load, change, a connection that is cut, and nothing of the key anywhere', async () => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-sftp-run-'))
  mkdirSync(join(folder, 'home'))
  server = await startSftpServer({ folder, user: 'agency-login', publicKey: keys.public })
  const source = `sftp://127.0.0.1:${server.port}/~/export-*.xml`
  const login = { user: 'agency-login', privateKey: '${file:key}', passphrase: '${file:passphrase}', hostKey }
  world = await RunWorld.start({ feeds: { north: { source, login, ready: { marker: '{name}.done' } } } })
  world.deliver(keys.private, 'key')
  world.deliver(passphrase, 'passphrase')

  put('export-1.xml', zillowFeed(homes), 1)
  const early = await world.executed('sync')
  expect(early).toMatchObject({ status: 1 })
  expect(early.stdout + early.stderr).toMatch(/none of 1 has its marker \{name\}\.done/)
  put('export-1.xml.done', '', 1)
  expect(await world.executed('sync')).toMatchObject({ status: 0 })
  expect(world.listings()).toHaveLength(20)

  put('export-2.xml', zillowFeed(homes.slice(2)), 2)
  put('export-2.xml.done', '', 2)
  put('export-3.xml', zillowFeed(homes.slice(9)), 3)
  expect(await world.executed('diff')).toMatchObject({ status: 2 })
  server.onRead = (offset) => (offset > 0 ? 'cut' : null)
  const cut = await world.executed('sync')
  expect(cut).toMatchObject({ status: 1 })
  expect(cut.stdout + cut.stderr).toMatch(/the connection was lost/)
  expect(world.listings()).toHaveLength(20)
  server.onRead = () => null
  expect(await world.run()).toMatchObject({
    result: 'ok',
    counts: { unchanged: 18, delete: 2 },
    delivery: { complete: true },
  })
  expect(world.listings()).toHaveLength(18)

  const texts = [early, cut, await world.executed('status'), await world.executed('diff', '--format', 'json')]
  for (const { stdout, stderr } of texts) {
    expect(stdout + stderr).not.toMatch(/agency-login|open-sesame|PRIVATE KEY/)
    expect(stdout + stderr).not.toContain(keys.private.split('\n')[1])
  }
})
