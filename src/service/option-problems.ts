/** What is wrong with the numbers of a client's options. */

/** The longest time that a timer takes, in milliseconds. */
const longestTimer = 2 ** 31 - 1

/** What is wrong with a time for an answer in milliseconds, or null. */
export function timeoutProblem(timeout: unknown): string | null {
  if (typeof timeout === 'number' && timeout > 0 && timeout <= longestTimer) return null
  return `must be milliseconds, from 1 to ${longestTimer}, not ${String(timeout)}`
}

const isPositive = (value: unknown): boolean => typeof value === 'number' && value > 0
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1
const isLeastNothing = (value: unknown): boolean => typeof value === 'number' && value >= 0

/** Every problem of the options, each beginning with the name of its option. */
export function optionProblems(options: {
  secretKey: unknown
  sessionKey: unknown
  rate: unknown
  concurrency: unknown
  timeout: unknown
  attempts: unknown
  patience: unknown
  maxAnswerBytes: unknown
  backoff: { base: unknown; max: unknown }
  chat: { first: unknown; idle: unknown }
}): string[] {
  const { rate, concurrency, timeout, attempts, patience, maxAnswerBytes, backoff, chat } = options
  const rules: [name: string, value: unknown, holds: (value: unknown) => boolean, words: string][] = [
    ['rate', rate, isPositive, 'calls a second, above 0 (Infinity: no limit)'],
    ['concurrency', concurrency, isWhole, 'a whole number of calls, from 1'],
    ['attempts', attempts, isWhole, 'a whole number of attempts, from 1'],
    ['maxAnswerBytes', maxAnswerBytes, isWhole, 'a whole number of bytes, from 1'],
    ['patience', patience, isLeastNothing, 'milliseconds, from 0'],
    ['backoff.base', backoff.base, isLeastNothing, 'milliseconds, from 0'],
    ['backoff.max', backoff.max, isLeastNothing, 'milliseconds, from 0'],
  ]
  const times: [name: string, value: unknown][] = [
    ['timeout', timeout],
    ['chat.first', chat.first],
    ['chat.idle', chat.idle],
  ]
  const keys = Object.entries({ secretKey: options.secretKey, sessionKey: options.sessionKey })
  return [
    // A key is not quoted, whatever it is.
    ...keys.flatMap(([name, value]) => (value === null || typeof value === 'string' ? [] : [`${name} must be text`])),
    ...rules.flatMap(([name, value, holds, words]) =>
      holds(value) ? [] : [`${name} must be ${words}, not ${String(value)}`],
    ),
    ...times.flatMap(([name, value]) => {
      const problem = timeoutProblem(value)
      return problem === null ? [] : [`${name} ${problem}`]
    }),
  ]
}
