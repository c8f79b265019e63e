import type { App } from '../app/app.ts'
import { logVerification } from '../app/verify.ts'
import type { FeedConfig } from '../config/config.ts'
import { ConfigError, UserError, messageOf } from '../core/errors.ts'
import { lastGood, staleAfter, beat, beatEvery } from './health.ts'
import { dueTimes } from './schedule.ts'
import type { DueTimes } from './schedule.ts'

/** Runs each feed on its schedule until stopped; then it completes calls in flight and starts nothing new. */
export async function runDaemon(app: App, signal: AbortSignal): Promise<void> {
  const { clock, log } = app.runtime
  const watched = app.config.feeds.flatMap((feed) => (feed.schedule === null ? [] : [new Watched(app, feed)]))
  for (const feed of watched) await feed.lookBack()
  if (watched.length === 0)
    throw new ConfigError(app.config.file, [
      'no feed has a schedule. Add e.g. schedule: "*/30 * * * *" under feeds.NAME',
    ])
  log.info({ feeds: watched.map(({ name }) => name) }, 'daemon started')
  const turns = new Turns()
  const begin = (feed: Watched): void => {
    if (turns.has(feed.name))
      log.warn(
        { feed: feed.name },
        'run skipped: the last run of this feed has not finished; set a longer `schedule` if this repeats',
      )
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
    // After a small step back of the clock, wait until it has caught up; after a larger one, start from there.
    looked = now < looked - longestBack ? now : Math.max(looked, now)
    if (!isSteady && now - upSince >= steadyAfter) isSteady = await noteSteady(app)
    await clock.sleep(everyLook - (now % everyLook), signal).catch(() => undefined)
  }
  await turns.idle()
  await noteSteady(app)
  log.info('daemon stopped')
}

const longestBack = 60_000

/** How many daemons crashed right before this one. If the store can't be written, each run reports it. */
async function startsBefore(app: App): Promise<number> {
  try {
    return await app.store().runs.noteStart(app.runtime.clock.now())
  } catch (error) {
    app.runtime.log.error({ problem: messageOf(error) }, 'could not record the start in the store')
    return 0
  }
}

async function noteSteady(app: App): Promise<true> {
  try {
    await app.store().runs.noteSteady()
  } catch (error) {
    app.runtime.log.error({ problem: messageOf(error) }, 'could not record in the store that the daemon is up')
  }
  return true
}

/** Waits after repeated crashes, with a heartbeat, so that the health check passes. */
async function waitOut(app: App, starts: number, signal: AbortSignal): Promise<void> {
  const { clock, log } = app.runtime
  const wait = waitBeforeStart(starts)
  if (wait === 0) return
  const minutes = wait / 60_000
  log.error({ starts, minutes }, 'the last starts crashed: waiting before the first run')
  for (const until = clock.now() + wait; clock.now() < until && !signal.aborted;) {
    heartbeat(app)
    await clock.sleep(Math.min(beatEvery, until - clock.now()), signal).catch(() => undefined)
  }
}

function heartbeat(app: App): void {
  try {
    beat(app.config.beside, app.runtime.clock.now())
  } catch (error) {
    // A read-only volume must not end a run: without the heartbeat the health check fails.
    app.runtime.log.error({ problem: messageOf(error) }, 'could not write the heartbeat file')
  }
}

/** A feed with a schedule, and its last good run. */
class Watched {
  readonly name: string
  readonly chatbot: string
  readonly times: DueTimes
  readonly #app: App
  /** Runs due since the last good one. */
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

  /** Whether a run was due while no daemon was running; always if the feed never succeeded. */
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

  /** One run. The result is logged, and the daemon goes on. */
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
      else if (result === 'held')
        log.warn({ ...facts, notes: report.notes, approve: `listing-sync approve ${this.name}` }, 'run finished: held')
      else log.warn({ ...facts, notes: report.notes }, `run finished: ${result}`)
      logVerification(log, this.name, report.verification)
      close()
      const good = await this.#lastGood()
      if (good !== null && good >= report.startedAt) this.#sayFresh()
    } catch (error) {
      // Before a run is one, as where the disk of the scratch files is full, it can fail without a report.
      const said = error instanceof UserError ? 'run failed' : 'run failed with a defect'
      log.error({ feed: this.name, error: messageOf(error) }, said)
    }
  }

  #feed(): FeedConfig {
    return this.#app.config.feeds.find(({ name }) => name === this.name)!
  }

  /** Secrets may change while the daemon runs; one that can't be read stays as it was. */
  #refresh(): void {
    const { log } = this.#app.runtime
    try {
      if (this.#app.refreshSecrets()) log.info({ feed: this.name }, 'secrets have changed: using the new ones')
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      log.error({ problem: error.message }, 'could not read the secrets again: using the earlier ones')
    }
    if (this.#app.wasEdited())
      log.warn({ file: this.#app.config.file }, 'the configuration was changed: restart the daemon to apply it')
  }

  async #lastGood(): Promise<number | null> {
    return lastGood(this.#app.store(), this.#feed())
  }

  async #sayStale(now: number): Promise<void> {
    let good: number | null = null
    try {
      good = await this.#lastGood()
    } catch {
      // If the store can't be read, each run reports it.
    }
    // A run by hand may have succeeded.
    if (good !== null) this.#dueSinceGood = this.times.count(good, now, staleAfter)
    if (this.#dueSinceGood < staleAfter) return
    const since = good === null ? 'never' : new Date(good).toISOString()
    const facts = { feed: this.name, lastGood: since }
    this.#app.runtime.log.error(
      facts,
      `the feed is stale: the last ${staleAfter} scheduled runs did not succeed; see \`listing-sync status ${this.name}\``,
    )
  }

  #sayFresh(): void {
    if (this.#dueSinceGood >= staleAfter)
      this.#app.runtime.log.info({ feed: this.name }, 'the feed is up to date again')
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

/*
 * After a crash the container restarts the daemon at once, and each start lists the whole service. So the waits between
 * starts, which are recorded in the store, grow (docs/faults.md, F137, F138). So many starts in a row need no wait:
 */
const free = 3
const minute = 60_000
const longest = 30 * minute

/** A daemon that ran this long is no crash loop. */
const steadyAfter = 10 * minute

/** Milliseconds to wait before the first run, after so many crashes in a row. */
function waitBeforeStart(starts: number): number {
  return starts < free ? 0 : Math.min(longest, minute * 2 ** (starts - free))
}
