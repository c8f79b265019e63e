/**
 * What a report is, and what a form of it is: it writes one `Report` as text. Which forms there are is a map in
 * `app/adapters.ts`. Lists are streamed: a million rows need no memory.
 */
import type { RunResult } from '../core/exit.ts'
import type { Home } from '../core/home.ts'
import type { Reader } from '../core/intl.ts'
import type { DeliverySummary, RemoteSummary } from '../core/listing.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import type { ActionKind, Change, ChangeKind, Counts } from '../plan/change.ts'
import type { RuleName } from '../plan/guard/hold.ts'
import type { Numbers } from '../plan/guard/rules.ts'
import type { Calls } from '../service/service.ts'
import type { Verification } from '../verify/verification.ts'
import type { Outcome, OutcomeResult, RejectRow } from '../workspace/workspace.ts'

/** When the service's list was last read whole, and when it is next; `remote` is of that list. Times in milliseconds. */
export interface Observed {
  readonly at: number
  readonly next: number
  /** How many listings were looked up in its place; null: this run read it. */
  readonly lookedUp: number | null
}

/** A change as reports show it. */
export interface ReportedChange {
  readonly kind: ChangeKind
  readonly cause: Change['cause']
  readonly mlsNumber: string
  readonly why: string
  /** What changes on the service, as far as it is known; of a create all that it is created with. */
  readonly fields: readonly FieldChange[]
  /** Of a hold: what is held back, where that can be told. */
  readonly held: ActionKind | null
  /** The rules of the guard that hold it, or part of it. */
  readonly rules: readonly RuleName[]
  /** Of an update that goes on without them: what is held. */
  readonly withheld: readonly FieldChange[]
  /** null: nothing is known of it. */
  readonly home: Home | null
  /** When an earlier run first held it, in milliseconds; null: none did. */
  readonly heldSince: number | null
  /** null in a dry run and for holds. */
  readonly outcome: Outcome | null
}

/** It was tried and not carried out, or nobody knows. */
export function isOpen({ outcome }: ReportedChange): boolean {
  return outcome?.result === 'failed' || outcome?.result === 'unknown'
}

/** What programs are told of such a change. */
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
  /** The setting that governs the rule, as `limits.share`; null: none does. */
  readonly setting: string | null
  /** The whole of it, for a person. */
  readonly sentence: string
  /** What the rule measured. */
  readonly numbers: Numbers
  /** MLSNumbers of what it holds. */
  keys(this: void): Iterable<string>
}

/** How many listings are held, and what ends that. */
export interface HeldInBrief {
  /** What `approve` shows: changes that are held whole, those of earlier runs among them, and those that go on in part. */
  readonly whole: number
  readonly inPart: number
  /** Some of that goes by itself if the feed goes on saying so; else a person ends all of it. null: this run can't tell. */
  readonly goes: boolean | null
  /** What waits for anything else; without what another feed has. */
  readonly others: number
}

/** Where a report goes: standard output or a file. A promise is waited for, so that a slow reader slows the writer. */
export interface Output {
  write(text: string): void | Promise<void>
}

export interface ReportForm {
  /** Writes one feed's report, ending with a line break. */
  write(report: Report, output: Output): Promise<void>
  /** What stands before the first and after the last report, however many there are. */
  document: { before: string; after: string }
  /** What stands before, between and after the reports where a command has several feeds. */
  several: { before: string; between: string; after: string }
}

export interface FormOptions {
  /** Colours and bold, for a terminal. */
  colour: boolean
  /** Hosts whose pictures a page may show; none: it shows no picture. */
  images?: readonly string[]
  /** How many reports share the document, and what room it has; 1 where it is left out. */
  feeds?: number
}

export type Buffered = ReturnType<typeof buffer>

/**
 * Gathers 64 KiB (in characters) before it writes, so that a million rows are not a million writes. `add` gives a promise
 * only when the output does.
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

/** Writes a form that comes in pieces; `end` follows each. */
export async function writePieces(pieces: Iterable<string>, output: Output, end = ''): Promise<void> {
  const buffered = buffer(output)
  for (const piece of pieces) {
    const written = buffered.add(piece + end)
    if (written) await written
  }
  await buffered.end()
}

/**
 * Everything a report form may show of one run. The lists are read on demand so that a million rows need no memory;
 * they can be walked more than once.
 */
export interface Report {
  feed: string
  chatbot: string
  command: 'diff' | 'sync' | 'backfill'
  /** How values are written for its readers. */
  reader: Reader
  startedAt: number
  finishedAt: number
  result: RunResult
  /** Why the run failed or stopped early, as a sentence; null where it did not. */
  error: string | null
  delivery: DeliverySummary
  remote: RemoteSummary
  /** Only where the list is not read by every run. */
  observed?: Observed
  counts: Counts
  /** Left out: not known, as of a run that failed before it had a plan, or is on record by an older version. */
  held?: HeldInBrief
  /** Calls and seconds that the plan needs at the configured rate. */
  estimate: { calls: number; seconds: number }
  digest: string
  /** What a person should know beside the changes: rules that tripped, fields shown otherwise, a lost store. */
  notes: string[]
  /** The accidents that hold something. */
  holds: ReportedHold[]
  /** In plan order; of one kind, where one is named; `open`: those that were tried and not carried out, or nobody knows. */
  changes(which?: ChangeKind | 'open'): Iterable<ReportedChange>
  rejects(): Iterable<RejectRow>
  /** null in a dry run. */
  applied: { outcomes: Record<OutcomeResult, number>; calls: Calls } | null
  /** Only where the feed has `verify` and the run is a sync. */
  verification?: Verification
}
