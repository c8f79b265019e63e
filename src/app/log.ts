/**
 * The log: JSON lines on standard error, or short lines for a person. Every finished line is parsed again and its texts made safe:
 * secrets are removed by value (redaction by path missed 7 of 9; docs/faults.md, F143), long values cut, control and bidirectional
 * characters escaped (F144).
 */
import { pino } from 'pino'
import type { Logger } from 'pino'
import { messageOf } from '../core/errors.ts'
import type { Clock, Log } from '../core/machine.ts'
import { escapeUnseen, many, printable, shorten } from '../core/text.ts'

export interface LogOptions {
  level: 'debug' | 'info' | 'warn' | 'error'
  /** Removes secrets from a text (`scrubber`). */
  scrub: (text: string) => string
  /** Short lines for a person instead of JSON. */
  pretty: boolean
  /** How often one message is written until `endRun`; further ones are only counted. */
  repeatLimit?: number
  clock: Pick<Clock, 'now'>
  /** Receives finished lines; default: standard error. */
  write?: (line: string) => void
}

export interface RunLog extends Log {
  /** Logs how many repeated messages were left out, and starts counting again. */
  endRun(): void
}

/** Longest text of a value, a message and an error's stack; most entries of a list; most levels of nesting. */
const longest = { value: 200, message: 500, stack: 4000, list: 20, depth: 4 }
/**
 * Limits. `messages`: how many are counted apart, as messages with feed text could fill the memory. `lines`: of one level until
 * `endRun`, so that a flood of warnings hides no error. `named`: messages that are named when repeats were left out.
 */
const most = { messages: 1000, lines: 1000, named: 20 }

/** The message of a run's progress, and those of its end. */
export const underWay = 'run under way'
export const runFinished = 'run finished'
export const runFailed = 'run failed'

/**
 * Messages that are never left out. Progress comes at most twice a minute, and long runs are watched by it. An end comes once a run,
 * and many feeds may end at the same time.
 */
const always: ReadonlySet<unknown> = new Set([underWay, runFinished, runFailed])

const levels = ['debug', 'info', 'warn', 'error'] as const

/** The level in LISTING_SYNC_LOG, if it is one. */
export function logLevelOf(env: Record<string, string | undefined>): LogOptions['level'] | undefined {
  return levels.find((level) => level === env['LISTING_SYNC_LOG'])
}

/** A log whose lines all have these facts, as they are when the line is written. */
export function withFacts(log: Log, facts: object): Log {
  const lines = levels.map((level) => {
    const line = (first: unknown, ...rest: string[]): void => {
      if (typeof first === 'string') log[level](facts, first)
      else log[level]({ ...facts, ...Object(first) }, ...(rest as [string]))
    }
    return [level, line] as const
  })
  return Object.fromEntries(lines) as unknown as Log
}

/** Writes synchronously, so that nothing is lost at exit. */
export function createLog(options: LogOptions): RunLog {
  const { level, pretty, repeatLimit = 10, clock } = options
  const clean = cleaner(options.scrub)
  const seen = new Map<string, { times: number; written: number }>()
  const lines = new Map<number, number>()

  // Most commands log nothing.
  let made: Logger | null = null
  const logger = (): Logger => (made ??= makeLogger(options.write ?? toStandardError()))
  const makeLogger = (write: (line: string) => void): Logger =>
    pino(
      {
        level,
        base: undefined,
        timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
        formatters: { level: (label) => ({ level: label }) },
        hooks: {
          logMethod(values, method, levelNumber) {
            const first: unknown = values[0]
            const message = typeof first === 'string' ? first : (values[1] ?? messageOf(first))
            if (always.has(message)) return method.apply(this, values)
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

  const logs = (name: LogOptions['level']): unknown =>
    levels.indexOf(name) < levels.indexOf(level)
      ? () => undefined
      : (...values: [object, string]): void => logger()[name](...values)

  return {
    ...(Object.fromEntries(levels.map((name) => [name, logs(name)])) as unknown as Log),
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
      for (const { message, times, left } of leftOut.slice(0, most.named)) {
        logger().warn({ repeated: message, times }, `left out ${many(left, 'repeated message')}`)
        begin()
      }
      const others = leftOut.slice(most.named)
      if (others.length === 0) return
      const left = others.reduce((sum, other) => sum + other.left, 0)
      logger().warn({ different: others.length }, `left out ${many(left, 'more message')}`)
      begin()
    },
  }
}

/** Bytes of lines that are kept while they can't be written, as where the disk is full; what is beyond them is left out. */
const mostUnwritten = 1024 * 1024

function toStandardError(): (line: string) => void {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: mostUnwritten })
  // Nobody can be told of a full disk here, and a run does not end for its log.
  destination.on('error', () => undefined)
  return (line) => void destination.write(line)
}

type Entry = Record<string, unknown>

/** Parses a finished line and makes every text in it safe. */
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

/** What has sentences of the program. These end with what to do, which must not be cut off. */
const sentences: ReadonlySet<string> = new Set(['msg', 'message', 'error', 'problem', 'problems', 'notes'])

function limitOf(key: string): number {
  if (key === 'stack') return longest.stack
  return sentences.has(key) ? longest.message : longest.value
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
