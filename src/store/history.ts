/** History on SQLite: what is remembered of a feed's listings beside their snapshot rows, from `absence`, `ledger` and `hold`. */
import type { Absence, Counted, HoldRecord } from '../plan/guard/hold.ts'
import type { History } from '../plan/inputs.ts'
import { column } from './connection.ts'
import { inTransactions, promised, walk } from './door.ts'
import type { Connection, Writes } from './door.ts'
import { approvalLasts, decisionNow, doubted, elsewhere } from './holds.ts'
import { countedSince, leftFor } from './ledger.ts'
import type { AbsenceNotes, HistoryReader } from './store.ts'

interface Range {
  chatbot: string
  feed: string
  after: string
  to: string
}
export type Noted = Absence & { key: string }
/** `times`: how many such changes there were; `at`: when the latest was. */
export type Entered = { key: string; what: Counted | 'left'; at: number; times: number }
export type HeldRow = Omit<HoldRecord, 'part' | 'ends' | 'isOfRule'> & {
  key: string
  rules: string
  part: HoldRecord['part'] | ''
  ends: HoldRecord['ends'] | typeof elsewhere
}

export function createHistory(connection: Connection): AbsenceNotes {
  const { database } = connection
  const side = (table: string, of: string): string =>
    `SELECT * FROM (SELECT DISTINCT key FROM ${table} WHERE ${of} AND key > @after ORDER BY key LIMIT @most)`
  const ofFeed = 'feed = @feed AND chatbot = @chatbot'
  const keys = database
    .prepare<[Omit<Range, 'to'> & { most: number }], string>(
      `${side('absence', ofFeed)} UNION ${side('ledger', ofFeed)} UNION ${side('hold', 'feed = @feed')}
      ORDER BY key LIMIT @most`,
    )
    .pluck()
  const between = 'key > @after AND key <= @to ORDER BY key'
  const absences = database.prepare<[Range], Noted>(
    `SELECT key, runs, since FROM absence WHERE ${ofFeed} AND ${between}`,
  )
  const entries = database.prepare<[Range], Entered>(
    `SELECT key, what, max(at) AS at, count(*) AS times FROM ledger
    WHERE ${ofFeed} AND key > @after AND key <= @to GROUP BY key, what`,
  )
  const holdsWith = (clock: string, decision: string) =>
    database.prepare<[Range & { expired: number; now: number }], HeldRow>(
      `SELECT key, part, content, rules, since, ends, ${clock} AS clock, ${decision}
      FROM hold WHERE feed = @feed AND ${between}`,
    )
  const holds = holdsWith('clock', decisionNow)
  const inDoubt = doubted('@now')
  const holdsInDoubt = holdsWith(inDoubt.clock, `${inDoubt.decision} AS decision`)
  const since = countedSince(database)
  const page = (
    [chatbot, feed, now, isPutBack]: Parameters<HistoryReader['rows']>,
    after: string,
    most: number,
  ): History[] => {
    const found = keys.all({ chatbot, feed, after, most })
    if (found.length === 0) return []
    const range = { chatbot, feed, after, to: found[found.length - 1] }
    const absence = byKey(absences.all(range))
    const entered = byKey(entries.all(range))
    const read = isPutBack ? holdsInDoubt : holds
    const held = byKey(read.all({ ...range, now, expired: now - approvalLasts }))
    const countedAfter = since(chatbot, feed, now)
    return found.map((key) => historyOf(key, { now, countedAfter }, absence(key)[0], entered(key), held(key)))
  }
  const isAbsent = column<1>(database, 'SELECT 1 FROM absence WHERE chatbot = ? AND feed = ? AND key = ?')
  const count = database.prepare(`INSERT INTO absence (feed, chatbot, key, runs, since, noted)
    VALUES (@feed, @chatbot, @key, 1, @now, @now)
    ON CONFLICT (feed, chatbot, key) DO UPDATE SET runs = runs + 1, noted = @now`)
  const end = database.prepare('DELETE FROM absence WHERE feed = ? AND chatbot = ? AND key = ?')
  const restart = database.prepare(
    "UPDATE hold SET clock = ? WHERE feed = ? AND key = ? AND part = 'delete' AND clock IS NOT NULL",
  )
  const endOthers = database.prepare('DELETE FROM absence WHERE feed = ? AND (chatbot <> ? OR noted <> ?)')
  return {
    rows: (...of) => walk(connection, (after, most) => page(of, after, most)),
    ...promised<Omit<HistoryReader, 'rows'>>(connection, { isAbsent: (...of) => isAbsent.get(...of) !== undefined }),
    ...inTransactions<Writes<AbsenceNotes, HistoryReader>>(connection, {
      noteAbsences(chatbot, feed, { absent, returned, stillThere }, now) {
        for (const key of absent) count.run({ feed, chatbot, key, now })
        for (const key of returned) end.run(feed, chatbot, key)
        for (const key of stillThere) restart.run(now, feed, key)
      },
      pruneAbsences: (chatbot, feed, now) => void endOthers.run(feed, chatbot, now),
    }),
  }
}

/** Makes the history of a listing from its rows. Changes later than `countedAfter` still count for the guard. */
export function historyOf(
  key: string,
  { now, countedAfter }: { now: number; countedAfter: number },
  absence: Noted | undefined,
  entries: readonly Entered[],
  held: readonly HeldRow[],
): History {
  const left = entries.filter(({ what }) => what === 'delete' || what === 'renumber' || what === 'left')
  const leftAt = Math.max(...left.map(({ at }) => at))
  const deletes = left.reduce((sum, { times }) => sum + times, 0)
  return {
    key,
    absence: absence === undefined ? null : { runs: absence.runs, since: absence.since },
    leftAt: leftAt > now - leftFor ? leftAt : null,
    ...(deletes > 1 && { deletes }),
    counted: entries.flatMap(({ what, at }) => (what === 'left' || at <= countedAfter ? [] : [what])),
    heldSince: held.length === 0 ? null : Math.min(...held.map(({ since }) => since)),
    ...(held.some(({ ends }) => ends === elsewhere) && { wasElsewhere: true }),
    holds: held.flatMap(({ part, content, rules, since, ends, clock, decision }) =>
      part === '' || ends === elsewhere
        ? []
        : [{ part, content, since, ends, clock, isOfRule: rules !== '[]', decision }],
    ),
  }
}

/** Groups rows by key; a key without rows gives none. */
export function byKey<Row extends { key: string }>(rows: readonly Row[]): (key: string) => Row[] {
  const groups = Map.groupBy(rows, ({ key }) => key)
  return (key) => groups.get(key) ?? []
}
