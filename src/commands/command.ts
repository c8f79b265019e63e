import { createInterface } from 'node:readline/promises'
import type { App } from '../app.ts'
import type { Config } from '../config.ts'
import { UsageError } from '../errors.ts'
import { scrubbedError } from '../scrubbed.ts'

/** What every command is given by `main.ts`. */
export interface CommandContext {
  configFile: string
  env: NodeJS.ProcessEnv
  /** Aborted by SIGTERM and SIGINT. */
  signal: AbortSignal
  /**
   * Registers what is done at once, without waiting for anything, where something was thrown that nobody caught; it gives
   * the error as it may be shown. Then the process ends.
   */
  onCrash?: (leaveWord: (error: unknown) => unknown) => void
}

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
