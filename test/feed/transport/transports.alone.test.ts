/** The map of transports: each keeps the contract, and a new one needs only its file and its line. */
import { readFileSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FeedError } from '../../../src/core/errors.ts'
import type { Transport } from '../../../src/feed/transport/transport.ts'
import { sourceSecrets, transports } from '../../../src/feed/transport/transports.ts'
import { transportContract } from '../../contract/transport.ts'
import { home, zillowFeed } from '../../support/homes.ts'
import { RunWorld } from '../../support/run-world.ts'

const shelves = new Map<string, Buffer>()

/** Documents of this process's memory, `memory://name?token`: a transport as its file would export it. */
const memory: Transport = async (source, { maxBytes, signal }) => {
  signal.throwIfAborted()
  const content = shelves.get(nameOf(source))
  if (content === undefined) throw new FeedError(`${nameOf(source)} is not there`)
  if (content.length > maxBytes)
    throw new FeedError(`${nameOf(source)} has ${content.length} bytes, more than the ${maxBytes} accepted`)
  const reasons: string[] = []
  let sent = 0
  async function* bytes(): AsyncGenerator<Buffer> {
    for (; sent < content!.length; sent += 65_536) {
      if (signal.aborted) {
        reasons.push(`reading was stopped after ${sent} bytes`)
        return
      }
      yield content!.subarray(sent, sent + 65_536)
    }
  }
  return {
    name: nameOf(source),
    bytes: bytes(),
    charset: null,
    contentEncoding: null,
    validators: {},
    end: () => ({ proven: reasons.length === 0 && sent >= content.length, reasons }),
  }
}
const nameOf = (source: string): string => source.replace(/\?.*/, '')

beforeAll(() => {
  transports.memory = {
    addressProblem: (source) => (/^memory:\/\/\w/.test(source) ? null : 'names no shelf'),
    secrets: (source) => [source.split('?')[1] ?? ''],
    load: async () => memory,
  }
})
afterAll(() => delete transports.memory)

let count = 0
transportContract({
  name: 'a transport of its own',
  transport: memory,
  directory: '/',
  put: async (content) => {
    const name = `memory://shelf-${++count}`
    shelves.set(name, content)
    return `${name}?a-token`
  },
  missing: async () => 'memory://nowhere',
})

describe('a transport of its own, by its line in the map alone', () => {
  test('brings a delivery to the service', async () => {
    expect(sourceSecrets('memory://homes?the-token')).toEqual(['the-token'])
    const world = await RunWorld.start({ feeds: { north: { source: 'memory://homes?the-token' } } })
    try {
      shelves.set('memory://homes', Buffer.from(zillowFeed([home(1), home(2)])))
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2 } })
      expect(world.listings()).toHaveLength(2)
      shelves.delete('memory://homes')
      expect(await world.run()).toMatchObject({ result: 'failed', error: 'memory://homes is not there' })
    } finally {
      await world.end()
    }
  })

  test.each([
    [{ source: 'memory://' }, 'north.source: names no shelf'],
    [{ source: 'shelf://a' }, '"shelf" is not a known kind of source; use a path, http(s), sftp, ftp(s) or memory'],
    [{ source: 'memory://a', login: { user: 'x' } }, 'north.login: only an sftp or ftp(s) source takes login'],
    [{ source: 'memory://a', headers: { a: 'b' } }, 'north.headers: only an http(s) source takes headers'],
    [{ source: 'memory://a', ready: { marker: 'b' } }, 'north.ready: only files and folders take ready'],
  ])('the configuration is checked by it: %j', async (feed, problem) => {
    const world = await RunWorld.start({ feeds: { north: feed } })
    try {
      await expect(world.run()).rejects.toThrow(problem)
    } finally {
      await world.end()
    }
  })
})

test('every transport of the map is under the contract, but for what can be read only once', async () => {
  const folder = import.meta.dirname
  const tests = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
  const named = tests.flatMap((text) =>
    [...text.matchAll(/transportContract\(\{\s*name: '([^']+)'/g)].map(([, name]) => name),
  )
  const under = new Set(await Promise.all(named.flatMap((name) => transports[name]?.load() ?? [])))
  for (const [name, entry] of Object.entries(transports)) {
    if (name !== 'memory' && entry.once === undefined) expect(under.has(await entry.load()), name).toBe(true)
  }
})
