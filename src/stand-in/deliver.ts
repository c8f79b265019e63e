import type { ServerResponse } from 'node:http'
import { failure, success } from './envelope.ts'
import type { Reply } from './envelope.ts'
import type { Fault } from './faults.ts'
import type { Operation } from './fields.ts'
import type { Call } from './call.ts'
import type { Stream } from './stream.ts'
import { bodyText, htmlPage, reset, send, sendReply } from './wire.ts'
import type { Delay } from './wire.ts'

/** How a fault can handle a call: carry it out now or after so many further requests, or not at all. */
export interface Handling {
  call: Call
  version: string
  delay: Delay
  carryOut(call: Call): Reply
  carryOutLater(call: Call, requests: number): void
}

/** Answers a call by the fault or, without one, like a healthy service. */
export async function deliver(fault: Fault | null, response: ServerResponse, handling: Handling): Promise<void> {
  const { call, version } = handling
  if (!fault) return sendWhole(response, handling.carryOut(call), handling)
  switch (fault.kind) {
    case 'status': {
      if (fault.carriedOut) handling.carryOut(call)
      const { status, message, retryAfter } = fault
      const headers: Reply['headers'] = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
      if (fault.body === 'html') return send(response, status, 'text/html', htmlPage, headers)
      if (fault.body === 'empty') return send(response, status, 'text/plain', '', headers)
      return sendReply(response, { ...failure(status, message, version, status), headers })
    }
    case 'refuse':
      return sendReply(response, failure(fault.code, fault.message, version))
    case 'credentials': {
      const status = fault.via === 'http' ? fault.code : 200
      return sendReply(response, failure(fault.code, 'The key is no longer good', version, status))
    }
    case 'reset':
      if (fault.when === 'in-the-answer') return sendHalf(response, handling.carryOut(call))
      if (fault.when === 'after-carrying-out') handling.carryOut(call)
      return reset(response)
    case 'hang':
      if (fault.carriedOut) handling.carryOut(call)
      return
    case 'late':
      handling.carryOutLater(call, fault.requests)
      if (fault.answer === 'reset') reset(response)
      else if (fault.answer === 'gateway-timeout') send(response, 504, 'text/html', htmlPage)
      return
    case 'body':
      return sendBroken(response, fault, fault.carriedOut ? handling.carryOut(call) : null, handling)
    case 'pretend':
      return sendReply(response, success(pretended(call), version))
    case 'partly':
      return sendReply(response, handling.carryOut(withFirstKeys(call, fault.keys)))
    case 'hide':
      return sendReply(response, onlyFirstItems(handling.carryOut(call), fault.shown))
    case 'redirect':
      return send(response, fault.status, 'text/html', htmlPage, { location: fault.location })
    case 'drip':
      return drip(response, handling.carryOut(call), fault.bytes, () => handling.delay(fault.pause))
    case 'slow': {
      const reply = handling.carryOut(call)
      await handling.delay(fault.wait)
      return sendWhole(response, reply, handling)
    }
    case 'say': {
      const { content, noAnswer } = fault
      return sendWhole(response, handling.carryOut({ ...call, say: { content, noAnswer } }), handling)
    }
    case 'cut-stream':
      return sendCutStream(response, fault, handling.carryOut(call), handling)
  }
}

/** Sends the envelope, or the whole stream. */
async function sendWhole(response: ServerResponse, reply: Reply, { delay }: Handling): Promise<void> {
  if (!reply.stream) return sendReply(response, reply)
  await writeStream(response, reply.stream, [...reply.stream.pieces, reply.stream.end], delay)
  response.end()
}

/** A refused call has no stream to cut: its refusal is sent. */
async function sendCutStream(
  response: ServerResponse,
  { pieces, by }: Extract<Fault, { kind: 'cut-stream' }>,
  reply: Reply,
  { version, delay }: Handling,
): Promise<void> {
  if (!reply.stream) return sendReply(response, reply)
  await writeStream(response, reply.stream, reply.stream.pieces.slice(0, pieces), delay)
  // A reset would discard what was sent but not read yet.
  if (by === 'cut') return void response.socket?.destroy()
  if (by === 'hang') return
  response.end(by === 'end' ? '' : JSON.stringify(failure(500, 'The answer broke off', version).body))
}

/** HTTP 200 with a body that must not be taken for success. */
function sendBroken(
  response: ServerResponse,
  { form }: Extract<Fault, { kind: 'body' }>,
  reply: Reply | null,
  { call, version }: Handling,
): void {
  const text = wholeText(reply ?? success(pretended(call), version))
  const type = reply?.stream ? streamType : 'application/json'
  switch (form) {
    case 'html':
      return send(response, 200, 'text/html', htmlPage)
    case 'cut-json':
      return send(response, 200, type, text.slice(0, text.length >> 1))
    case 'empty':
      return send(response, 200, type, '')
    case 'success-false':
      return sendReply(response, failure(500, 'Something went wrong', version))
    case 'null-data':
      return sendReply(response, success(null, version))
  }
}

/** A successful answer for a call that is not carried out. */
function pretended({ operation, json }: Call): unknown {
  const data: Record<Operation, unknown> = {
    Create: '999999999',
    Update: 1,
    List: { List: [], VirtualCount: 0 },
    Delete: { SuccessCount: keysOf(json).length },
    Edit: 1,
    ClientAsk: { messageid: 999999999, content: '', totalToken: 0, noAnswer: false },
  }
  return data[operation]
}

function withFirstKeys(call: Call, count: number): Call {
  const { json } = call
  if (typeof json !== 'object') return call
  return { ...call, json: { ...json, Keys: keysOf(json).slice(0, count) } }
}

function keysOf(json: unknown): unknown[] {
  const keys = typeof json === 'object' && json !== null && 'Keys' in json ? json.Keys : []
  return Array.isArray(keys) ? keys : []
}

function onlyFirstItems(reply: Reply, count: number): Reply {
  const data = reply.body.Data
  if (typeof data !== 'object' || data === null || !('List' in data) || !Array.isArray(data.List)) return reply
  const items: unknown[] = data.List.slice(0, count)
  return { ...reply, body: { ...reply.body, Data: { List: items, VirtualCount: items.length } } }
}

/** The complete text of a reply: the envelope, or all of the stream. */
function wholeText(reply: Reply): string {
  const { stream } = reply
  return stream ? [...stream.pieces, stream.end].join('') : bodyText(reply)
}

/** Sends the head and half of the announced body, then cuts the connection. */
function sendHalf(response: ServerResponse, reply: Reply): void {
  const bytes = startWhole(response, reply)
  response.write(bytes.subarray(0, bytes.length >> 1), () => response.socket?.destroy())
}

/** Sends the body in small pieces, each after a pause. */
async function drip(response: ServerResponse, reply: Reply, size: number, pause: () => Promise<void>): Promise<void> {
  const bytes = startWhole(response, reply)
  for (let from = 0; from < bytes.length && !response.destroyed; from += size) {
    await pause()
    response.write(bytes.subarray(from, from + size))
  }
  response.end()
}

/** Sends the head and returns the body to follow. Only a stream's length is not announced. */
function startWhole(response: ServerResponse, reply: Reply): Buffer {
  const bytes = Buffer.from(wholeText(reply))
  const head = reply.stream
    ? { 'content-type': streamType }
    : { 'content-type': 'application/json', 'content-length': bytes.length }
  response.writeHead(reply.status, { ...head, ...reply.headers })
  return bytes
}

/** The documented type of streams, whatever their framing. */
const streamType = 'text/event-stream'

/** Starts a stream and writes the given texts, each after the last was sent; the caller ends it. */
async function writeStream(
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
