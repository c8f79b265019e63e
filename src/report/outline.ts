/**
 * A report as headings and tables, for the forms that are looked at elsewhere than on a terminal. Texts are made
 * printable here; each form escapes them in its own way.
 */
import { printable, shorten } from '../core/text.ts'
import type { ChangeKind } from '../plan/change.ts'
import type { Verification } from '../verify/verification.ts'
import { collectLists } from './collect.ts'
import type { Shown } from './collect.ts'
import { actions, headline, many, shownKinds } from './headline.ts'
import type { Report, ReportedChange } from './report.ts'
import { fieldChange, heldFor } from './values.ts'
import { answerText, verdictOf, verifiedSentence } from './verified.ts'

export interface Section {
  title: string
  /** What the section is about, for a form that has colours. */
  tone: 'plain' | 'warning' | ChangeKind
  columns: string[]
  /** A cell is one text, or several lines. */
  rows: (string | string[])[][]
  /** Rows that are left out. */
  more: number
}

export interface Outline {
  headline: string
  result: Report['result']
  notes: string[]
  sections: Section[]
}

const titles: Record<ChangeKind, string> = {
  update: 'Update',
  create: 'Create',
  delete: 'Delete',
  adopt: 'Adopt: already as wanted',
  forget: 'Forget: gone on both sides',
  hold: 'Held',
}

export function outline(report: Report): Outline {
  const { changes, failures, holds, problems } = collectLists(report)
  const sections: Section[] = [figures(report)]
  if (holds.length > 0) {
    const rows = holds.map(({ sentence, count }) => [String(count), printable(sentence)])
    sections.push({ title: 'Why changes are held', tone: 'warning', columns: ['changes', 'why'], rows, more: 0 })
  }
  for (const kind of shownKinds) if (changes[kind].count > 0) sections.push(changesOf(report, kind, changes[kind]))
  if (problems.length > 0) {
    const rows = problems.map(({ sentence, count, examples }) => {
      const places = examples.map(({ reject }) => printable(`${reject.at}, ${reject.mlsNumber ?? 'no MLSNumber'}`))
      return [String(count), shorten(printable(sentence), 300), places]
    })
    const title = `Records that could not become a listing (${report.delivery.rejects})`
    sections.push({ title, tone: 'warning', columns: ['records', 'problem', 'for example'], rows, more: 0 })
  }
  if (failures.count > 0) sections.push(failed(failures))
  if (report.verification) sections.push(verified(report.verification))
  return { headline: headline(report), result: report.result, notes: report.notes.map(printable), sections }
}

function figures(report: Report): Section {
  const { delivery, remote, counts, estimate, applied } = report
  const whole = ({ complete, reasons }: { complete: boolean; reasons: string[] }): string =>
    complete ? '' : `; not complete: ${printable(reasons.join('; '))}`
  const { removals, filtered, duplicates, rejects } = delivery
  const apart = `${many(removals, 'removal')}, ${filtered} filtered, ${many(duplicates, 'duplicate')}, ${many(rejects, 'reject')}`
  const rows = [
    [
      'feed',
      `${many(delivery.listings, 'listing')} of ${many(delivery.records, 'record')} (${apart})${whole(delivery)}`,
    ],
    ['service', `${many(remote.listings, 'listing')} on ${many(remote.pages, 'page')}${whole(remote)}`],
    ['plan', [`${counts.unchanged} unchanged`, ...actions(report, shownKinds)].join(', ')],
  ]
  if (applied === null)
    rows.push(['expected', `${many(estimate.calls, 'call')}, about ${many(estimate.seconds, 'second')}`])
  else
    rows.push([
      'outcomes',
      Object.entries(applied.outcomes)
        .map(([name, count]) => `${count} ${name}`)
        .join(', '),
    ])
  rows.push(['at', new Date(report.startedAt).toISOString()], ['digest', report.digest])
  return { title: 'Figures', tone: 'plain', columns: ['', ''], rows, more: 0 }
}

function changesOf(report: Report, kind: ChangeKind, { count, changes }: Shown): Section {
  const rows = changes.map((change) => [printable(change.mlsNumber), whyOf(report, change), fieldsOf(report, change)])
  const [title, more] = [`${titles[kind]} (${count})`, count - changes.length]
  return { title, tone: kind, columns: ['MLSNumber', 'why', 'fields'], rows, more }
}

function whyOf(report: Report, change: ReportedChange): string {
  const { held, why, outcome } = change
  const open = outcome === null || outcome.result === 'done' ? '' : ` [${outcome.result}]`
  return `${held === null ? '' : `${held}: `}${printable(why)}${heldFor(report, change)}${open}`
}

function fieldsOf(report: Report, change: ReportedChange): string[] {
  const { reader } = report
  return change.fields.map((field) => `${field.field}: ${fieldChange(field, { reader, home: change.home })}`)
}

function failed({ count, changes }: Shown): Section {
  const rows = changes.map(({ mlsNumber, kind, outcome }) => [
    printable(mlsNumber),
    `${kind} ${outcome?.result}`,
    shorten(printable(outcome?.error ?? 'no message'), 500),
  ])
  const [title, more] = [`Not carried out (${count})`, count - changes.length]
  return { title, tone: 'warning', columns: ['MLSNumber', 'what', 'why'], rows, more }
}

function verified(verification: Verification): Section {
  const { listings, disagreed, session } = verification
  const rows = listings.map((one) => [
    printable(one.mlsNumber),
    verdictOf(one),
    [printable(one.question), answerText(one) ?? '(no answer)'],
  ])
  const title = `What the chatbot says (session ${session}): ${verifiedSentence(verification)}`
  const tone = disagreed > 0 ? 'warning' : 'plain'
  return { title, tone, columns: ['MLSNumber', 'verdict', 'question and answer'], rows, more: 0 }
}
