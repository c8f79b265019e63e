/**
 * Collects what the forms for people need of a report, in one walk over its lists. A limited number of rows is kept, and the rest
 * counted.
 */
import type { ChangeKind } from '../plan/change.ts'
import type { RejectRow } from '../workspace/workspace.ts'
import { withoutValues } from './headline.ts'
import { isOpen } from './report.ts'
import type { Report, ReportedChange } from './report.ts'

/** Most changes of one kind, and most failures, that are shown. The JSON form shows all. */
export const mostShown = 500
const mostOfKind: Partial<Record<ChangeKind, number>> = { create: 50, adopt: 50, forget: 50 }
/** Most examples shown of one kind of reject, and different reasons or problems counted apart. */
const mostExamples = 3
const mostGroups = 100

/** Things that have a sentence in common, with the first few of them. */
export interface Group<T> {
  sentence: string
  count: number
  examples: T[]
}

/** Changes of one kind; `count` may be more than are kept. */
export interface Shown {
  count: number
  changes: ReportedChange[]
}

export interface Collected {
  changes: Record<ChangeKind, Shown>
  /** Why changes are held, the most frequent first. */
  holds: Group<ReportedChange>[]
  failures: Shown
  /** Problems of rejects, the most frequent first. */
  problems: Group<{ reject: RejectRow; problem: string }>[]
}

export function collectLists(report: Report): Collected {
  const none = (): Shown => ({ count: 0, changes: [] })
  const changes = { create: none(), update: none(), delete: none(), adopt: none(), forget: none(), hold: none() }
  const failures = none()
  const holds = grouping<ReportedChange>()
  for (const change of report.changes()) {
    // One note tells of all of them.
    if (isElsewhere(change)) continue
    add(changes[change.kind], change, mostOfKind[change.kind])
    if (change.kind === 'hold') holds.add(change.why, change)
    if (isOpen(change)) add(failures, change)
  }
  return { changes, failures, holds: holds.groups(), problems: problemsOf(report) }
}

/** Whether another feed has the listing, so that nothing needs to be told here. */
export function isElsewhere({ kind, cause }: ReportedChange): boolean {
  return cause === 'other-feed' && kind === 'hold'
}

/** Problems of rejects, the most frequent first. */
export function problemsOf(report: Report): Collected['problems'] {
  const problems = grouping<{ reject: RejectRow; problem: string }>()
  for (const reject of report.rejects()) {
    for (const problem of reject.problems) problems.add(withoutValues(problem), { reject, problem })
  }
  // A single mistake is told with its value.
  return problems
    .groups()
    .map((group) => (group.count === 1 ? { ...group, sentence: group.examples[0].problem } : group))
}

function add(shown: Shown, change: ReportedChange, most = mostShown): void {
  shown.count++
  if (shown.changes.length < most) shown.changes.push(change)
}

function grouping<T>() {
  const groups = new Map<string, Group<T>>()
  return {
    add(sentence: string, item: T) {
      const name = groups.has(sentence) || groups.size < mostGroups ? sentence : 'other reasons'
      const group = groups.get(name) ?? { sentence: name, count: 0, examples: [] }
      groups.set(name, group)
      group.count++
      if (group.examples.length < mostExamples) group.examples.push(item)
    },
    groups: () => [...groups.values()].sort((a, b) => b.count - a.count),
  }
}
