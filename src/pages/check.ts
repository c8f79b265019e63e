/** A part of `check`: whether the pages can have their address. */
import { fine, wrong } from '../app/check.ts'
import type { Checked } from '../app/check.ts'
import type { Config } from '../config/config.ts'
import { UserError } from '../core/errors.ts'
import { tryToListen } from '../http/serve.ts'

/** Empty without `http`. `isRunning`: a daemon with this configuration runs, and has the address already. */
export async function checkPage({ http }: Config, isRunning: boolean): Promise<Checked[]> {
  if (http === null) return []
  if (isRunning) return [fine('page', `the daemon that runs has http://${http.listen}`)]
  try {
    await tryToListen(http.listen)
    return [fine('page', `the daemon will show it at http://${http.listen}`)]
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [wrong('page', error.message, 'stop what listens there, or write another `http.listen`')]
  }
}
