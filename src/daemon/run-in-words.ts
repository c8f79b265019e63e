/** Runs on record and under way, as `status` and `runs` tell them. */
import { hostname } from 'node:os'
import { printable } from '../core/text.ts'
import { minuteIn } from '../core/zone.ts'
import { endedWithoutAWord } from '../store/lease.ts'
import type { NumberedRun, RunUnderWay } from '../store/store.ts'

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
  create: 'created',
  update: 'updated',
  delete: 'deleted',
  adopt: 'adopted',
  forget: 'forgotten',
  hold: 'kept back',
  reject: 'rejected',
  unchanged: 'unchanged',
}

/** "2 created, 218 unchanged" of the figures of a run; '': they tell nothing. What was planned, carried out or not. */
export function countsInWords(figures: string): string {
  const { counts = {} } = JSON.parse(figures) as { counts?: Record<string, number> }
  return Object.entries(names)
    .flatMap(([kind, word]) => ((counts[kind] ?? 0) > 0 ? [`${counts[kind]} ${word}`] : []))
    .join(', ')
}

/** A run on another machine of which nothing was heard for so long, in milliseconds, is taken for dead. */
const silentAfter = 5 * 60_000

/**
 * Whether the process of a run is gone. One on this machine can be asked; of one in another container there is only when
 * something was last heard of it.
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

/** "sync under way since Sat 21 Nov 12:00 (run 41): 120 of 500 (24 %) changes, 3 min left". */
export function underWayInWords(run: RunUnderWay, timezone: string, now: number): string {
  const { command, startedAt, seenAt, number, progress } = run
  if (isGone(run, now)) return `last ${command} (run ${number}): ${wordless(seenAt, timezone)}`
  const far = progress === null ? '' : `: ${printable(progress)}`
  return `${command} under way since ${minuteIn(timezone, startedAt)} (run ${number})${far}`
}
