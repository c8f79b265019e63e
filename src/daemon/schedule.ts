/**
 * When a feed is due, in its time zone. node-cron parses the expression, but its timer skips runs in the hour that daylight
 * saving skips, and half-hourly ones in the whole hour that it repeats (docs/faults.md, F131; measured with 4.6.0 at both
 * changes of four zones).
 *
 * Here an hourly expression follows real time. One for certain hours follows local time, each of its times once: a skipped
 * time is due at the end of the gap, a repeated one the first time only.
 */
import { createTask, parse } from 'node-cron'
import { offsetAt } from '../core/zone.ts'

export interface Schedule {
  expression: string
  timezone: string
}

/** The due times of one schedule, in milliseconds since the epoch. */
export type DueTimes = ReturnType<typeof timesOf>

const minute = 60_000
const quarter = 15 * minute
const day = 24 * 60 * minute
/** How far back to look: any sensible schedule has a time within it. */
const horizon = 400 * day
/** No zone was ever set back by more. */
const longestBack = 3 * 60 * minute

/** How many schedules, and days and offsets of one, are remembered at most. */
const mostKnown = 1000
const schedules = new Map<string, DueTimes>()

/** The due times of a schedule, worked out once for all feeds that have it. */
export function dueTimes(schedule: Schedule): DueTimes {
  const key = `${schedule.timezone} ${schedule.expression}`
  let times = schedules.get(key)
  if (times === undefined) {
    if (schedules.size >= mostKnown) schedules.clear()
    schedules.set(key, (times = timesOf(schedule)))
  }
  return times
}

function timesOf({ expression, timezone }: Schedule) {
  const { matches, matchesDay } = matcher(expression)
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

  /** Skips, from `at` on, to a minute before which none is due. Its steps of 20 hours never miss a day, whatever a zone's clocks do. */
  function skip(at: number, to: number): number {
    let from = at
    while (from <= to && !matchesDay(wall(from)) && !matchesDay(wall(from) + day)) from += 20 * 60 * minute
    return from
  }

  /** How many times lie after `from` and not after `to`, at most `most`. */
  function count(from: number, to: number, most: number): number {
    if (to - from >= horizon) return most
    let found = 0
    const first = Math.floor(from / minute) * minute
    for (let at = skip(first, to); at <= to && found < most; at = skip(at + minute, to)) {
      const times = seconds.map((second) => at + second * 1000).filter((time) => time > from && time <= to)
      if (times.length > 0 && isDue(at)) found += times.length
    }
    return Math.min(found, most)
  }

  /** The first time after `from`; null: none within a year and some. */
  function next(from: number): number | null {
    const [first, last] = [Math.floor(from / minute) * minute, from + horizon]
    for (let at = skip(first, last); at <= last; at = skip(at + minute, last)) {
      const second = seconds.find((second) => at + second * 1000 > from)
      if (second !== undefined && isDue(at)) return at + second * 1000
    }
    return null
  }

  return {
    count,
    next,
    /** Whether one does so. */
    within: (from: number, to: number): boolean => count(from, to, 1) > 0,
    /** The expression has seconds, so checking once a minute is not enough. */
    bySecond: seconds.some((second) => second !== 0),
  }
}

/** Whether an expression matches a minute, and any minute of a day, given in local time as if it were UTC. */
function matcher(expression: string) {
  // Seconds are handled elsewhere.
  const fields = expression.trim().split(/\s+/).slice(-5)
  const task = createTask(fields.join(' '), () => undefined, { timezone: 'UTC' })
  const { minute: minutes, hour } = parse(fields.join(' '))
  const wanted = new Set(minutes.flatMap((at) => hour.map((hours) => hours * 60 + at)))
  const [anyOf] = wanted
  const days = new Map<number, boolean>()
  const matchesDay = (wall: number): boolean => {
    const start = Math.floor(wall / day)
    const known = days.get(start) ?? task.match(new Date(start * day + anyOf * minute))
    if (days.size >= mostKnown) days.clear()
    days.set(start, known)
    return known
  }
  const matches = (wall: number): boolean => wanted.has(Math.floor((wall % day) / minute)) && matchesDay(wall)
  return { matches, matchesDay }
}

/** For each zone, the known offsets by quarter of an hour. */
const zones = new Map<string, Map<number, number>>()

/** How far a zone is ahead of UTC at an instant. Zones only change at a quarter of an hour. */
function offsetsOf(timezone: string): (at: number) => number {
  const known = zones.get(timezone) ?? new Map<number, number>()
  zones.set(timezone, known)
  return (at) => {
    const start = Math.floor(at / quarter) * quarter
    let offset = known.get(start)
    if (offset === undefined) {
      offset = offsetAt(start, timezone)
      if (known.size >= mostKnown) known.clear()
      known.set(start, offset)
    }
    return offset
  }
}
