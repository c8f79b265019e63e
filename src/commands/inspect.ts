import type { CommandContext } from '../app/app.ts'
import { findingsForms, inspectFeed, inspectSource } from '../app/inspect.ts'
import { FeedError, UsageError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { printable } from '../core/text.ts'
import { checkInit, initialise } from '../inspect/init.ts'

export interface InspectOptions {
  feed?: string
  preset?: string
  init?: true
  records?: string
  format: 'text' | 'json'
}

/**
 * `inspect`: shows what is in a source, and with `--init` writes a configuration for it. The exit status is 1 for an
 * incomplete document, 4 if records would be rejected, or an address shown that a flag hides.
 */
export async function inspectCommand(
  context: CommandContext,
  given: string | undefined,
  options: InspectOptions,
): Promise<number> {
  const { feed: feedName } = options
  const source = given ?? feedName
  if (source === undefined || (given !== undefined && feedName !== undefined))
    throw new UsageError('inspect takes a source, or --feed with the name of a feed')
  if (options.init && feedName !== undefined)
    throw new UsageError('--init writes a configuration for a source that has none, and --feed names one of it')
  const limit = limitOf(options.records)
  if (options.init) checkInit(context.configFile, source)
  const wishes = { preset: options.preset, limit }
  const inspected =
    feedName === undefined ? await inspectSource(context, source, wishes) : await inspectFeed(context, feedName, wishes)
  const { findings } = inspected
  const { out, err } = context.doors
  out.document(findings, (clean) => findingsForms[options.format](clean, out.isTTY))
  if (options.init) {
    const again = (preset: string): ReturnType<typeof inspectSource> =>
      inspectSource(context, source, { preset, limit })
    for (const file of await initialise(context.configFile, source, inspected, again))
      err.write(`listing-sync: wrote ${file}\n`)
  }
  if (findings.document.complete === false && findings.settings.every(({ write }) => !write.startsWith('endsWith')))
    throw new FeedError(`the document is incomplete: ${printable(findings.document.reasons.join('; '))}`)
  const mapped = findings.preset !== null && findings.counts.rejects === 0 && findings.hiding.length === 0
  return mapped ? exitStatus.right : exitStatus.partial
}

function limitOf(records: string | undefined): number | null {
  if (records === undefined) return null
  if (!/^[1-9]\d{0,11}$/.test(records)) throw new UsageError(`--records takes a number from 1 on, not "${records}"`)
  return Number(records)
}
