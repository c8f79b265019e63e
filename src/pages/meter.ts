/** Counts, for `/metrics`, what a file of last values can't tell: totals and durations since the process began. */
import { Counter, Histogram, Registry } from '@prometheus-io/client'
import type { RunMeter } from '../app/app.ts'
import { kinds, outcomeNames, results } from '../report/metrics.ts'

/** Upper ends of the buckets, in seconds. */
const callBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const waitBuckets = [0.01, 0.1, 0.5, 1, 5, 30, 300]
const runBuckets = [1, 5, 15, 60, 300, 900, 3600, 7200, 21_600]

const name = (rest: string): string => `listing_sync_${rest}`

/** `text` names every feed from the start, with 0: Prometheus sees no increase in a total that begins with its first run. */
export function createMeter(): RunMeter & { text(feeds: readonly { name: string }[]): Promise<string> } {
  const registers = [new Registry()]
  const calls = new Counter({
    name: name('calls_total'),
    help: 'Attempts of calls to the service, by operation and answer: ok, the status of HTTP, none, or other.',
    labelNames: ['operation', 'answer'],
    registers,
  })
  const durations = new Histogram({
    name: name('call_duration_seconds'),
    help: 'How long the service took to answer an attempt.',
    labelNames: ['operation'],
    buckets: callBuckets,
    registers,
  })
  const waits = new Histogram({
    name: name('limiter_wait_seconds'),
    help: 'How long calls waited for their turn: for the rate, for calls in flight, for a pause that the service asked for.',
    buckets: waitBuckets,
    registers,
  })
  const runs = new Histogram({
    name: name('run_duration_seconds'),
    help: 'How long runs took, by feed and result; its count is the number of runs.',
    labelNames: ['feed', 'result'],
    buckets: runBuckets,
    registers,
  })
  const planned = new Counter({
    name: name('changes_total'),
    help: 'Changes that runs planned, by kind; hold, unchanged and reject (records) are among them.',
    labelNames: ['feed', 'kind'],
    registers,
  })
  const outcomes = new Counter({
    name: name('outcomes_total'),
    help: 'What became of changes: done, failed, unknown (no answer) or skipped.',
    labelNames: ['feed', 'outcome'],
    registers,
  })
  const known = new Set<string>()
  const begin = (feed: string): void => {
    if (known.has(feed)) return
    known.add(feed)
    for (const result of results) runs.zero({ feed, result })
    for (const kind of kinds) planned.inc({ feed, kind }, 0)
    for (const outcome of outcomeNames) outcomes.inc({ feed, outcome }, 0)
  }
  return {
    called(operation, answer, seconds) {
      calls.inc({ operation, answer })
      durations.observe({ operation }, seconds)
    },
    waited: (seconds) => waits.observe(seconds),
    ran({ feed, result, startedAt, finishedAt, counts, applied }) {
      begin(feed)
      runs.observe({ feed, result }, Math.max(0, finishedAt - startedAt) / 1000)
      for (const [kind, count] of Object.entries(counts)) planned.inc({ feed, kind }, count)
      for (const [outcome, count] of Object.entries(applied?.outcomes ?? {})) outcomes.inc({ feed, outcome }, count)
    },
    text(feeds) {
      for (const { name } of feeds) begin(name)
      return registers[0].metrics()
    },
  }
}
