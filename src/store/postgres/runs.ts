/** Runs on PostgreSQL: table `run` has the last ones of each feed, `feed` what outlasts them, `start` the daemon's starts. */
import { hostname } from 'node:os'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Stamp } from '../../core/mark.ts'
import { doubtingHolds } from '../holds.ts'
import { reportsKept, runsKept } from '../runs.ts'
import { isAhead, isWrong, settingBack, settingForward, wasBehind } from '../set-back.ts'
import type { NumberedRun, Runs, RunUnderWay, Verified } from '../store.ts'
import { pruneChanges } from './changes.ts'
import type { Asker, Door } from './door.ts'
import { pruneLedger } from './ledger.ts'

const host = hostname()
const columns = `number, feed, chatbot, command, started_at AS "startedAt", finished_at AS "finishedAt", result, interrupted,
  error, figures`
/** The lane of writes that belong to no chatbot: one after another. */
const lane = 'daemon'

/** `isUnderWay`: whether a run is under way in this process. `begun` is told for which chatbot a feed runs. */
export function createRuns(
  door: Door,
  isUnderWay: () => boolean,
  begun: (feed: string, chatbot: string) => void,
): Runs {
  const of = async <Value>(feed: string, column: string): Promise<Value | null> =>
    (await door.get<{ value: Value | null }>(`SELECT ${column} AS value FROM feed WHERE name = $1`, [feed]))?.value ??
    null
  const note = (feed: string, column: string, value: string | number): Promise<void> =>
    door.writeOf(feed, async (asker) => {
      await asker.run(
        `INSERT INTO feed (name, ${column}) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET ${column} = excluded.${column}`,
        [feed, value],
      )
    })
  // Eight digits are enough to tell a few stores apart.
  const stamp = async (asker: Pick<Asker, 'all'> = door): Promise<Stamp> =>
    (
      await asker.all<Stamp>('SELECT substr(lineage, 1, 8) AS store, token + $1::bigint AS run FROM meta', [
        isUnderWay() ? 0 : 1,
      ])
    )[0]
  return {
    stamp: () => stamp(),
    feeds: async () =>
      (await door.all<{ name: string }>('SELECT name FROM feed ORDER BY name')).map(({ name }) => name),
    last: async (feed) =>
      (await door.get<NumberedRun>(`SELECT ${columns} FROM run WHERE feed = $1 ORDER BY number DESC LIMIT 1`, [
        feed,
      ])) ?? null,
    latest: (feed, most) =>
      door.all(`SELECT ${columns} FROM run WHERE feed = coalesce($1, feed) ORDER BY number DESC LIMIT $2`, [
        feed,
        most,
      ]),
    numbered: async (number) =>
      (await door.get<NumberedRun>(`SELECT ${columns} FROM run WHERE number = $1`, [number])) ?? null,
    async report(number) {
      const found = await door.get<{ body: Buffer }>('SELECT body FROM report WHERE run = $1', [number])
      return found === undefined ? null : gunzipSync(found.body).toString('utf8')
    },
    underWay: async (feed) =>
      (await door.get<RunUnderWay>(
        `SELECT feed, number, chatbot, command, started_at AS "startedAt", seen_at AS "seenAt", process, host, progress
        FROM under_way WHERE feed = $1`,
        [feed],
      )) ?? null,
    lastSuccess: (feed) => of(feed, 'last_success'),
    lastFilled: async (feed) =>
      (
        await door.get<{ chatbot: string }>(
          `SELECT chatbot FROM run WHERE feed = $1 AND result <> 'failed' ORDER BY number DESC LIMIT 1`,
          [feed],
        )
      )?.chatbot ?? null,
    lastAccepted: async (feed, succeeded = false) =>
      (
        await door.get<{ at: number }>(
          `SELECT started_at AS at FROM run WHERE feed = $1 AND (result <> 'failed' OR NOT $2) AND coalesce(figures::json ->> 'accepted' IN ('true', '1'),
            result <> 'failed' AND figures::json #>> '{delivery,complete}' = 'true')
          ORDER BY number DESC LIMIT 1`,
          [feed, succeeded],
        )
      )?.at ?? null,
    async lastVerified(feed) {
      const row = await door.get<{ at: number; verified: Omit<Verified, 'at'> }>(
        `SELECT finished_at AS at, figures::json -> 'verified' AS verified FROM run
        WHERE feed = $1 AND (figures::json #>> '{verified,asked}')::float8 > 0 ORDER BY number DESC LIMIT 1`,
        [feed],
      )
      return row === undefined ? null : { ...row.verified, at: row.at }
    },
    notified: (feed) => of(feed, 'told'),
    lostAt: async (feed) =>
      feed === null
        ? (await door.get<{ at: number | null }>('SELECT max(lost_at) AS at FROM feed'))!.at
        : of(feed, 'lost_at'),
    hadWrongClock: async (feed, now) => (await door.get(isWrong('$1', '$2::bigint'), [feed, now])) !== undefined,
    starts: async () =>
      (await door.get<{ times: number; at: number }>('SELECT times, at FROM start')) ?? { times: 0, at: 0 },
    begin(run) {
      begun(run.feed, run.chatbot)
      return door.writeOf(run.feed, async (asker) => {
        await mendTimes(asker, run.feed, run.startedAt)
        const [{ number }] = await asker.all<{ number: number }>(
          `INSERT INTO under_way (feed, number, chatbot, command, started_at, seen_at, process, host)
          VALUES ($1, nextval('run_number'), $2, $3, $4, $4, $5, $6) ON CONFLICT (feed) DO UPDATE SET number = excluded.number,
            chatbot = excluded.chatbot, command = excluded.command, started_at = excluded.started_at,
            seen_at = excluded.seen_at, process = excluded.process, host = excluded.host, progress = NULL
          RETURNING number`,
          [run.feed, run.chatbot, run.command, run.startedAt, process.pid, host],
        )
        return number
      })
    },
    noteProgress: (feed, progress, now) =>
      door.writeOf(feed, async (asker) => {
        await asker.run('UPDATE under_way SET progress = $2, seen_at = $3 WHERE feed = $1', [feed, progress, now])
      }),
    record: ({ report, ...run }) =>
      door.writeOf(run.feed, async (asker) => {
        const { feed, result, finishedAt } = run
        // A run that failed before it began, or without the lease, has no number yet.
        const [{ number, begun }] = await asker.all<{ number: number; begun: number | null }>(
          `WITH ended AS (DELETE FROM under_way WHERE feed = $1 AND process = $2 AND host = $3 RETURNING number)
          SELECT (SELECT number FROM ended) AS begun, coalesce((SELECT number FROM ended), nextval('run_number')) AS number`,
          [feed, process.pid, host],
        )
        if (begun === null && result === 'failed') await mendTimes(asker, feed, finishedAt)
        await asker.run(
          `INSERT INTO run (number, feed, chatbot, command, started_at, finished_at, result, interrupted, error, figures)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
          [
            number,
            feed,
            run.chatbot,
            run.command,
            run.startedAt,
            finishedAt,
            result,
            run.interrupted,
            run.error,
            run.figures,
          ],
        )
        if (report !== undefined)
          await asker.run(
            'INSERT INTO report (run, feed, body) VALUES ($1, $2, $3) ON CONFLICT (run) DO UPDATE SET body = excluded.body',
            [number, feed, gzipSync(report)],
          )
        await asker.run(
          `DELETE FROM report WHERE feed = $1 AND run <= (SELECT run FROM report WHERE feed = $1 ORDER BY run DESC LIMIT 1 OFFSET ${reportsKept})`,
          [feed],
        )
        await asker.run(
          `DELETE FROM run WHERE feed = $1 AND number <= (SELECT number FROM run WHERE feed = $1 ORDER BY number DESC LIMIT 1 OFFSET ${runsKept})`,
          [feed],
        )
        // A run that failed may not have seen the service, whose marks tell that an earlier store was lost. The row is made also for
        // a feed that only ever failed: a lease that finds the store behind notes that in the row of each feed.
        const succeeded = result === 'ok' || result === 'held' || result === 'partial'
        await asker.run(
          `INSERT INTO feed (name, last_success) VALUES ($1, $2)
          ON CONFLICT (name) DO UPDATE SET last_success = coalesce(excluded.last_success, feed.last_success)`,
          [feed, succeeded ? finishedAt : null],
        )
        await pruneLedger(asker, finishedAt)
        await pruneChanges(asker, finishedAt)
      }),
    recordVerified: (feed, startedAt, verified) =>
      door.writeOf(feed, async (asker) => {
        await addFigures(asker, feed, startedAt, { verified })
      }),
    recordSettled: (feed, startedAt, { result, report, unsettled }) =>
      door.writeOf(feed, async (asker) => {
        for (const number of await addFigures(asker, feed, startedAt, { unsettled })) {
          await asker.run('UPDATE run SET result = $2 WHERE number = $1', [number, result])
          await asker.run('UPDATE report SET body = $2 WHERE run = $1', [number, gzipSync(report)])
        }
      }),
    recordLost: (feed, at) => note(feed, 'lost_at', at),
    noteTold: (feed, text) => note(feed, 'told', text),
    renew: (name, now) =>
      door.write(lane, async (asker) => {
        await asker.run('SELECT 1 FROM meta FOR UPDATE')
        if ((await stamp(asker)).store === name) {
          await renameStore(asker)
          await asker.run(doubtingHolds('$1::bigint'), [now])
        }
        return stamp(asker)
      }),
    noteStart: (now) =>
      door.write(lane, async (asker) => {
        const [{ times }] = await asker.all<{ times: number }>(
          `INSERT INTO start VALUES (1, 1, $1)
          ON CONFLICT (one) DO UPDATE SET times = start.times + 1, at = excluded.at RETURNING times`,
          [now],
        )
        return times - 1
      }),
    noteSteady: () =>
      door.write(lane, async (asker) => {
        await asker.run('UPDATE start SET times = 0')
      }),
  }
}

/** Gives the store another name, so that marks with its old one are another store's. */
export async function renameStore(asker: Asker): Promise<void> {
  await asker.run("UPDATE meta SET lineage = replace(gen_random_uuid()::text, '-', '')")
}

/** Adds figures to the feed's runs that began at `startedAt`, and gives their numbers. */
async function addFigures(asker: Asker, feed: string, startedAt: number, added: object): Promise<number[]> {
  const runs = await asker.all<{ number: number; figures: string }>(
    'SELECT number, figures FROM run WHERE feed = $1 AND started_at = $2 FOR UPDATE',
    [feed, startedAt],
  )
  for (const { number, figures } of runs) {
    const all = { ...(JSON.parse(figures) as object), ...added }
    await asker.run('UPDATE run SET figures = $2 WHERE number = $1', [number, JSON.stringify(all)])
  }
  return runs.map(({ number }) => number)
}

/** Corrects what a wrong clock noted (../set-back.ts). */
async function mendTimes(asker: Asker, feed: string, at: number): Promise<void> {
  // A millisecond earlier, so as not to look like what this run notes.
  const before = [feed, at - 1] as const
  const [wrong] = await asker.all<{ from: number; until: number }>(wasBehind('$1', '$2'), before)
  if (wrong !== undefined)
    for (const sql of settingForward('$1', '$2', '$3', '$4'))
      await asker.run(sql, [feed, wrong.from, wrong.until, at - 1])
  if ((await asker.all(isAhead('$1', '$2'), before)).length > 0)
    for (const sql of settingBack('$1', '$2')) await asker.run(sql, before)
}
