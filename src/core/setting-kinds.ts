/**
 * The types of settings. A number may be written as text, since `${NAME}` yields text; a duration or size needs a unit.
 * Each is a zod type that checks, converts, and describes itself in the JSON Schema.
 */
import { z } from 'zod'

interface Range {
  min?: number
  max?: number
}

/** The longest wait of a Node timer: a longer one fires at once. */
const longestTimer = 2 ** 31 - 1

export function text(description: string) {
  return z.string().min(1, 'is empty').meta({ description })
}

/**
 * A type that is made only when it first has a value to check. All others are made at each start, and most configurations use few.
 * It never takes a missing value itself: for that, put it under `optional` or into a union.
 */
export function later<Schema extends z.ZodType>(make: () => Schema): z.ZodLazy<Schema> {
  const type = z.lazy(make)
  // zod asks this of every type whenever a configuration is read, and would make the type for the answer.
  Object.defineProperties(type._zod, { optin: { value: undefined }, optout: { value: undefined } })
  return type
}

/** Text that a header can carry: a line break in a key could add further headers. */
export const headerValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'has characters that a header cannot carry')

/** Certificates as PEM. Only these are then trusted. */
export function certificates(description: string) {
  return z
    .string()
    .regex(/-----BEGIN (TRUSTED )?CERTIFICATE-----/, 'takes certificates as PEM; ${file:PATH} reads those of a file')
    .optional()
    .transform((value) => value ?? null)
    .meta({
      description: `${description}: its certificates as PEM, normally \${file:PATH}. Then no other authority is trusted`,
    })
}

/** A number, or text that is one. */
export function number(description: string, { min = 0, max = Number.MAX_SAFE_INTEGER }: Range = {}) {
  const read = (written: number | string, context: z.RefinementCtx) => {
    const value = typeof written === 'number' ? written : /^-?\d+(\.\d+)?$/.test(written) ? Number(written) : NaN
    if (!Number.isFinite(value)) return problem(context, `takes a number, not "${written}"`)
    if (value >= min && value <= max) return value
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`
    return problem(context, `must be ${range}, not ${written}`)
  }
  return z
    .union([z.number(), z.string()], { error: ({ input }) => takes('a number', input) })
    .transform(read)
    .meta({ description })
}

/** A whole number, or text that is one. */
export function whole(description: string, range: Range = {}) {
  return number(description, range).refine((value) => Number.isInteger(value), 'takes a whole number')
}

const milliseconds: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A length of time such as `250ms`, `30s`, `15m`, `12h` or `7d`; becomes milliseconds. `orElse`: for messages, what else is accepted. */
export function duration(description: string, max = longestTimer, orElse = '') {
  const kind = `a length of time with its unit, such as 250ms, 30s, 15m, 12h or 7d${orElse}`
  return quantity(description, kind, milliseconds, max, `is too long: at most ${Math.floor(max / milliseconds.d)}d`)
}

/** A duration above 0, which many timers read as no limit. */
export function positiveDuration(description: string) {
  return duration(description).refine((length) => length > 0, 'must be longer than 0')
}

/** A word, which becomes 0, or a duration above 0 and up to `max`. */
export function wordOrDuration(description: string, word: string, max: number) {
  const kind = `"${word}" or a length of time above 0 and up to ${max / milliseconds.d}d, such as 6h`
  const length = duration(description, max)
  const read = (written: string, context: z.RefinementCtx): number => {
    if (written === word) return 0
    const { data } = length.safeParse(written)
    return data || problem(context, takes(kind, written))
  }
  return z
    .string({ error: ({ input }) => takes(kind, input) })
    .transform(read)
    .meta({ description, pattern: `^${word}$|${String(length.meta()?.['pattern'])}` })
}

const bytes: Record<string, number> = { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 }

/** A number of bytes such as `512MB`; KB, MB, GB and TB are powers of 1024. */
export function size(description: string) {
  const kind = 'a size with its unit, such as 64KB, 512MB or 16GB'
  return quantity(description, kind, bytes, Number.MAX_SAFE_INTEGER, 'is too large')
}

/** A percentage from 0 to 100. */
export function percent(description: string) {
  return number(`${description} (percent)`, { min: 0, max: 100 }).refine((value) => value === 0 || value >= 1, {
    error: ({ input }) =>
      `is a percentage: write ${Math.round(Number(input) * 10_000) / 100} for ${Math.round(Number(input) * 10_000) / 100} %, not ${String(input)}`,
  })
}

/** One of a few words. */
export function choice<const Words extends readonly [string, ...string[]]>(description: string, words: Words) {
  return z
    .enum(words, { error: ({ input }) => takes(words.map((word) => `"${word}"`).join(' or '), input) })
    .meta({ description })
}

/** An IANA time zone. */
export function timezone(description: string) {
  return text(description).refine((value) => works(() => new Intl.DateTimeFormat('en', { timeZone: value })), {
    error: ({ input }) => `is not a time zone such as America/Chicago: ${JSON.stringify(input)}`,
  })
}

/** A language and region for numbers and dates (BCP 47). */
export function locale(description: string) {
  return text(description).refine(
    (value) => works(() => new Intl.Locale(value)) && Intl.NumberFormat.supportedLocalesOf(value).length > 0,
    {
      error: ({ input }) => `is not a locale such as en-US or de-DE: ${JSON.stringify(input)}`,
    },
  )
}

/** A character encoding that Node can read. */
export function encoding(description: string) {
  return text(description).refine((value) => works(() => new TextDecoder(value)), {
    error: ({ input }) => `is not a known character encoding such as utf-8 or windows-1252: ${JSON.stringify(input)}`,
  })
}

/** For `superRefine`: a check by a function that says what is wrong with a text, or null. */
export function judgedBy(problemOf: (value: string) => string | null) {
  return (value: string, context: z.RefinementCtx): void => {
    const message = problemOf(value)
    if (message !== null) context.addIssue({ code: 'custom', message })
  }
}

/** A number with a unit; the pattern in the JSON Schema lets references pass as well. */
function quantity(description: string, kind: string, units: Record<string, number>, max: number, tooMuch: string) {
  const amount = `(\\d+(?:\\.\\d+)?)\\s*(${Object.keys(units).join('|')})`
  const read = (written: string, context: z.RefinementCtx) => {
    const match = new RegExp(`^${amount}$`).exec(written)
    if (!match) return problem(context, takes(kind, written))
    const value = Math.round(Number(match[1]) * units[match[2]])
    return value <= max ? value : problem(context, tooMuch)
  }
  return z
    .string({ error: ({ input }) => takes(kind, input) })
    .transform(read)
    .meta({ description, pattern: `^${amount}$|\\$\\{` })
}

function problem(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message })
  return z.NEVER
}

function takes(kind: string, input: unknown): string {
  if (input === undefined) return 'is missing'
  return `takes ${kind}, not ${input !== null && typeof input === 'object' ? 'several values' : JSON.stringify(input)}`
}

function works(attempt: () => unknown): boolean {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}
