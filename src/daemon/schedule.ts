/**
 * When a feed is due, in its time zone. node-cron reads the expression; its own timer is not used, as it leaves out what
 * falls into the hour that daylight saving skips, and a half-hourly schedule for the whole hour that comes twice
 * (fault-model F131; measured with 4.6.0 in both changes of four zones).
 *
 * Here an expression for every hour goes by real time, so that its rhythm stays. One for certain hours goes by the clock on
 * the wall, each of its times once: what is skipped is due at the end of the gap, what comes twice the first time only.
 */
import { createTask, parse } from 'node-cron'
import { offsetAt } from '../core/zone.ts'

export interface Schedule {
  expression: string
  timezone: string
}

/** The times of one schedule; all in milliseconds. */
export interface DueTimes {
  /** Whether one lies after `from` and not after `to`. */
  within: (from: number, to: number) => boolean
  /** How many do; counted up to `most`. */
  count: (from: number, to: number, most: number) => number
  /** It asks for seconds, so that looking once a minute is too seldom. */
  bySecond: boolean
}

const minute = 60_000
const quarter = 15 * minute
const day = 24 * 60 * minute
/** How far back is looked: beyond it, one of any sensible schedule has been missed. */
const horizon = 400 * day
/** No zone's clock has been put back by more. */
const longestBack = 3 * 60 * minute

export function dueTimes({ expression, timezone }: Schedule): DueTimes {
  const matches = matcher(expression)
  const { second: seconds, hour } = parse(expression)
  const offset = offsetsOf(timezone)
  const isEveryHour = hour.length === 24
  const wall = (at: number): number => at + offset(at)

  function isDue(at: number): boolean {
    const here = wall(at)
    if (isEveryHour) return matches(here)
    const before = offset(at - longestBack)
    const isRepeated = before > offset(at) && offset(here - before) === before
    if (isRepeated) return false
    for (let passed = Math.min(here, wall(at - minute) + minute); passed <= here; passed += minute)
      if (matches(passed)) return true
    return false
  }

  function count(from: number, to: number, most: number): number {
    if (to - from >= horizon) return most
    let found = 0
    for (let at = Math.floor(from / minute) * minute; at <= to && found < most; at += minute) {
      const times = seconds.map((second) => at + second * 1000).filter((time) => time > from && time <= to)
      if (times.length > 0 && isDue(at)) found += times.length
    }
    return Math.min(found, most)
  }

  return {
    within: (from, to) => count(from, to, 1) > 0,
    count,
    bySecond: seconds.some((second) => second !== 0),
  }
}

/** Whether an expression means a minute, given as if the clock on the wall were UTC. */
function matcher(expression: string): (wall: number) => boolean {
  // Its seconds are looked at elsewhere.
  const fields = expression.trim().split(/\s+/).slice(-5)
  const task = createTask(fields.join(' '), () => undefined, { timezone: 'UTC' })
  const { minute: minutes, hour } = parse(fields.join(' '))
  const wanted = new Set(minutes.flatMap((at) => hour.map((hours) => hours * 60 + at)))
  return (wall) => wanted.has(Math.floor((wall % day) / minute)) && task.match(new Date(wall))
}

/** How far a zone's clocks are ahead of UTC at an instant. They are only ever put on or back at a quarter of an hour. */
function offsetsOf(timezone: string): (at: number) => number {
  const known = new Map<number, number>()
  return (at) => {
    const start = Math.floor(at / quarter) * quarter
    let offset = known.get(start)
    if (offset === undefined) {
      offset = offsetAt(start, timezone)
      if (known.size > 1000) known.clear()
      known.set(start, offset)
    }
    return offset
  }
}
