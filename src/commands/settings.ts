import { readFileSync } from 'node:fs'
import type { App, CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { sendSettings, lackingSentence, planRollback, planSettings, valueText } from '../app/settings.ts'
import type { SettingsPlan } from '../app/settings.ts'
import { readSettingsFile } from '../config/chatbot-settings.ts'
import type { FeedConfig } from '../config/config.ts'
import { ServiceError, UsageError, UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { jsonDocument, printable } from '../core/text.ts'
import { chosenFeeds, withApp } from './command.ts'

interface SettingsOptions {
  feed: string
  file?: string
  force?: true
  dryRun?: true
  diff?: true
  history?: true
  /** true: without a number. */
  rollback?: string | true
  format: 'text' | 'json'
}

/** `settings`: applies the settings of a chatbot that changed since the last time, in one call. */
export function settingsCommand(context: CommandContext, options: SettingsOptions): Promise<number> {
  const { rollback, format, diff = false } = options
  const isDry = options.dryRun ?? diff
  if (typeof rollback === 'string' && !/^[1-9]\d{0,14}$/.test(rollback))
    throw new UsageError(`--rollback takes a number of --history, not "${rollback}"`)
  if (rollback !== undefined && (options.file !== undefined || options.force))
    throw new UsageError('--rollback goes with neither --file nor --force')
  return withApp(openApp(context), async (app) => {
    const [feed] = chosenFeeds(app.config, [options.feed])
    if (options.history) return showHistory(app, feed, format)
    const store = isDry ? app.reader() : app.store()
    const { plan, unknown } =
      rollback === undefined
        ? { plan: await planSettings(feed, settingsOf(feed, options), store, options.force ?? false), unknown: [] }
        : await planRollback(feed.chatbot, store, rollback === true ? null : Number(rollback))
    try {
      if (!isDry) await sendSettings(app, feed, plan, context.signal)
    } catch (error) {
      throw error instanceof ServiceError ? new UserError(`${feed.name}: ${error.message}`, { cause: error }) : error
    }
    const form = format === 'json' ? json : outcome
    app.doors.out.document({ ...plan, unknown }, (clean) => form(feed, clean, isDry))
    if (diff && plan.changes.length > 0) return exitStatus.changes
    return plan.lacking.length + unknown.length > 0 ? exitStatus.partial : exitStatus.right
  })
}

function settingsOf(feed: FeedConfig, { file }: SettingsOptions): NonNullable<FeedConfig['settings']> {
  const written = file === undefined ? feed.settings : readSettingsFile(file, (path) => readFileSync(path, 'utf8'))
  if (written !== null) return written
  throw new UsageError(`settings needs --file FILE, because the configuration has no feeds.${feed.name}.settings`)
}

async function showHistory(app: App, { name, chatbot }: FeedConfig, format: 'text' | 'json'): Promise<number> {
  const history = (await app.reader().learnt.settingsHistory(chatbot)).map(({ at, ...each }) => ({
    ...each,
    at: new Date(at).toISOString(),
  }))
  app.doors.out.document(history, (clean) =>
    format === 'json'
      ? jsonDocument({ version: 1, feed: name, chatbot, history: clean })
      : [
          `${name} → chatbot ${printable(chatbot)}: ${clean.length === 0 ? 'no changes of settings yet' : 'changes of settings, the latest first'}`,
          ...clean.flatMap(({ number, at, changes }) => [`  ${number}  ${at}`, ...changes.map(changeLine)]),
          '',
        ].join('\n'),
  )
  return exitStatus.right
}

type Outcome = SettingsPlan & { unknown: string[] }

function json({ name, chatbot }: FeedConfig, { changes, lacking, unknown }: Outcome, dryRun: boolean): string {
  return jsonDocument({ version: 1, feed: name, chatbot, applied: !dryRun, changes, lacking, unknown })
}

function changeLine({ name, from, to }: SettingsPlan['changes'][number]): string {
  return `  ${name}: ${from === null ? '(not applied before)' : valueText(from)} → ${valueText(to)}`
}

function outcome({ name, chatbot }: FeedConfig, { changes, lacking, unknown }: Outcome, dryRun: boolean): string {
  const many = `${changes.length === 0 ? 'no' : changes.length} ${changes.length === 1 ? 'setting' : 'settings'}`
  const lines = [`${name} → chatbot ${printable(chatbot)}: ${many} ${dryRun ? 'would change' : 'changed'}`]
  lines.push(...changes.map(changeLine))
  for (const setting of lacking) lines.push(`  ${lackingSentence(setting)}`)
  for (const name of unknown) lines.push(`  ${name} stays as it is: what it was before is not known`)
  return `${lines.join('\n')}\n`
}
