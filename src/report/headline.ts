/** What a run would do or did, in one sentence. */
import { printable } from '../core/text.ts'
import type { ChangeKind } from '../plan/change.ts'
import type { Report, ReportedChange } from './report.ts'

const writing = ['create', 'update', 'delete'] as const

export function headline(report: Report): string {
  const name = `${printable(report.feed)} (chatbot ${printable(report.chatbot)})`
  const error = report.error === null ? null : printable(report.error)
  const nothingKnown = report.delivery.records + report.remote.pages === 0
  if (report.result === 'failed' && (report.applied === null || nothingKnown))
    return `${name}: failed: ${error ?? 'no reason given'}`
  const sentence = report.applied === null ? planned(report) : carriedOut(report, report.applied)
  return `${name}: ${sentence}${error === null ? '' : `; stopped: ${error}`}`
}

function planned(report: Report): string {
  const verbs = actions(report, writing)
  const memory = actions(report, ['adopt', 'forget'])
  const parts =
    verbs.length > 0
      ? [`would ${listed(verbs)}`]
      : [report.counts.hold > 0 ? 'nothing to change now' : 'nothing to change']
  if (memory.length > 0) parts.push(`would ${listed(memory)} in the snapshot only`)
  return [...parts, ...aside(report)].join('; ')
}

function carriedOut(report: Report, { outcomes }: NonNullable<Report['applied']>): string {
  const all = outcomes.done + outcomes.failed + outcomes.unknown + outcomes.skipped
  if (all === 0) return [report.counts.hold > 0 ? 'nothing changed' : 'nothing to change', ...aside(report)].join('; ')
  const left = (['failed', 'unknown', 'skipped'] as const).filter((name) => outcomes[name] > 0)
  const verbs = actions(report, [...writing, 'adopt', 'forget'])
  const plan = verbs.length > 0 ? ` (${listed(verbs)})` : ''
  const results = left.map((name) => `${outcomes[name]} ${name}`)
  return [`carried out ${outcomes.done} of ${many(all, 'change')}${plan}`, ...results, ...aside(report)].join('; ')
}

function aside({ counts, delivery }: Report): string[] {
  const parts: string[] = []
  if (counts.hold > 0) parts.push(`${counts.hold} held`)
  if (delivery.rejects > 0) parts.push(`${many(delivery.rejects, 'record')} rejected`)
  return parts
}

/** "create 3", "update 1": the kinds there are. */
export function actions({ counts }: Report, kinds: readonly ChangeKind[]): string[] {
  return kinds.filter((kind) => counts[kind] > 0).map((kind) => `${kind} ${counts[kind]}`)
}

/** "1 listing", "2 listings". */
export function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function listed(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

/** In the order in which people are shown them. */
export const shownKinds: readonly ChangeKind[] = ['update', 'create', 'delete', 'adopt', 'forget', 'hold']

/** What a listing is created with is all of it: the place and the price tell enough, and what is no fact must be told. */
export function tellingFields({ fields }: ReportedChange): { field: string; text: string; placeholder: boolean }[] {
  const telling = ['PropertyType', 'Address', 'City', 'SalePrice', 'RentPrice']
  return fields.flatMap(({ field, to, placeholder = false }) =>
    (placeholder || telling.includes(field)) && !Array.isArray(to)
      ? [{ field, placeholder, text: printable(placeholder ? `${to} (placeholder)` : `${to}`) }]
      : [],
  )
}
