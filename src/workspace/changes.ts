/** The plan in the workspace: changes with their outcomes, and the bookkeeping. */
import type Database from 'better-sqlite3'
import type { Bookkeeping, Change } from '../plan/change.ts'
import { inOneGo } from './failure.ts'
import type { Outcome, StoredChange, Workspace } from './workspace.ts'

type PlanMethods = Pick<
  Workspace,
  'addChanges' | 'changes' | 'hold' | 'recordOutcomes' | 'addBookkeeping' | 'bookkeeping'
>

const pageRows = 500

interface ChangeRow {
  seq: number
  change: string
  result: Outcome['result'] | null
  error: string | null
}

export function createPlan(database: Database.Database): PlanMethods {
  const add = database.prepare('INSERT INTO change (kind, change) VALUES (?, ?)')
  const addChanges = inOneGo(database, (changes: readonly Change[]): void => {
    for (const change of changes) add.run(change.kind, JSON.stringify(change))
  })

  const columns = 'seq, change, result, error'
  const page = database.prepare<[number], ChangeRow>(
    `SELECT ${columns} FROM change WHERE seq > ? ORDER BY seq LIMIT ${pageRows}`,
  )
  const pageOfKind = database.prepare<[Change['kind'], number], ChangeRow>(
    `SELECT ${columns} FROM change WHERE kind = ? AND seq > ? ORDER BY seq LIMIT ${pageRows}`,
  )
  function* changes(kind?: Change['kind']): Generator<StoredChange> {
    for (let after = 0; ;) {
      const rows = kind === undefined ? page.all(after) : pageOfKind.all(kind, after)
      for (const row of rows) yield storedChange(row)
      if (rows.length < pageRows) return
      after = rows[rows.length - 1].seq
    }
  }

  const rewrite = database.prepare('UPDATE change SET kind = ?, change = ? WHERE seq = ?')
  const rewriteAll = inOneGo(database, (holds: readonly StoredChange[]): void => {
    for (const { seq, outcome: _, ...change } of holds) rewrite.run(change.kind, JSON.stringify(change), seq)
  })
  function hold(test: (change: StoredChange) => string | null): void {
    let holds: StoredChange[] = []
    for (const change of changes()) {
      const why = test(change)
      if (why === null) continue
      holds.push(heldByGuard(change, why))
      if (holds.length < pageRows) continue
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

  return { addChanges, changes, hold, recordOutcomes, addBookkeeping, bookkeeping }
}

function storedChange({ seq, change, result, error }: ChangeRow): StoredChange {
  return { ...JSON.parse(change), seq, outcome: result === null ? null : { result, error } }
}

/** `held` tells `approve` what it was. A hold is none of the guard's any more. */
function heldByGuard(change: StoredChange, why: string): StoredChange {
  return change.kind === 'hold' ? change : { ...change, kind: 'hold', held: change.kind, cause: 'guard', why }
}
