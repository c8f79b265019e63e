/**
 * Leases on PostgreSQL: one run at a time for a chatbot, over all machines. A lease ends by the database's clock unless it is
 * renewed, and each write proves in its own transaction that the lease it is done under has not ended: a worker that slept
 * through its lease writes nothing.
 */
import { hostname } from 'node:os'
import { systemClock } from '../../core/machine.ts'
import { endedWithoutAWord } from '../lease.ts'
import type { Lease } from '../store.ts'
import type { Asker, Door } from './door.ts'
import { storeError } from './failure.ts'
import { renameStore } from './runs.ts'

/** Milliseconds until a lease ends that nobody renews; it is renewed three times as often. */
export const leaseTime = 60_000

/** What a database has of its own, so that a copy of it is told from it: which server, which timeline of it, which database. */
export const here = `(SELECT concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8), (SELECT oid FROM pg_database WHERE datname = current_database())))`

/**
 * In this last part of a lease nothing is written under it any more: a call that was marked before is on its way, or given up,
 * when the lease ends.
 */
const lastPart = 1 / 4

export function createLeases(door: () => Door, time: number) {
  const holder = `process ${process.pid} on ${hostname()}`
  /** Fencing numbers by chatbot; those of leases that have ended without being given back, too. */
  const held = new Map<string, number>()
  const chatbots = new Map<string, string>()
  const behind = new Set<string>()
  let renewing: AbortController | null = null

  function renew(): void {
    const all = [...held]
    // One that has ended stays ended: what may have been done since is not known here.
    door()
      .run(
        `UPDATE lease SET expires = clock_timestamp() + $3 * interval '1 millisecond' FROM
          unnest($1::text[], $2::bigint[]) AS c(chatbot, token)
        WHERE lease.chatbot = c.chatbot AND lease.token = c.token AND lease.held AND lease.expires > clock_timestamp()`,
        [all.map(([chatbot]) => chatbot), all.map(([, token]) => token), time],
      )
      // The next write says it.
      .catch(() => undefined)
  }

  /** Real time, whatever clock a run goes by: the database's clock is real. */
  async function keepRenewing({ signal }: AbortController): Promise<void> {
    while (!signal.aborted) {
      await systemClock.sleep(time / 3, signal).catch(() => undefined)
      if (!signal.aborted) renew()
    }
  }

  async function take(asker: Asker, chatbot: string, now: number): Promise<{ token: number; isBehind: boolean }> {
    const [lease] = await asker.all<{ token: number; place: string | null; here: string }>(
      `WITH next AS (UPDATE meta SET token = token + 1 RETURNING token, place)
      SELECT token, place, ${here} AS here FROM next`,
    )
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
      throw storeError(
        door().place,
        `${other.holder} has had chatbot ${chatbot} since ${new Date(other.since).toISOString()}; wait for it to end, or stop it`,
      )
    }
    // With the lease in hand, every run of the chatbot still noted is one of a process that died or slept.
    await asker.run(
      `WITH dead AS (DELETE FROM under_way WHERE chatbot = $1 RETURNING *)
      INSERT INTO run (number, feed, chatbot, command, started_at, finished_at, result, interrupted, error, figures)
      SELECT number, feed, chatbot, command, started_at, seen_at, 'failed', true, $2, '{}' FROM dead`,
      [chatbot, endedWithoutAWord],
    )
    const isBehind = lease.place !== null && lease.place !== lease.here
    if (lease.place !== lease.here) await asker.run('UPDATE meta SET place = $1', [lease.here])
    if (isBehind) {
      // What was done since is as unknown as where the store was lost, and which delivery came last; and another program may go
      // on under the old name.
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
    // Without a database it ends by itself.
    await door()
      .run('UPDATE lease SET held = false WHERE chatbot = $1 AND token = $2', [chatbot, token])
      .catch(() => undefined)
  }

  return {
    async lease(chatbot: string, now: number): Promise<Lease> {
      if (held.has(chatbot))
        throw storeError(door().place, `a run for chatbot ${chatbot} is already under way in this process`)
      const { token, isBehind } = await door().transaction((asker) => take(asker, chatbot, now))
      held.set(chatbot, token)
      if (isBehind) behind.add(chatbot)
      if (renewing === null) void keepRenewing((renewing = new AbortController()))
      return { token, isBehind, release: () => release(chatbot, token) }
    },
    /** Throws where the lease of this lane has ended; until the transaction's end nobody can take it then. */
    async assertMayWrite(lane: string, asker: Asker): Promise<void> {
      const token = held.get(lane)
      if (token === undefined) return
      const [mine] = await asker.all(
        `SELECT 1 FROM lease WHERE chatbot = $1 AND token = $2 AND held
          AND expires > clock_timestamp() + $3 * interval '1 millisecond' FOR SHARE`,
        [lane, token, time * lastPart],
      )
      if (mine === undefined)
        throw storeError(
          door().place,
          `this process was not heard of for ${time / 1000} seconds and has lost chatbot ${lane} to others, so it writes nothing more for it; the next run goes on`,
        )
    },
    begun: (feed: string, chatbot: string): void => void (held.has(chatbot) && chatbots.set(feed, chatbot)),
    chatbotOf: (feed: string): string | undefined => chatbots.get(feed),
    isHeld: (): boolean => held.size > 0,
    isBehind: (): boolean => behind.size > 0,
    /** Whether the store is a copy: before a lease takes notice of it. A standby, which can't tell, is read as it is. */
    isCopy: async (): Promise<boolean> =>
      (await door().get(
        `SELECT 1 FROM meta WHERE CASE WHEN pg_is_in_recovery() THEN false ELSE place <> ${here} END`,
      )) !== undefined,
    async releaseAll(): Promise<void> {
      await Promise.all(Array.from(held, ([chatbot, token]) => release(chatbot, token)))
    },
  }
}
