/** The report as one JSON document, for programs: exactly the keys of DESIGN, "Report" (and `verify`), one list item a line. */
import { escapeUnseen } from '../core/text.ts'
import { buffer } from './report.ts'
import type { Report, Buffered, ReportForm, ReportedChange } from './report.ts'
import { heldFor } from './values.ts'

export function jsonForm(): ReportForm {
  return { write, document: { before: '', after: '' }, several: { before: '[\n', between: ',\n', after: ']\n' } }
}

const write: ReportForm['write'] = async (report, output) => {
  const buffered = buffer(output)
  await buffered.add('{')
  await writeHead(report, buffered)
  await writeList('changes', report.changes(), (change) => changeOf(report, change), buffered)
  await writeList('rejects', report.rejects(), ({ at, mlsNumber, problems }) => ({ at, mlsNumber, problems }), buffered)
  if (report.applied !== null) {
    const { done, failed, unknown, skipped } = report.applied.outcomes
    const { create, update, delete: deletes, list } = report.applied.calls
    await buffered.add(`,\n  "outcomes": ${json({ done, failed, unknown, skipped })}`)
    await buffered.add(`,\n  "calls": ${json({ create, update, delete: deletes, list })}`)
    await writeList('failures', failures(report.changes()), (failure) => failure, buffered)
  }
  // Beside the contract's keys, and only where the configuration asks for it.
  if (report.verification) await buffered.add(`,\n  "verify": ${json(report.verification)}`)
  await buffered.add('\n}\n')
  await buffered.end()
}

async function writeHead(report: Report, buffered: Buffered): Promise<void> {
  const { delivery, remote, counts } = report
  const head = {
    version: 1,
    feed: report.feed,
    chatbot: report.chatbot,
    startedAt: new Date(report.startedAt).toISOString(),
    finishedAt: new Date(report.finishedAt).toISOString(),
    result: report.result,
    delivery: {
      complete: delivery.complete,
      reasons: delivery.reasons,
      records: delivery.records,
      listings: delivery.listings,
      removals: delivery.removals,
      filtered: delivery.filtered,
      duplicates: delivery.duplicates,
      rejects: delivery.rejects,
      bytes: delivery.bytes,
    },
    remote: {
      complete: remote.complete,
      reasons: remote.reasons,
      pages: remote.pages,
      listings: remote.listings,
    },
    counts: {
      create: counts.create,
      update: counts.update,
      delete: counts.delete,
      adopt: counts.adopt,
      forget: counts.forget,
      hold: counts.hold,
      unchanged: counts.unchanged,
      reject: counts.reject,
    },
    estimate: { calls: report.estimate.calls, seconds: report.estimate.seconds },
    digest: report.digest,
  }
  const lines = Object.entries(head).map(([key, value]) => `\n  ${json(key)}: ${json(value)}`)
  await buffered.add(lines.join(','))
}

async function writeList<T>(key: string, items: Iterable<T>, shape: (item: T) => unknown, buffered: Buffered) {
  await buffered.add(`,\n  ${json(key)}: [`)
  let before = '\n    '
  for (const item of items) {
    const written = buffered.add(before + json(shape(item)))
    if (written) await written
    before = ',\n    '
  }
  await buffered.add(before.startsWith(',') ? '\n  ]' : ']')
}

/** The keys are a contract, so how long a change has been held is said in its sentence. */
function changeOf(report: Report, change: ReportedChange) {
  const { kind, mlsNumber, fields } = change
  const why = change.why + heldFor(report, change)
  return { kind, mlsNumber, why, fields: fields.map(({ field, from, to }) => ({ field, from, to })) }
}

function* failures(changes: Iterable<ReportedChange>) {
  for (const { mlsNumber, kind, outcome } of changes) {
    if (outcome?.result === 'failed' || outcome?.result === 'unknown') {
      yield { mlsNumber, kind, result: outcome.result, error: outcome.error }
    }
  }
}

function json(value: unknown): string {
  return escapeUnseen(JSON.stringify(value))
}
