import { openApp } from '../app.ts'
import type { App } from '../app.ts'
import type { FeedConfig } from '../config.ts'
import { beat, beatEvery } from '../daemon/heartbeat.ts'
import { isOverdue, onSchedule } from '../daemon/schedule.ts'
import { ConfigError, messageOf } from '../errors.ts'
import { exitStatus } from '../result.ts'
import { logVerification } from '../verify-app.ts'
import { withApp } from './command.ts'
import type { CommandContext } from './command.ts'

/** `daemon`: runs each feed on its schedule until told to stop; then calls under way are waited for and nothing new is begun. */
export function daemonCommand(context: CommandContext): Promise<number> {
  return withApp(openApp(context, { logLevel: 'info' }), async (app) => {
    const feeds = app.config.feeds.filter((feed) => feed.schedule !== null)
    if (feeds.length === 0)
      throw new ConfigError(app.config.file, ['feeds: none has a schedule, so the daemon would do nothing'])
    const turns = new Turns()
    const run = async (feed: FeedConfig): Promise<void> => {
      if (turns.has(feed.name)) return app.runtime.log.warn({ feed: feed.name }, 'still running: this tick is left out')
      await turns.take(feed, () => runOnce(app, feed, context.signal))
    }
    const schedules = feeds.map((feed) => ({ feed, schedule: { expression: feed.schedule!, timezone: feed.timezone } }))
    app.runtime.log.info({ feeds: feeds.map((feed) => feed.name) }, 'daemon started')
    const missed = schedules.filter(({ feed, schedule }) => {
      const now = app.runtime.clock.now()
      return isOverdue(schedule, app.store().feedState(feed.name, feed.chatbot, now).lastSuccess, now)
    })
    const tasks = schedules.map(({ feed, schedule }) =>
      onSchedule(schedule, feed.name, () => run(feed), app.runtime.log),
    )
    const catchingUp = missed.map(({ feed }) => run(feed))
    await beatUntil(app, context.signal)
    for (const task of tasks) await task.destroy()
    await Promise.all(catchingUp)
    await turns.idle()
    app.runtime.log.info('daemon stopped')
    return exitStatus.right
  })
}

/** One run of one feed; whatever becomes of it is logged, and the daemon goes on. */
async function runOnce(app: App, feed: FeedConfig, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  try {
    const { report, close } = await app.sync(feed, 'sync')
    const { result, counts, applied, error } = report
    const facts = { feed: feed.name, result, counts, outcomes: applied?.outcomes, calls: applied?.calls }
    if (result === 'failed') app.runtime.log.error({ ...facts, error }, 'run failed')
    else if (result === 'ok') app.runtime.log.info(facts, 'run finished')
    else app.runtime.log.warn({ ...facts, notes: report.notes }, `run finished: ${result}`)
    logVerification(app.runtime.log, feed.name, report.verification)
    close()
  } catch (error) {
    app.runtime.log.error({ feed: feed.name, error: messageOf(error) }, 'run failed with a defect')
  }
}

async function beatUntil(app: App, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      beat(app.config.store, app.runtime.clock.now())
    } catch (error) {
      // A volume that became read-only is no reason to break a run off: without the beat the health check tells.
      app.runtime.log.error({ problem: messageOf(error) }, 'the heartbeat could not be written')
    }
    await app.runtime.clock.sleep(beatEvery, signal).catch(() => undefined)
  }
}

/** Runs of one chatbot take turns; a feed never waits behind itself. */
class Turns {
  #last = new Map<string, Promise<void>>()
  #feeds = new Set<string>()

  has(feed: string): boolean {
    return this.#feeds.has(feed)
  }

  take({ name, chatbot }: FeedConfig, job: () => Promise<void>): Promise<void> {
    this.#feeds.add(name)
    const turn = (this.#last.get(chatbot) ?? Promise.resolve()).then(job).finally(() => this.#feeds.delete(name))
    this.#last.set(chatbot, turn)
    return turn
  }

  async idle(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}
