/** The server under the pages. Its limits are small, as anybody may reach it. */
import { createAdaptorServer } from '@hono/node-server'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { UserError, codeOf, messageOf } from '../core/errors.ts'
import type { Entry } from './door.ts'
import { listenPlace } from './settings.ts'

type Socket = HttpBindings['incoming']['socket']

/** Milliseconds for a request to arrive. */
const patience = 10_000
/** If there are more, the oldest is closed. */
const mostConnections = 256

export interface Serving {
  /** Such as "http://127.0.0.1:9464". */
  address: string
  close(): Promise<void>
}

/** Listens. Throws `UserError` if it can't. */
export async function serve(pages: Hono<Entry>, listen: string): Promise<Serving> {
  const { hostname, port } = listenPlace(listen)!
  const server = createAdaptorServer({
    fetch: pages.fetch,
    overrideGlobalObjects: false,
    serverOptions: { headersTimeout: patience, requestTimeout: patience, maxHeaderSize: 16_384 },
  })
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket.once('close', () => open.delete(socket)))
    if (open.size <= mostConnections) return
    // Not the newest, as that may ask for a sign of life, and restarts the daemon without an answer.
    const [oldest] = open
    open.delete(oldest)
    oldest.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const why =
        codeOf(error) === 'EADDRINUSE'
          ? 'another program listens there; stop it, or take another port'
          : codeOf(error) === 'EACCES'
            ? 'this user may not listen there; take a port from 1024 on'
            : codeOf(error) === 'EADDRNOTAVAIL'
              ? 'this machine has no such address'
              : messageOf(error)
      reject(new UserError(`http.listen: ${listen}: ${why}`))
    })
    server.listen(port, hostname, () => resolve())
  })
  const bound = server.address()
  const actual = bound !== null && typeof bound === 'object' ? bound.port : port
  return {
    address: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${actual}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        if ('closeAllConnections' in server) server.closeAllConnections()
      }),
  }
}

/** Listens and stops at once, for `check`. Throws `UserError` if it can't. */
export async function tryToListen(listen: string): Promise<void> {
  await (await serve(new Hono(), listen)).close()
}
