/** The server's limit of connections, over real ones. */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { serve } from '../../src/http/serve.ts'
import type { Entry } from '../../src/http/door.ts'
import { until } from '../support/until.ts'
import { ask } from './served.ts'

test('of too many connections the oldest are closed, and a new one is answered', async () => {
  const pages = new Hono<Entry>().get('/', (context) => context.text('here')) as Hono<Entry>
  const serving = await serve(pages, '127.0.0.1:0')
  const sockets: Socket[] = []
  try {
    const open = async (): Promise<void> => {
      const socket = connect(Number(new URL(serving.address).port), '127.0.0.1').resume()
      socket.on('error', () => undefined)
      sockets.push(socket)
      await once(socket, 'connect')
    }
    await open()
    await open()
    await Promise.all(Array.from({ length: 254 }, open))
    expect(await ask(serving.address, '/')).toMatchObject({ status: 200, text: 'here' })
    await until(() => sockets[0].closed)
    expect(sockets.filter(({ closed }) => closed)).toHaveLength(1)
  } finally {
    for (const socket of sockets) socket.destroy()
    await serving.close()
  }
})
