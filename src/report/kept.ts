/**
 * What the store keeps of a run's report, so that any form of it can be written later: the first changes of each kind, and more of
 * those that were not carried out.
 */
import { many } from '../core/text.ts'
import { shownKinds } from './headline.ts'
import { isOpen } from './report.ts'
import type { Report, ReportedChange, ReportedHold } from './report.ts'

/** Most characters of JSON that are kept of the changes of one kind, and of the rejects. */
const mostOfList = 400_000

/** The kept report as plain data. */
export type KeptReport = Omit<Report, 'changes' | 'rejects' | 'holds'> & {
  holds: (Omit<ReportedHold, 'keys'> & { keys: string[] })[]
  changes: ReportedChange[]
  rejects: ReturnType<Report['rejects']> extends Iterable<infer Row> ? Row[] : never
}

export function keptReport(whole: Report): KeptReport {
  const { holds, notes, ...rest } = whole
  const open = first(whole.changes('open'))
  const kept = {
    changes: shownKinds.flatMap((kind) => {
      const some = first(whole.changes(kind))
      const known = new Set(some.map(({ mlsNumber }) => mlsNumber))
      return [...some, ...open.filter((change) => change.kind === kind && !known.has(change.mlsNumber))]
    }),
    rejects: first(whole.rejects()),
    holds: holds.map(({ keys, ...hold }) => ({ ...hold, keys: first(keys()) })),
  }
  const { counts, delivery } = whole
  const all = shownKinds.reduce((sum, kind) => sum + counts[kind], 0)
  const left = [
    all > kept.changes.length ? `${all - kept.changes.length} of ${many(all, 'change')}` : '',
    delivery.rejects > kept.rejects.length
      ? `${delivery.rejects - kept.rejects.length} of ${many(delivery.rejects, 'reject')}`
      : '',
  ].filter((part) => part !== '')
  const cut =
    left.length === 0
      ? []
      : [`Of this run the store keeps the first changes of each kind: ${left.join(' and ')} are not here`]
  return { ...rest, ...kept, notes: [...cut, ...notes] }
}

/** The first items of a list, as far as there is room. */
function first<T>(items: Iterable<T>): T[] {
  const kept: T[] = []
  let room = mostOfList
  for (const item of items) {
    room -= JSON.stringify(item).length
    if (room < 0) break
    kept.push(item)
  }
  return kept
}

/** Makes a report of what was kept. */
export function revivedReport({ changes, rejects, holds, ...report }: KeptReport): Report {
  return {
    ...report,
    holds: holds.map(({ keys, ...hold }) => ({ ...hold, keys: () => keys })),
    changes: (which) =>
      which === undefined
        ? changes
        : changes.filter((change) => (which === 'open' ? isOpen(change) : change.kind === which)),
    rejects: () => rejects,
  }
}
