/** Tells of runs on record and under way, for `status` and `runs`. */
import { hostname } from 'node:os'
import { many, printable, shorten } from '../core/text.ts'
import { minuteIn } from '../core/zone.ts'
import type { Failure } from '../report/report.ts'
import { endedWithoutAWord } from '../store/lease.ts'
import type { NumberedRun, RunsReader, RunUnderWay } from '../store/store.ts'

type End = Pick<NumberedRun, 'startedAt' | 'finishedAt' | 'result' | 'interrupted' | 'error'>

/** "ok in 3 s", "failed in 1 s: …", "ended without a word at 12:04 (Sat 21 Nov)". */
export function endInWords(run: End, timezone: string): string {
  const { startedAt, finishedAt, result, interrupted, error } = run
  if (error === endedWithoutAWord) return wordless(finishedAt, timezone)
  const seconds = Math.round(Math.max(0, finishedAt - startedAt) / 1000)
  const why = error === null ? '' : `: ${printable(error)}`
  return `${result}${interrupted ? ', interrupted,' : ''} in ${seconds} s${why}`
}

/** When a run ended and after how long, without its result: "Sat 21 Nov 12:00 after 3 s: HTTP 500". */
export function endOf(run: End, timezone: string): string {
  const { startedAt, finishedAt, error } = run
  if (error === endedWithoutAWord) return wordless(finishedAt, timezone)
  const seconds = Math.round(Math.max(0, finishedAt - startedAt) / 1000)
  return `${minuteIn(timezone, finishedAt)} after ${seconds} s${error === null ? '' : `: ${printable(error)}`}`
}

/** "ended without a word at 12:04 (Sat 21 Nov)". */
function wordless(at: number, timezone: string): string {
  const [weekday, day, month, time] = minuteIn(timezone, at).split(' ')
  return `ended without a word at ${time} (${weekday} ${day} ${month})`
}

const names = {
  create: ['create', 'created'],
  update: ['update', 'updated'],
  delete: ['delete', 'deleted'],
  adopt: ['adoption', 'adopted'],
  forget: ['forget', 'forgotten'],
}
const others = { hold: 'kept back', reject: 'rejected', unchanged: 'unchanged' }

/**
 * From a run's figures: "2 created, 218 unchanged" or, if not all was carried out, "planned 2 creates; done 1, failed 1; 218
 * unchanged"; '': they tell nothing.
 */
export function countsInWords(figures: string): string {
  const { counts = {}, outcomes } = JSON.parse(figures) as Record<'counts' | 'outcomes', Figures | undefined>
  const some = <Word>(words: Record<string, Word>): [number, Word][] =>
    Object.entries(words).flatMap(([kind, word]) => ((counts[kind] ?? 0) > 0 ? [[counts[kind], word]] : []))
  const plan = some(names)
  const rest = some(others).map(([count, word]) => `${count} ${word}`)
  // An older version's run did not note its outcomes.
  if (outcomes === undefined || outcomes['done'] >= plan.reduce((sum, [count]) => sum + count, 0))
    return [...plan.map(([count, [, did]]) => `${count} ${did}`), ...rest].join(', ')
  const results = ['done', 'failed', 'unknown', 'skipped'].filter((name) => name === 'done' || outcomes[name] > 0)
  return [
    `planned ${plan.map(([count, [noun]]) => many(count, noun)).join(', ')}`,
    results.map((name) => `${name} ${outcomes[name]}`).join(', '),
    ...(rest.length > 0 ? [rest.join(', ')] : []),
  ].join('; ')
}

type Figures = Record<string, number>

/** From a run's figures: the first failures, and how many there were. */
export function failuresIn(figures: string): { failures: Failure[]; count: number } {
  const { failures = [], outcomes } = JSON.parse(figures) as {
    failures?: Failure[]
    outcomes?: Record<'failed' | 'unknown', number>
  }
  return { failures, count: (outcomes?.failed ?? 0) + (outcomes?.unknown ?? 0) }
}

/** "create M-1041 failed: City is not served". */
export function failureInWords({ mlsNumber, kind, result, error }: Failure): string {
  return `${kind} ${printable(mlsNumber)} ${result}: ${shorten(printable(error ?? 'no message'), 500)}`
}

/** Milliseconds of silence after which a run on another machine is taken for dead. */
const silentAfter = 5 * 60_000

/**
 * Whether the process of a run is gone. One on this machine can be asked about; for one in another container there is only the time
 * when it was last heard of.
 */
export function isGone({ process: id, host, seenAt }: RunUnderWay, now: number): boolean {
  if (host !== hostname()) return now - seenAt > silentAfter
  try {
    process.kill(id, 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

/** A feed's run under way, in words; null: there is none. */
export async function runInWords(
  runs: Pick<RunsReader, 'underWay'>,
  { name, timezone }: { name: string; timezone: string },
  now: number,
): Promise<string | null> {
  const begun = await runs.underWay(name)
  return begun === null || isGone(begun, now) ? null : underWayInWords(begun, timezone, now)
}

/** "sync under way since Sat 21 Nov 12:00 (run 41): 120 of 500 (24 %) changes, 3 min left". */
export function underWayInWords(run: RunUnderWay, timezone: string, now: number): string {
  const { command, startedAt, seenAt, number, progress } = run
  if (isGone(run, now)) return `last ${command} (run ${number}): ${wordless(seenAt, timezone)}`
  const far = progress === null ? '' : `: ${printable(progress)}`
  return `${command} under way since ${minuteIn(timezone, startedAt)} (run ${number})${far}`
}
