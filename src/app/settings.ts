/** A chatbot's settings: what of them has to be sent, and sending it, with the store knowing at any time what is sure. */
import type { FeedConfig } from '../config/config.ts'
import { ServiceError, UserError } from '../core/errors.ts'
import { usesFigures, withFigures } from '../core/figures.ts'
import type { FigureName, FeedFigures } from '../core/figures.ts'
import type { Report } from '../report/report.ts'
import type { ChatbotSettings } from '../service/settings.ts'
import type { SettingValue, Store, StoreReader } from '../store/store.ts'
import type { App, Finished } from './app.ts'

export interface SettingsPlan {
  /** `from` null: not applied before, or not known. */
  changes: { name: string; from: SettingValue | null; to: SettingValue }[]
  /** Settings whose text uses a figure that has no value now: they stay as they are. */
  lacking: { name: string; figure: FigureName }[]
}

/** What differs from what was applied last; `force`: all of it. Writes nothing. */
export function planSettings(
  { chatbot, name: feed }: { chatbot: string; name: string },
  written: ChatbotSettings,
  store: StoreReader,
  force: boolean,
): SettingsPlan {
  const plan: SettingsPlan = { changes: [], lacking: [] }
  const applied = store.appliedSettings(chatbot)
  let figures: FeedFigures | null = null
  for (const [name, value] of Object.entries(written) as [string, SettingValue | undefined][]) {
    if (value === undefined) continue
    let to = value
    if (typeof value === 'string') {
      // Counting a million listings takes seconds, and most texts need none.
      const none: FeedFigures = { listings: 0, cities: 0, minPrice: null }
      const filled = withFigures(value, usesFigures(value) ? (figures ??= store.figures(chatbot, feed)) : none)
      if ('lacking' in filled) {
        plan.lacking.push({ name, figure: filled.lacking })
        continue
      }
      to = filled.text
    }
    const from = applied.get(name) ?? null
    if (force || from !== to) plan.changes.push({ name, from, to })
  }
  return plan
}

/** Sends the changes in one Edit, under the chatbot's lease. Throws what `edit` and the store throw. */
export async function applySettings(
  chatbot: string,
  { changes }: SettingsPlan,
  store: Store,
  now: number,
  edit: (settings: ChatbotSettings) => Promise<void>,
): Promise<void> {
  if (changes.length === 0) return
  const lease = store.lease(chatbot, now)
  try {
    // Until the answer is there, nothing is sure: a crash now must not leave the old values for known.
    store.forgetSettings(
      chatbot,
      changes.map(({ name }) => name),
    )
    await edit(Object.fromEntries(changes.map(({ name, to }) => [name, to]))).catch((error: unknown) => {
      if (error instanceof ServiceError && error.effect === 'none') {
        const before = changes.flatMap(({ name, from }) => (from === null ? [] : [[name, from] as const]))
        store.rememberSettings(chatbot, new Map(before), now)
      }
      throw error
    })
    store.rememberSettings(chatbot, new Map(changes.map(({ name, to }) => [name, to])), now)
  } finally {
    lease.release()
  }
}

/** Why a setting stays as it is, for a person. */
export function lackingSentence({ name, figure }: SettingsPlan['lacking'][number]): string {
  return `${name} stays as it is: {${figure}} has no value, as no listing on offer has a price`
}

/** Settings of a chatbot after a run of its feed (`feeds.*.settings`). */

/** Sends what a plan changes to the feed's chatbot. Throws `ServiceError` and `UserError`. */
export async function sendSettings(app: App, feed: FeedConfig, plan: SettingsPlan, signal: AbortSignal): Promise<void> {
  const edit = (settings: ChatbotSettings): Promise<void> =>
    app.client(feed).edit({ serialNumber: feed.chatbot, ...settings }, { signal })
  await applySettings(feed.chatbot, plan, app.store(), app.runtime.clock.now(), edit)
}

/** The run with what became of its settings: notes, and `partial` for `ok` where they are not all applied; never worse. */
export async function withSettings(
  app: App,
  feed: FeedConfig,
  finished: Finished,
  signal: AbortSignal,
): Promise<Finished> {
  const { report } = finished
  if (feed.settings === null || report.result === 'failed' || signal.aborted) return finished
  try {
    const plan = planSettings(feed, feed.settings, app.store(), false)
    await sendSettings(app, feed, plan, signal)
    const names = plan.changes.map(({ name }) => name).join(', ')
    const notes = plan.lacking.map(lackingSentence)
    if (names !== '') notes.unshift(`Settings of the chatbot were applied: ${names}`)
    return { ...finished, report: noted(report, notes, plan.lacking.length === 0) }
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof UserError)) throw error
    const problem = app.scrub(error.message)
    const note = `The settings of the chatbot could not be applied, the next run tries again: ${problem}`
    // A report as JSON has no notes.
    app.runtime.log.warn({ feed: feed.name, problem }, 'settings of the chatbot could not be applied')
    return { ...finished, report: noted(report, [note], false) }
  }
}

function noted(report: Report, notes: string[], applied: boolean): Report {
  const result = !applied && report.result === 'ok' ? 'partial' : report.result
  return { ...report, result, notes: [...report.notes, ...notes] }
}
