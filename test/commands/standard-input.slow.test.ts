/** A feed on standard input, through the program as its users start it. */
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { standardInput } from '../../src/feed/transport/stdin.ts'
import type { InputStream } from '../../src/feed/transport/stdin.ts'
import { optionsWith, receive } from '../contract/transport.ts'
import { home, homes, resoFeed, zillowFeed } from '../support/homes.ts'
import { program } from '../support/program.ts'
import type { Ended } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'
import { zip } from '../support/zip.ts'

const feed = Buffer.from(zillowFeed([1, 2, 3, 4, 5].map((number) => home(number))))

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north: { source: '-' } } })
})
afterEach(() => world.end())

/** Runs a line of a shell in the world's folder, where `$LISTING_SYNC` is the program with its configuration. */
async function shell(
  line: string,
  stdin: 'pipe' | number = 'pipe',
  more: (input: NodeJS.WritableStream) => void = end,
) {
  const start = `'${process.execPath}' '${program}' --config '${world.configFile}'`
  const child = spawn('sh', ['-c', line.replaceAll('listing-sync', () => start)], {
    cwd: world.folder,
    stdio: [stdin, 'pipe', 'pipe'],
  })
  const found: Ended = { status: null, stdout: '', stderr: '' }
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (found.stdout += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (found.stderr += text))
  if (child.stdin) more(child.stdin.on('error', () => undefined))
  found.status = await new Promise((resolve) => child.on('close', resolve))
  return found
}

function end(input: NodeJS.WritableStream): void {
  input.end()
}

test.each<[string, Buffer]>([
  ['as it is', feed],
  ['compressed', gzipSync(feed)],
  [
    'in an archive',
    zip([
      { name: 'photo.jpg', content: 'jpeg' },
      { name: 'export.xml', content: feed },
    ]),
  ],
])('cat FILE | listing-sync sync: %s', async (_, content) => {
  world.deliver(content, 'delivery')
  expect(await shell('cat delivery | listing-sync sync')).toMatchObject({ status: 0, stderr: '' })
  expect(world.listings()).toHaveLength(5)
  expect(await shell('listing-sync diff < delivery')).toMatchObject({ status: 0, stderr: '' })
})

test('a feed that comes in pieces', async () => {
  const ended = await shell('listing-sync sync', 'pipe', (input) => {
    input.write(feed.subarray(0, 3), () => input.write(feed.subarray(3, 5000), () => input.end(feed.subarray(5000))))
  })
  expect(ended).toMatchObject({ status: 0, stderr: '' })
  expect(world.listings()).toHaveLength(5)
})

test('a writer that died half way deletes nothing', async () => {
  world.deliver(feed, 'delivery')
  await shell('listing-sync sync < delivery')
  const ended = await shell('head -c 5000 delivery | listing-sync sync --format json')
  expect(ended.status).toBe(4)
  expect(JSON.parse(ended.stdout)).toMatchObject({ delivery: { complete: false }, counts: { delete: 0 } })
  expect(world.listings()).toHaveLength(5)
})

test('too much of it is not read', async () => {
  world.configure({ north: { source: '-', maxBytes: '4KB' } })
  world.deliver(feed, 'delivery')
  const ended = await shell('cat delivery | listing-sync diff --format json')
  expect(JSON.parse(ended.stdout)).toMatchObject({
    delivery: {
      complete: false,
      reasons: [expect.stringContaining('more than 4096 bytes arrived'), expect.anything()],
    },
  })
})

test('a writer that never ends is given up', async () => {
  world.configure({ north: { source: '-', transferTimeout: '2s' } })
  const ended = await shell('listing-sync diff --format json', 'pipe', (input) => input.write(feed.subarray(0, 5000)))
  expect(JSON.parse(ended.stdout)).toMatchObject({
    delivery: {
      reasons: [
        expect.stringMatching(/standard input did not end within 2000 ms \(transferTimeout\); .* after 5000 bytes/),
        expect.anything(),
      ],
    },
  })
})

test('a terminal is told that a feed is expected, and nothing can be read twice', async () => {
  const input: InputStream = Readable.from([feed])
  input.isTTY = true
  const transport = standardInput(() => input)
  const expected = /standard input \(source "-"\) is a terminal; redirect a feed/
  await expect(transport('-', optionsWith())).rejects.toThrow(expected)
  input.isTTY = false
  expect(await receive(transport, '-', optionsWith())).toMatchObject({ proven: false, reasons: [] })
  await expect(transport('-', optionsWith())).rejects.toThrow('standard input was read already')
})

test('a table that comes through a pipe may lack its end: only what two lack that end alike is deleted', async () => {
  world.configure({ north: { source: '-', preset: 'reso-csv', delivery: 'full' } })
  const all = homes(1, 8)
  world.deliver(resoFeed(all), 'whole')
  world.deliver(resoFeed(all.slice(1)), 'less')
  const sync = async (writer: string) => {
    const { status, stdout } = await shell(`${writer} | listing-sync sync`)
    return { status, listings: world.listings().length, says: /a pipe ends just so if its writer dies/.test(stdout) }
  }
  expect(await sync('cat whole')).toEqual({ status: 0, listings: 8, says: true })
  expect(await sync('head -n 5 whole')).toEqual({ status: 4, listings: 8, says: true })
  expect(await sync('cat whole')).toEqual({ status: 4, listings: 8, says: true })
  expect(await sync('cat less')).toEqual({ status: 0, listings: 8, says: true })
  expect(await sync('cat less')).toEqual({ status: 0, listings: 7, says: true })
  expect(await sync('gzip -c whole')).toEqual({ status: 0, listings: 8, says: false })
})

test('nothing at all is no delivery', async () => {
  const nothing = openSync('/dev/null', 'r')
  try {
    const ended = await shell('listing-sync sync --format json', nothing)
    expect(JSON.parse(ended.stdout)).toMatchObject({ delivery: { complete: false }, counts: { delete: 0 } })
  } finally {
    closeSync(nothing)
  }
})
