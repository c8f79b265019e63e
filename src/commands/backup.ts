import { resolve } from 'node:path'
import { kindOf, storeKind } from '../app/adapters.ts'
import type { CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { printable, shellWord } from '../core/text.ts'
import { withApp } from './command.ts'

/** `backup FILE`: makes a whole copy of the store, also while the daemon is at work, and tells how to put it back. */
export function backupCommand(context: CommandContext, file: string): Promise<number> {
  return withApp(openApp(context), async (app) => {
    const { store } = app.config
    const to = resolve(file)
    const kind = storeKind(store)
    if (kind.backUp === undefined) throw new UserError('this store is no file: back it up by its own means')
    await kind.backUp(store, to)
    const named = kindOf(store) === 'file' ? store : (await import('../store/migrate.ts')).shown(store)
    app.doors.out.write(
      `The store ${printable(named)} is backed up to ${printable(to)}.\n` +
        (store.includes('://')
          ? `To put it back: stop every daemon, make an empty database, and \`listing-sync store migrate ${shellWord(to)} ADDRESS\`.\n`
          : `To put it back: stop the daemon, remove ${printable(store)}-wal and -shm, copy the backup to ${printable(store)}, start the daemon.\n`) +
        'It finds out that the store is a backup: creates then wait 15 minutes, and what happened since is found on the service.\n',
    )
    return exitStatus.right
  })
}
