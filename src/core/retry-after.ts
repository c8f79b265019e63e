/** The wait that a server asks for. */

/** The shortest wait, even for 0 or a past date. */
const shortestWait = 1000
/** A timer with a longer wait would fire at once. */
const longestWait = 2 ** 31 - 1

/** Milliseconds to wait by Retry-After (seconds or an HTTP date); null: none, or invalid. */
export function readRetryAfter(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  now: number,
): number | null {
  const value = headers['retry-after']
  if (typeof value !== 'string') return null
  const text = value.trim()
  const wait = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : parseHttpDate(text) - now
  return Number.isNaN(wait) ? null : Math.min(longestWait, Math.max(shortestWait, wait))
}

/** One of HTTP's three date forms as milliseconds since the epoch; NaN for anything else. */
function parseHttpDate(text: string): number {
  // Date.parse alone reads "-5" as a day in 2001.
  if (!/^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? /i.test(text)) return Number.NaN
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
}
