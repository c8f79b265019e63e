/** The report for a person: one sentence first, then why things are held, the figures, the changes, what went wrong. */
import { styleText } from 'node:util'
import { many, printable, shorten } from '../core/text.ts'
import type { ChangeKind } from '../plan/change.ts'
import type { Verification } from '../verify/verification.ts'
import { collectLists } from './collect.ts'
import type { Collected, Shown } from './collect.ts'
import { actions, headline, observedText, shownKinds } from './headline.ts'
import { writePieces } from './report.ts'
import type { Report, FormOptions, ReportForm, ReportedChange } from './report.ts'
import { fieldChange, fieldValue, heldFor, homePrice, placeText, saleText } from './values.ts'
import { answerText, verdictOf, verifiedSentence } from './verified.ts'

type Style = Parameters<typeof styleText>[0]
type Paint = (style: Style, text: string) => string

export function textForm({ colour }: FormOptions): ReportForm {
  const paint: Paint = (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text)
  return {
    write: (report, output) => writePieces(lines(report, paint), output, '\n'),
    document: { before: '', after: '' },
    several: { before: '', between: '\n', after: '' },
  }
}

function* lines(report: Report, paint: Paint): Generator<string> {
  const collected = collectLists(report)
  yield paint(['bold', styles[report.result]], headline(report))
  for (const note of report.notes) yield `  ${paint('yellow', 'note')}  ${printable(note)}`
  yield* heldLines(collected, paint)
  if (report.delivery.records + report.remote.pages > 0) yield* figures(report, paint)
  for (const kind of shownKinds) yield* changeLines(report, kind, collected.changes[kind], paint)
  yield* rejectLines(report, collected, paint)
  yield* failureLines(collected.failures, paint)
  if (report.verification) yield* verifiedLines(report.verification, paint)
}

const styles = { ok: 'green', changes: 'cyan', held: 'yellow', partial: 'yellow', failed: 'red' } as const
const titles: Record<ChangeKind, [title: string, style: Style]> = {
  update: ['Update', 'cyan'],
  create: ['Create', 'green'],
  delete: ['Delete', 'red'],
  adopt: ['Adopt: already as wanted, only remembered from now on', 'dim'],
  forget: ['Forget: gone on both sides', 'dim'],
  hold: ['Held', 'yellow'],
}

function* heldLines({ holds }: Collected, paint: Paint): Generator<string> {
  if (holds.length === 0) return
  yield ''
  yield paint('bold', 'Why changes are held')
  for (const { sentence, count } of holds) yield `  ${String(count).padStart(6)}  ${printable(sentence)}`
}

function* figures(report: Report, paint: Paint): Generator<string> {
  const { delivery, remote, counts, estimate, applied } = report
  const row = (name: string, text: string) => `  ${paint('dim', name.padEnd(9))} ${text}`
  const whole = ({ complete, reasons }: { complete: boolean; reasons: string[] }) =>
    complete ? '' : paint('yellow', `; not complete: ${printable(reasons.join('; ')) || 'no reason given'}`)
  const apart = [
    delivery.removals > 0 ? many(delivery.removals, 'removal') : '',
    delivery.filtered > 0 ? `${delivery.filtered} filtered` : '',
    delivery.duplicates > 0 ? many(delivery.duplicates, 'duplicate') : '',
    delivery.rejects > 0 ? many(delivery.rejects, 'reject') : '',
  ].filter((part) => part !== '')
  const others = apart.length === 0 ? '' : ` (and ${apart.join(', ')})`
  const rest = [`${counts.unchanged} unchanged`, ...actions(report, shownKinds)]
  if (counts.reject > 0) rest.push(many(counts.reject, 'reject'))

  yield ''
  yield row(
    'feed',
    `${many(delivery.listings, 'listing')} of ${many(delivery.records, 'record')}${others}${whole(delivery)}`,
  )
  yield row('service', `${many(remote.listings, 'listing')} on ${many(remote.pages, 'page')}${whole(remote)}`)
  const observed = observedText(report)
  if (observed !== '') yield row('list', observed)
  yield row('plan', rest.join(', '))
  if (applied === null) {
    if (estimate.calls > 0) yield row('expected', `${many(estimate.calls, 'call')}, about ${time(estimate.seconds)}`)
    return
  }
  const { outcomes, calls } = applied
  const results = (['done', 'failed', 'unknown', 'skipped'] as const).map((name) => `${outcomes[name]} ${name}`)
  const kindsOfCalls = (['create', 'update', 'delete', 'list'] as const).map((name) => `${calls[name]} ${name}`)
  yield row('outcomes', results.join(', '))
  yield row('calls', `${kindsOfCalls.join(', ')}, in ${time((report.finishedAt - report.startedAt) / 1000)}`)
}

function* changeLines(report: Report, kind: ChangeKind, { count, changes }: Shown, paint: Paint): Generator<string> {
  if (count === 0) return
  const [title, style] = titles[kind]
  yield ''
  yield paint('bold', `${title} (${count})`)
  for (const change of changes) {
    const { mlsNumber, why } = change
    const sentence = `${wouldBe(change)}${printable(why)}${paint('dim', heldFor(report, change))}${homeText(report, change, paint)}${outcomeOf(change, paint)}`
    yield `  ${paint(style, printable(mlsNumber))}  ${sentence}`
    yield* fieldLines(report, change, paint)
  }
  yield* more(count - changes.length)
}

/** Which home it is. Of a new one also which fields are placeholders. */
function homeText({ reader }: Report, { kind, home, fields }: ReportedChange, paint: Paint): string {
  const placeholders = fields.filter(({ placeholder }) => kind === 'create' && placeholder === true)
  const pieces = [
    placeText(home),
    saleText(home),
    homePrice(home, reader),
    ...placeholders.map(({ field, to }) => `${field} ${fieldValue(field, to, { reader, home })} (placeholder)`),
  ].filter((part) => part !== '')
  return pieces.length === 0 ? '' : `: ${paint('dim', shorten(pieces.join(', '), 240))}`
}

/** The fields that change (not those of a create), and those that are held of a change that goes on. */
function* fieldLines({ reader }: Report, change: ReportedChange, paint: Paint): Generator<string> {
  const { kind, fields, withheld, home } = change
  const shown = [...(kind === 'create' ? [] : fields), ...withheld]
  const width = Math.max(0, ...shown.map(({ field }) => field.length))
  for (const field of shown) {
    const mark = withheld.includes(field) ? `  ${paint('yellow', '[held]')}` : ''
    yield `      ${paint('dim', field.field.padEnd(width))}  ${fieldChange(field, { reader, home })}${mark}`
  }
}

function wouldBe({ held }: ReportedChange): string {
  return held === null ? '' : `${held}: `
}

function outcomeOf({ outcome }: ReportedChange, paint: Paint): string {
  if (outcome === null || outcome.result === 'done') return ''
  return `  ${paint(outcome.result === 'skipped' ? 'yellow' : 'red', `[${outcome.result}]`)}`
}

function* rejectLines({ delivery }: Report, { problems }: Collected, paint: Paint): Generator<string> {
  if (problems.length === 0) return
  yield ''
  yield paint('bold', `Records that could not become a listing (${delivery.rejects})`)
  for (const { sentence, count, examples } of problems) {
    yield `  ${String(count).padStart(6)}  ${shorten(printable(sentence), 300)}`
    for (const { reject, problem } of examples) {
      const place = `${printable(reject.at)}, ${reject.mlsNumber === null ? 'no MLSNumber' : printable(reject.mlsNumber)}`
      const exactly = problem === sentence ? '' : `: ${shorten(printable(problem), 300)}`
      yield `          ${paint('dim', place + exactly)}`
    }
  }
}

function* failureLines({ count, changes }: Shown, paint: Paint): Generator<string> {
  if (count === 0) return
  yield ''
  yield paint('bold', `Not carried out (${count})`)
  for (const { mlsNumber, kind, outcome } of changes) {
    const error = shorten(printable(outcome?.error ?? 'no message'), 500)
    yield `  ${paint('red', printable(mlsNumber))}  ${kind} ${outcome?.result}: ${error}`
  }
  yield* more(count - changes.length)
}

function* verifiedLines(verification: Verification, paint: Paint): Generator<string> {
  yield ''
  yield `${paint('bold', 'What the chatbot says')} (session ${verification.session}): ${verifiedSentence(verification)}`
  for (const listing of verification.listings) {
    const { verdict, mlsNumber, question } = listing
    const style = verdict === 'agrees' ? 'green' : verdict === 'disagrees' ? 'red' : 'yellow'
    yield `  ${paint(style, printable(mlsNumber))}  ${verdictOf(listing)}`
    const answer = answerText(listing)
    if (verdict === 'agrees' || answer === null) continue
    yield `      ${paint('dim', 'asked   ')}  ${printable(question)}`
    yield `      ${paint('dim', 'answered')}  ${answer}`
  }
}

function* more(left: number): Generator<string> {
  if (left > 0) yield `  … and ${left} more (see --format json)`
}

/** Seconds as a person says them. */
function time(seconds: number): string {
  if (seconds < 90) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 360) / 10} h`
}
