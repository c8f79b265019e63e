/** One request and its whole answer, without knowing what the answer says. */
import { Agent, request } from 'undici'
import { FeedError, codeOf, systemReason } from '../../core/errors.ts'
import { gunzipped, isGzip } from '../../core/gzip.ts'
import { nameOf } from '../transport/address.ts'
import { reachOf } from '../transport/reach.ts'

export interface Asked {
  method: 'GET' | 'POST'
  url: URL
  headers: Record<string, string>
  body?: string
}

export interface Answered {
  status: number
  /** By their names in lower case. */
  headers: Readonly<Record<string, string | undefined>>
  body: string
  /** Bytes as sent, so perhaps compressed. */
  size: number
}

/** Sends a request. Throws `Lost` if no whole answer came. A redirect is an answer, and is not followed. */
export type Exchange = (asked: Asked, signal: AbortSignal) => Promise<Answered>

/** The answer did not come, or not all of it: asking again may help. */
export class Lost extends Error {
  override name = 'Lost'
}

const connectTimeout = 10_000
const headersTimeout = 60_000
const bodyTimeout = 60_000

/** Exchanges with hosts that a person named, each on connections of its own. `maxBytes`: most of one answer, unpacked. */
export function createExchange(maxBytes: number): { exchange: Exchange; close: () => Promise<unknown> } {
  const agents = new Map<string, Agent>()
  const agentFor = (url: URL): Agent => {
    const known = agents.get(url.origin)
    if (known !== undefined) return known
    const { lookup } = reachOf(url, { headers: {}, allowPrivateRedirects: false })
    const agent = new Agent({ connect: { timeout: connectTimeout, lookup }, headersTimeout, bodyTimeout })
    agents.set(url.origin, agent)
    return agent
  }
  const exchange: Exchange = async ({ method, url, headers, body }, signal) => {
    try {
      const answer = await request(url, { dispatcher: agentFor(url), method, headers, signal, body: body ?? null })
      const chunks: Buffer[] = []
      let size = 0
      for await (const part of answer.body) {
        size += (part as Buffer).length
        if (size > maxBytes) throw new FeedError(`${nameOf(url)} sends more than ${maxBytes} bytes in one answer`)
        chunks.push(part as Buffer)
      }
      const sent = Buffer.concat(chunks)
      const plain = isGzip(sent) ? await gunzipped(sent, maxBytes) : sent
      const named = Object.entries(answer.headers).map(([name, value]) => [
        name.toLowerCase(),
        Array.isArray(value) ? value.join(', ') : value,
      ])
      return { status: answer.statusCode, headers: Object.fromEntries(named), body: plain.toString('utf8'), size }
    } catch (error) {
      if (error instanceof FeedError) throw error
      signal.throwIfAborted()
      throw new Lost(systemReason(error) ?? (codeOf(error) || (error instanceof Error ? error.name : 'unknown')))
    }
  }
  return { exchange, close: () => Promise.all(Array.from(agents.values(), (agent) => agent.destroy())) }
}
