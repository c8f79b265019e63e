/** The report of a run, made from what the run left in the workspace. */
import { asBefore, homeIn } from '../apply/home.ts'
import type { Applied } from '../apply/apply.ts'
import type { RunResult } from '../core/exit.ts'
import { emptyDelivery, fieldNames, listingAt } from '../core/listing.ts'
import { noOutcomes } from '../core/outcome.ts'
import type { Moment } from '../feed/mapping/mapping.ts'
import { fieldsOf, noCounts } from '../plan/change.ts'
import type { ChangeKind } from '../plan/change.ts'
import type { Remembered, Weighed } from '../plan/guard/hold.ts'
import type { Report, ReportedChange } from '../report/report.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { keysHeldBy } from './guard.ts'
import type { Guarded } from './guard.ts'
import { nextList } from './last-list.ts'
import type { Listed } from './observe.ts'
import type { Run } from './run.ts'
import type { Feed, Mode, Readers } from './tools.ts'

/** What a report reads from while the run's workspace exists. */
type Sources = Pick<Readers, 'runtime' | 'service' | 'workspace'>

/** Makes the report, also of a failed run, from what is known so far. `error`: why the run failed, as a sentence. */
export function reportOf(
  mode: Mode,
  feed: Feed,
  { runtime, service, workspace }: Sources,
  startedAt: number,
  { prepared, applied, notes: first }: Run,
  error: string | null = applied?.stopped ?? null,
): Report {
  const about = {
    feed: feed.name,
    chatbot: feed.chatbot,
    command: mode,
    reader: { locale: feed.locale, timezone: feed.timezone },
    startedAt,
    finishedAt: runtime.clock.now(),
  }
  const outcomes = applied?.outcomes ?? (mode === 'diff' || error === null ? null : noOutcomes)
  const result = { error, applied: outcomes && { outcomes, calls: { ...service.calls } } }
  if (prepared === null) {
    const reasons = error === null ? [] : [error]
    return {
      ...about,
      ...result,
      result: 'failed',
      delivery: emptyDelivery(reasons),
      remote: { complete: false, reasons, pages: 0, listings: 0 },
      counts: noCounts,
      estimate: { calls: 0, seconds: 0 },
      digest: '',
      notes: first,
      holds: [],
      changes: () => [],
      rejects: () => [],
    }
  }
  const { past, delivery, listed, guarded } = prepared
  const { complete, reasons, pages, listings } = listed
  const { counts, inBrief, accidents, estimate, digest } = guarded
  const isDone = applied !== null && applied.outcomes.skipped + applied.outcomes.failed + applied.outcomes.unknown === 0
  const verb = mode === 'diff' ? 'would be carried out' : isDone ? 'were carried out' : 'are being carried out'
  const notes = [...first, ...guarded.notes, ...guarded.letGo(verb), ...(applied?.notes ?? [])]
  return {
    ...about,
    ...result,
    result: resultOf(mode, guarded, outcomes, error),
    delivery: delivery.summary,
    remote: { complete, reasons, pages, listings },
    ...observed(feed, listed),
    counts,
    held: inBrief,
    estimate,
    digest,
    notes: applied?.late ? [...notes, lateNote(applied.late)] : notes,
    holds: accidents.map(({ trip, rule, sentence }) => ({
      rule,
      setting: trip.setting && `limits.${trip.setting}`,
      sentence,
      numbers: trip.numbers,
      keys: () => keysHeldBy(trip, workspace),
    })),
    changes: (which) => reportedChanges(workspace, past.moment, which),
    rejects: () => workspace.rejects(),
  }
}

function observed(feed: Feed, { startedAt, lookUps, pages }: Listed): Pick<Report, 'observed'> {
  const at = lookUps?.listedAt ?? startedAt
  const next = nextList(feed, at, pages)
  return next === null ? {} : { observed: { at, next, lookedUp: lookUps?.keys.size ?? null } }
}

function lateNote(left: number): string {
  const changes = left === 1 ? '1 change is' : `${left} changes are`
  return `${changes} left for the next run: the time for changes of one run (deadline) was over`
}

/** The changes of a run. The fields of a create are read only here, so that a plan of a million creates need not hold them. */
function* reportedChanges(
  workspace: Workspace,
  moment: Moment,
  which?: ChangeKind | 'open',
): Generator<ReportedChange> {
  const { now, today } = moment
  const all = which === undefined ? workspace.changes() : which === 'open' ? workspace.open() : workspace.changes(which)
  for (const { change, weighed, remembered, outcome } of all) {
    const { kind, cause, mlsNumber, why } = change
    const held = change.kind === 'hold' ? change.held : null
    let fields = fieldsOf(change)
    const withheld = fieldsOf(change, true)
    if (change.kind === 'create' && 'delivered' in change.wanted) {
      const row = workspace.deliveredAt(change.wanted.delivered)
      const { placeholders = [] } = row.moving
      const listing = asBefore(listingAt(row, now, today), withheld)
      const filled = fieldNames.filter((field) => listing[field] !== undefined)
      fields = filled.map((field) => ({
        field,
        from: null,
        to: listing[field]!,
        ...(placeholders.includes(field) && { placeholder: true as const }),
      }))
    }
    const rules = [...new Set(weighed.heldParts.flatMap((part) => part.rules))]
    const home = homeIn(workspace, change, moment)
    const heldSince = heldSinceOf(remembered, weighed)
    yield { kind, cause, mlsNumber, why, fields, rules, withheld, home, held, heldSince, outcome }
  }
}

/** Since when earlier runs held what is held of it now; null: they held nothing, or something else. */
function heldSinceOf({ heldSince, holds }: Remembered, { heldParts }: Weighed): number | null {
  if (heldParts.length === 0) return heldSince
  const same = holds.filter(({ part, content: noted }) =>
    heldParts.some((held) => held.part === part && (noted === null || noted === held.content)),
  )
  return same.length === 0 ? null : Math.min(...same.map(({ since }) => since))
}

/**
 * The one word of a run: failed before held, held before partial. A dry run says instead that there are changes. What only waits
 * makes no run partial.
 */
function resultOf(
  mode: Mode,
  { counts, held, conflicts }: Guarded,
  outcomes: Applied['outcomes'] | null,
  error: string | null,
): RunResult {
  if (error !== null) return 'failed'
  if (held > 0) return 'held'
  const changes = counts.create + counts.update + counts.delete + counts.adopt + counts.forget
  if (mode === 'diff' && changes > 0) return 'changes'
  const unfinished = outcomes === null ? 0 : outcomes.failed + outcomes.unknown + outcomes.skipped
  return unfinished + counts.reject + conflicts > 0 ? 'partial' : 'ok'
}
