/**
 * The pace of calls to a service, one row for all processes: evenly spaced slots by the database's clock, so that no second has more
 * than the rate, even if each call goes out as late as it may.
 */
import { shortHash } from '../../core/hash.ts'
import { mostLate } from '../../core/shared-limiter.ts'
import type { Pace } from '../../core/shared-limiter.ts'
import { openPostgresDoor } from '../postgres.ts'

/** The rate grows by a step this many seconds after it was last halved. A step, and the lowest rate, as a share of the rate. */
const recovery = { every: 10, share: 1 / 16 }
/** If the clock was set back, slots begin again after so many seconds at the latest. */
const longestLine = 60

/** Milliseconds of an interval. */
const inMilliseconds = (interval: string): string => `(extract(epoch FROM ${interval}) * 1000)::float8`

/**
 * The pace of the service at `baseUrl`, in the store's database. `now`: milliseconds since the epoch instead of the database's clock,
 * for tests; left out: that clock.
 */
export function openPace(address: string, baseUrl: string, now?: () => number): Pace & { close(): Promise<void> } {
  const door = openPostgresDoor(address, { most: 1, updates: false })
  // Hashed, as an address may have a password in it.
  const service = shortHash(baseUrl)
  const time = (): number | null => now?.() ?? null
  const at = 'coalesce(to_timestamp($2::float8 / 1000), statement_timestamp())'
  const seconds = (number: string): string => `(${number}) * interval '1 second'`
  /** `p`: the row; $3: the rate that is configured. */
  const rate = `least($3::float8,
    p.slowed_to + floor(coalesce(extract(epoch FROM ${at} - nullif(p.slowed_at, '-infinity')), 0)::float8 / ${recovery.every}) * $3::float8 * ${recovery.share})`
  const gap = seconds(`${1 + mostLate / 1000} / ${rate}`)
  const free = `greatest(${at}, p.paused_until)`
  return {
    async ask(calls, most) {
      const [slots] = await door.all<{ wait: number; gap: number; paused: number }>(
        `INSERT INTO pace AS p (service, next_at) VALUES ($1, ${at} + ${seconds(`$4::float8 * ${1 + mostLate / 1000} / $3::float8`)})
        ON CONFLICT (service) DO UPDATE SET
          next_at = greatest(${free}, least(p.next_at, ${free} + ${seconds(`${longestLine}`)})) + $4::float8 * ${gap}
        RETURNING ${inMilliseconds(`p.next_at - $4::float8 * ${gap} - ${at}`)} AS wait, ${inMilliseconds(gap)} AS gap,
          ${inMilliseconds(`${free} - ${at}`)} AS paused`,
        [service, time(), most, calls],
      )
      return slots
    },
    async pause(milliseconds) {
      await door.run(
        `INSERT INTO pace AS p (service, next_at, paused_until) VALUES ($1, ${at}, ${at} + ${seconds('$3::float8 / 1000')})
        ON CONFLICT (service) DO UPDATE SET paused_until = greatest(p.paused_until, excluded.paused_until)`,
        [service, time(), milliseconds],
      )
    },
    async slowDown(ago, most) {
      await door.run(
        `UPDATE pace AS p SET slowed_at = ${at}, slowed_to = greatest($3::float8 * ${recovery.share}, ${rate} / 2)
        WHERE service = $1 AND ${at} - ${seconds('$4::float8 / 1000')} > p.slowed_at`,
        [service, time(), most, ago],
      )
    },
    close: () => door.close(),
  }
}
