import { createInterface } from 'node:readline/promises'
import type { App } from '../app/app.ts'
import { scrubbedError } from '../app/scrubbed.ts'
import type { Config } from '../config/config.ts'
import { UsageError } from '../core/errors.ts'

/** The feeds a command was asked for, all of them where none was named. Throws `UsageError` for a name that isn't there. */
export function chosenFeeds(config: Config, names: readonly string[]): Config['feeds'] {
  if (names.length === 0) return config.feeds
  return [...new Set(names)].map((name) => {
    const feed = config.feeds.find((one) => one.name === name)
    if (feed === undefined)
      throw new UsageError(
        `there is no feed "${name}" in ${config.file}; there is ${config.feeds.map((one) => one.name).join(', ')}`,
      )
    return feed
  })
}

/** Runs a command on an app and closes it, whatever happens; what it throws shows no secret. */
export async function withApp<T>(app: App, run: (app: App) => Promise<T>): Promise<T> {
  try {
    return await run(app)
  } catch (error) {
    throw scrubbedError(error, app.scrub)
  } finally {
    await app.close()
  }
}

/** Asks a question that is answered with yes or no. Throws `UsageError` where nobody can be asked. */
export async function confirmed(command: string, question: string, signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError(`${command} asks on a terminal; elsewhere say --yes`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal })).trim())
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    terminal.close()
  }
}
