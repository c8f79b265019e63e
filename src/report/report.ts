/**
 * What a report is, and what a form is, which writes a `Report` as text. `app/adapters.ts` has the map of forms. Lists are streamed, so
 * that a million rows need no memory.
 */
import type { RunResult } from '../core/exit.ts'
import type { Home } from '../core/home.ts'
import type { Reader } from '../core/intl.ts'
import type { DeliverySummary, RemoteSummary } from '../core/listing.ts'
import type { OutcomeResult } from '../core/outcome.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import type { ActionKind, Change, ChangeKind, Counts } from '../plan/change.ts'
import type { RuleName } from '../plan/guard/hold.ts'
import type { Numbers } from '../plan/guard/rules.ts'
import type { Calls } from '../service/service.ts'
import type { Verification } from '../verify/verification.ts'
import type { Outcome, RejectRow } from '../workspace/workspace.ts'

/** When the service's whole list was read last, and is read next. `remote` is about that list. Times in milliseconds. */
export interface Observed {
  readonly at: number
  readonly next: number
  /** How many listings were looked up instead; null: this run read the list. */
  readonly lookedUp: number | null
}

/** A change as reports show it. */
export interface ReportedChange {
  readonly kind: ChangeKind
  readonly cause: Change['cause']
  readonly mlsNumber: string
  readonly why: string
  /** What changes on the service, as far as that is known. Of a create: all that it is created with. */
  readonly fields: readonly FieldChange[]
  /** Of a hold: what is held, if that can be told. */
  readonly held: ActionKind | null
  /** The rules of the guard that hold it, or part of it. */
  readonly rules: readonly RuleName[]
  /** Held fields of an update that goes on without them. */
  readonly withheld: readonly FieldChange[]
  /** null: not known. */
  readonly home: Home | null
  /** When an earlier run first held it, in milliseconds; null: none did. */
  readonly heldSince: number | null
  /** null in a dry run and for holds. */
  readonly outcome: Outcome | null
}

/** Whether a change failed, or nobody knows whether it was carried out. */
export function isOpen({ outcome }: ReportedChange): boolean {
  return outcome?.result === 'failed' || outcome?.result === 'unknown'
}

/** Such a change as programs are told of it. */
export interface Failure {
  readonly mlsNumber: string
  readonly kind: ChangeKind
  readonly result: OutcomeResult
  readonly error: string | null
}

export function failureOf({ mlsNumber, kind, outcome }: ReportedChange): Failure {
  return { mlsNumber, kind, result: outcome!.result, error: outcome!.error }
}

/** An accident that holds changes back. */
export interface ReportedHold {
  readonly rule: RuleName
  /** The setting that the rule goes by, such as `limits.share`; null: none. */
  readonly setting: string | null
  /** All about it, for a person. */
  readonly sentence: string
  /** What the rule measured. */
  readonly numbers: Numbers
  /** MLSNumbers of what it holds. */
  keys(this: void): Iterable<string>
}

/** How many listings are held, and what ends that. */
export interface HeldInBrief {
  /** What `approve` shows: `whole` changes, those of earlier runs among them, and those that go on `inPart`. */
  readonly whole: number
  readonly inPart: number
  /** Whether some of that goes by itself if the feed goes on saying so. Else a person ends it. null: this run can't tell. */
  readonly goes: boolean | null
  /** What waits for anything else, without listings that another feed has. */
  readonly others: number
}

/** Where a report goes: standard output or a file. The writer waits for its promises, so that a slow reader slows the writer. */
export interface Output {
  write(text: string): void | Promise<void>
}

export interface ReportForm {
  /** Writes one feed's report, ending with a line break. */
  write(report: Report, output: Output): Promise<void>
  /** Text before the first and after the last report, however many there are. */
  document: { before: string; after: string }
  /** Text before, between and after the reports if a command has several feeds. */
  several: { before: string; between: string; after: string }
}

export interface FormOptions {
  /** Colours and bold, for a terminal. */
  colour: boolean
  /** Hosts whose pictures a page may show; none: it shows no picture. */
  images?: readonly string[]
  /** How many reports share the document and its room; left out: 1. */
  feeds?: number
}

export type Buffered = ReturnType<typeof buffer>

/**
 * Gathers 65,536 characters before it writes, so that a million rows are not a million writes. `add` gives a promise only if the
 * output does.
 */
export function buffer(output: Output) {
  let gathered = ''
  const flush = () => {
    const text = gathered
    gathered = ''
    return output.write(text)
  }
  return {
    add(text: string): void | Promise<void> {
      gathered += text
      if (gathered.length >= 65_536) return flush()
    },
    async end(): Promise<void> {
      if (gathered !== '') await flush()
    },
  }
}

/** Writes the pieces of a form, with `end` after each. */
export async function writePieces(pieces: Iterable<string>, output: Output, end = ''): Promise<void> {
  const buffered = buffer(output)
  for (const piece of pieces) {
    const written = buffered.add(piece + end)
    if (written) await written
  }
  await buffered.end()
}

/**
 * Everything that a report form may show of one run. Lists are read on demand, so that a million rows need no memory, and can be walked
 * more than once.
 */
export interface Report {
  feed: string
  chatbot: string
  command: 'diff' | 'sync' | 'backfill'
  /** The readers' locale and time zone. */
  reader: Reader
  startedAt: number
  finishedAt: number
  result: RunResult
  /** Why the run failed or stopped early, as a sentence; null: it did not. */
  error: string | null
  delivery: DeliverySummary
  remote: RemoteSummary
  /** Set if not every run reads the list. */
  observed?: Observed
  counts: Counts
  /** Left out: not known, as the run failed before it had a plan, or an older version recorded it. */
  held?: HeldInBrief
  /** Calls and seconds that the plan needs at the configured rate. */
  estimate: { calls: number; seconds: number }
  digest: string
  /** What a person should know beside the changes: rules that tripped, fields shown otherwise, a lost store. */
  notes: string[]
  /** The accidents that hold something. */
  holds: ReportedHold[]
  /** Changes in plan order, or those of one kind. `open`: those that failed, or of which nobody knows. */
  changes(which?: ChangeKind | 'open'): Iterable<ReportedChange>
  rejects(): Iterable<RejectRow>
  /** null in a dry run. */
  applied: { outcomes: Record<OutcomeResult, number>; calls: Calls } | null
  /**
   * Why the store has no record of a run that writes: another process has the right to run, and its run counts; or the store could not
   * take it.
   */
  unrecorded?: 'elsewhere' | 'lost'
  /** Set if the feed has `verify` and the run is a sync. */
  verification?: Verification
}
