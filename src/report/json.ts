/** The report as one JSON document, for programs: the keys that docs/reports.md lists, one list item a line. */
import type { FieldChange } from '../core/compare-listings.ts'
import { escapeUnseen, minuteOf } from '../core/text.ts'
import { buffer, failureOf, isOpen } from './report.ts'
import type { Report, Buffered, Observed, ReportForm, ReportedChange } from './report.ts'

export function jsonForm(): ReportForm {
  return { write, document: { before: '', after: '' }, several: { before: '[\n', between: ',\n', after: ']\n' } }
}

const write: ReportForm['write'] = async (report, output) => {
  const buffered = buffer(output)
  await buffered.add('{')
  await writeHead(report, buffered)
  await writeList('changes', report.changes(), (change) => changeOf(report, change), buffered)
  await writeList('rejects', report.rejects(), (reject) => pick(reject, 'at', 'mlsNumber', 'problems'), buffered)
  if (report.applied !== null) {
    const { outcomes, calls } = report.applied
    await buffered.add(`,\n  "outcomes": ${json(pick(outcomes, 'done', 'failed', 'unknown', 'skipped'))}`)
    await buffered.add(`,\n  "calls": ${json(pick(calls, 'create', 'update', 'delete', 'list'))}`)
    await writeList('failures', failures(report.changes()), failureOf, buffered)
  }
  if (report.observed) await buffered.add(`,\n  "observed": ${json(observedOf(report.observed))}`)
  // Beyond the contract's keys, and only if the configuration asks for it.
  if (report.verification) await buffered.add(`,\n  "verify": ${json(report.verification)}`)
  await buffered.add('\n}\n')
  await buffered.end()
}

async function writeHead(report: Report, buffered: Buffered): Promise<void> {
  const { feed, chatbot, result, digest, notes } = report
  const { complete, reasons, records, listings, removals, filtered, duplicates, rejects, bytes } = report.delivery
  const head = {
    version: 1,
    feed,
    chatbot,
    startedAt: new Date(report.startedAt).toISOString(),
    finishedAt: new Date(report.finishedAt).toISOString(),
    result,
    delivery: { complete, reasons, records, listings, removals, filtered, duplicates, rejects, bytes },
    remote: pick(report.remote, 'complete', 'reasons', 'pages', 'listings'),
    counts: pick(report.counts, 'create', 'update', 'delete', 'adopt', 'forget', 'hold', 'unchanged', 'reject'),
    estimate: pick(report.estimate, 'calls', 'seconds'),
    digest,
    notes,
    holds: report.holds.map(({ keys, sentence, ...hold }) => ({ ...hold, keys: [...keys()], sentence })),
  }
  const lines = Object.entries(head).map(([key, value]) => `\n  ${json(key)}: ${json(value)}`)
  await buffered.add(lines.join(','))
}

function observedOf({ at, next, lookedUp }: Observed) {
  return { at: new Date(at).toISOString(), next: new Date(next).toISOString(), lookedUp }
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

/** How long a change has been held, in the form that programs are promised. */
function heldSince({ finishedAt }: Report, { kind, heldSince: since }: ReportedChange): string {
  if (kind !== 'hold' || since === null) return ''
  return `, held since ${minuteOf(since)}, ${Math.floor((finishedAt - since) / 3_600_000)} h`
}

/** A change for programs. The keys are a contract, so how long it has been held is told in its sentence. */
function changeOf(report: Report, change: ReportedChange) {
  const { kind, mlsNumber, fields, home, rules, withheld } = change
  const { address = null, city = null, saleType = null, currency = null, price = { from: null, to: null } } = home ?? {}
  const why = change.why + heldSince(report, change)
  const about = { kind, mlsNumber, why, fields: fields.map(fieldOf), address, city, saleType, currency, price }
  return {
    ...about,
    ...(rules.length > 0 && { rules }),
    ...(withheld.length > 0 && { withheld: withheld.map(fieldOf) }),
  }
}

/** A field for programs, with `placeholder` only if it is true. */
function fieldOf(change: FieldChange) {
  return { ...pick(change, 'field', 'from', 'to'), ...(change.placeholder && { placeholder: true }) }
}

function* failures(changes: Iterable<ReportedChange>) {
  for (const change of changes) if (isOpen(change)) yield change
}

function json(value: unknown): string {
  return escapeUnseen(JSON.stringify(value))
}

/** The members that a program is promised, in their order. */
function pick<T, Name extends keyof T>(from: T, ...names: Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, Name>
}
