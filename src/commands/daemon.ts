import type { CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { exitStatus } from '../core/exit.ts'
import { runDaemon } from '../daemon/daemon.ts'
import { createHangup } from '../daemon/reload.ts'
import { wholeNumber, withApp } from './command.ts'

/** `daemon`: runs each feed on its schedule until stopped. `workers`: runs at once. */
export function daemonCommand(context: CommandContext, options: { workers?: string } = {}): Promise<number> {
  const workers = options.workers === undefined ? undefined : wholeNumber('--workers', options.workers, 999)
  const hangup = createHangup()
  // First of all: a signal that nobody listens to ends the process.
  context.onHangup?.(() => hangup.hear())
  return withApp(openApp(context, { logLevel: 'info' }), async (app) => {
    const pages = async () => {
      const { http } = app.config
      return http === null ? null : (await import('../pages/pages.ts')).servePages(app, http)
    }
    await runDaemon(app, context.signal, hangup, pages, workers)
    return exitStatus.right
  })
}
