/** Servers that fall silent, with the real waits: half a minute for headers, a minute for more bytes (docs/faults.md, F18). */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { FeedError } from '../../../src/core/errors.ts'
import { http } from '../../../src/feed/transport/http.ts'
import { optionsWith, receive } from '../../contract/transport.ts'

test('a server that never answers, or stops in the middle, is told in words', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/middle') response.writeHead(200, { 'content-length': 100 }).write('half')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const silent = `${address}/never: it takes the connection and does not answer within 30 s`
    const [, middle] = await Promise.all([
      expect(http(`${address}/never`, optionsWith({ transferTimeout: 120_000 }))).rejects.toThrow(
        new FeedError(silent),
      ),
      receive(http, `${address}/middle`, optionsWith({ transferTimeout: 120_000 })),
    ])
    const reasons = ['the connection was lost after 4 of 100 bytes (nothing came for 60 s)']
    expect(middle).toMatchObject({ text: 'half', reasons })
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
