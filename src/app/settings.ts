/** A chatbot's settings: finds what to send, sends it, and records in the store what is known to be applied. */
import type { FeedConfig } from '../config/config.ts'
import { ServiceError, UserError } from '../core/errors.ts'
import { usesFigures, withFigures } from '../core/figures.ts'
import type { FigureName, FeedFigures } from '../core/figures.ts'
import type { Report } from '../report/report.ts'
import type { ChatbotSettings } from '../service/settings.ts'
import type { SettingValue, StoreReader } from '../store/store.ts'
import type { App, Finished } from './app.ts'

export interface SettingsPlan {
  /** `from` null: not applied before, or not known. */
  changes: { name: string; from: SettingValue | null; to: SettingValue }[]
  /** Settings that use a figure without a value; they are not changed. */
  lacking: { name: string; figure: FigureName }[]
}

/** The settings that differ from those applied last; `force`: all. Writes nothing. */
export async function planSettings(
  { chatbot, name: feed }: { chatbot: string; name: string },
  written: ChatbotSettings,
  { learnt, snapshot }: StoreReader,
  force: boolean,
): Promise<SettingsPlan> {
  const plan: SettingsPlan = { changes: [], lacking: [] }
  const applied = await learnt.settings(chatbot)
  let figures: FeedFigures | null = null
  for (const [name, value] of Object.entries(written) as [string, SettingValue | undefined][]) {
    if (value === undefined) continue
    let to = value
    if (typeof value === 'string') {
      // Counting a million listings takes seconds, and most texts need none.
      const none: FeedFigures = { listings: 0, cities: 0, minPrice: null }
      if (usesFigures(value)) figures ??= await snapshot.figures(chatbot, feed)
      const filled = withFigures(value, figures ?? none)
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

export function lackingSentence({ name, figure }: SettingsPlan['lacking'][number]): string {
  return `${name} was not changed: {${figure}} has no value because no listing on offer has a price`
}

/** Sends the changes in one Edit, under the chatbot's lease. Throws `ServiceError` and `UserError`. */
export async function sendSettings(
  app: App,
  feed: FeedConfig,
  { changes }: SettingsPlan,
  signal: AbortSignal,
): Promise<void> {
  if (changes.length === 0) return
  const { chatbot } = feed
  const store = app.store()
  const { learnt } = store
  const now = app.runtime.clock.now()
  const lease = await store.lease(chatbot, now)
  try {
    // After a crash before the answer, the old values must not count as known.
    await learnt.forgetSettings(
      chatbot,
      changes.map(({ name }) => name),
    )
    const settings: ChatbotSettings = Object.fromEntries(changes.map(({ name, to }) => [name, to]))
    await app
      .client(feed)
      .edit({ serialNumber: chatbot, ...settings }, { signal })
      .catch(async (error: unknown) => {
        if (error instanceof ServiceError && error.effect === 'none') {
          const before = changes.flatMap(({ name, from }) => (from === null ? [] : [[name, from] as const]))
          await learnt.setSettings(chatbot, new Map(before), now)
        }
        throw error
      })
    await learnt.setSettings(chatbot, new Map(changes.map(({ name, to }) => [name, to])), now)
  } finally {
    await lease.release()
  }
}

/** Adds notes on the settings to a run; `ok` becomes `partial` if not all were applied. */
export async function withSettings(
  app: App,
  feed: FeedConfig,
  finished: Finished,
  signal: AbortSignal,
): Promise<Finished> {
  const { report } = finished
  if (feed.settings === null || report.result === 'failed' || signal.aborted) return finished
  try {
    const plan = await planSettings(feed, feed.settings, app.store(), false)
    await sendSettings(app, feed, plan, signal)
    const names = plan.changes.map(({ name }) => name).join(', ')
    const notes = plan.lacking.map(lackingSentence)
    if (names !== '') notes.unshift(`Chatbot settings applied: ${names}`)
    return { ...finished, report: noted(report, notes, plan.lacking.length === 0) }
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof UserError)) throw error
    const problem = error.message
    const note = `The chatbot settings could not be applied; the next run tries again: ${problem}`
    // A report as JSON has no notes.
    app.runtime.log.warn({ feed: feed.name, problem }, 'could not apply the chatbot settings')
    return { ...finished, report: noted(report, [note], false) }
  }
}

function noted(report: Report, notes: string[], applied: boolean): Report {
  const result = !applied && report.result === 'ok' ? 'partial' : report.result
  return { ...report, result, notes: [...report.notes, ...notes] }
}
