/**
 * The log: JSON lines on standard error, or short lines for a person. Whatever was logged, a finished line is taken
 * apart once more and every text in it made safe: secrets out by value (fault-model F143: redaction by path missed 7 of
 * 9), long values cut, control and bidirectional characters escaped (F144).
 */
import { pino } from 'pino'
import { messageOf } from '../core/errors.ts'
import type { Clock, Log } from '../core/machine.ts'
import { escapeUnseen, printable, shorten } from '../core/text.ts'

export interface LogOptions {
  level: 'debug' | 'info' | 'warn' | 'error'
  /** Takes what must not be shown out of a text (`scrubber`). */
  scrub: (text: string) => string
  /** Short lines for a person instead of JSON. */
  pretty: boolean
  /** How often one message is written before it is only counted, until `endRun`. */
  repeatLimit?: number
  clock: Pick<Clock, 'now'>
  /** Takes finished lines; standard error where left out. */
  write?: (line: string) => void
}

export interface RunLog extends Log {
  /** Says how often messages were left out as repeated, and begins to count anew. */
  endRun(): void
}

/** Longest text kept of one value; of an error's stack; most entries of a list, and levels of nesting. */
const longest = { value: 200, message: 500, stack: 4000, list: 20, depth: 4 }
/**
 * Different messages counted apart, as one that carries feed text would otherwise fill the memory; lines of one level
 * until `endRun`, so that a flood of warnings hides no error; messages of which the number left out is told.
 */
const most = { messages: 1000, lines: 1000, told: 20 }

/** The level that LISTING_SYNC_LOG asks for, where it names one. */
export function logLevelOf(env: Record<string, string | undefined>): LogOptions['level'] | undefined {
  return (['debug', 'info', 'warn', 'error'] as const).find((level) => level === env['LISTING_SYNC_LOG'])
}

/** A log that writes synchronously, so that nothing is lost at an exit. */
export function createLog(options: LogOptions): RunLog {
  const { level, pretty, repeatLimit = 10, clock } = options
  const write = options.write ?? toStandardError()
  const clean = cleaner(options.scrub)
  const seen = new Map<string, { times: number; written: number }>()
  const lines = new Map<number, number>()

  const logger = pino(
    {
      level,
      base: undefined,
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        logMethod(values, method, levelNumber) {
          const first: unknown = values[0]
          const message = typeof first === 'string' ? first : (values[1] ?? messageOf(first))
          const key = seen.has(message) || seen.size < most.messages ? message : 'other messages'
          const count = seen.get(key) ?? { times: 0, written: 0 }
          seen.set(key, count)
          count.times++
          const before = lines.get(levelNumber) ?? 0
          if (count.written >= repeatLimit || before >= most.lines) return
          count.written++
          lines.set(levelNumber, before + 1)
          method.apply(this, values)
        },
      },
    },
    {
      write: (line: string) =>
        write(pretty ? prettyLine(clean(line)) : `${escapeUnseen(JSON.stringify(clean(line)))}\n`),
    },
  )

  return {
    debug: logger.debug.bind(logger),
    info: logger.info.bind(logger),
    warn: logger.warn.bind(logger),
    error: logger.error.bind(logger),
    endRun() {
      const leftOut = [...seen]
        .map(([message, { times, written }]) => ({ message, times, left: times - written }))
        .filter(({ left }) => left > 0)
        .sort((a, b) => b.left - a.left)
      const begin = (): void => {
        seen.clear()
        lines.clear()
      }
      begin()
      for (const { message, times, left } of leftOut.slice(0, most.told)) {
        logger.warn({ repeated: message, times }, `left out ${left} repeated messages`)
        begin()
      }
      const others = leftOut.slice(most.told)
      if (others.length === 0) return
      const left = others.reduce((sum, one) => sum + one.left, 0)
      logger.warn({ different: others.length }, `left out ${left} more messages`)
      begin()
    },
  }
}

function toStandardError(): (line: string) => void {
  const destination = pino.destination({ fd: 2, sync: true })
  return (line) => {
    destination.write(line)
  }
}

type Entry = Record<string, unknown>

/** Reads a finished line and gives its entry with every text made safe. */
function cleaner(scrub: (text: string) => string): (line: string) => Entry {
  const clean = (value: unknown, key: string, depth: number): unknown => {
    if (typeof value === 'string') return shorten(scrub(value), limitOf(key))
    if (typeof value === 'number' || typeof value === 'boolean') return scrub(String(value)) === '***' ? '***' : value
    if (value === null || typeof value !== 'object') return value
    if (depth === 0) return '…'
    if (Array.isArray(value)) return value.slice(0, longest.list).map((item) => clean(item, key, depth - 1))
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [scrub(name), clean(item, name, depth - 1)]))
  }
  return (line) => {
    const entry: unknown = JSON.parse(line)
    return Object.fromEntries(
      Object.entries(Object(entry)).map(([key, value]) => [scrub(key), clean(value, key, longest.depth)]),
    )
  }
}

function limitOf(key: string): number {
  if (key === 'stack') return longest.stack
  return key === 'msg' || key === 'message' ? longest.message : longest.value
}

function prettyLine({ time, level, msg, err, ...rest }: Entry): string {
  const pairs = Object.entries(rest).map(([key, value]) => ` ${key}=${textOf(value)}`)
  const line = `${textOf(time).slice(11, 19)} ${textOf(level).toUpperCase().padEnd(5)} ${textOf(msg)}${pairs.join('')}`
  const trace = err !== null && typeof err === 'object' && 'stack' in err ? String(err.stack).split('\n') : []
  return [line, ...trace.map((text) => `    ${printable(text)}`)].map((text) => `${text}\n`).join('')
}

function textOf(value: unknown): string {
  if (value === undefined) return ''
  return printable(typeof value === 'string' ? value : JSON.stringify(value))
}
