/** Settings of a chatbot after a run of its feed (`feeds.*.settings`). */
import type { App, Finished } from './app.ts'
import type { FeedConfig } from './config.ts'
import { ServiceError, UserError } from './errors.ts'
import type { Report } from './run.ts'
import type { ChatbotSettings } from './service/settings.ts'
import { applySettings, lackingSentence, planSettings } from './settings.ts'
import type { SettingsPlan } from './settings.ts'

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
