/** A chatbot's settings: finds what to send, sends it, and records in the store what is known to be applied. */
import type { FeedConfig } from '../config/config.ts'
import { messageOf, ServiceError, UserError } from '../core/errors.ts'
import { usesFigures, withFigures } from '../core/figures.ts'
import type { FigureName, FeedFigures } from '../core/figures.ts'
import { printableText, shorten } from '../core/text.ts'
import { keptReport } from '../report/kept.ts'
import type { Report } from '../report/report.ts'
import type { ChatbotSettings } from '../service/settings.ts'
import type { SettingChange, SettingValue, StoreReader } from '../store/store.ts'
import type { App, Finished } from './app.ts'

export interface SettingsPlan {
  /** `from` null: not applied before, or not known. */
  changes: SettingChange[]
  /** Settings that use a figure without a value; they are not changed. */
  lacking: { name: string; figure: FigureName }[]
}

/** The settings that differ from those applied last; `force`: all. Writes nothing. */
export async function planSettings(
  { chatbot, name: feed }: { chatbot: string; name: string },
  written: ChatbotSettings,
  store: StoreReader,
  force: boolean,
): Promise<SettingsPlan> {
  const plan: SettingsPlan = { changes: [], lacking: [] }
  const { learnt, snapshot, runs } = store
  // What a store that was put back knows of may have been changed since, and the service can't be asked.
  const applied: ReadonlyMap<string, SettingValue> = (await store.isBehind(chatbot))
    ? new Map()
    : await learnt.settings(chatbot, (await runs.lostAt(feed)) ?? 0)
  let figures: FeedFigures | null = null
  for (const [name, value] of Object.entries(written) as [string, SettingValue | undefined][]) {
    if (value === undefined) continue
    let to = value
    if (typeof value === 'string') {
      // Most texts need no figures, and counting a million listings takes seconds.
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

/**
 * Sends the changes in one Edit, under the chatbot's lease. If the service refuses that, each change is sent alone: those that it
 * accepts are applied, and the error names the others with their values. Throws `ServiceError` and `UserError`.
 */
export async function sendSettings(
  app: App,
  feed: FeedConfig,
  { changes }: SettingsPlan,
  signal: AbortSignal,
): Promise<void> {
  if (changes.length === 0) return
  const lease = await app.store().lease(feed.chatbot, app.runtime.clock.now())
  try {
    const refusal = await edit(app, feed, changes, signal)
    if (refusal === null) return
    const refusals: string[] = []
    for (const change of changes) {
      const own = changes.length === 1 ? refusal : await edit(app, feed, [change], signal)
      if (own !== null) refusals.push(`${change.name} ${valueText(change.to)}: ${own.message}`)
    }
    if (refusals.length === 0) return
    const taken = changes.length - refusals.length
    throw new ServiceError(
      'refused',
      `the service refuses ${refusals.join('; ')}${taken > 0 ? ` (${taken} other ${taken === 1 ? 'setting was' : 'settings were'} applied)` : ''}`,
    )
  } finally {
    await lease.release()
  }
}

/** One Edit, noted in the store. Gives the service's refusal, if it refuses; throws any other `ServiceError`. */
async function edit(
  app: App,
  { chatbot, ...feed }: FeedConfig,
  changes: SettingsPlan['changes'],
  signal: AbortSignal,
): Promise<ServiceError | null> {
  const { learnt } = app.store()
  const now = app.runtime.clock.now()
  // So that after a crash before the answer the old values don't count as known.
  await learnt.forgetSettings(
    chatbot,
    changes.map(({ name }) => name),
  )
  const settings: ChatbotSettings = Object.fromEntries(changes.map(({ name, to }) => [name, to]))
  try {
    await (await app.client({ chatbot, ...feed })).edit({ serialNumber: chatbot, ...settings }, { signal })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (error.effect === 'none') {
      const before = changes.flatMap(({ name, from }) => (from === null ? [] : [[name, from] as const]))
      await learnt.setSettings(chatbot, new Map(before), now)
    }
    if (error.kind === 'refused') return error
    throw error
  }
  await learnt.applySettings(chatbot, changes, now)
  return null
}

/** A value for a person. */
export function valueText(value: SettingValue): string {
  return typeof value === 'string' ? JSON.stringify(shorten(printableText(value), 200)) : String(value)
}

/**
 * The changes that undo all changes since the one with this number, itself included; without a number, the latest one. `unknown`:
 * settings whose earlier value is not known. Throws `UserError`.
 */
export async function planRollback(
  chatbot: string,
  { learnt }: StoreReader,
  number: number | null,
): Promise<{ plan: SettingsPlan; unknown: string[] }> {
  const history = await learnt.settingsHistory(chatbot)
  const from = number ?? history.at(0)?.number
  const undone = history.filter((each) => from !== undefined && each.number >= from)
  if (undone.every((each) => each.number !== from))
    throw new UserError(
      number === null
        ? 'no settings were applied yet, so there is nothing to take back'
        : `there is no change of settings with the number ${number}; --history lists those that there are`,
    )
  const before = new Map(undone.flatMap(({ changes }) => changes.map((change) => [change.name, change.from] as const)))
  const now = await learnt.settings(chatbot)
  const plan: SettingsPlan = { changes: [], lacking: [] }
  const unknown: string[] = []
  for (const [name, to] of before) {
    const current = now.get(name) ?? null
    if (to === null) unknown.push(name)
    else if (current !== to) plan.changes.push({ name, from: current, to })
  }
  return { plan, unknown }
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
    const applied = names === '' ? [] : [`Chatbot settings applied: ${names}`]
    return await noted(app, finished, applied, plan.lacking.map(lackingSentence))
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof UserError)) throw error
    const problem = error.message
    const note = `The chatbot settings could not be applied; the next run tries again: ${problem}`
    // Also logged, as who watches a daemon reads no reports.
    app.runtime.log.warn({ feed: feed.name, problem }, 'could not apply the chatbot settings')
    return noted(app, finished, [], [note])
  }
}

/** The run with these notes, also on record, as it was recorded before. */
async function noted(app: App, finished: Finished, applied: string[], problems: string[]): Promise<Finished> {
  const { report: run } = finished
  const result = problems.length > 0 && run.result === 'ok' ? 'partial' : run.result
  const report = { ...run, result, notes: [...run.notes, ...applied, ...problems] } satisfies Report
  if (report.notes.length === run.notes.length) return finished
  try {
    const unsettled = problems.length === 0 ? null : problems.join('. ')
    const kept = JSON.stringify(keptReport(report))
    await app.store().runs.recordSettled(run.feed, run.startedAt, { result, report: kept, unsettled })
  } catch (error) {
    app.runtime.log.warn({ feed: run.feed, problem: messageOf(error) }, 'what came of the settings is not on record')
  }
  return { ...finished, report }
}
