import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startStandIn } from '../../src/stand-in/stand-in.ts'
import type { StandIn } from '../../src/stand-in/stand-in.ts'

let standIn: StandIn
beforeAll(async () => {
  standIn = await startStandIn()
})
afterAll(() => standIn.close())

/** The status of a Delete under a name. */
const asked = (host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: standIn.port, method: 'POST', headers: { host } }
    request({ ...options, path: '/chat/Chatbot/RealEstateDelete' }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end('{}')
  })

test.each(['evil.example', 'evil.example:8080', '127.0.0.1.evil.example', '192.168.1.7', ' '])(
  'answers nobody who calls it %j',
  async (host) => {
    expect(await asked(host)).toBe(421)
    expect(standIn.counts.Delete).toBe(0)
  },
)

test('answers to its own names', async () => {
  for (const name of ['127.0.0.1', 'localhost', `localhost:${standIn.port}`, 'LOCALHOST', '[::1]:1'])
    expect(await asked(name), name).not.toBe(421)
  expect(standIn.counts.Delete).toBe(5)
})
