/** Holds on SQLite: table `hold` has what is held and what people decided, `hold_event` what became of it. */
import { createHash } from 'node:crypto'
import type Database from 'better-sqlite3'
import type { Home } from '../core/home.ts'
import { compareKeys } from '../core/listing.ts'
import { askingRules } from '../plan/guard/hold.ts'
import type { Decision, HeldPart } from '../plan/guard/hold.ts'
import { column } from './connection.ts'
import { inTransactions, promised } from './door.ts'
import type { Connection, Writes } from './door.ts'
import type { Held, HoldEvent, Holds, HoldsReader } from './store.ts'

/** Milliseconds after which an approval expires: by then nobody remembers what it was for. */
export const approvalLasts = 30 * 86_400_000
export const eventsKept = 90 * 86_400_000

export type HeldRow = Omit<Held, 'part' | 'home' | 'rules' | 'decision'> & {
  part: NonNullable<Held['part']> | ''
  home: string | null
  rules: string
  decision: Decision | null
  decidedBy: string
  decidedAt: number
}

/** `ends` of a row that holds nothing and only notes that another feed of the chatbot had the listing. */
export const elsewhere = 'elsewhere'
export const isHeld = `ends <> '${elsewhere}'`
/** It only says why a listing waits, and nobody can approve it. */
export const isNote = `part = '' AND ${isHeld}`

const isExpired = "decision = 'approved' AND decided_at <= @expired"
/** The decision, unless it is an expired approval. */
export const decisionNow = `CASE WHEN ${isExpired} THEN NULL ELSE decision END AS decision`
/** A rule holds it, and no approval covers it. */
const waits = `feed = @feed AND rules <> '[]' AND (decision IS NOT 'approved' OR ${isExpired})`
/** It goes by itself once the feed has said the same for long enough. */
export const hasClock = "hold.clock IS NOT NULL AND hold.ends = 'confirmed'"
const newHold = `INTO hold (feed, key, part, content, why, home, rules, ends, since, clock)
    VALUES (@feed, @key, @part, @content, @why, @home, @rules, @ends, @now, iif(@ends = 'never', NULL, @now))`
/** Refused, or with a clock: a delivery that is not believed leaves such a hold as it is. Its own holds only ask, and have no clock. */
export const survivesDisbelief = "(coalesce(hold.decision = 'refused', false) OR hold.clock IS NOT NULL)"
const isAskedOf = (hold: string): string =>
  `(${[...askingRules].map((rule) => `${hold}.rules LIKE '%"${rule}"%'`).join(' OR ')})`
/**
 * A delivery that asks says anew what there is to approve: of what a rule asks about already, so that no time lets it go; and of a
 * delete, under which number its home comes, or that it leaves, as an approval of what was said before would have no effect while it
 * asks. If the home then comes under the first number again, the delete waits from here on (`isSame`).
 */
export const isAskedAnew = `(coalesce(hold.decision, '') <> 'refused'
  AND (${isAskedOf('hold')} OR (hold.part = 'delete' AND ${isAskedOf('excluded')})))`
const askedBeside = `SELECT 1 FROM hold AS beside WHERE beside.feed = hold.feed AND beside.key = hold.key
  AND ${isAskedOf('beside')}`
/** How many listings, and of how many time lets something go: nobody refused it, and no rule asks about the listing. */
export const survivors = `count(DISTINCT key) AS listings, count(DISTINCT CASE
  WHEN clock IS NOT NULL AND coalesce(decision, '') <> 'refused' AND NOT EXISTS (${askedBeside}) THEN key END) AS timed`
/** Since when a rule holds it. If only a record without MLSNumber did so far, no rule has asked anybody yet, and it begins now. */
export const sinceByRule = `CASE WHEN hold.rules = '[]' AND excluded.rules <> '[]' AND hold.clock IS NULL
  THEN excluded.since ELSE hold.since END`
/** The clock of a hold that has none yet. The feed has said it since the hold began; another list has to show it from now on. */
export const firstClock = `CASE excluded.ends WHEN 'confirmed' THEN ${sinceByRule} ELSE excluded.clock END`
/** It is the same hold: what it would do has not changed, but that the home of a delete has a number by now. */
const isSame = "(content IS NULL OR content = excluded.content OR (content = '' AND part = 'delete'))"

const day = 86_400_000

/**
 * Of a store that was put back: nobody knows what deliveries said since, or what people decided. So the clocks of what is held begin
 * again, each once, as a store may be moved every night. `lost_at` tells whether that was so since the hold began, as a delivery may
 * have begun its clock again, too. What was approved more than a day ago has to be approved again.
 */
export const doubted = (now: string) => ({
  clock: `CASE WHEN clock <> since AND (SELECT lost_at FROM feed WHERE name = hold.feed) >= since THEN clock
    WHEN clock IS NOT NULL THEN ${now} END`,
  decision: `CASE WHEN decision <> 'approved' OR decided_at > ${now} - ${day} THEN decision END`,
})

/** Notes the same for good. It goes before `lost_at` is set. */
export function doubtingHolds(now: string): string {
  const { clock, decision } = doubted(now)
  return `UPDATE hold SET clock = ${clock}, decision = ${decision}`
}

export function createHolds(connection: Connection): Holds {
  const { database } = connection
  const heldWhere = `SELECT key AS mlsNumber, part, why, home, rules, since, clock, decided_by AS decidedBy,
    decided_at AS decidedAt, ${decisionNow} FROM hold WHERE feed = @feed AND ${isHeld}`
  const held = database.prepare<[{ feed: string; expired: number }], HeldRow>(`${heldWhere} ORDER BY key, part`)
  const heldFirst = database.prepare<[{ feed: string; expired: number; most: number }], HeldRow>(
    `${heldWhere} AND key IN (SELECT DISTINCT key FROM hold WHERE feed = @feed AND ${isHeld} ORDER BY key LIMIT @most)
    ORDER BY key, part`,
  )
  const heldOf = database.prepare<[{ feed: string; expired: number; key: string }], HeldRow>(
    `${heldWhere} AND key = @key ORDER BY part`,
  )
  const byRule = database.prepare<[{ feed: string; expired: number }], { rule: string; listings: number }>(
    `SELECT rule.value AS rule, count(DISTINCT hold.key) AS listings FROM hold, json_each(hold.rules) AS rule
    WHERE ${waits} AND part <> '' GROUP BY rule.value`,
  )
  const count = column<number>(database, `SELECT count(DISTINCT key) FROM hold WHERE feed = ? AND ${isHeld}`)
  const waiting = column<number>(database, `SELECT count(DISTINCT key) FROM hold WHERE ${waits}`)
  const approvables = column<number>(database, "SELECT count(DISTINCT key) FROM hold WHERE feed = ? AND part <> ''")
  const surviving = database.prepare<[{ feed: string; expired: number }], { listings: number; timed: number }>(
    `SELECT ${survivors} FROM hold WHERE ${waits} AND ${survivesDisbelief}`,
  )
  const clocks = database.prepare<[{ feed: string; expired: number }], { part: HeldPart; listings: number }>(
    `SELECT part, count(*) AS listings FROM hold WHERE ${waits} AND part <> '' AND ${hasClock} GROUP BY part`,
  )
  const approvals = database.prepare<
    [{ feed: string; expired: number }],
    { by: string; at: number; listings: number }
  >(`SELECT decided_by AS "by", decided_at AS at, count(DISTINCT key) AS listings FROM hold
    WHERE feed = @feed AND ${isHeld} AND decision = 'approved' AND decided_at > @expired
    GROUP BY decided_by, decided_at ORDER BY decided_at, decided_by`)
  const approvable = database.prepare<[string], (string | null)[]>(
    "SELECT key, part, content, decision FROM hold WHERE feed = ? AND part <> '' ORDER BY key, part",
  )
  const events = database.prepare<[string, number], HoldEvent>(
    'SELECT at, what, holds, by FROM hold_event WHERE feed = ? AND at >= ? ORDER BY number',
  )
  // What is still outdated when a run has named all that it holds has ended.
  const outdateAll = database.prepare('UPDATE hold SET current = 0 WHERE feed = ?')
  const outdateOne = database.prepare('UPDATE hold SET current = 0 WHERE feed = ? AND key = ?')
  const outdateNotes = database.prepare(`UPDATE hold SET current = 0 WHERE feed = ? AND ${isNote}`)
  const outdateNote = database.prepare(`UPDATE hold SET current = 0 WHERE feed = ? AND key = ? AND ${isNote}`)
  const outdate = (feed: string, keys: ReadonlySet<string> | undefined, isWhole: boolean): void => {
    const [all, outdate] = isWhole ? [outdateAll, outdateOne] : [outdateNotes, outdateNote]
    if (keys === undefined) all.run(feed)
    else for (const key of keys) outdate.run(feed, key)
  }
  const hold = database.prepare(`INSERT ${newHold}
    ON CONFLICT (feed, key, part) DO UPDATE SET why = @why, home = @home, ends = @ends, current = 1,
      rules = iif(@isRefused AND rules <> '[]', rules, excluded.rules),
      since = iif(${isSame}, ${sinceByRule}, @now), clock = iif(${isSame}, coalesce(clock, ${firstClock}), excluded.clock),
      decision = iif(${isSame}, decision, NULL), content = @content
      WHERE @isBelieved OR NOT (${survivesDisbelief}) OR ${isAskedAnew} OR ${isSame}`)
  // A run that is not whole only adds holds, as it says nothing about what was held before. Why else a listing waits it does say.
  const holdAlso = database.prepare(
    `INSERT ${newHold} ON CONFLICT (feed, key, part) DO UPDATE SET current = 1,
      why = iif(part = '', @why, why), ends = iif(part = '', @ends, ends)`,
  )
  const keep = database.prepare(`UPDATE hold SET current = 1, clock = iif(@clock < clock, @clock, clock)
    WHERE feed = @feed AND key = @key AND part = @part`)
  const keepSurvivors = database.prepare(`UPDATE hold SET current = 1 WHERE feed = ? AND ${survivesDisbelief}`)
  const drop = database.prepare('DELETE FROM hold WHERE feed = ? AND current = 0')
  const refuseAny = database.prepare("UPDATE hold SET content = NULL WHERE feed = ? AND decision = 'refused'")
  // A refusal may be for any content (NULL). An approval is only for what was shown, so NULL becomes a content of its own,
  // until it is refused again.
  const decide = database.prepare(
    `UPDATE hold SET content = iif(@decision = 'refused', nullif(content, ''), iif(decision = 'refused', coalesce(content, ''), content)),
      decision = @decision, decided_by = @by, decided_at = @now
    WHERE feed = @feed AND part <> '' AND (@decision IS NOT NULL OR decision IS NOT NULL)`,
  )
  const use = database.prepare('DELETE FROM hold WHERE feed = ? AND key = ? AND part = ?')
  const addEvent = database.prepare('INSERT INTO hold_event (feed, at, what, holds, by) VALUES (?, ?, ?, ?, ?)')
  const pruneEvents = database.prepare('DELETE FROM hold_event WHERE feed = ? AND at < ?')
  const noteEvent = (feed: string, at: number, what: HoldEvent['what'], holds: number, by: string | null): void => {
    if (holds > 0) addEvent.run(feed, at, what, holds, by)
  }
  // One event for each home, however many parts of it are held.
  const tell = (what: string, which: string): Database.Statement =>
    database.prepare(`INSERT INTO home_event (feed, key, at, what, why, by_whom, home)
      SELECT feed, key, @now, ${what}, why, @by, home FROM hold WHERE feed = @feed AND ${isHeld} AND ${which} GROUP BY key`)
  const tellHeld = tell("'held'", 'since = @now')
  const tellEnded = tell("'ended'", 'current = 0')
  const tellDecided = tell('@what', "part <> '' AND (@what <> 'revoked' OR decision IS NOT NULL)")
  const total = column<number>(database, "SELECT count(*) FROM hold WHERE feed = ? AND part <> ''")
  const fresh = column<number>(database, "SELECT count(*) FROM hold WHERE feed = ? AND part <> '' AND since = ?")

  const fingerprint = (feed: string): string => {
    const hash = createHash('sha256')
    for (const row of approvable.raw().iterate(feed)) hash.update(`${JSON.stringify(row)}\n`)
    return hash.digest('hex')
  }

  return {
    ...promised<HoldsReader>(connection, {
      held(feed, now, { keys, most } = {}) {
        const bound = { feed, expired: now - approvalLasts }
        if (keys !== undefined) {
          const sorted = [...new Set(keys)].sort(compareKeys)
          return heldFrom(sorted.flatMap((key) => heldOf.all({ ...bound, key })))
        }
        return heldFrom(most === undefined ? held.all(bound) : heldFirst.all({ ...bound, most }))
      },
      count: (feed) => count.get(feed)!,
      waiting: (feed, now) => waiting.get({ feed, expired: now - approvalLasts })!,
      surviving: (feed, now) => surviving.get({ feed, expired: now - approvalLasts })!,
      clocks: (feed, now) =>
        new Map(clocks.all({ feed, expired: now - approvalLasts }).map(({ part, listings }) => [part, listings])),
      waitingByRule: (feed, now) =>
        new Map(byRule.all({ feed, expired: now - approvalLasts }).map(({ rule, listings }) => [rule, listings])),
      approvable: (feed) => approvables.get(feed)!,
      approvals: (feed, now) => approvals.all({ feed, expired: now - approvalLasts }),
      fingerprint,
      events: (feed, since) => events.all(feed, since),
    }),
    ...inTransactions<Writes<Holds, HoldsReader>>(connection, {
      replace(feed, all, { now, isWhole, isNewMapping = false, isBelieved = true, of, letGo }) {
        const before = total.get(feed)!
        if (isNewMapping) refuseAny.run(feed)
        outdate(feed, of, isWhole)
        if (!isBelieved) keepSurvivors.run(feed)
        for (const { mlsNumber, why, part, home, isRefused, isLetGo, clock = null, isElsewhere } of all) {
          if (isLetGo) keep.run({ feed, key: mlsNumber, part: part?.part ?? '', clock })
          else
            (isWhole ? hold : holdAlso).run({
              feed,
              key: mlsNumber,
              why,
              now,
              home: home ? JSON.stringify(home) : null,
              part: part?.part ?? '',
              content: part?.content ?? null,
              rules: JSON.stringify(part?.rules ?? []),
              isRefused: isRefused ? 1 : 0,
              isBelieved: isBelieved ? 1 : 0,
              ends: isElsewhere ? elsewhere : (part?.ends ?? 'never'),
            })
        }
        tellHeld.run({ feed, now, by: null })
        tellEnded.run({ feed, now, by: null })
        drop.run(feed)
        const added = fresh.get(feed, now)!
        noteEvent(feed, now, 'held', added, null)
        noteEvent(feed, now, 'let go', letGo(), null)
        noteEvent(feed, now, 'ended', before + added - total.get(feed)!, null)
        pruneEvents.run(feed, now - eventsKept)
      },
      decide(feed, decision, by, now, shown) {
        if (shown !== null && fingerprint(feed) !== shown) return null
        const changed = tellDecided.run({ feed, now, by, what: decision ?? 'revoked' })
        const { changes } = decide.run({ feed, decision, by, now })
        noteEvent(feed, now, decision ?? 'revoked', changes, by)
        return changed.changes
      },
      use(feed, mlsNumber, heldParts) {
        for (const part of heldParts) use.run(feed, mlsNumber, part)
      },
    }),
  }
}

/** Makes holds of their rows. While a rule that asks holds a listing, none of its holds has a clock. */
export function heldFrom(found: readonly HeldRow[]): Held[] {
  const rows = found.map((row) => ({ ...row, rules: JSON.parse(row.rules) as string[] }))
  const waitsForPerson = new Set(
    rows.filter(({ rules }) => rules.some((rule) => askingRules.has(rule))).map(({ mlsNumber }) => mlsNumber),
  )
  return rows.map(({ mlsNumber, part, why, home, rules, since, clock, decision, decidedBy, decidedAt }) => ({
    mlsNumber,
    part: part === '' ? null : part,
    home: home === null ? null : (JSON.parse(home) as Home),
    why,
    rules,
    since,
    // What waits for a record without MLSNumber is of no rule: an earlier clock of it rests.
    clock: waitsForPerson.has(mlsNumber) || rules.length === 0 ? null : clock,
    decision: decision && { is: decision, by: decidedBy, at: decidedAt },
  }))
}
