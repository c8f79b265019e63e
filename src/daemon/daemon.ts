import { rmSync } from 'node:fs'
import pLimit from 'p-limit'
import type { LimitFunction } from 'p-limit'
import type { App } from '../app/app.ts'
import { runFailed, runFinished } from '../app/log.ts'
import { logVerification } from '../app/verify.ts'
import type { Config, FeedConfig } from '../config/config.ts'
import { ConfigError, StoreAwayError, StoreError, UserError, messageOf } from '../core/errors.ts'
import type { RunResult } from '../core/exit.ts'
import type { Clock } from '../core/machine.ts'
import { minuteIn } from '../core/zone.ts'
import type { Report } from '../report/report.ts'
import { lastGood } from '../app/last-good.ts'
import { staleAfter } from './health.ts'
import { beatEvery, heartbeatFile, touch } from '../../bin/heartbeat.mjs'
import type { RunRecord, Store } from '../store/store.ts'
import { remindEvery, runSkipped, sharedRuns } from './shared-runs.ts'
import type { DaemonRuns } from './shared-runs.ts'
import { beTheOne } from './one-daemon.ts'
import type { OneDaemon } from './one-daemon.ts'
import { createReloads } from './reload.ts'
import type { Hangup } from './reload.ts'
import { dueTimes } from './schedule.ts'
import type { DueTimes, Schedule } from './schedule.ts'

/**
 * Runs each feed on its schedule until stopped; then completes calls in flight and starts nothing new. Throws `UserError` if another
 * daemon has the store. `alongside` is started once this one has the store, and closed at the end. `workers`: runs at a time.
 */
export async function runDaemon(
  app: App,
  signal: AbortSignal,
  hangup: Hangup,
  alongside: () => Promise<{ close(): Promise<void> } | null> = async () => null,
  workers = atOnce.places,
): Promise<void> {
  const problems = withoutSchedule(app.config)
  if (problems.length > 0) throw new ConfigError(app.config.file, problems)
  const life = signsOfLife(app)
  try {
    const beside = await alongside()
    try {
      await keepTime(app, signal, hangup, life.beat, workers)
    } finally {
      await beside?.close()
    }
  } finally {
    life.end()
  }
}

async function keepTime(
  app: App,
  signal: AbortSignal,
  hangup: Hangup,
  beat: () => void,
  workers: number,
): Promise<void> {
  const { clock, log } = app.runtime
  let watched = app.config.feeds.flatMap((feed) => (feed.schedule === null ? [] : [new Watched(app, feed)]))
  await waitForStore(app, watched, signal, beat)
  if (signal.aborted) return
  for (const feed of watched) await feed.lookBack()
  log.info({ feeds: watched.map(({ name }) => name) }, 'daemon started')
  const queue = await app.queue()
  const runs =
    queue === null
      ? ownRuns(app, workers, () => watched, beat, signal)
      : sharedRuns(app, queue, workers, () => watched, signal)
  await runs.begin()
  const reloads = createReloads(app, hangup, withoutSchedule, signal)
  while (!signal.aborted) {
    beat()
    const now = clock.now()
    await runs.look(now)
    if (await reloads.look()) {
      const before = watched
      watched = await watchedAfter(app, before)
      await runs.changed(before, now)
    }
    const everyLook = runs.bySecond() ? 1000 : beatEvery
    const untilLook = everyLook - (now % everyLook)
    await hangup.sleep(clock, reloads.isWaiting ? Math.min(untilLook, lookAgain) : untilLook, signal)
  }
  await runs.end()
  log.info('daemon stopped')
}

/** Carries due runs out in this process: a limited number at a time, and some more that take long. */
function ownRuns(
  app: App,
  most: number,
  watched: () => readonly Watched[],
  beat: () => void,
  signal: AbortSignal,
): DaemonRuns<Watched> {
  const { clock, log } = app.runtime
  const turns = new Turns(clock, { ...atOnce, places: most, long: 2 * most })
  let isSteady = false
  let upSince = 0
  let looked = 0
  let reminded = 0
  const begin = (feed: Watched): void => {
    if (turns.has(feed.name)) log.warn({ feed: feed.name }, runSkipped)
    else turns.take(feed, async () => void (watched().some(feed.isLike) && (await feed.run(signal))))
  }
  return {
    async begin() {
      await waitOut(app, await startsBefore(app), signal, beat)
      upSince = looked = reminded = clock.now()
      for (const feed of watched()) if (await feed.isOverdue(upSince)) begin(feed)
    },
    async look(now) {
      for (const feed of watched()) if (await feed.isDue(looked, now)) begin(feed)
      if (now >= reminded + remindEvery || now < reminded) {
        reminded = now
        for (const feed of watched()) {
          await feed.lookAgain(now)
          feed.remind()
        }
      }
      // After a small step back of the clock, wait until it has caught up; after a larger one, start from there.
      looked = now < looked - longestBack ? now : Math.max(looked, now)
      if (!isSteady && now - upSince >= steadyAfter) isSteady = await noteSteady(app)
    },
    async changed(before, now) {
      for (const feed of watched()) if (!before.some(feed.isLike) && (await feed.isOverdue(now))) begin(feed)
    },
    bySecond: () => watched().some((feed) => feed.times.bySecond),
    async end() {
      await turns.idle()
      await noteSteady(app)
    },
  }
}

/** Milliseconds until a changed configuration file is looked at again. */
const lookAgain = 2500

/** Problems of a configuration that only a daemon has. */
function withoutSchedule({ feeds }: Config): string[] {
  if (feeds.some(({ schedule }) => schedule !== null)) return []
  return ['no feed has a schedule. Add e.g. schedule: "*/30 * * * *" under feeds.NAME']
}

/** The feeds to watch under a new configuration. A feed with the same times and chatbot goes on as before. */
async function watchedAfter(app: App, before: readonly Watched[]): Promise<Watched[]> {
  const after: Watched[] = []
  for (const feed of app.config.feeds) {
    if (feed.schedule === null) continue
    const same = before.find((known) => known.isFor(feed))
    const watched = same ?? new Watched(app, feed)
    if (same === undefined) await watched.lookBack()
    after.push(watched)
  }
  return after
}

const longestBack = 60_000

/** Milliseconds between two tries to reach a store that is away. */
const storeLook = 10_000

/** Waits for a store on another machine, which may come up after the daemon, or for room on a full disk. Throws any other problem. */
async function waitForStore(
  app: App,
  watched: readonly Watched[],
  signal: AbortSignal,
  beat: () => void,
): Promise<void> {
  const { clock, log } = app.runtime
  let looked = clock.now()
  for (let logged = ''; !signal.aborted;) {
    try {
      await app.store().runs.starts()
      return
    } catch (error) {
      if (!(error instanceof StoreAwayError)) throw error
      if (error.message !== logged) log.error({ problem: error.message }, 'the store is away: waiting for it')
      logged = error.message
      const now = clock.now()
      for (const feed of watched) if (feed.times.within(looked, now)) feed.miss(logged)
      looked = now
      beat()
      await clock.sleep(storeLook, signal).catch(() => undefined)
    }
  }
}

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
async function waitOut(app: App, starts: number, signal: AbortSignal, beat: () => void): Promise<void> {
  const { clock, log } = app.runtime
  const wait = waitBeforeStart(starts)
  if (wait === 0) return
  const minutes = wait / 60_000
  log.error({ starts, minutes }, 'the last starts crashed: waiting before the first run')
  // Counted down, as the clock may be set back meanwhile.
  for (let left = wait; left > 0 && !signal.aborted; left -= beatEvery) {
    beat()
    await clock.sleep(Math.min(beatEvery, left), signal).catch(() => undefined)
  }
}

/**
 * The daemon's right to its store, and its two signs of life: one beside the store for `status --ready`, and one that the path of the
 * configuration alone leads to, for `status --health`. If a volume can't be written to, runs go on.
 */
function signsOfLife(app: App) {
  const { clock, log } = app.runtime
  const { beside, file } = app.config
  let oneDaemon: OneDaemon | null = null
  const say = (error: unknown): void => log.error({ problem: messageOf(error) }, 'could not write the heartbeat file')
  const beat = (): void => {
    const now = clock.now()
    try {
      if (beside !== null) (oneDaemon ??= beTheOne(beside, now)).beat(now)
    } catch (error) {
      if (error instanceof UserError) throw error
      say(error)
    }
    try {
      touch(heartbeatFile(file), now)
    } catch (error) {
      say(error)
    }
  }
  beat()
  const end = (): void => {
    oneDaemon?.release()
    try {
      rmSync(heartbeatFile(file), { force: true })
    } catch (error) {
      say(error)
    }
  }
  return { beat, end }
}

/** A feed with a schedule, and its last good run. */
class Watched {
  readonly name: string
  readonly chatbot: string
  readonly times: DueTimes
  readonly #app: App
  readonly #schedule: Schedule
  #latest: FeedConfig
  /** Runs due since the last good one. */
  #dueSinceGood = 0
  #isStale = false

  constructor(app: App, feed: FeedConfig) {
    this.#app = app
    this.#latest = feed
    this.#schedule = { expression: feed.schedule!, timezone: feed.timezone }
    this.name = feed.name
    this.chatbot = feed.chatbot
    this.times = dueTimes(this.#schedule)
  }

  /** Counts the runs that were due before the daemon started. */
  async lookBack(): Promise<void> {
    try {
      const good = await this.#lastGood()
      const { clock } = this.#app.runtime
      this.#dueSinceGood =
        good === null
          ? (await this.#app.store().runs.latest(this.name, staleAfter)).length
          : this.times.count(good, clock.now(), staleAfter)
      this.#isStale = this.#dueSinceGood >= staleAfter
    } catch (error) {
      if (!(error instanceof StoreAwayError)) throw error
      this.#app.runtime.log.error({ feed: this.name, problem: error.message }, 'could not look into the store')
    }
  }

  /** Whether a run was due while no daemon was running; always if the feed never succeeded. */
  async isOverdue(now: number): Promise<boolean> {
    try {
      const lastSuccess = await this.#app.store().runs.lastSuccess(this.name)
      return lastSuccess === null || this.times.within(lastSuccess, now)
    } catch (error) {
      // Its run will tell what is wrong.
      if (error instanceof StoreAwayError) return true
      throw error
    }
  }

  async isDue(from: number, to: number): Promise<boolean> {
    if (!this.times.within(from, to)) return false
    // A run that has not ended by the time of the next one hangs, or waits for its turn.
    await this.#judge(to)
    // If the machine slept, or its clock was set, several may be due: one run makes up for them.
    this.#dueSinceGood++
    return true
  }

  /** Counts the due runs anew from the store, as other processes may have carried some out. Warns if there are too many. */
  async weigh(now: number): Promise<void> {
    const { runs } = this.#app.store()
    const good = await this.#lastGood()
    // The end of a run under way tells whether it is good.
    const underWay = this.#isStale || (await runs.underWay(this.name)) === null ? 0 : 1
    const due =
      good === null
        ? (await runs.latest(this.name, staleAfter)).length
        : this.times.count(good, now, staleAfter + 1) - underWay
    if (due < staleAfter) this.#sayFresh()
    this.#dueSinceGood = due
    await this.#judge(now)
  }

  /** A feed that was stale may have had a good run by hand since. */
  async lookAgain(now: number): Promise<void> {
    if (!this.#isStale) return
    const good = await this.#fromStore(() => this.#lastGood())
    const due = good === null ? staleAfter : this.times.count(good, now, staleAfter)
    if (due >= staleAfter) return
    this.#sayFresh()
    this.#dueSinceGood = due
  }

  remind(): void {
    this.#app.tell(this.#feed(), { isStale: this.#isStale })
  }

  /** Tells that a run that was due could not begin, as the store is away. */
  miss(error: string): void {
    this.#app.runtime.log.error({ feed: this.name, error }, runFailed)
    const startedAt = this.#app.runtime.clock.now()
    this.#app.tell(this.#feed(), { ended: { startedAt, result: 'failed', error, unrecorded: 'lost' } })
  }

  /** One run. Its result is logged, and the daemon goes on. Gives whether the run came to its end, even if told to stop. */
  async run(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    const { log } = this.#app.runtime
    let isThrough = false
    try {
      this.#refresh()
      const before = await this.#fromStore(({ runs }) => runs.last(this.name))
      const { report, run, close } = await this.#app.sync(this.#feed(), 'sync')
      const { result, counts, applied, error, notes, startedAt, finishedAt } = report
      isThrough = error === null
      const facts = {
        run,
        feed: this.name,
        result,
        seconds: Math.max(0, finishedAt - startedAt) / 1000,
        counts,
        outcomes: applied?.outcomes,
        calls: applied?.calls,
        next: this.#nextRun(),
        ...(result === 'held' && { approve: `listing-sync approve ${this.name}` }),
        ...(notes.length > 0 && { notes }),
      }
      if (result === 'failed') log.error({ ...facts, error }, runFailed)
      else if (isWorse(report, before)) log.warn(facts, runFinished)
      else log.info(facts, runFinished)
      logVerification(log, this.name, report.verification)
      close()
      const good = await this.#fromStore(() => this.#lastGood())
      if (good !== null && good >= report.startedAt) this.#sayFresh()
    } catch (error) {
      // A run can fail before it has a report, as when the disk of the scratch files is full.
      const sentence = error instanceof UserError ? runFailed : 'run failed with a defect'
      log.error({ feed: this.name, error: messageOf(error) }, sentence)
    }
    if (!signal.aborted) await this.#judge(this.#app.runtime.clock.now())
    return isThrough
  }

  /** Whether it is for the feed as configured now. */
  isFor({ name, chatbot, schedule, timezone }: FeedConfig): boolean {
    const { expression, timezone: zone } = this.#schedule
    return name === this.name && chatbot === this.chatbot && schedule === expression && timezone === zone
  }

  /** Whether another one is for the same feed of the same chatbot, on whatever schedule. */
  readonly isLike = ({ name, chatbot }: Watched): boolean => name === this.name && chatbot === this.chatbot

  #feed(): FeedConfig {
    // A feed that is no longer configured finishes its run as it was.
    return (this.#latest = this.#app.config.feeds.find(({ name }) => name === this.name) ?? this.#latest)
  }

  /** Reads secrets again, which may change while the daemon runs. One that can't be read stays as it was. */
  #refresh(): void {
    const { log } = this.#app.runtime
    try {
      if (this.#app.refreshSecrets()) log.info({ feed: this.name }, 'secrets have changed: using the new ones')
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      log.error({ problem: error.message }, 'could not read the secrets again: using the earlier ones')
    }
  }

  /** In the feed's own time, and by the schedule that it has now. */
  #nextRun(): string | null {
    const { schedule, timezone } = this.#feed()
    const next =
      schedule === null ? null : dueTimes({ expression: schedule, timezone }).next(this.#app.runtime.clock.now())
    return next === null ? null : minuteIn(timezone, next)
  }

  /** What the store knows; null also if it can't be read, of which the run itself tells. */
  async #fromStore<T>(look: (store: Store) => Promise<T | null>): Promise<T | null> {
    try {
      return await look(this.#app.store())
    } catch (error) {
      if (error instanceof StoreError) return null
      throw error
    }
  }

  async #lastGood(): Promise<number | null> {
    return lastGood(this.#app.store(), this.#feed())
  }

  /** Says once that the feed is stale, if it is. */
  async #judge(now: number): Promise<void> {
    if (this.#isStale || this.#dueSinceGood < staleAfter) return
    const good = await this.#fromStore(() => this.#lastGood())
    // A run by hand may have succeeded.
    if (good !== null) this.#dueSinceGood = this.times.count(good, now, staleAfter)
    if (this.#isStale || this.#dueSinceGood < staleAfter) return
    this.#isStale = true
    this.remind()
    const since = good === null ? 'never' : new Date(good).toISOString()
    const facts = { feed: this.name, lastGood: since }
    this.#app.runtime.log.error(
      facts,
      `the feed is stale: the last ${staleAfter} scheduled runs did not succeed; see \`listing-sync status ${this.name}\``,
    )
  }

  #sayFresh(): void {
    if (this.#isStale) this.#app.runtime.log.info({ feed: this.name }, 'the feed is up to date again')
    this.#dueSinceGood = 0
    this.#isStale = false
  }
}

/** Whether a run ended worse than the one before, or with more of the same trouble. */
function isWorse({ result, counts, applied }: Report, before: RunRecord | null): boolean {
  const { counts: earlier = {}, outcomes = {} } = JSON.parse(before?.figures ?? '{}') as Record<
    'counts' | 'outcomes',
    Record<string, number> | undefined
  >
  if (severity.indexOf(result) > severity.indexOf(before?.result ?? 'ok')) return true
  if (result === 'ok') return false
  const had = (of: Record<string, number>, ...names: string[]) => names.reduce((sum, name) => sum + (of[name] ?? 0), 0)
  const isMore = (now: Record<string, number>, then: Record<string, number>, ...names: string[]) =>
    had(now, ...names) > had(then, ...names)
  return isMore(counts, earlier, 'hold', 'reject') || isMore(applied?.outcomes ?? {}, outcomes, 'failed', 'unknown')
}

const severity: readonly RunResult[] = ['ok', 'changes', 'partial', 'held', 'failed']

/**
 * How many runs go on at a time. Each takes three to four megabytes, and 200 at once took 890 MB. Waiting runs are served in the
 * order they came, so that no feed starves. A run that takes longer than `patience` milliseconds, as a first load or of a chatbot
 * that hangs, gives its place to the next one; up to `long` such runs go on beside the places.
 */
const atOnce = { places: 32, long: 64, patience: 60_000 }

/** Runs of one chatbot take turns; a feed never waits behind itself. */
export class Turns {
  readonly #clock: Clock
  readonly #places: LimitFunction
  readonly #all: LimitFunction
  readonly #patience: number
  #last = new Map<string, Promise<void>>()
  #feeds = new Set<string>()

  constructor(clock: Clock, { places, long, patience } = atOnce) {
    this.#clock = clock
    this.#places = pLimit(places)
    this.#all = pLimit(places + long)
    this.#patience = patience
  }

  has(feed: string): boolean {
    return this.#feeds.has(feed)
  }

  /** Runs a job of a feed once its chatbot is free. The job must not throw. */
  take({ name, chatbot }: { name: string; chatbot: string }, job: () => Promise<void>): void {
    this.#feeds.add(name)
    const before = this.#last.get(chatbot) ?? Promise.resolve()
    const turn = before.then(() => this.#all(() => this.#placed(job))).finally(() => this.#feeds.delete(name))
    this.#last.set(chatbot, turn)
  }

  async #placed(job: () => Promise<void>): Promise<void> {
    const over = new AbortController()
    const { promise: running, resolve: begin } = Promise.withResolvers<void>()
    await this.#places(() => {
      begin(job().finally(() => over.abort()))
      return Promise.race([running, this.#clock.sleep(this.#patience, over.signal).catch(() => undefined)])
    })
    await running
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
