/**
 * Leases on PostgreSQL: one run at a time for a chatbot, over all machines. A lease ends by the database's clock unless it is renewed.
 * Each write checks, in its own transaction, that its lease has not ended, so a worker that slept through its lease writes nothing.
 */
import { hostname } from 'node:os'
import { StoreAwayError, StoreTakenError } from '../../core/errors.ts'
import { systemClock } from '../../core/machine.ts'
import { doubtingHolds } from '../holds.ts'
import { endedWithoutAWord } from '../lease.ts'
import type { Lease } from '../store.ts'
import type { Asker, Door } from './door.ts'
import { storeError } from './failure.ts'
import { renameStore } from './runs.ts'

/** Milliseconds until a lease ends that is not renewed. It is renewed three times within that. */
export const leaseTime = 60_000

/** Milliseconds between two tries to give back a lease while the database is away. */
const releaseAgain = 500

/** The database's clock, in milliseconds since the epoch. */
export const databaseNow = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** Most milliseconds that this machine's clock may differ from the database's. */
const mostAway = 15 * 60_000

/** Refuses a clock of this machine that is off, by what the database's has just shown. */
export function assertClock(now: number, place: string): void {
  const away = systemClock.now() - now
  if (Math.abs(away) > mostAway)
    throw new StoreAwayError(
      `${place}: this machine's clock is ${Math.round(Math.abs(away) / 60_000)} minutes ${away > 0 ? 'ahead of' : 'behind'} the database's; set it right. Nothing was written`,
    )
}

/** What tells a database from a copy of it: its server, the server's timeline, its own number. */
export const here = `(SELECT concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8), (SELECT oid FROM pg_database WHERE datname = current_database())))`

/**
 * The last part of a lease, in which nothing is written under it: by its end, a call that was marked before has been sent or given
 * up.
 */
const lastPart = 1 / 4

export function createLeases(door: () => Door, time: number) {
  const holder = `process ${process.pid} on ${hostname()}`
  /** Fencing numbers by chatbot, also of leases that have ended without a release. */
  const held = new Map<string, number>()
  const chatbots = new Map<string, string>()
  const behind = new Set<string>()
  let renewing: AbortController | null = null

  function renew(): void {
    const all = [...held]
    // A lease that has ended is not renewed: nobody here knows what was done since.
    door()
      .run(
        `UPDATE lease SET expires = clock_timestamp() + $3 * interval '1 millisecond' FROM
          unnest($1::text[], $2::bigint[]) AS c(chatbot, token)
        WHERE lease.chatbot = c.chatbot AND lease.token = c.token AND lease.held AND lease.expires > clock_timestamp()`,
        [all.map(([chatbot]) => chatbot), all.map(([, token]) => token), time],
      )
      // The next write tells of it.
      .catch(() => undefined)
  }

  /** By real time, whatever clock the run goes by, as the database's clock is real. */
  async function keepRenewing({ signal }: AbortController): Promise<void> {
    while (!signal.aborted) {
      await systemClock.sleep(time / 3, signal).catch(() => undefined)
      if (!signal.aborted) renew()
    }
  }

  async function take(asker: Asker, chatbot: string, now: number): Promise<{ token: number; isBehind: boolean }> {
    const [lease] = await asker.all<{ token: number; place: string | null; here: string; at: number }>(
      `WITH next AS (UPDATE meta SET token = token + 1 RETURNING token, place)
      SELECT token, place, ${here} AS here, ${databaseNow} AS at FROM next`,
    )
    // It may be set while a daemon runs.
    assertClock(lease.at, door().place)
    const taken = await asker.run(
      `INSERT INTO lease (chatbot, token, holder, since, held, expires)
      VALUES ($1, $2, $3, $4, true, clock_timestamp() + $5 * interval '1 millisecond')
      ON CONFLICT (chatbot) DO UPDATE SET token = excluded.token, holder = excluded.holder, since = excluded.since,
        held = true, expires = excluded.expires WHERE NOT lease.held OR lease.expires <= clock_timestamp()`,
      [chatbot, lease.token, holder, now, time],
    )
    if (taken === 0) {
      const [other] = await asker.all<{ holder: string; since: number }>(
        'SELECT holder, since FROM lease WHERE chatbot = $1',
        [chatbot],
      )
      throw new StoreTakenError(
        `${door().place}: ${other.holder} has had chatbot ${chatbot} since ${new Date(other.since).toISOString()}; wait for it to end, or stop it`,
      )
    }
    // While this process has the lease, every other run of the chatbot on record is of a process that died or slept.
    await asker.run(
      `WITH dead AS (DELETE FROM under_way WHERE chatbot = $1 RETURNING *)
      INSERT INTO run (number, feed, chatbot, command, started_at, finished_at, result, interrupted, error, figures)
      SELECT number, feed, chatbot, command, started_at, seen_at, 'failed', true, $2, '{}' FROM dead`,
      [chatbot, endedWithoutAWord],
    )
    const isBehind = lease.place !== null && lease.place !== lease.here
    if (lease.place !== lease.here) await asker.run('UPDATE meta SET place = $1', [lease.here])
    if (isBehind) {
      // What was done since is unknown, as after a loss, and so is the last delivery. Another program may go on under the old name.
      await asker.run(doubtingHolds('$1::bigint'), [now])
      await asker.run('UPDATE feed SET lost_at = $1, last_key = NULL', [now])
      await renameStore(asker)
    }
    return { token: lease.token, isBehind }
  }

  async function release(chatbot: string, token: number): Promise<void> {
    if (held.get(chatbot) !== token) return
    held.delete(chatbot)
    behind.delete(chatbot)
    if (held.size === 0) {
      renewing?.abort()
      renewing = null
    }
    for (const [feed, of] of chatbots) if (of === chatbot) chatbots.delete(feed)
    if (await isGivenBack(chatbot, token)) return
    // The end of the run does not wait for the database. If that is not back by then, the lease has ended by itself.
    void (async () => {
      const end = systemClock.now() + time
      do await systemClock.sleep(releaseAgain)
      while (!(await isGivenBack(chatbot, token)) && systemClock.now() < end)
    })()
  }

  /** Gives back a lease. False: the database is away. */
  async function isGivenBack(chatbot: string, token: number): Promise<boolean> {
    try {
      await door().run('UPDATE lease SET held = false WHERE chatbot = $1 AND token = $2', [chatbot, token])
      return true
    } catch (error) {
      return !(error instanceof StoreAwayError)
    }
  }

  return {
    async lease(chatbot: string, now: number): Promise<Lease> {
      if (held.has(chatbot))
        throw new StoreTakenError(`${door().place}: a run for chatbot ${chatbot} is already under way in this process`)
      const { token, isBehind } = await door().transaction((asker) => take(asker, chatbot, now))
      held.set(chatbot, token)
      if (isBehind) behind.add(chatbot)
      if (renewing === null) void keepRenewing((renewing = new AbortController()))
      return { token, isBehind, release: () => release(chatbot, token) }
    },
    /** Throws if the lease of this lane has ended. If not, nobody can take it before the transaction ends. */
    async assertMayWrite(lane: string, asker: Asker): Promise<void> {
      const token = held.get(lane)
      if (token === undefined) return
      const [lease] = await asker.all<{ isMine: boolean; lasts: boolean }>(
        `SELECT token = $2 AS "isMine", held AND expires > clock_timestamp() + $3 * interval '1 millisecond' AS lasts
        FROM lease WHERE chatbot = $1 FOR SHARE`,
        [lane, token, time * lastPart],
      )
      if (lease?.isMine && lease.lasts) return
      const silent = `this process was not heard of for ${time / 1000} seconds`
      const end = 'so it writes nothing more for it; the next run goes on'
      if (lease !== undefined && !lease.isMine)
        throw new StoreTakenError(`${door().place}: ${silent} and has lost chatbot ${lane} to others, ${end}`)
      throw storeError(door().place, `${silent}, and its right to chatbot ${lane} is over, ${end}`)
    },
    begun: (feed: string, chatbot: string): void => void (held.has(chatbot) && chatbots.set(feed, chatbot)),
    chatbotOf: (feed: string): string | undefined => chatbots.get(feed),
    isHeld: (): boolean => held.size > 0,
    isBehind: (chatbot: string): boolean => behind.has(chatbot),
    /** Whether the store is a copy and no lease has noticed it yet. A standby can't tell, and is read as it is. */
    isCopy: async (): Promise<boolean> =>
      (await door().get(
        `SELECT 1 FROM meta WHERE CASE WHEN pg_is_in_recovery() THEN false ELSE place <> ${here} END`,
      )) !== undefined,
    async releaseAll(): Promise<void> {
      await Promise.all(Array.from(held, ([chatbot, token]) => release(chatbot, token)))
    },
  }
}
