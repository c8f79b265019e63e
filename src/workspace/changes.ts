/** The plan in the workspace: changes with their outcomes, and the bookkeeping. */
import type Database from 'better-sqlite3'
import { DeleteAbsent, ForgetAbsent } from '../plan/change.ts'
import type { Action, Bookkeeping, Change, ChangeKind, Hold } from '../plan/change.ts'
import { AbsenceProof } from '../plan/proof.ts'
import type { Sides } from '../plan/proof.ts'
import { inOneGo } from './failure.ts'
import type { OfKind, Outcome, Stored, Workspace } from './workspace.ts'

type PlanMethods = Pick<
  Workspace,
  'addChanges' | 'changes' | 'hold' | 'recordOutcomes' | 'addBookkeeping' | 'bookkeeping'
>

const pageRows = 500

interface ChangeRow {
  seq: number
  key: string
  change: string
  heldSince: number | null
  result: Outcome['result'] | null
  error: string | null
}

/** `isSeen`: whether the very bytes of a snapshot row were delivered. */
export function createPlan(database: Database.Database, isSeen: Workspace['isSeen']): PlanMethods {
  let sides: Sides | null = null
  const add = database.prepare('INSERT INTO change (kind, key, change, held_since) VALUES (?, ?, ?, ?)')
  const addAll = inOneGo(database, (changes: readonly Change[], heldSince: ReadonlyMap<string, number>): void => {
    for (const change of changes)
      add.run(change.kind, change.mlsNumber, JSON.stringify(change), heldSince.get(change.mlsNumber) ?? null)
  })

  const columns = 'seq, key, change, held_since AS heldSince, result, error'
  const page = database.prepare<[number], ChangeRow>(
    `SELECT ${columns} FROM change WHERE seq > ? ORDER BY seq LIMIT ${pageRows}`,
  )
  const pageOfKind = database.prepare<[ChangeKind, number], ChangeRow>(
    `SELECT ${columns} FROM change WHERE kind = ? AND seq > ? ORDER BY seq LIMIT ${pageRows}`,
  )
  function* changes<Kind extends ChangeKind>(kind?: Kind): Generator<Stored<OfKind<Kind>>> {
    for (let after = 0; ;) {
      const rows = kind === undefined ? page.all(after) : pageOfKind.all(kind, after)
      for (const row of rows) yield stored(row) as Stored<OfKind<Kind>>
      if (rows.length < pageRows) return
      after = rows[rows.length - 1].seq
    }
  }

  function stored({ seq, key, change, heldSince, result, error }: ChangeRow): Stored {
    return {
      seq,
      change: revived(key, JSON.parse(change)),
      heldSince,
      outcome: result === null ? null : { result, error },
    }
  }

  /** What is absent is proven again, from the rows that are here: nothing that was only written down can delete. */
  function revived(key: string, written: Change): Change {
    if (written.kind === 'hold')
      return { ...written, action: written.action && (revived(key, written.action) as Action) }
    if (written.cause !== 'absent') return written
    const proof = proofOf(key, written.snapshot)
    return written.kind === 'delete' ? new DeleteAbsent(proof, written) : new ForgetAbsent(proof, written)
  }

  const isDelivered = database.prepare<[string], number>('SELECT 1 FROM delivered WHERE key = ? LIMIT 1').pluck()
  function proofOf(key: string, snapshot: number | null): AbsenceProof {
    const delivered = isDelivered.get(key) !== undefined || (snapshot !== null && isSeen(snapshot))
    const proof = sides === null ? { why: 'nothing is known of its delivery' } : AbsenceProof.of(sides, key, delivered)
    if (AbsenceProof.isOne(proof)) return proof
    throw new Error(`The plan has a change of ${key} by absence without a proof: ${proof.why}`)
  }

  const rewrite = database.prepare('UPDATE change SET kind = ?, change = ? WHERE seq = ?')
  const rewriteAll = inOneGo(database, (holds: readonly { seq: number; hold: Hold }[]): void => {
    for (const { seq, hold: held } of holds) rewrite.run(held.kind, JSON.stringify(held), seq)
  })
  function hold(turn: (action: Action) => Hold | null): void {
    let holds: { seq: number; hold: Hold }[] = []
    for (const { seq, change } of changes()) {
      const held = change.kind === 'hold' ? null : turn(change)
      if (held === null || holds.push({ seq, hold: held }) < pageRows) continue
      rewriteAll(holds)
      holds = []
    }
    rewriteAll(holds)
  }

  const setOutcome = database.prepare('UPDATE change SET result = ?, error = ? WHERE seq = ?')
  const recordOutcomes = inOneGo(database, (outcomes: readonly { seq: number; outcome: Outcome }[]): void => {
    for (const { seq, outcome } of outcomes) setOutcome.run(outcome.result, outcome.error, seq)
  })

  const addEntry = database.prepare('INSERT INTO bookkeeping (entry) VALUES (?)')
  const addBookkeeping = inOneGo(database, (entries: readonly Bookkeeping[]): void => {
    for (const entry of entries) addEntry.run(JSON.stringify(entry))
  })
  const pageOfEntries = database.prepare<[number], { number: number; entry: string }>(
    `SELECT number, entry FROM bookkeeping WHERE number > ? ORDER BY number LIMIT ${pageRows}`,
  )
  function* bookkeeping(): Generator<Bookkeeping> {
    for (let after = 0; ;) {
      const rows = pageOfEntries.all(after)
      for (const row of rows) yield JSON.parse(row.entry)
      if (rows.length < pageRows) return
      after = rows[rows.length - 1].number
    }
  }

  return {
    addChanges(added, known, heldSince = new Map()) {
      sides = known
      addAll(added, heldSince)
    },
    changes,
    hold,
    recordOutcomes,
    addBookkeeping,
    bookkeeping,
  }
}
