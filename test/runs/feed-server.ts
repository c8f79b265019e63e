/** A feed as an HTTP server gives it: bytes with an ETag, answered with 304 where the caller has them already. */
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { shortHash } from '../../src/core/hash.ts'

export interface FeedServer {
  readonly url: string
  /** Status of each answer so far. */
  readonly statuses: number[]
  /** What is given from now on; `answer` may break off instead of giving it whole. */
  give(content: string | Buffer, answer?: (response: ServerResponse, content: Buffer) => void): void
  close(): Promise<void>
}

export async function startFeedServer(): Promise<FeedServer> {
  let content = Buffer.alloc(0)
  let custom: ((response: ServerResponse, content: Buffer) => void) | undefined
  const statuses: number[] = []
  const server = createServer((request, response) => {
    const etag = `"${shortHash(content)}"`
    if (custom !== undefined) return custom(response, content)
    if (request.headers['if-none-match'] === etag) {
      statuses.push(304)
      return response.writeHead(304, { etag }).end()
    }
    statuses.push(200)
    return response.writeHead(200, { etag, 'content-length': content.length, 'content-type': 'text/xml' }).end(content)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the feed server has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    statuses,
    give(next, answer) {
      content = Buffer.from(next)
      custom = answer
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
