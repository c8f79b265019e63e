import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FeedError } from '../../src/core/errors.ts'
import type { Clock } from '../../src/core/machine.ts'
import { transportSettings } from '../../src/feed/transport/settings.ts'
import type { Login } from '../../src/feed/transport/settings.ts'
import type { Opened, Transport, TransportOptions } from '../../src/feed/transport/transport.ts'

const scratch = mkdtempSync(join(tmpdir(), 'listing-sync-scratch-'))
/** Nothing here has to wait. */
const clock: Clock = {
  now: () => Date.parse('2026-11-21T12:00:00Z'),
  sleep: () => Promise.reject(new Error('nobody is to sleep')),
}

export function optionsWith(more: Partial<TransportOptions> = {}): TransportOptions {
  return {
    directory: '/',
    ...transportSettings.parse({ maxBytes: '10MB', transferTimeout: '30s' }),
    validators: null,
    scratch,
    clock,
    signal: new AbortController().signal,
    ...more,
  }
}

export async function open(transport: Transport, source: string, options: TransportOptions): Promise<Opened> {
  const result = await transport(source, options)
  if (result === 'not-modified') throw new Error('not modified')
  return result
}

/** All bytes of a source as Latin-1, and how they ended. */
export async function receive(transport: Transport, source: string, options: TransportOptions) {
  return received(await open(transport, source, options))
}

export async function received(opened: Opened) {
  const pieces: Buffer[] = []
  // Blocks are filled anew (`Opened.bytes`), and this reader keeps them all.
  for await (const part of opened.bytes) pieces.push(Buffer.from(part))
  return { ...opened.end(), text: Buffer.concat(pieces).toString('latin1'), name: opened.name }
}

export interface TransportCase {
  name: string
  transport: Transport
  directory: string
  /** Puts a document where the transport finds it, and gives its source. */
  put: (content: Buffer) => Promise<string>
  /** A source with nothing there. */
  missing: () => Promise<string>
  login?: Login
  ca?: string
}

/** What every transport promises (feed.ts, `Transport`). */
export function transportContract({ name, transport, directory, put, missing, login = {}, ca }: TransportCase): void {
  const options = (more: Partial<TransportOptions> = {}) => optionsWith({ directory, login, ca: ca ?? null, ...more })
  describe(`${name} keeps the transport contract`, () => {
    test('gives the bytes as they are, and a name without secrets', async () => {
      const content = Buffer.alloc(3_000_000, 'listing \u00e9\r\n', 'latin1')
      const received = await receive(transport, await put(content), options())
      expect(received.text).toBe(content.toString('latin1'))
      expect(received.reasons).toEqual([])
      expect(received.name).not.toMatch(/[?#@]/)
    })

    test('nothing at all is nothing, without an error', async () => {
      const received = await receive(transport, await put(Buffer.alloc(0)), options())
      expect(received).toMatchObject({ text: '', reasons: [] })
    })

    test('a missing source is a FeedError', async () => {
      const opening = transport(await missing(), options())
      await expect(opening).rejects.toBeInstanceOf(FeedError)
    })

    test('a source larger than accepted is refused', async () => {
      const source = await put(Buffer.alloc(2000, 'x'))
      await expect(transport(source, options({ maxBytes: 1999 }))).rejects.toThrow(/2000 bytes.*1999/)
      expect((await receive(transport, source, options({ maxBytes: 2000 }))).reasons).toEqual([])
    })

    test('a stop before the first byte throws its reason, one after it is a reason', async () => {
      const source = await put(Buffer.alloc(5_000_000, 'x'))
      const stop = new AbortController()
      const opened = await open(transport, source, options({ signal: stop.signal }))
      let size = 0
      for await (const part of opened.bytes) {
        size += part.length
        stop.abort(new Error('stopped by the test'))
      }
      expect(size).toBeLessThan(5_000_000)
      expect(opened.end()).toEqual({ proven: false, reasons: [expect.stringMatching(/was stopped/)] })
      const late = transport(source, options({ signal: stop.signal }))
      await expect(late).rejects.toThrow('stopped by the test')
    })

    test('leaving early is no error', async () => {
      const opened = await open(transport, await put(Buffer.alloc(5_000_000, 'x')), options())
      for await (const part of opened.bytes) {
        expect(part.length).toBeGreaterThan(0)
        break
      }
      expect(opened.end().proven).toBe(false)
    })
  })
}
