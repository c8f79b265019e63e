import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Reply } from './envelope.ts'
import type { Stream } from './stream.ts'

/** Resolves after so many milliseconds. Handed in, so that a test need not wait. */
export type Delay = (milliseconds: number) => Promise<void>

export const htmlPage = '<!DOCTYPE html><html><head><title>Error</title></head><body><h1>Error</h1></body></html>'

const longestBody = 8 * 1024 * 1024

/** The whole body; null where it is longer than 8 MiB or the connection broke. */
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

/** The JSON value, or undefined where the bytes are not JSON in UTF-8. */
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
  sendJson(response, reply.status, reply.body, reply.headers)
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

/** What a reply is on the wire when it is whole: the envelope, or all of the stream. */
export function wholeText({ body, stream }: Reply): string {
  return stream ? [...stream.pieces, stream.end].join('') : JSON.stringify(body)
}

/** Sends the head and half of the body that it announces, then cuts the connection. */
export function sendHalf(response: ServerResponse, reply: Reply): void {
  const bytes = startWhole(response, reply)
  response.write(bytes.subarray(0, bytes.length >> 1), () => response.socket?.destroy())
}

/** Sends the body in small pieces, each after a pause. */
export async function drip(
  response: ServerResponse,
  reply: Reply,
  size: number,
  pause: () => Promise<void>,
): Promise<void> {
  const bytes = startWhole(response, reply)
  for (let from = 0; from < bytes.length && !response.destroyed; from += size) {
    await pause()
    response.write(bytes.subarray(from, from + size))
  }
  response.end()
}

/** Sends the head; gives the body that is to follow. Only a stream's length is not announced. */
function startWhole(response: ServerResponse, reply: Reply): Buffer {
  const bytes = Buffer.from(wholeText(reply))
  const head = reply.stream
    ? { 'content-type': streamType }
    : { 'content-type': 'application/json', 'content-length': bytes.length }
  response.writeHead(reply.status, { ...head, ...reply.headers })
  return bytes
}

/** The interface names this type for streams, however they are framed. */
export const streamType = 'text/event-stream'

/** Starts a stream and writes the given texts of it, each when the one before has left; the caller ends it. */
export async function writeStream(
  response: ServerResponse,
  { bytesPerWrite, pause }: Stream,
  texts: readonly string[],
  delay: Delay,
): Promise<void> {
  response.writeHead(200, { 'content-type': streamType })
  response.flushHeaders()
  const writes = bytesPerWrite === null ? texts.map((text) => Buffer.from(text)) : cut(texts.join(''), bytesPerWrite)
  for (const [index, bytes] of writes.entries()) {
    if (response.destroyed) return
    if (index > 0 && pause > 0) await delay(pause)
    await new Promise<void>((resolve) => void response.write(bytes, () => resolve()))
  }
}

function cut(text: string, size: number): Buffer[] {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}
