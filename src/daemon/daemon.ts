import type { App } from '../app/app.ts'
import { logVerification } from '../app/verify.ts'
import type { FeedConfig } from '../config/config.ts'
import { ConfigError, UserError, messageOf } from '../core/errors.ts'
import { lastGood, staleAfter, beat, beatEvery } from './health.ts'
import { dueTimes } from './schedule.ts'
import type { DueTimes } from './schedule.ts'

/** Runs each feed on its schedule until told to stop; then calls under way are waited for and nothing new is begun. */
export async function runDaemon(app: App, signal: AbortSignal): Promise<void> {
  const { clock, log } = app.runtime
  const watched = app.config.feeds.flatMap((feed) => (feed.schedule === null ? [] : [new Watched(app, feed)]))
  for (const feed of watched) await feed.lookBack()
  if (watched.length === 0)
    throw new ConfigError(app.config.file, ['feeds: none has a schedule, so the daemon would do nothing'])
  log.info({ feeds: watched.map(({ name }) => name) }, 'daemon started')
  const turns = new Turns()
  const begin = (feed: Watched): void => {
    if (turns.has(feed.name)) log.warn({ feed: feed.name }, 'still running: this tick is left out')
    else turns.take(feed, () => feed.run(signal))
  }
  const starts = await startsBefore(app)
  await waitOut(app, starts, signal)
  const upSince = clock.now()
  let isSteady = false
  let looked = upSince
  const everyLook = watched.some((feed) => feed.times.bySecond) ? 1000 : beatEvery

  for (const feed of watched) if (await feed.isOverdue(upSince)) begin(feed)
  while (!signal.aborted) {
    heartbeat(app)
    const now = clock.now()
    for (const feed of watched) if (await feed.isDue(looked, now)) begin(feed)
    // A clock that was put back by a little waits until it is where it was; by more, and the schedule begins anew.
    looked = now < looked - longestBack ? now : Math.max(looked, now)
    if (!isSteady && now - upSince >= steadyAfter) isSteady = await noteSteady(app)
    await clock.sleep(everyLook - (now % everyLook), signal).catch(() => undefined)
  }
  await turns.idle()
  await noteSteady(app)
  log.info('daemon stopped')
}

const longestBack = 60_000

/** How many daemons ended without a word right before this one. A store that can't be written to says so in each run. */
async function startsBefore(app: App): Promise<number> {
  try {
    return await app.store().runs.noteStart(app.runtime.clock.now())
  } catch (error) {
    app.runtime.log.error({ problem: messageOf(error) }, 'the start could not be noted')
    return 0
  }
}

async function noteSteady(app: App): Promise<true> {
  try {
    await app.store().runs.noteSteady()
  } catch (error) {
    app.runtime.log.error({ problem: messageOf(error) }, 'that the daemon stays up could not be noted')
  }
  return true
}

/** Waits where starts before this one came too soon after one another; alive, so that nobody ends it for being idle. */
async function waitOut(app: App, starts: number, signal: AbortSignal): Promise<void> {
  const { clock, log } = app.runtime
  const wait = waitBeforeStart(starts)
  if (wait === 0) return
  const minutes = wait / 60_000
  log.error({ starts, minutes }, 'the starts before ended without a word: waiting, so that the service is not overrun')
  for (const until = clock.now() + wait; clock.now() < until && !signal.aborted;) {
    heartbeat(app)
    await clock.sleep(Math.min(beatEvery, until - clock.now()), signal).catch(() => undefined)
  }
}

function heartbeat(app: App): void {
  try {
    beat(app.config.store, app.runtime.clock.now())
  } catch (error) {
    // A volume that became read-only is no reason to break a run off: without the beat the health check tells.
    app.runtime.log.error({ problem: messageOf(error) }, 'the heartbeat could not be written')
  }
}

/** A feed with a schedule, and how fresh it is. */
class Watched {
  readonly name: string
  readonly chatbot: string
  readonly times: DueTimes
  readonly #app: App
  /** Runs that were due since the last good one. */
  #dueSinceGood = 0

  constructor(app: App, { name, chatbot, schedule, timezone }: FeedConfig) {
    this.#app = app
    this.name = name
    this.chatbot = chatbot
    this.times = dueTimes({ expression: schedule!, timezone })
  }

  /** Counts the runs that were due before the daemon started. */
  async lookBack(): Promise<void> {
    const good = await this.#lastGood()
    if (good !== null) this.#dueSinceGood = this.times.count(good, this.#app.runtime.clock.now(), staleAfter)
  }

  /** Whether a run was due while no daemon was there; a feed that never succeeded always is. */
  async isOverdue(now: number): Promise<boolean> {
    const lastSuccess = await this.#app.store().runs.lastSuccess(this.name)
    return lastSuccess === null || this.times.within(lastSuccess, now)
  }

  async isDue(from: number, to: number): Promise<boolean> {
    const due = this.times.count(from, to, staleAfter)
    const before = this.#dueSinceGood
    this.#dueSinceGood += due
    if (before < staleAfter && this.#dueSinceGood >= staleAfter) await this.#sayStale(to)
    return due > 0
  }

  /** One run; whatever becomes of it is logged, and the daemon goes on. */
  async run(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const { log } = this.#app.runtime
    try {
      this.#refresh()
      const { report, close } = await this.#app.sync(this.#feed(), 'sync')
      const { result, counts, applied, error } = report
      const facts = { feed: this.name, result, counts, outcomes: applied?.outcomes, calls: applied?.calls }
      if (result === 'failed') log.error({ ...facts, error }, 'run failed')
      else if (result === 'ok') log.info(facts, 'run finished')
      else log.warn({ ...facts, notes: report.notes }, `run finished: ${result}`)
      logVerification(log, this.name, report.verification)
      close()
      const good = await this.#lastGood()
      if (good !== null && good >= report.startedAt) this.#sayFresh()
    } catch (error) {
      log.error({ feed: this.name, error: messageOf(error) }, 'run failed with a defect')
    }
  }

  #feed(): FeedConfig {
    return this.#app.config.feeds.find(({ name }) => name === this.name)!
  }

  /** Keys and passwords may be changed while the daemon runs; what can't be read now stays as it was. */
  #refresh(): void {
    const { log } = this.#app.runtime
    try {
      if (this.#app.refreshSecrets()) log.info({ feed: this.name }, 'secrets were changed: the new ones are used')
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      log.error({ problem: error.message }, 'secrets cannot be read anew: the earlier ones are used')
    }
    if (this.#app.wasEdited())
      log.warn(
        { file: this.#app.config.file },
        'the configuration was changed: start the daemon again for it to take effect',
      )
  }

  async #lastGood(): Promise<number | null> {
    return lastGood(this.#app.store(), this.#feed())
  }

  async #sayStale(now: number): Promise<void> {
    let good: number | null = null
    try {
      good = await this.#lastGood()
    } catch {
      // A store that can't be read says so in each run.
    }
    // A run by hand, or of another daemon, may have been good.
    if (good !== null) this.#dueSinceGood = this.times.count(good, now, staleAfter)
    if (this.#dueSinceGood < staleAfter) return
    const since = good === null ? 'never' : new Date(good).toISOString()
    const facts = { feed: this.name, lastGood: since }
    this.#app.runtime.log.error(facts, `no run has been good for ${staleAfter} that were due`)
  }

  #sayFresh(): void {
    if (this.#dueSinceGood >= staleAfter) this.#app.runtime.log.info({ feed: this.name }, 'runs are good again')
    this.#dueSinceGood = 0
  }
}

/** Runs of one chatbot take turns; a feed never waits behind itself. */
export class Turns {
  #last = new Map<string, Promise<void>>()
  #feeds = new Set<string>()

  has(feed: string): boolean {
    return this.#feeds.has(feed)
  }

  /** Runs a job of a feed once its chatbot is free. The job must not throw. */
  take({ name, chatbot }: { name: string; chatbot: string }, job: () => Promise<void>): void {
    this.#feeds.add(name)
    const turn = (this.#last.get(chatbot) ?? Promise.resolve()).then(job).finally(() => this.#feeds.delete(name))
    this.#last.set(chatbot, turn)
  }

  async idle(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}

/**
 * A daemon that ends without a word – killed, out of memory, a defect – is started again by its container, at once. Each
 * start lists the whole service, so the waits between them grow (fault-model F137, F138). They are kept in the store.
 */

/** So many starts in a row are not waited for. */
const free = 3
const minute = 60_000
const longest = 30 * minute

/** From then on a daemon counts as up: what ends it later is no loop. */
export const steadyAfter = 10 * minute

/** Milliseconds that a start waits before it runs anything, after so many starts in a row that did not stay up. */
export function waitBeforeStart(starts: number): number {
  return starts < free ? 0 : Math.min(longest, minute * 2 ** (starts - free))
}
