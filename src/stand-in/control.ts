import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { faultRuleSchema } from './faults.ts'
import { problemsOf } from './settings.ts'
import { parseJson, readBody, sendJson } from './wire.ts'
import type { World } from './world.ts'

type Answer = (world: World, url: URL, request: IncomingMessage) => Promise<[status: number, json: unknown]>

/** Reads something of the chatbot that the query names. */
const ofChatbot =
  (read: (world: World, serialNumber: string) => unknown): Answer =>
  async (world, url) => {
    const serialNumber = url.searchParams.get('SerialNumber')
    if (serialNumber === null) return [400, { problems: ['SerialNumber: required in the query'] }]
    return [200, read(world, serialNumber)]
  }

/** Paths that control the stand-in; a real service has none of them. */
const paths: Record<string, Answer> = {
  'GET /_stand-in/listings': ofChatbot((world, serialNumber) => world.rows.all(serialNumber)),
  'GET /_stand-in/settings': ofChatbot((world, serialNumber) => world.chatbots.settings(serialNumber)),
  'GET /_stand-in/journal': async (world) => [200, { counts: world.journal.counts, requests: world.journal.entries }],
  'POST /_stand-in/faults': async (world, _url, request) => {
    const json = parseJson((await readBody(request)) ?? Buffer.alloc(0))
    const rules = z.array(faultRuleSchema).safeParse(Array.isArray(json) ? json : [json])
    if (!rules.success) return [400, { problems: problemsOf(rules.error) }]
    for (const rule of rules.data) world.faults.add(rule)
    return [200, { added: rules.data.length }]
  },
  'DELETE /_stand-in/faults': async (world) => [200, { removed: world.faults.clear() }],
}

export function isControlPath(url: URL): boolean {
  return url.pathname.startsWith('/_stand-in/')
}

export async function control(
  world: World,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = `${request.method} ${url.pathname}`
  const answer = Object.hasOwn(paths, path) ? paths[path] : null
  const [status, json] = answer
    ? await answer(world, url, request)
    : [404, { problems: [`${path}: there are only ${Object.keys(paths).join(', ')}`] }]
  sendJson(response, status, json)
}
