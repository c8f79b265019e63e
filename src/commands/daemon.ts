import type { CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { exitStatus } from '../core/exit.ts'
import { runDaemon } from '../daemon/daemon.ts'
import { createHangup } from '../daemon/reload.ts'
import { withApp } from './command.ts'

/** `daemon`: runs each feed on its schedule until stopped. */
export function daemonCommand(context: CommandContext): Promise<number> {
  const hangup = createHangup()
  // First of all: a signal that nobody listens to ends the process.
  context.onHangup?.(() => hangup.hear())
  return withApp(openApp(context, { logLevel: 'info' }), async (app) => {
    await runDaemon(app, context.signal, hangup, async () => {
      const { http } = app.config
      return http === null ? null : (await import('../pages/pages.ts')).servePages(app, http)
    })
    return exitStatus.right
  })
}
