/** Holds on PostgreSQL: table `hold` has what is held and what people decided, `hold_event` what became of it. */
import { createHash } from 'node:crypto'
import type { HeldPart } from '../../plan/guard/hold.ts'
import {
  approvalLasts,
  elsewhere,
  isAskedAnew,
  isHeld,
  isNote,
  eventsKept,
  firstClock,
  hasClock,
  heldFrom,
  sinceByRule,
  survivors,
  survivesDisbelief,
} from '../holds.ts'
import type { HeldRow } from '../holds.ts'
import type { HoldEvent, Holds } from '../store.ts'
import { distinct, jsonOf } from './door.ts'
import type { Asker, Door } from './door.ts'

/** `$2`: approvals given by then have expired. */
const isExpired = "decision = 'approved' AND decided_at <= $2"
/** A rule holds it, and no approval covers it. */
const waits = `feed = $1 AND rules <> '[]' AND (decision IS DISTINCT FROM 'approved' OR ${isExpired})`
/** It is the same hold: what it would do has not changed, but that the home of a delete has a number by now. */
const isSame =
  "(hold.content IS NULL OR hold.content = excluded.content OR (hold.content = '' AND hold.part = 'delete'))"
const newHolds = `INSERT INTO hold (feed, key, part, content, why, home, rules, ends, since, clock)
  SELECT $1, c.key, c.part, c.content, c.why, c.home, c.rules, c.ends, $3::bigint,
    CASE WHEN c.ends <> 'never' THEN $3::bigint END
  FROM json_to_recordset($2::json) AS c(key text, part text, content text, why text, home text, rules text, ends text)
  ON CONFLICT (feed, key, part)`

export function createHolds(door: Door): Holds {
  async function fingerprint(asker: Pick<Asker, 'all'>, feed: string): Promise<string> {
    const hash = createHash('sha256')
    const rows = await asker.all<Record<'key' | 'part' | 'content' | 'decision', string | null>>(
      "SELECT key, part, content, decision FROM hold WHERE feed = $1 AND part <> '' ORDER BY key, part",
      [feed],
    )
    for (const { key, part, content, decision } of rows)
      hash.update(`${JSON.stringify([key, part, content, decision])}\n`)
    return hash.digest('hex')
  }
  const numberOf = async (
    asker: Pick<Asker, 'all'>,
    sql: string,
    values: (string | number)[],
    what = '*',
  ): Promise<number> =>
    (await asker.all<{ n: number }>(`SELECT count(${what}) AS n FROM hold WHERE ${sql}`, values))[0].n
  const noteEvent = async (
    asker: Asker,
    feed: string,
    at: number,
    what: HoldEvent['what'],
    holds: number,
    by: string | null,
  ): Promise<void> => {
    if (holds > 0)
      await asker.run('INSERT INTO hold_event (feed, at, what, holds, by) VALUES ($1, $2, $3, $4, $5)', [
        feed,
        at,
        what,
        holds,
        by,
      ])
  }
  // One event for each home, however many parts of it are held.
  const tell = (
    asker: Asker,
    feed: string,
    at: number,
    what: string,
    by: string | null,
    which: string,
  ): Promise<number> =>
    asker.run(
      `INSERT INTO home_event (feed, key, at, what, why, by_whom, home)
        SELECT DISTINCT ON (key) feed, key, $2::bigint, $3, why, $4, home FROM hold
        WHERE feed = $1 AND ${isHeld} AND ${which} ORDER BY key, part`,
      [feed, at, what, by],
    )
  const approvable = "feed = $1 AND part <> ''"

  return {
    async held(feed, now, { keys, most } = {}) {
      const rows = await door.all<HeldRow>(
        `SELECT key AS "mlsNumber", part, why, home, rules, since, clock, decided_by AS "decidedBy",
          decided_at AS "decidedAt", CASE WHEN ${isExpired} THEN NULL ELSE decision END AS decision
        FROM hold WHERE feed = $1 AND ${isHeld} AND ($3::text[] IS NULL OR key = ANY ($3))
          AND ($4::int IS NULL OR key IN (SELECT DISTINCT key FROM hold WHERE feed = $1 AND ${isHeld} ORDER BY key LIMIT $4))
        ORDER BY key, part`,
        [feed, now - approvalLasts, keys ?? null, most ?? null],
      )
      return heldFrom(rows)
    },
    count: (feed) => numberOf(door, `feed = $1 AND ${isHeld}`, [feed], 'DISTINCT key'),
    approvable: (feed) => numberOf(door, approvable, [feed], 'DISTINCT key'),
    waiting: (feed, now) => numberOf(door, waits, [feed, now - approvalLasts], 'DISTINCT key'),
    surviving: async (feed, now) => {
      const [counted] = await door.all<{ listings: number; timed: number }>(
        `SELECT ${survivors} FROM hold WHERE ${waits} AND ${survivesDisbelief}`,
        [feed, now - approvalLasts],
      )
      return counted
    },
    clocks: async (feed, now) =>
      new Map(
        (
          await door.all<{ part: HeldPart; listings: number }>(
            `SELECT part, count(*) AS listings FROM hold WHERE ${waits} AND part <> '' AND ${hasClock} GROUP BY part ORDER BY part`,
            [feed, now - approvalLasts],
          )
        ).map(({ part, listings }) => [part, listings]),
      ),
    waitingByRule: async (feed, now) =>
      new Map(
        (
          await door.all<{ rule: string; listings: number }>(
            `SELECT rule, count(DISTINCT key) AS listings FROM hold, json_array_elements_text(hold.rules::json) AS rule
            WHERE ${waits} AND part <> '' GROUP BY rule ORDER BY rule`,
            [feed, now - approvalLasts],
          )
        ).map(({ rule, listings }) => [rule, listings]),
      ),
    approvals: (feed, now) =>
      door.all(
        `SELECT decided_by AS "by", decided_at AS at, count(DISTINCT key) AS listings FROM hold
        WHERE feed = $1 AND ${isHeld} AND decision = 'approved' AND decided_at > $2
        GROUP BY decided_by, decided_at ORDER BY decided_at, decided_by`,
        [feed, now - approvalLasts],
      ),
    fingerprint: (feed) => fingerprint(door, feed),
    events: (feed, since) =>
      door.all('SELECT at, what, holds, by FROM hold_event WHERE feed = $1 AND at >= $2 ORDER BY number', [
        feed,
        since,
      ]),
    async replace(feed, held, { now, isWhole, isNewMapping = false, isBelieved = true, of, letGo }) {
      // Read to its end first, as the transaction may be tried again.
      const all = [...held]
      await door.writeOf(feed, async (asker) => {
        const before = await numberOf(asker, approvable, [feed])
        if (isNewMapping)
          await asker.run("UPDATE hold SET content = NULL WHERE feed = $1 AND decision = 'refused'", [feed])
        const outdated = `UPDATE hold SET current = false WHERE feed = $1 AND current ${isWhole ? '' : `AND ${isNote}`}`
        if (of === undefined) await asker.run(outdated, [feed])
        else await asker.run(`${outdated} AND key = ANY ($2)`, [feed, [...of]])
        if (!isBelieved)
          await asker.run(`UPDATE hold SET current = true WHERE feed = $1 AND ${survivesDisbelief}`, [feed])
        for (const group of distinct(all, ({ mlsNumber, part }) => `${part?.part ?? ''} ${mlsNumber}`)) {
          const rows = group.map(
            ({
              mlsNumber,
              why,
              part,
              home,
              isRefused = false,
              isLetGo = false,
              clock = null,
              isElsewhere = false,
            }) => ({
              key: mlsNumber,
              part: part?.part ?? '',
              content: part?.content ?? null,
              why,
              home: home ? jsonOf(home) : null,
              rules: JSON.stringify(part?.rules ?? []),
              ends: isElsewhere ? elsewhere : (part?.ends ?? 'never'),
              isRefused,
              isLetGo,
              clock,
            }),
          )
          const kept = rows.filter(({ isLetGo }) => isLetGo)
          await asker.run(
            `UPDATE hold AS h SET current = true, clock = CASE WHEN c.clock < h.clock THEN c.clock ELSE h.clock END
            FROM json_to_recordset($2::json) AS c(key text, part text, clock bigint) WHERE h.feed = $1 AND h.key = c.key AND h.part = c.part`,
            [feed, jsonOf(kept)],
          )
          // A run that is not whole only adds holds, as it says nothing about what was held before. Why else a listing waits it does say.
          const conflict = (rules: string): string =>
            isWhole
              ? `DO UPDATE SET why = excluded.why, home = excluded.home, ends = excluded.ends, rules = ${rules},
              current = true, since = CASE WHEN ${isSame} THEN ${sinceByRule} ELSE excluded.since END,
              clock = CASE WHEN ${isSame} THEN coalesce(hold.clock, ${firstClock}) ELSE excluded.clock END,
              decision = CASE WHEN ${isSame} THEN hold.decision END, content = excluded.content
              WHERE ${isBelieved} OR NOT ${survivesDisbelief} OR ${isAskedAnew} OR ${isSame}`
              : `DO UPDATE SET current = true, why = CASE WHEN hold.part = '' THEN excluded.why ELSE hold.why END,
              ends = CASE WHEN hold.part = '' THEN excluded.ends ELSE hold.ends END`
          const [refused, others] = [true, false].map((is) =>
            rows.filter((row) => !row.isLetGo && row.isRefused === is),
          )
          if (others.length > 0)
            await asker.run(`${newHolds} ${conflict('excluded.rules')}`, [feed, jsonOf(others), now])
          const asBefore = "coalesce(nullif(hold.rules, '[]'), excluded.rules)"
          if (refused.length > 0) await asker.run(`${newHolds} ${conflict(asBefore)}`, [feed, jsonOf(refused), now])
        }
        await tell(asker, feed, now, 'held', null, 'since = $2')
        await tell(asker, feed, now, 'ended', null, 'NOT current')
        await asker.run('DELETE FROM hold WHERE feed = $1 AND NOT current', [feed])
        const added = await numberOf(asker, `${approvable} AND since = $2`, [feed, now])
        await noteEvent(asker, feed, now, 'held', added, null)
        await noteEvent(asker, feed, now, 'let go', letGo(), null)
        await noteEvent(asker, feed, now, 'ended', before + added - (await numberOf(asker, approvable, [feed])), null)
        await asker.run('DELETE FROM hold_event WHERE feed = $1 AND at < $2', [feed, now - eventsKept])
      })
    },
    decide: (feed, decision, by, now, shown) =>
      door.writeOf(feed, async (asker) => {
        // Locked, so that no run changes these holds between the check and the decision.
        await asker.all('SELECT 1 FROM hold WHERE feed = $1 FOR UPDATE', [feed])
        if (shown !== null && (await fingerprint(asker, feed)) !== shown) return null
        const what = decision ?? 'revoked'
        const which = decision === null ? "part <> '' AND decision IS NOT NULL" : "part <> ''"
        const listings = await tell(asker, feed, now, what, by, which)
        // A refusal may be for any content (NULL). An approval is only for what was shown, so NULL becomes a content of its own,
        // until it is refused again.
        const changes = await asker.run(
          `UPDATE hold SET decision = $2, decided_by = $3, decided_at = $4,
            content = CASE WHEN $2 = 'refused' THEN nullif(content, '')
              WHEN decision = 'refused' THEN coalesce(content, '') ELSE content END
          WHERE feed = $1 AND ${which}`,
          [feed, decision, by, now],
        )
        await noteEvent(asker, feed, now, what, changes, by)
        return listings
      }),
    use: (feed, mlsNumber, heldParts) =>
      door.writeOf(feed, async (asker) => {
        await asker.run('DELETE FROM hold WHERE feed = $1 AND key = $2 AND part = ANY ($3)', [
          feed,
          mlsNumber,
          heldParts,
        ])
      }),
  }
}
