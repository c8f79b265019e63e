/** Reads the configuration again at SIGHUP, and when its file has changed and has settled. */
import type { App } from '../app/app.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../core/errors.ts'
import type { Clock } from '../core/machine.ts'

/** Least milliseconds between two reloads: a dozen signals are one wish. */
const restAfter = 1000
/** Milliseconds without a change after which a file counts as settled. */
const settledAfter = 2000

export type Hangup = ReturnType<typeof createHangup>

/** Notes SIGHUP from the start of the process on. However often it came, it is one wish. */
export function createHangup() {
  let isWanted = false
  let wake: (() => void) | null = null
  return {
    hear(): void {
      isWanted = true
      wake?.()
    },
    /** Whether it came since the last call. */
    take(): boolean {
      const wanted = isWanted
      isWanted = false
      return wanted
    },
    /** Sleeps until it comes, so many milliseconds at most. */
    async sleep(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
      if (isWanted) return
      const awake = new AbortController()
      wake = () => awake.abort()
      await clock.sleep(milliseconds, AbortSignal.any([signal, awake.signal])).catch(() => undefined)
      wake = null
    },
  }
}

/** Reloads an app's configuration when it is time. `problemsOf`: problems that only a daemon has with a new one. `signal` stops it. */
export function createReloads(app: App, hangup: Hangup, problemsOf: (fresh: Config) => string[], signal: AbortSignal) {
  const { clock, log } = app.runtime
  /** The file's text when it was last taken or refused, so that nothing is told twice. */
  let judged: string | null = app.configText().read
  let changed: { text: string | null; since: number } | null = null

  /** Whether the file has changed since it was judged, and has settled. */
  function hasSettled(now: number): boolean {
    const { now: text } = app.configText()
    if (text === judged) changed = null
    else if (changed === null || changed.text !== text) changed = { text, since: now }
    // Without the second part a clock that was set back would make this wait for ever.
    return changed !== null && (now - changed.since >= settledAfter || now < changed.since)
  }

  return {
    /** A changed file has not settled: look again soon. */
    get isWaiting(): boolean {
      return changed !== null
    },
    /** Gives whether there is a new configuration. */
    async look(): Promise<boolean> {
      const isTold = hangup.take()
      if (!isTold && !hasSettled(clock.now())) return false
      judged = app.configText().now
      changed = null
      const isTaken = await reload()
      await clock.sleep(restAfter, signal).catch(() => undefined)
      return isTaken
    },
  }

  async function reload(): Promise<boolean> {
    try {
      await app.reload(problemsOf)
      const { file, feeds } = app.config
      log.info({ file, feeds: feeds.map(({ name }) => name) }, 'the configuration was read again: later runs use it')
      return true
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      log.error(
        { file: app.config.file, problems: error.problems },
        'the changed configuration has problems: the one before stays in use',
      )
      return false
    }
  }
}
