import type { CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { UsageError, UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { printable } from '../core/text.ts'
import { withApp } from './command.ts'

/** `notify --test`: sends one message of each kind to each place of `notify`; status 1 where any did not get there. */
export function notifyCommand(context: CommandContext, { test = false }: { test?: boolean }): Promise<number> {
  if (!test) throw new UsageError('notify sends nothing by hand but tests: listing-sync notify --test')
  return withApp(openApp(context), async (app) => {
    if (app.config.notify.length === 0)
      throw new UserError('nobody is to be told: add notify: [{ url: …, form: slack }] to the configuration')
    const tested = await app.testNotifications()
    app.doors.out.document(tested, (clean) =>
      clean
        .map(({ setting, host, event, problem }) =>
          problem === null
            ? `✓ ${event} told to ${printable(host)} (${setting})\n`
            : `✗ ${event} not told: ${printable(host)} (${setting}) ${problem}\n`,
        )
        .join(''),
    )
    return tested.every(({ problem }) => problem === null) ? exitStatus.right : exitStatus.failed
  })
}
