import type { SendResponse } from './send.ts'

/** Shortest wait that is taken from the header: a past date or a zero is no leave to hammer (fault-model F116). */
const shortestWait = 1000
/** More does not fit into a timer, which would then fire at once. */
const longestWait = 2 ** 31 - 1

/** Milliseconds to wait by Retry-After (seconds or an HTTP date, U15); null where there is none or it makes no sense. */
export function readRetryAfter(headers: SendResponse['headers'], now: number): number | null {
  const value = headers['retry-after']
  if (typeof value !== 'string') return null
  const text = value.trim()
  const wait = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : parseHttpDate(text) - now
  return Number.isNaN(wait) ? null : Math.min(longestWait, Math.max(shortestWait, wait))
}

/** Milliseconds since the epoch of one of HTTP's three date forms; NaN for anything else. */
function parseHttpDate(text: string): number {
  // Date.parse alone takes "-5" for a day in 2001.
  if (!/^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? /i.test(text)) return Number.NaN
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
}
