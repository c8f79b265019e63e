import type { CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { probe, probedForms, resultOf } from '../app/probe.ts'
import { UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { chosenFeeds, confirmed, withApp } from './command.ts'

const statuses = { ok: exitStatus.right, partial: exitStatus.partial, failed: exitStatus.failed }

/** `probe`: after confirmation, finds out how a service behaves with test listings, and removes them. */
export function probeCommand(
  context: CommandContext,
  { feed: name, format, yes }: { feed: string; format: 'text' | 'json'; yes?: true },
): Promise<number> {
  return withApp(openApp(context, { logLevel: 'error' }), async (app) => {
    const [feed] = chosenFeeds(app.config, [name])
    const { rate, profile } = feed.service
    const { out, err } = app.doors
    if (!yes) {
      err.write(
        `${feed.name}: creates, changes and deletes a few test listings in chatbot ${feed.chatbot} and removes them again.
No other listing is touched. About 200 calls at ${rate} a second, and one for every ${profile.pageSize} listings that the
chatbot holds. At the end, two calls with wrong keys and one without.\n`,
      )
      if (!(await confirmed('probe', 'Begin?', context.signal))) return exitStatus.failed
    }
    const progress = (title: string): void => {
      if (err.isTTY) err.write(`${title} …\n`)
    }
    const probed = await probe(app, feed, context.signal, progress)
    out.document(probed, probedForms[format])
    const result = resultOf(probed)
    if (format === 'json' && result === 'failed' && probed.error !== null)
      throw new UserError(`${feed.name}: ${probed.error}`)
    return statuses[result]
  })
}
