import { readFileSync } from 'node:fs'
import type { CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { sendSettings, lackingSentence, planSettings } from '../app/settings.ts'
import type { SettingsPlan } from '../app/settings.ts'
import { readSettingsFile } from '../config/chatbot-settings.ts'
import type { FeedConfig } from '../config/config.ts'
import { ServiceError, UsageError, UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { printable, printableText, shorten } from '../core/text.ts'
import { chosenFeeds, withApp } from './command.ts'

interface SettingsOptions {
  feed: string
  file?: string
  force?: true
  dryRun?: true
}

/** `settings`: applies the settings of a chatbot that changed since the last time, in one call. */
export function settingsCommand(context: CommandContext, options: SettingsOptions): Promise<number> {
  return withApp(openApp(context), async (app) => {
    const [feed] = chosenFeeds(app.config, [options.feed])
    const { file, force = false, dryRun = false } = options
    const written = file === undefined ? feed.settings : readSettingsFile(file, (path) => readFileSync(path, 'utf8'))
    if (written === null)
      throw new UsageError(`settings needs --file FILE, because the configuration has no feeds.${feed.name}.settings`)
    const plan = await planSettings(feed, written, dryRun ? app.reader() : app.store(), force)
    try {
      if (!dryRun) await sendSettings(app, feed, plan, context.signal)
    } catch (error) {
      throw error instanceof ServiceError ? new UserError(`${feed.name}: ${error.message}`, { cause: error }) : error
    }
    app.doors.out.document(plan, (clean) => outcome(feed, clean, dryRun))
    return plan.lacking.length > 0 ? exitStatus.partial : exitStatus.right
  })
}

function outcome({ name, chatbot }: FeedConfig, { changes, lacking }: SettingsPlan, dryRun: boolean): string {
  const many = `${changes.length === 0 ? 'no' : changes.length} ${changes.length === 1 ? 'setting' : 'settings'}`
  const lines = [`${name} → chatbot ${printable(chatbot)}: ${many} ${dryRun ? 'would change' : 'changed'}`]
  for (const { name, from, to } of changes) {
    const before = from === null ? '(not applied before)' : valueText(from)
    lines.push(`  ${name}: ${before} → ${valueText(to)}`)
  }
  for (const one of lacking) lines.push(`  ${lackingSentence(one)}`)
  return `${lines.join('\n')}\n`
}

function valueText(value: string | number | boolean): string {
  return typeof value === 'string' ? JSON.stringify(shorten(printableText(value), 200)) : String(value)
}
