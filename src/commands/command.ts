import { createInterface } from 'node:readline/promises'
import type { App } from '../app/app.ts'
import type { Config } from '../config/config.ts'
import { UsageError, UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import type { StoreReader } from '../store/store.ts'

/** The named feeds, or all if none is named. Throws `UsageError` for an unknown name. */
export function chosenFeeds(config: Config, names: readonly string[]): Config['feeds'] {
  if (names.length === 0) return config.feeds
  return [...new Set(names)].map((name) => {
    const feed = config.feeds.find((candidate) => candidate.name === name)
    if (feed === undefined)
      throw new UsageError(
        `there is no feed "${name}" in ${config.file}; ${config.feeds.length === 1 ? 'its feed is' : 'its feeds are'} ${config.feeds.map((known) => known.name).join(', ')}`,
      )
    return feed
  })
}

/** Throws the store's error if the configuration names it wrongly, as with a wrong password: that is no failure of a feed. */
export async function assertNamedRightly(store: () => StoreReader): Promise<void> {
  try {
    await store().runs.starts()
  } catch (error) {
    if (error instanceof UserError && error.exitStatus === exitStatus.configuration) throw error
  }
}

/** The number of --session. Throws `UsageError`. */
export function sessionOf(command: string, written: string | undefined): number {
  if (written === undefined)
    throw new UsageError(
      `${command} needs --session N, the ID of a chat session: the service's Create Chat Session operation gives it, and listing-sync can't create one`,
    )
  const session = Number(written)
  if (!/^-?\d+$/.test(written) || !Number.isSafeInteger(session))
    throw new UsageError(`--session takes the number of a chat session, not "${written}"`)
  return session
}

/** The number of an option, from 1 to `most`. Throws `UsageError`. */
export function wholeNumber(name: string, written: string, most: number): number {
  const number = Number(written)
  if (/^\d+$/.test(written) && number >= 1 && number <= most) return number
  throw new UsageError(`${name} takes a number from 1 to ${most}, not "${written}"`)
}

/** Runs a command on an app and closes it, whatever happens. */
export async function withApp<T>(app: App, run: (app: App) => Promise<T>): Promise<T> {
  try {
    await app.ready()
    return await run(app)
  } finally {
    await app.close()
  }
}

/** Asks a yes or no question. Throws `UsageError` without a terminal. */
export async function confirmed(command: string, question: string, signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError(`${command} asks for confirmation on a terminal; elsewhere pass --yes`)
  return /^y(es)?$/i.test((await answered(`${question} [y/N] `, signal)) ?? '')
}

/** Whether the next page is wanted; not without a terminal. */
export async function wantsMore(question: string, signal: AbortSignal): Promise<boolean> {
  return process.stdin.isTTY && !/^q/i.test((await answered(`${question} `, signal)) ?? 'q')
}

/** null: Ctrl-D, which is no answer. */
async function answered(question: string, signal: AbortSignal): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // On a terminal, readline takes Ctrl-C for itself, and the question would only end like one without an answer.
  terminal.on('SIGINT', () => process.emit('SIGINT'))
  try {
    return (await terminal.question(question, { signal })).trim()
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof Error && error.name === 'AbortError') return null
    throw error
  } finally {
    terminal.close()
  }
}
