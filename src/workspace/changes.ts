/** The plan in the workspace: changes with their outcomes, and the bookkeeping. */
import type Database from 'better-sqlite3'
import { breathe, createBreath } from '../core/breath.ts'
import { DeleteAbsent, ForgetAbsent, isUnwritten } from '../plan/change.ts'
import type { Action, Bookkeeping, Change, ChangeKind, Planned } from '../plan/change.ts'
import { nothingRemembered, unweighed } from '../plan/guard/hold.ts'
import type { Remembered } from '../plan/guard/hold.ts'
import { AbsenceProof } from '../plan/proof.ts'
import type { Sides } from '../plan/proof.ts'
import { inOneGo, paged } from './scratch-file.ts'
import { foldedNumber, isRespelled, isSpelledAlike } from './spelling.ts'
import type { OfKind, Outcome, Respelled, Stored, Workspace } from './workspace.ts'

const pageRows = 500

interface ChangeRow {
  seq: number
  key: string
  change: string
  remembered: string | null
  weighed: string | null
  pair: number
  heldBeside: string | null
  refusedBeside: number
  wasHeldBeside: number
  result: Outcome['result'] | null
  error: string | null
}

type Rewritten = Pick<Stored, 'seq' | 'change' | 'weighed'>

interface PairRow {
  place: number
  gone: string
  seq: number
  change: string
}

interface EntryRow {
  number: number
  entry: string
}

export function createPlan(
  database: Database.Database,
  { isSeen, isDelivered }: Pick<Workspace, 'isSeen' | 'isDelivered'>,
) {
  let sides: Sides | null = null
  const add = database.prepare(
    'INSERT INTO change (kind, key, change, home, number, number_end, remembered) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const addAll = inOneGo(database, (added: readonly Planned[]) => {
    for (const { change, remembered } of added) {
      const { absence, heldSince, counted } = remembered
      const isNothing = absence === null && heldSince === null && counted.length === 0
      const memory = isNothing ? null : JSON.stringify(remembered)
      const number = numberOfPair(change)
      const end = number === null ? null : endOf(number)
      add.run(change.kind, change.mlsNumber, JSON.stringify(change), homeOfPair(change), number, end, memory)
    }
  })

  /** The rows that `where` selects, in plan order. They may be written meanwhile. */
  function walk(where: string, ...values: string[]): Generator<ChangeRow> {
    const page = database.prepare<(string | number)[], ChangeRow>(
      `SELECT seq, key, change, remembered, weighed, pair, ${heldBeside} AS heldBeside,
        ${refusedBeside} AS refusedBeside, ${wasHeldBeside} AS wasHeldBeside, result, error
      FROM change WHERE ${where} AND seq > ? ORDER BY seq LIMIT ${pageRows}`,
    )
    return paged<ChangeRow>(pageRows, (last) => page.all(...values, last?.seq ?? 0))
  }

  function stored(row: ChangeRow): Stored {
    const { seq, key, change, weighed, result, error } = row
    const remembered: Remembered = row.remembered === null ? nothingRemembered : JSON.parse(row.remembered)
    return {
      seq,
      change: revived(key, JSON.parse(change), remembered),
      weighed: weighed === null ? unweighed : JSON.parse(weighed),
      remembered,
      pair: pairs[row.pair],
      outcome: result === null ? null : { result, error },
    }
  }

  /** Makes a change of its stored form. A delete or forget is proven again from the rows here, so that a stored one alone deletes nothing. */
  function revived(key: string, written: Change, remembered: Remembered): Change {
    if (written.kind === 'hold')
      return { ...written, action: written.action && (revived(key, written.action, remembered) as Action) }
    if (written.kind !== 'delete' && (written.kind !== 'forget' || written.cause === 'other-feed')) return written
    const proof = proofOf(key, written, remembered)
    return written.kind === 'delete' ? new DeleteAbsent(proof, written) : new ForgetAbsent(proof, written)
  }

  function proofOf(
    mlsNumber: string,
    { kind, cause, snapshot, home }: DeleteAbsent | ForgetAbsent,
    remembered: Remembered,
  ): AbsenceProof {
    const isStated = cause === 'feed-says-so'
    const wasDelivered = isDelivered(mlsNumber) || (snapshot !== null && isSeen(snapshot))
    const isShown = kind === 'delete'
    const gone = { mlsNumber, isStated, isDelivered: wasDelivered, isShown, home, snapshot, remembered }
    const proof = sides === null ? { why: 'nothing is known of its delivery' } : AbsenceProof.of(sides, gone)
    if (proof instanceof AbsenceProof) return proof
    throw new Error(`The plan has a change of ${mlsNumber} by absence without a proof: ${proof.why}`)
  }

  database.function(
    'isSpelledAlike',
    { deterministic: true },
    (mlsNumber: string, other: string) => +isSpelledAlike(mlsNumber, other),
  )
  const dropRejects = database.prepare<[number | null]>(rejectsDropped)
  const pair = inOneGo(database, () => void database.exec(pairing))
  const rewrite = database.prepare('UPDATE change SET kind = ?, change = ?, weighed = ? WHERE seq = ?')
  const rewriteAll = inOneGo(database, (turned: readonly Rewritten[]) => {
    for (const { seq, change, weighed } of turned)
      rewrite.run(change.kind, JSON.stringify(change), JSON.stringify(weighed), seq)
  })
  const stillThere = database.prepare(
    "SELECT 1 FROM change WHERE home = ? AND kind = 'forget' AND result IS NOT 'done' LIMIT 1",
  )
  const notThereYet = database.prepare(
    `SELECT 1 FROM change AS gone JOIN change AS comes ON comes.home = gone.home AND comes.kind = 'create' AND comes.pair > 0
    WHERE gone.seq = ? AND gone.pair > 0 AND comes.result IS NOT 'done' LIMIT 1`,
  )
  const inOtherLetters = database.prepare<[{ seq: number }], { key: string }>(
    `SELECT comes.key FROM change AS gone JOIN change AS comes ON comes.kind = 'create' AND lower(comes.key) = lower(gone.key)
      WHERE gone.seq = @seq
    UNION ALL SELECT shown.key FROM change AS gone JOIN shown ON lower(shown.key) = lower(gone.key) AND shown.key <> gone.key
      WHERE gone.seq = @seq LIMIT 1`,
  )
  let areLettersIndexed = false
  const indexLetters = inOneGo(database, () => void database.exec(lettersIndexed))
  database.function(
    'isRespelled',
    { deterministic: true },
    (mlsNumber: string, other: string) => +isRespelled(mlsNumber, other),
  )
  const respelled = database.prepare<[number, number], Respelled>(
    `SELECT comes.key AS sent, gone.key AS listed FROM change AS gone JOIN change AS comes ON comes.home = gone.home
      AND comes.kind = 'create' AND comes.pair = 2 AND comes.change ->> '$.cause' = 'gone-from-service'
    WHERE gone.home = (SELECT home FROM change WHERE seq = ?) AND gone.kind = 'delete' AND gone.pair = 2
      AND gone.change ->> '$.snapshot' IS NULL AND ? IN (gone.seq, comes.seq) AND isRespelled(gone.key, comes.key) LIMIT 1`,
  )
  const setOutcome = database.prepare('UPDATE change SET result = ?, error = ? WHERE seq = ?')
  const addEntry = database.prepare('INSERT INTO bookkeeping (entry) VALUES (?)')
  const pageOfEntries = database.prepare<[number], EntryRow>(
    `SELECT number, entry FROM bookkeeping WHERE number > ? ORDER BY number LIMIT ${pageRows}`,
  )

  return {
    addChanges(added: readonly Planned[], known: Sides): void {
      sides = known
      addAll(added)
    },
    *changes<Kind extends ChangeKind>(kind?: Kind): Generator<Stored<OfKind<Kind>>> {
      const rows = kind === undefined ? walk(isChange) : walk('kind = ?', kind)
      for (const row of rows) yield stored(row) as Stored<OfKind<Kind>>
    },
    *open(): Generator<Stored> {
      for (const row of walk("result IN ('failed', 'unknown')")) yield stored(row)
    },
    *pairs(believedSince: number | null): ReturnType<Workspace['pairs']> {
      dropRejects.run(believedSince)
      pair()
      const page = database.prepare<[number], PairRow>(onlyPairs)
      for (const { gone, seq, change } of paged<PairRow>(pageRows, (last) => page.all(last?.place ?? 0)))
        yield { gone, seq, create: JSON.parse(change) }
    },
    noteBroken(creates: Parameters<Workspace['noteBroken']>[0]): void {
      rewriteAll(creates.map(({ seq, create, broken }) => ({ seq, change: { ...create, broken }, weighed: unweighed })))
    },
    async turn(which: keyof typeof turned, give: Parameters<Workspace['turn']>[1]): Promise<void> {
      const isTired = createBreath()
      let batch: Rewritten[] = []
      for (const row of walk(turned[which])) {
        if (isTired()) await breathe()
        const { seq, change, remembered, pair } = stored(row)
        if (change.kind === 'hold') continue
        const refused = row.refusedBeside === 1 && { isRefusedBeside: true }
        const wasHeld = row.wasHeldBeside === 1 && { wasHeldBeside: true }
        const turnedTo = give(change, { remembered, pair, heldBeside: row.heldBeside, ...refused, ...wasHeld })
        if (turnedTo === null) continue
        if (batch.push({ seq, change: turnedTo.change, weighed: turnedTo.weighed }) < pageRows) continue
        rewriteAll(batch)
        batch = []
      }
      if (batch.length > 0) rewriteAll(batch)
    },
    isStillThere: (home: string) => stillThere.get(home) !== undefined,
    isNotThereYet: (seq: number) => notThereYet.get(seq) !== undefined,
    inOtherLetters(seq: number): string | null {
      if (!areLettersIndexed) indexLetters()
      areLettersIndexed = true
      return inOtherLetters.get({ seq })?.key ?? null
    },
    respelled: (seq: number) => respelled.get(seq, seq) ?? null,
    recordOutcomes: inOneGo(database, (outcomes: readonly { seq: number; outcome: Outcome }[]) => {
      for (const { seq, outcome } of outcomes) setOutcome.run(outcome.result, outcome.error, seq)
    }),
    addBookkeeping: inOneGo(database, (entries: readonly Bookkeeping[]) => {
      for (const entry of entries) {
        const kind = entry.op === 'unreadable' ? 'reject' : entry.op
        if ('home' in entry) add.run(kind, entry.key, JSON.stringify({ why: entry.why }), entry.home, null, null, null)
        else addEntry.run(JSON.stringify(entry))
      }
    }),
    *bookkeeping(): Generator<Bookkeeping> {
      const rows = paged<EntryRow>(pageRows, (last) => pageOfEntries.all(last?.number ?? 0))
      for (const { entry } of rows) yield JSON.parse(entry)
    },
  }
}

/** The home of a change that may be half of a renumbered listing; null: it can't be; '': a home without an address. */
function homeOfPair(change: Change): string | null {
  if (change.kind === 'create') return change.home ?? ''
  if (isUnwritten(change)) return change.home ?? ''
  if (change.kind === 'hold' && change.action === null) return change.home ?? null
  const held = change.kind === 'hold' ? change.action : change
  return held !== null && 'home' in held ? held.home : null
}

/** For such a half without an address: its MLSNumber, without what feeds spell in different ways; null: none, or it has an address. */
function numberOfPair(change: Change): string | null {
  const action = change.kind === 'hold' ? change.action : change
  // A hold without an action can't go together with the other half.
  const isHalf = change.kind === 'create' || action?.kind === 'delete' || action?.kind === 'forget'
  if (!isHalf || (homeOfPair(change) ?? '') !== '') return null
  return foldedNumber(change.mlsNumber)
}

/**
 * The end of such a number, which is the same with a prefix: at most four characters, and none of before its last digits. It has a
 * column, as no schema here may call a function (`trusted_schema`).
 */
const endOf = (number: string): string => /\d*\D*$/.exec(number.slice(-4))![0]

/** A record that can't be read, or a delete that stays held, is no change, but may be the other half of a pair. */
const isChange = "kind NOT IN ('reject', 'stays-held')"

/** Records that can't be read, at homes of which a listing leaves and was held since then, or longer. */
const rejectsDropped = `DELETE FROM change WHERE kind = 'reject' AND home IN (SELECT home FROM change
  WHERE (kind = 'delete' OR (kind = 'hold' AND change ->> '$.held' = 'delete')) AND remembered ->> '$.heldSince' <= ?)`
const pairs = [null, 'renumbered', 'missing'] as const
const turned = {
  all: isChange,
  remembered: `(remembered IS NOT NULL OR pair > 0) AND ${isChange}`,
  paired: `pair > 0 AND ${isChange}`,
} as const
/** Whether nothing else of its home is paired. */
const isOnlyPair = (half: string): string =>
  `(SELECT count(*) FROM (SELECT 1 FROM change AS one WHERE one.home = ${half}.home AND one.pair = 1 LIMIT 3)) = 2`
// In plan order, or each page would find all pairs anew.
const onlyPairs = `SELECT gone.seq AS place, gone.key AS gone, comes.seq, comes.change FROM change AS gone NOT INDEXED
  JOIN change AS comes ON comes.home = gone.home AND comes.kind = 'create' AND comes.pair = 1
  WHERE gone.pair = 1 AND gone.kind <> 'create' AND gone.seq > ? AND ${isOnlyPair('gone')}
  ORDER BY gone.seq LIMIT ${pageRows}`
// Only a plan with deletes needs them.
const lettersIndexed = `CREATE INDEX IF NOT EXISTS change_by_letters ON change (lower(key)) WHERE kind = 'create';
CREATE INDEX IF NOT EXISTS shown_by_letters ON shown (lower(key))`
const heldBeside = `CASE WHEN pair > 0 THEN (SELECT other.key || ': ' || (other.change ->> '$.why') FROM change AS other
  WHERE other.home = change.home AND other.kind IN ('hold', 'reject', 'stays-held') AND other.pair > 0 LIMIT 1) END`
const refusedBeside = `pair = 1 AND EXISTS (SELECT 1 FROM change AS other, json_each(other.remembered, '$.holds') AS hold
  WHERE other.home = change.home AND other.pair = 1 AND instr(other.remembered, '"refused"') AND other.seq <> change.seq
    AND hold.value ->> '$.part' IN ('delete', 'create') AND hold.value ->> '$.decision' = 'refused')`
const wasHeldBeside = `kind = 'delete' AND pair = 1 AND EXISTS (SELECT 1 FROM change AS other
  WHERE other.home = change.home AND other.pair = 1 AND instr(other.remembered, '"part":"create"'))`

/** Whether something comes to a home. Else it leaves one. */
const isComing = (half: string): string =>
  `(${half}.kind IN ('create', 'reject') OR (${half}.kind = 'hold' AND ${half}.change ->> '$.held' IS NOT 'delete'))`

/**
 * Pairs what leaves a home with what comes to it, the first with the first and so on. The order: first what can be carried out, then
 * what can't (`isStuck`), last what the list lacks (`isMissing`); else plan order. Two stuck ones are not paired, nor a stuck one
 * with a missing one. What a held delete was to become stays its other half, though its address is another by now, or hidden. Homes
 * without an address are paired if their MLSNumbers differ only in spelling. The rest of these are paired with stuck deletes alone, and
 * only while a home with an address has a stuck delete and something that comes. The indexes are for many listings of one address, as
 * of a house whose units have no numbers.
 */
const pairing = `
CREATE INDEX IF NOT EXISTS change_by_number ON change (number_end) WHERE number IS NOT NULL;
UPDATE change SET home = alike.home FROM (
  SELECT gone.seq AS gone, comes.seq AS comes, '#' || gone.seq AS home FROM change AS gone JOIN change AS comes
    ON comes.number_end = gone.number_end AND isSpelledAlike(comes.number, gone.number)
    WHERE gone.home IS NULL AND gone.number IS NOT NULL AND comes.home = '' AND comes.number IS NOT NULL) AS alike
WHERE change.seq IN (alike.gone, alike.comes);
CREATE INDEX IF NOT EXISTS change_by_home ON change (home, kind, seq) WHERE home IS NOT NULL;
CREATE INDEX IF NOT EXISTS change_by_key ON change (key) WHERE home IS NOT NULL;
WITH before AS MATERIALIZED (
  SELECT gone.seq AS gone, comes.seq AS comes
    FROM change AS gone CROSS JOIN json_each(gone.remembered, '$.holds') AS hold CROSS JOIN change AS comes
    ON comes.key = hold.value ->> '$.content' AND comes.home IS NOT NULL AND comes.kind <> 'reject' AND ${isComing('comes')}
    WHERE hold.value ->> '$.part' = 'delete' AND gone.kind <> 'forget' AND NOT ${isComing('gone')}
      AND NOT EXISTS (SELECT 1 FROM change AS other WHERE other.home = gone.home AND other.kind = 'create')
      AND NOT EXISTS (SELECT 1 FROM change AS other WHERE other.home = comes.home
        AND other.kind IN ('delete', 'forget', 'stays-held')))
UPDATE change SET home = '#' || before.gone FROM before WHERE change.seq IN (before.gone, before.comes);
WITH numbered AS (
  SELECT seq, comes, isMissing, isStuck, home,
    row_number() OVER (PARTITION BY home, comes ORDER BY isMissing, isStuck, seq) AS number
  FROM (SELECT *, CASE WHEN comes THEN kind <> 'create' ELSE kind = 'stays-held' OR (kind = 'hold' AND change ->> '$.action' IS NULL) END AS isStuck
    FROM (SELECT seq, home, kind, change, kind = 'forget' OR change ->> '$.cause' IS 'gone-from-service' AS isMissing,
      ${isComing('change')} AS comes
      FROM change WHERE home IS NOT NULL))),
waiting AS (SELECT 1 FROM numbered WHERE home <> '' GROUP BY home HAVING max(isStuck AND NOT comes) AND max(comes) LIMIT 1)
UPDATE change SET pair = pairs.pair FROM (
  SELECT one.seq, 1 + (one.isMissing OR other.isMissing) AS pair FROM numbered AS one JOIN numbered AS other
    ON one.home = other.home AND one.number = other.number AND one.comes <> other.comes
      AND one.isMissing + other.isMissing + 2 * (one.isStuck + other.isStuck) < 3
    WHERE one.home <> '' OR EXISTS (SELECT 1 FROM waiting)) AS pairs
WHERE pairs.seq = change.seq;
UPDATE change SET kind = 'delete', change = change -> '$.action'
  WHERE pair = 1 AND kind = 'hold' AND change ->> '$.action.kind' = 'delete';
UPDATE change SET change = json_set(change, '$.becomes', iif(${isOnlyPair('change')}, (SELECT comes.key FROM change AS comes
  WHERE comes.home = change.home AND comes.pair = 1 AND comes.seq <> change.seq), '')) WHERE pair = 1 AND kind = 'delete';
CREATE INDEX IF NOT EXISTS change_by_memory ON change (seq) WHERE remembered IS NOT NULL OR pair > 0;
CREATE INDEX IF NOT EXISTS change_to_come ON change (home, kind) WHERE pair > 0 AND result IS NOT 'done';
CREATE INDEX IF NOT EXISTS change_of_missing ON change (home, kind) WHERE pair = 2;
CREATE INDEX IF NOT EXISTS change_by_held_create ON change (home) WHERE pair = 1 AND instr(remembered, '"part":"create"');
CREATE INDEX IF NOT EXISTS change_by_refusal ON change (home) WHERE pair = 1 AND instr(remembered, '"refused"');
`
