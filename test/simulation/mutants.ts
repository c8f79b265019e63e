/** Ways to break the program (fault-model 4.4), each of which the simulation must find. */

export interface Mutant {
  name: string
  file: string
  /** Must be in the file exactly once. */
  from: string
  to: string
}

const calls = 'src/apply/calls.ts'
const decide = 'src/plan/decide.ts'
const guard = 'src/plan/guard.ts'
const leaving = 'src/plan/leaving.ts'
const staying = 'src/plan/staying.ts'
const listings = 'src/store/listings.ts'
const retry = 'src/service/retry.ts'
const envelope = 'src/service/envelope.ts'

export const mutants: readonly Mutant[] = [
  {
    name: 'create without look-up',
    file: calls,
    from: 'if (change.lookUp || settings.lookUpCreates) {',
    to: 'if (change.lookUp && change.kind === "update") {',
  },
  { name: 'no in-flight mark', file: retry, from: 'beforeSend?.()', to: '' },
  {
    name: 'in-flight mark after the call',
    file: retry,
    from: 'beforeSend?.()',
    to: 'const { promise, resolve } = Promise.withResolvers<void>()\n promise.then(beforeSend).catch(() => {})\n resolve()',
  },
  {
    name: 'delete by absence from an incomplete delivery',
    file: leaving,
    from: "if (!delivery.complete) return { cause: 'unproven', why:",
    to: "if (false) return { cause: 'unproven', why:",
  },
  {
    name: 'delete by absence under an incomplete list',
    file: leaving,
    from: "if (!remote.complete) return { cause: 'unproven', why:",
    to: "if (false) return { cause: 'unproven', why:",
  },
  {
    name: 'delete although a record was unreadable',
    file: leaving,
    from: 'if (unreadable > 0)',
    to: 'if (unreadable > 1e9)',
  },
  {
    name: 'lost create sent again',
    file: 'src/service/operations.ts',
    from: 'repeatable: false',
    to: 'repeatable: true',
  },
  {
    name: 'a 5xx means not carried out',
    file: envelope,
    from: "if (status >= 500) return transient('unknown'",
    to: "if (status >= 500) return transient('none'",
  },
  {
    name: 'a page for people means not carried out',
    file: envelope,
    from: "return transient('unknown', `The service answered something else",
    to: "return transient('none', `The service answered something else",
  },
  {
    name: 'guard counts a run, not 24 hours',
    file: guard,
    from: 'past.deletes24h + tally.deletes > deletable',
    to: 'tally.deletes > deletable',
  },
  { name: 'no guard of deletes', file: guard, from: 'past.deletes24h + tally.deletes > deletable', to: 'false' },
  {
    name: 'delete not written into the ledger before the call',
    file: listings,
    from: 'if (counts) enterLedger.run(chatbot, feed, key, now)',
    to: '',
  },
  {
    name: 'a cleared delete keeps no place in the ledger though one was carried out',
    file: listings,
    from: "if (row.flight === 'delete') leaveLedger.run(chatbot, row.feed, key)\n    }",
    to: 'leaveLedger.run(chatbot, row.feed, key)\n    }',
  },
  {
    name: 'settle ignored',
    file: leaving,
    from: 'settings.remoteStartedAt >= (mine.flightAt ?? 0) + settings.settle',
    to: 'true',
  },
  {
    name: 'baseline taken while an attempt may land',
    file: staying,
    from: 'if (mine.suspectUntil !== null && settings.remoteStartedAt < mine.suspectUntil)',
    to: 'if (false)',
  },
  {
    name: 'earlier attempt without answer forgotten',
    file: retry,
    from: "unsettled ||= error.effect === 'unknown'",
    to: "unsettled = error.effect === 'unknown'",
  },
  {
    name: 'reject treated as absent',
    file: decide,
    from: 'if (delivered.length === 0 && !seen) return',
    to: "if (delivered.every(({ kind }) => kind === 'reject') && !seen) return",
  },
  {
    name: 'foreign row taken for ours',
    file: decide,
    from: 'const ours = isOurs(situation, mine, settings)',
    to: 'const ours = shown.length > 0 || isOurs(situation, mine, settings)',
  },
  {
    name: "another feed's listing taken",
    file: staying,
    from: 'if (other !== null && !takeOver)',
    to: 'if (false)',
  },
  {
    name: 'first of two differing records wins',
    file: decide,
    from: 'if (wanted.length > 1 ||',
    to: 'if (false ||',
  },
  {
    name: 'shown twice and updated all the same',
    file: staying,
    from: 'if (shown.length > 1)',
    to: 'if (shown.length > 1e9)',
  },
  {
    name: 'shown twice and deleted all the same',
    file: leaving,
    from: "if (shown.length > 1) return [twiceShown(one)]\n  if ('cause' in proof)",
    to: "if ('cause' in proof)",
  },
  {
    name: 'a lost store goes unnoticed',
    file: 'src/prepare.ts',
    from: 'state.isNew && state.rows === 0 && marked > 0 ? now : null',
    to: 'null',
  },
  {
    name: 'an approval makes a doubtful list trusted',
    file: 'src/prepare.ts',
    from: 'const doubtful = tally.gone > 0',
    to: 'const doubtful = tally.recreates > 0',
  },
  {
    name: 'approval lets everything through',
    file: 'src/planning.ts',
    from: 'if (approved.has(approvalKey(change.kind, change.mlsNumber))) return null',
    to: 'if (approved.size > 0) return null',
  },
  {
    name: 'approvals not used up',
    file: 'src/store/records.ts',
    from: 'for (const mlsNumber of mlsNumbers) use.run(feed, kind, mlsNumber)',
    to: '',
  },
  {
    name: 'goes on after the keys were refused',
    file: 'src/service/breaker.ts',
    from: 'this.#stop.abort(last)',
    to: '',
  },
  {
    name: 'an update of nothing is done',
    file: calls,
    from: 'if (answer.value >= 1) return confirm(context, change, sent, unsettled)',
    to: 'if (answer.value >= 0) return confirm(context, change, sent, unsettled)',
  },
  {
    name: 'a delete that counts short is done',
    file: calls,
    from: 'if (answer.value >= keys.length) {',
    to: 'if (answer.value >= 0) {',
  },
  {
    name: 'a create without answer is done although a look-up lacks it',
    file: calls,
    from: 'if (isNew ? shown.length === 1 : arrived)',
    to: 'if (isNew || arrived)',
  },
  {
    name: 'a delete that may land late is forgotten',
    file: calls,
    from: 'unsettled ? runtime.clock.now() : null',
    to: 'null',
  },
  {
    name: 'forgotten while a create may land',
    file: leaving,
    from: "return mine !== null && (mine.flight === 'create' || mine.flight === 'delete') && !isSettled(mine, settings)",
    to: 'return false && isSettled(mine!, settings)',
  },
  {
    name: 'a refused create is taken for done',
    file: calls,
    from: 'return refused(context, change, sent, failure, false)',
    to: '',
  },
  {
    name: 'a dry run writes into the store',
    file: 'src/sync.ts',
    from: 'const prepared = await prepare(feed, readers, true)',
    to: 'const prepared = await prepare(feed, readers, true)\n    remember(feed, readers.store as Store, readers.workspace, prepared)',
  },
  {
    name: 'a backfill deletes',
    file: 'src/sync.ts',
    from: "prepared = await prepare(feed, writers, command === 'sync')",
    to: 'prepared = await prepare(feed, writers, true)',
  },
  {
    name: 'duplicates are not counted',
    file: 'src/prepare.ts',
    from: 'summary.listings -= facts.duplicates',
    to: '',
  },
  {
    name: 'the rate is ignored',
    file: 'src/service/limiter.ts',
    from: 'Math.max(this.#nextAt, this.#pause.until, windowEnd <= now + window ? windowEnd : -Infinity) - now',
    to: 'this.#pause.until - now',
  },
  { name: 'Retry-After is ignored', file: retry, from: 'limiter.pause(thrown.retryAfter)', to: '' },
  {
    name: 'the lease is ignored',
    file: 'src/store/lease.ts',
    from: 'if (held.has(chatbot)) throw',
    to: 'if (false) throw',
  },
  {
    name: 'no grace',
    file: leaving,
    from: 'if (seen >= runs && settings.now - since >= time) return null',
    to: 'return null',
  },
  {
    name: 'drift is overwritten against the configuration',
    file: staying,
    from: "if (one.settings.drift === 'overwrite') return update",
    to: 'if (one.settings.now > 0) return update',
  },
  {
    name: 'forgotten after one absence',
    file: calls,
    from: "if (shown.length > 0) return record(context, change, 'skipped'",
    to: "if (shown.length > 1e9) return record(context, change, 'skipped'",
  },
  {
    name: 'a refused update drops the mark of one without answer',
    file: calls,
    from: 'const unsettled = isThere && (',
    to: 'const unsettled = false && (',
  },
  {
    name: "a row without our mark is the service's spelling",
    file: 'src/plan/plan-changes.ts',
    from: '(unmarked && facts.marked > 0) ||',
    to: '',
  },
  {
    name: "nobody's row in an incomplete list is updated unseen",
    file: staying,
    from: 'const lookUp = !one.settings.remote.complete && one.mine?.owned !== true',
    to: 'const lookUp = false',
  },
  {
    name: 'a refused batch drops the marks of an attempt without answer',
    file: calls,
    from: 'if (!unsettled) mark.clear()',
    to: 'mark.clear()',
  },
  {
    name: 'an adoption takes a baseline while an attempt may land',
    file: 'src/apply/remember.ts',
    from: 'baseline: change.unsettled ? null :',
    to: 'baseline:',
  },
]
