import { resolve } from 'node:path'
import type { CommandContext } from '../app/app.ts'
import { exportChatbot, namesOf } from '../app/export.ts'
import type { Exported } from '../app/export.ts'
import { openApp } from '../app/open.ts'
import { exitStatus } from '../core/exit.ts'
import { jsonDocument, many, printable, shellWord } from '../core/text.ts'
import { chosenFeeds, withApp } from './command.ts'

interface ExportOptions {
  feed: string
  out: string
  areaUnit?: keyof typeof areaUnits
  format: 'text' | 'json'
}

const areaUnits = { 'square-feet': 'Square Feet', 'square-meters': 'Square Meters' } as const

/** `export`: saves the listings and the settings of a chatbot to a folder. Changes nothing on the service or in the store. */
export function exportCommand(context: CommandContext, options: ExportOptions): Promise<number> {
  const { feed: name, out, areaUnit, format } = options
  return withApp(openApp(context), async (app) => {
    const [feed] = chosenFeeds(app.config, [name])
    const unit = areaUnit === undefined ? null : areaUnits[areaUnit]
    const exported = await exportChatbot(app, feed, resolve(out), unit, context.signal)
    app.doors.out.document(exported, (clean) =>
      format === 'json'
        ? jsonDocument({ version: 1, feed: feed.name, chatbot: feed.chatbot, ...clean })
        : inWords(feed, clean),
    )
    const { lacking, withSecrets, secretSettings, nameless } = exported
    const isWhole = lacking.count + withSecrets.count + secretSettings.length + nameless === 0
    return isWhole ? exitStatus.right : exitStatus.partial
  })
}

function inWords({ name, chatbot }: { name: string; chatbot: string }, exported: Exported): string {
  const { folder, listings, settings, lacking, withSecrets, secretSettings, nameless } = exported
  const lines = [
    `${name} ← chatbot ${printable(chatbot)}: ${many(listings, 'listing')} and ${many(settings, 'setting')} saved in ${printable(folder)}`,
  ]
  if (lacking.count > 0)
    lines.push(
      `  ${lacking.count} ${lacking.count === 1 ? 'lacks' : 'lack'} what the service requires, so backfill would reject ${lacking.count === 1 ? 'it' : 'them'}: ${namesOf(lacking)}`,
    )
  if (withSecrets.count > 0)
    lines.push(`  ${withSecrets.count} held a secret of the configuration, which was left out: ${namesOf(withSecrets)}`)
  if (secretSettings.length > 0)
    lines.push(`  left out, as they hold a secret of the configuration: ${secretSettings.join(', ')}`)
  if (nameless > 0) lines.push(`  ${nameless} without MLSNumber ${nameless === 1 ? 'is' : 'are'} in shown.jsonl only`)
  lines.push(`  to fill a chatbot with it: listing-sync backfill --feed ${name} --from ${shellWord(folder)}`)
  return `${lines.join('\n')}\n`
}
