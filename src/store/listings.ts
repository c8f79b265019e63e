/** Writing the rows of `listing` and their payload: marks, confirmations, refusals. */
import type Database from 'better-sqlite3'
import type { Store } from './store.ts'

type ListingMethods = Pick<
  Store,
  | 'markInFlight'
  | 'clearFlight'
  | 'endFlight'
  | 'countDelete'
  | 'confirm'
  | 'forget'
  | 'refuse'
  | 'touch'
  | 'firstSight'
  | 'steady'
>

/** The ledger answers for 24 hours; twice that is kept, in case the clock is set back. */
export const ledgerKept = 2 * 86_400_000

export function createListings(database: Database.Database): ListingMethods {
  interface Row {
    id: number
    feed: string
    owned: number
    flight: string | null
    flightAt: number | null
    refusedAt: number | null
  }
  const rowOf = database.prepare<[string, string], Row>(
    'SELECT id, feed, owned, flight, flight_at AS flightAt, refused_at AS refusedAt FROM listing WHERE chatbot = ? AND key = ?',
  )
  const addPayload = database.prepare('INSERT INTO payload DEFAULT VALUES')
  const add = database.prepare('INSERT INTO listing (chatbot, key, id, feed) VALUES (?, ?, ?, ?)')
  const removeRow = database.prepare('DELETE FROM listing WHERE chatbot = ? AND key = ?')
  const removePayload = database.prepare('DELETE FROM payload WHERE id = ?')

  function findOrAdd(chatbot: string, key: string, feed: string): Row {
    const row = rowOf.get(chatbot, key)
    if (row !== undefined) return row
    const id = Number(addPayload.run().lastInsertRowid)
    add.run(chatbot, key, id, feed)
    return { id, feed, owned: 0, flight: null, flightAt: null, refusedAt: null }
  }

  function remove(chatbot: string, key: string, id: number): void {
    removeRow.run(chatbot, key)
    removePayload.run(id)
  }

  // The mark of a create is all that says a listing is ours: before another mark takes its place, the row says it.
  const mark = database.prepare(`UPDATE listing SET flight = @kind, flight_at = @now,
    owned = CASE WHEN @kind <> 'create' AND flight = 'create' THEN 1 ELSE owned END,
    feed = CASE owned WHEN 1 THEN feed ELSE @feed END WHERE chatbot = @chatbot AND key = @key`)
  const enterLedger = database.prepare('INSERT OR IGNORE INTO delete_ledger VALUES (?, ?, ?, ?)')
  const pruneLedger = database.prepare('DELETE FROM delete_ledger WHERE at < ?')
  const comeFurther = database.prepare('UPDATE meta SET serial = serial + 1')
  const markInFlight: Store['markInFlight'] = (chatbot, feed, kind, keys, now, approved) => {
    const counts = kind === 'delete' && !approved
    comeFurther.run()
    for (const key of keys) {
      const row = findOrAdd(chatbot, key, feed)
      // The same delete once more, after an attempt that came to nothing: one entry, not two.
      if (counts && row.flight === 'delete') leaveLedger.run(chatbot, row.feed, key, row.flightAt)
      mark.run({ chatbot, key, feed, kind, now })
      if (counts) enterLedger.run(chatbot, feed, key, now)
    }
    if (counts) pruneLedger.run(now - ledgerKept)
  }

  // This call's own entry, which an approved one has not: an earlier one stands for a delete that was carried out.
  const leaveLedger = database.prepare(
    'DELETE FROM delete_ledger WHERE chatbot = ? AND feed = ? AND key = ? AND at = ?',
  )
  const unmark = database.prepare('UPDATE listing SET flight = NULL, flight_at = NULL WHERE chatbot = ? AND key = ?')
  function endMark(chatbot: string, key: string, row: Row): void {
    if (row.owned === 0 && row.refusedAt === null) remove(chatbot, key, row.id)
    else unmark.run(chatbot, key)
  }
  const clearFlight: Store['clearFlight'] = (chatbot, keys) => {
    for (const key of keys) {
      const row = rowOf.get(chatbot, key)
      if (row === undefined) continue
      endMark(chatbot, key, row)
      if (row.flight === 'delete') leaveLedger.run(chatbot, row.feed, key, row.flightAt)
    }
  }

  const endFlight: Store['endFlight'] = (chatbot, key) => {
    const row = rowOf.get(chatbot, key)
    if (row !== undefined) endMark(chatbot, key, row)
  }
  const countDelete: Store['countDelete'] = (chatbot, feed, name, now) => {
    enterLedger.run(chatbot, feed, name, now)
  }

  const confirmRow = database.prepare(`UPDATE listing SET owned = 1, feed = @feed, content = @content,
    raw = CASE WHEN @keep THEN raw ELSE @raw END, parts = CASE WHEN @keep THEN parts ELSE @parts END, mapping = @mapping, filled = @filled, sent_at = @at, baseline = @baseline, moves_at = @movesAt,
    suspect_until = CASE WHEN suspect_until > @at THEN max(suspect_until, coalesce(@suspectUntil, 0)) ELSE @suspectUntil END,
    streak = CASE WHEN @reason IS NULL THEN 0 WHEN streak_reason = @reason THEN streak + 1 ELSE 1 END,
    streak_reason = @reason, flight = NULL, flight_at = NULL,
    refused_content = NULL, refused_mapping = NULL, refused_at = NULL, refused_message = NULL
    WHERE chatbot = @chatbot AND key = @key`)
  const savePayload = database.prepare('UPDATE payload SET listing = ?, moving = ?, echo = ? WHERE id = ?')
  const confirm: Store['confirm'] = (chatbot, confirmations) => {
    for (const confirmation of confirmations) {
      const { sent, baseline, record, ...columns } = confirmation
      const { id } = findOrAdd(chatbot, confirmation.key, confirmation.feed)
      confirmRow.run({
        ...columns,
        chatbot,
        baseline: baseline?.hash ?? null,
        keep: record === null ? 1 : 0,
        raw: record?.raw ?? null,
        parts: record?.parts ?? 1,
      })
      const echo = baseline === null ? null : JSON.stringify(baseline.echo)
      savePayload.run(JSON.stringify(sent.listing), JSON.stringify(sent.moving), echo, id)
    }
  }

  // A fresh row under the old id: nothing of what it was may be taken for known.
  const disown = database.prepare(`INSERT INTO listing (chatbot, key, id, feed, flight, flight_at)
    VALUES (@chatbot, @key, @id, @feed, 'delete', @at)`)
  const emptyPayload = database.prepare('UPDATE payload SET listing = NULL, moving = NULL, echo = NULL WHERE id = ?')
  const forget: Store['forget'] = (chatbot, keys, unsettledAt) => {
    for (const key of keys) {
      const row = rowOf.get(chatbot, key)
      if (row === undefined) continue
      if (unsettledAt === null || row.flight !== 'delete') {
        remove(chatbot, key, row.id)
        continue
      }
      removeRow.run(chatbot, key)
      emptyPayload.run(row.id)
      disown.run({ chatbot, key, id: row.id, feed: row.feed, at: unsettledAt })
    }
  }

  const noteRefusal =
    database.prepare(`UPDATE listing SET flight = CASE WHEN @unsettled THEN flight END, flight_at = CASE WHEN @unsettled THEN flight_at END,
    feed = CASE owned WHEN 1 THEN feed ELSE @feed END, refused_content = @content, refused_mapping = @mapping,
    refused_at = @at, refused_message = @message WHERE chatbot = @chatbot AND key = @key`)
  const refuse: Store['refuse'] = (chatbot, feed, key, refusal) => {
    findOrAdd(chatbot, key, feed)
    noteRefusal.run({ chatbot, feed, key, ...refusal, unsettled: refusal.unsettled === true ? 1 : 0 })
  }

  const touchRow = database.prepare(`UPDATE listing SET raw = @raw, parts = @parts, mapping = @mapping,
    filled = @filled, moves_at = @movesAt WHERE id = @id AND owned = 1`)
  const saveMoving = database.prepare('UPDATE payload SET moving = ? WHERE id = ? AND listing IS NOT NULL')
  const touch: Store['touch'] = (touches) => {
    for (const { moving, ...columns } of touches) {
      touchRow.run(columns)
      saveMoving.run(JSON.stringify(moving), columns.id)
    }
  }

  const setBaseline = database.prepare('UPDATE listing SET baseline = ? WHERE id = ? AND owned = 1')
  const saveEcho = database.prepare('UPDATE payload SET echo = ? WHERE id = ? AND listing IS NOT NULL')
  const firstSight: Store['firstSight'] = (sights) => {
    for (const { id, hash, echo } of sights) {
      setBaseline.run(hash, id)
      saveEcho.run(JSON.stringify(echo), id)
    }
  }

  const endStreak = database.prepare('UPDATE listing SET streak = 0, streak_reason = NULL WHERE id = ?')
  const steady: Store['steady'] = (ids) => {
    for (const id of ids) endStreak.run(id)
  }

  return { markInFlight, clearFlight, endFlight, countDelete, confirm, forget, refuse, touch, firstSight, steady }
}
