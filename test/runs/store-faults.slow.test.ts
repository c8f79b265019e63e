/** A disk that is full, read-only or not there: a clear message, nothing written, and a state from which the next run is right. */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { homes, zillowFeed } from '../support/homes.ts'
import { command } from '../support/program.ts'
import type { Ended } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

const all = homes(1, 10)
const next = homes(3, 12)
const north = { limits: 'off', volatile: { refresh: '365d' } }

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north } })
})
const disks: string[] = []
afterEach(() => {
  for (const disk of disks.splice(0)) spawnSync('umount', ['--lazy', disk])
  return world.end()
})

const numbers = (): string[] => world.listings().map((item) => String(item['MLSNumber']))

/** A file system in memory of so many kilobytes; the test is skipped where this user may mount none. */
function smallDisk(kilobytes: number, skip: (why: string) => void): string {
  const folder = join(world.folder, 'disk')
  mkdirSync(folder)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder])
  if (mounted.error || mounted.status !== 0) skip('no file system in memory can be mounted here')
  disks.push(folder)
  return folder
}

const remount = (folder: string, options: string): void =>
  expect(spawnSync('mount', ['-o', `remount,${options}`, folder]).status).toBe(0)

/** One run of the program with its store in this folder. */
function sync(folder: string, env: Record<string, string> = {}): Promise<Ended> {
  const config = readFileSync(world.configFile, 'utf8').replace('./store.db', join(folder, 'store.db'))
  writeFileSync(world.configFile, config)
  return command(['--config', world.configFile, 'sync'], { env })
}

function saysClearly(ended: Ended, words: string): void {
  expect(ended.status).toBe(1)
  expect(ended.stdout + ended.stderr).toContain(words)
  expect(ended.stdout + ended.stderr).not.toContain('defect')
}

/** Takes what room there is, and what has come free since the last time; never more than a small disk has. */
function fill(filler: string): void {
  for (const size of [65_536, 4096, 1]) {
    try {
      for (let times = 0; times < 10_000_000 / size; times++) appendFileSync(filler, Buffer.alloc(size))
    } catch {
      // It is full, to pieces of this size.
    }
  }
}

describe('a daemon', () => {
  test.for(['the store', 'the scratch files'])(
    'on whose disk with %s there is no room: its runs end, it goes on, and with room nothing is lost',
    async (what, { skip }) => {
      const disk = smallDisk(8000, skip)
      const feeds = { north: { ...north, schedule: '* * * * * *', keepFree: '1KB' } }
      const messages: unknown[] = []
      const receiver = createServer((request, response) => {
        request.on('data', (body: Buffer) => messages.push((JSON.parse(body.toString()) as { title: unknown }).title))
        request.on('end', () => response.end())
      })
      await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
      const notify = [{ url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` }]
      world.configure(feeds, {}, what === 'the store' ? join(disk, 'store.db') : './store.db', { notify })
      const env: Record<string, string> = what === 'the store' ? {} : { TMPDIR: disk }
      world.deliver(zillowFeed(all))
      const filler = join(disk, 'filler')
      const failed = /"msg":"run failed"/g
      const onStart = async (child: ChildProcess): Promise<void> => {
        let log = ''
        child.stderr!.on('data', (text) => (log += String(text)))
        await until(() => numbers().length === all.length && log.includes('"msg":"run finished"'))
        fill(filler)
        world.deliver(zillowFeed(next))
        await until(() => {
          fill(filler)
          return (log.match(failed) ?? []).length >= 4 && messages.length > 0
        })
        expect(log).toMatch(/the disk is full|its disk has no room/)
        // SQLite's log may have had room for some of it.
        expect(new Set(numbers()).size).toBe(numbers().length)
        rmSync(filler)
        const wanted = next.map((home) => home.mlsNumber).join()
        await until(() => numbers().toSorted().join() === wanted && messages.length > 1)
        child.kill('SIGTERM')
      }
      const { status, stderr } = await command(['--config', world.configFile, 'daemon'], { env, onStart })
      await new Promise((resolve) => receiver.close(resolve))
      expect(status).toBe(0)
      expect(stderr).not.toContain('defect')
      expect(numbers().toSorted()).toEqual(next.map((home) => home.mlsNumber).toSorted())
      expect(world.calls()).toMatchObject({ Create: 12 })
      expect(messages).toEqual(['north: runs fail', 'north is up to date again'])
    },
  )
})

test('where there is no room as it starts, a daemon waits for it, and what was written can be read', async ({
  skip,
}) => {
  const disk = smallDisk(8000, skip)
  const http = { listen: '127.0.0.1:0', token: 'a-token-of-the-test-0123456789' }
  world.configure({ north: { ...north, schedule: '* * * * * *' } }, {}, join(disk, 'store.db'), { http })
  world.deliver(zillowFeed(all))
  expect((await world.command('sync')).status).toBe(0)
  world.deliver(zillowFeed(next))
  const filler = join(disk, 'filler')
  fill(filler)
  const ended = await world.started(async (child) => {
    let log = ''
    child.stderr!.on('data', (text) => (log += String(text)))
    await until(() => log.includes('waiting for it') || child.exitCode !== null)
    expect(await world.command('status')).toMatchObject({ status: 0, stdout: expect.stringContaining('10 listings') })
    expect(await world.command('diff')).toMatchObject({ status: 2, stdout: expect.stringContaining('create 2') })
    const page = `${/"address":"([^"]+)"/.exec(log)?.[1]}/readyz`
    expect(await (await fetch(page)).json()).toEqual({ ready: false })
    const headers = { authorization: `Bearer ${http.token}` }
    expect(await (await fetch(page, { headers })).json()).toMatchObject({ reasons: [{ what: 'store' }] })
    rmSync(filler)
    await until(() => numbers().toSorted().join() === next.map((home) => home.mlsNumber).join())
    child.kill('SIGTERM')
  }, 'daemon')
  expect(ended.status).toBe(0)
  expect(ended.stderr).toContain('the disk is full')
})

describe('on a disk that', () => {
  test('is full: the run ends, no listing is sent without a note of it, and with space the next one is right', async ({
    skip,
  }) => {
    const disk = smallDisk(600, skip)
    const many = homes(1, 300)
    world.deliver(zillowFeed(many))
    const ended = await sync(disk)
    saysClearly(ended, 'the disk is full')
    const created = numbers()
    // What went out is in the report: done, or unknown where there was no room for the outcome.
    const [, done, unknown, skipped] = /(\d+) done, 0 failed, (\d+) unknown, (\d+) skipped/
      .exec(ended.stdout)!
      .map(Number)
    expect([done + unknown, skipped]).toEqual([created.length, 300 - created.length])
    expect(done).toBeGreaterThan(0)
    expect(created.length).toBeGreaterThan(5)
    expect(created.length).toBeLessThan(300)
    expect(new Set(created).size).toBe(created.length)
    saysClearly(await sync(disk), 'the disk is full')
    remount(disk, 'size=64m')
    expect(await sync(disk)).toMatchObject({ status: 0 })
    expect(await sync(disk)).toMatchObject({ status: 0 })
    expect(numbers().toSorted()).toEqual(many.map((home) => home.mlsNumber).toSorted())
    world.calls()
    expect(await sync(disk)).toMatchObject({ status: 0 })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  })

  test('was full before the start: said so, nothing is called; with space it is right', async ({ skip }) => {
    const disk = smallDisk(900, skip)
    world.deliver(zillowFeed(all))
    expect(await sync(disk)).toMatchObject({ status: 0 })
    const filler = join(disk, 'filler')
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1k'])
    world.deliver(zillowFeed(next))
    world.calls()
    saysClearly(await sync(disk), 'the disk is full and this step was not written; free some space')
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
    rmSync(filler)
    expect(await sync(disk)).toMatchObject({ status: 0 })
    expect(numbers().toSorted()).toEqual(next.map((home) => home.mlsNumber).toSorted())
  })

  test('is full where the scratch files are: the run ends before it calls anything', async ({ skip }) => {
    const disk = smallDisk(200, skip)
    world.deliver(zillowFeed(homes(1, 300)))
    const ended = await sync(world.folder, { TMPDIR: disk })
    saysClearly(ended, 'its disk has no room')
    expect(world.listings()).toEqual([])
    expect(readdirSync(disk)).toEqual([])
    expect(await sync(world.folder)).toMatchObject({ status: 0 })
    expect(world.listings()).toHaveLength(300)
  })

  test('takes no larger files: as if it were full', async () => {
    const many = homes(1, 300)
    world.deliver(zillowFeed(many))
    const program = join(import.meta.dirname, '../../bin/listing-sync.mjs')
    // The limit is in blocks of 512 bytes; its signal is ignored, so that writes fail instead.
    const limited = `trap '' XFSZ; ulimit -f 3000; exec "$@"`
    const words = ['-c', limited, 'sh', process.execPath, program, '--config', world.configFile, 'sync']
    const child = spawn('sh', words, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
    const status = await new Promise((resolve) => child.on('close', resolve))
    expect(status).toBe(1)
    expect(output).toMatch(/the disk (?:refused a read or a write|is full)/)
    expect(output).not.toContain('defect')
    expect(new Set(numbers()).size).toBe(numbers().length)
    expect((await world.command('sync')).status).toBe(0)
    expect((await world.command('sync')).status).toBe(0)
    expect(numbers().toSorted()).toEqual(many.map((home) => home.mlsNumber).toSorted())
  })

  test('became read-only: the run ends before it calls anything; looking is possible; writable again, it is right', async ({
    skip,
  }) => {
    const disk = smallDisk(8000, skip)
    world.deliver(zillowFeed(all))
    expect(await sync(disk)).toMatchObject({ status: 0 })
    remount(disk, 'ro')
    world.deliver(zillowFeed(next))
    world.calls()
    saysClearly(await sync(disk), 'readable and writable for this user')
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
    expect((await world.command('diff')).status).toBe(2)
    expect((await world.command('status')).status).toBe(0)
    remount(disk, 'rw')
    expect(await sync(disk)).toMatchObject({ status: 0 })
    expect(numbers().toSorted()).toEqual(next.map((home) => home.mlsNumber).toSorted())
  })

  test('is not there: the folder that cannot be made is named', async () => {
    world.deliver(zillowFeed(all))
    writeFileSync(join(world.folder, 'data'), '')
    saysClearly(await sync(join(world.folder, 'data', 'deep')), 'its folder cannot be made')
    expect(world.listings()).toEqual([])
  })

  test.for(['in a file', 'in a folder of the kernel'])(
    'is not there for the scratch files, %s: the run failed, and status tells why',
    async (where) => {
      world.deliver(zillowFeed(all))
      writeFileSync(join(world.folder, 'data'), '')
      const folder = where === 'in a file' ? join(world.folder, 'data', 'deep') : '/proc/listing-sync/deep'
      saysClearly(await sync(world.folder, { TMPDIR: folder }), folder)
      expect(world.listings()).toEqual([])
      const { stdout } = await world.command('status', '--format', 'json')
      const { lastRun } = JSON.parse(stdout)
      expect(lastRun).toMatchObject({ result: 'failed', error: expect.stringContaining(folder) })
      expect(await sync(world.folder)).toMatchObject({ status: 0 })
    },
  )
})
