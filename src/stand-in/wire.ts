import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Reply } from './envelope.ts'

/** Resolves after so many milliseconds; replaced in tests, which do not wait. */
export type Delay = (milliseconds: number) => Promise<void>

export const htmlPage = '<!DOCTYPE html><html><head><title>Error</title></head><body><h1>Error</h1></body></html>'

const longestBody = 8 * 1024 * 1024

/** The whole body; null: longer than 8 MiB, or the connection broke. */
export async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  let length = 0
  try {
    for await (const piece of request as AsyncIterable<Buffer>) {
      length += piece.length
      if (length > longestBody) return null
      pieces.push(piece)
    }
  } catch {
    return null
  }
  return Buffer.concat(pieces)
}

/** The JSON value; undefined: not JSON in UTF-8. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  send(response, status, 'application/json; charset=utf-8', JSON.stringify(value), headers)
}

export function sendReply(response: ServerResponse, reply: Reply): void {
  send(response, reply.status, 'application/json; charset=utf-8', bodyText(reply), reply.headers)
}

/** The envelope of a reply, as it is sent. */
export function bodyText({ body, spell }: Reply): string {
  return JSON.stringify(spell ? spell(body) : body)
}

export function send(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  headers: Record<string, string> = {},
): void {
  const bytes = Buffer.from(text)
  response.writeHead(status, { 'content-type': type, 'content-length': bytes.length, ...headers })
  response.end(bytes)
}

/** Cuts the connection so that the other side sees a reset, not an end. */
export function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy()
}
