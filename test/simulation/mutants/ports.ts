/** What is promised by the client of the service and by the store. */
import type { Mutant } from './mutant.ts'

export const portMutants: readonly Mutant[] = [
  {
    name: 'no in-flight mark',
    file: 'src/service/retry.ts',
    from: 'async (): Promise<void> => beforeSend()',
    to: 'null',
  },
  {
    name: 'in-flight mark after the call',
    file: 'src/service/retry.ts',
    from: 'async (): Promise<void> => beforeSend()',
    to: 'async (): Promise<void> => void new Promise(setImmediate).then(beforeSend).catch(() => {})',
  },
  {
    name: 'lost create sent again',
    file: 'src/service/operations.ts',
    from: 'repeatable: false',
    to: 'repeatable: true',
  },
  {
    name: 'a 5xx means not carried out',
    file: 'src/service/envelope.ts',
    from: "if (status >= 500) return transient('unknown'",
    to: "if (status >= 500) return transient('none'",
  },
  {
    name: 'a page for people means not carried out',
    file: 'src/service/envelope.ts',
    from: "effect: 'unknown',\n    code: status,",
    to: "effect: 'none',\n    code: status,",
  },
  {
    name: 'delete not written into the ledger before the call',
    file: 'src/store/ledger.ts',
    from: 'for (const what of counts) enter.run(chatbot, feed, name, what, now)',
    to: "for (const what of counts) if (kind !== 'delete') enter.run(chatbot, feed, name, what, now)",
  },
  {
    name: 'a cleared delete keeps no place in the ledger though one was carried out',
    file: 'src/store/ledger.ts',
    from: 'DELETE FROM ledger WHERE chatbot = ? AND key = ? AND at = ?',
    to: 'DELETE FROM ledger WHERE chatbot = ? AND key = ? AND at <= ?',
  },
  {
    name: 'earlier attempt without answer forgotten',
    file: 'src/service/retry.ts',
    from: "unsettled ||= error.effect === 'unknown'",
    to: "unsettled = error.effect === 'unknown'",
  },
  {
    name: 'baseline taken while an attempt may land',
    file: 'src/store/snapshot.ts',
    from: 'AND flight IS NULL AND coalesce(suspect_until, 0) <= @now',
    to: 'AND flight IS NULL',
  },
  {
    name: 'approvals not used up',
    test: 'test/runs/notify.test.ts › what was approved ended so, although one of many ended otherwise in the same run',
    file: 'src/store/holds.ts',
    from: 'for (const part of heldParts) use.run(feed, mlsNumber, part)',
    to: '',
  },
  {
    name: 'goes on after the keys were refused',
    file: 'src/service/retry.ts',
    from: 'this.#stop.abort(last)',
    to: '',
  },
  {
    name: 'the rate is ignored',
    file: 'src/core/limiter.ts',
    from: 'Math.max(this.#nextAt, endOf(this.#pause, now), windowEnd <= now + window ? windowEnd : -Infinity)',
    to: 'endOf(this.#pause, now)',
  },
  {
    name: 'Retry-After is ignored',
    file: 'src/service/retry.ts',
    from: 'limiter.pause(thrown.retryAfter, whose)',
    to: '',
  },
  {
    name: 'the lease is ignored',
    file: 'src/store/lease.ts',
    from: 'if (held.has(chatbot))',
    to: 'if (false)',
  },
  {
    name: 'a page for people is a success',
    file: 'src/service/envelope.ts',
    from: 'if (response.status >= 300) throw failureOf(response, null, now, clean)',
    to: "if (response.status >= 300) throw failureOf(response, null, now, clean)\n  for (const data of ['x', 1, { SuccessCount: 1 }]) {\n    try {\n      return { value: read(data), version: null }\n    } catch {}\n  }",
  },
  {
    name: 'contradictions in a walk go unnoticed',
    file: 'src/service/observe.ts',
    from: 'if (end.reasons.length < mostReasons) end.reasons.push(reason)\n    end.again = true',
    to: 'void reason',
  },
  {
    name: 'a page that could not be had does not count',
    file: 'src/service/observe.ts',
    from: 'end.reasons.push(`Page ${number} could not be read: ${error.message}.`)',
    to: '',
  },
  {
    name: 'deletes enter the ledger only once they are through',
    file: 'src/store/ledger.ts',
    from: 'for (const what of counts) enter.run(chatbot, feed, name, what, now)',
    to: "for (const what of counts) if (kind !== 'delete') enter.run(chatbot, feed, name, what, now)",
    also: [
      {
        file: 'src/store/snapshot.ts',
        from: "if (unsettledAt === null || row.flight !== 'delete') {",
        to: "if (row.flight === 'delete') {\n        const enter = database.prepare('INSERT OR IGNORE INTO ledger VALUES (?, ?, ?, ?, ?)')\n        enter.run(chatbot, row.feed, key, 'delete', row.flightAt)\n      }\n      if (unsettledAt === null || row.flight !== 'delete') {",
      },
    ],
  },
  {
    name: 'a power cut undoes the last commits',
    file: 'src/store/connection.ts',
    from: "database.pragma('synchronous = FULL')",
    to: "database.pragma('synchronous = NORMAL')",
    also: [
      {
        from: "if (database.pragma('synchronous', { simple: true }) !== 2)",
        to: "if (database.pragma('synchronous', { simple: true }) === 0)",
      },
    ],
  },
]
