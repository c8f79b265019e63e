/**
 * Runs that any free daemon on the store carries out. Each process plans when every feed runs next, and takes what is due. A run's end
 * plans the next one, so that a slow run is never queued behind itself.
 */
import type { App } from '../app/app.ts'
import { StoreConfigError, StoreError, messageOf } from '../core/errors.ts'
import type { PlannedRun, Queue } from '../store/queue.ts'
import type { DueTimes } from './schedule.ts'

/** How a daemon's runs are carried out. Times are milliseconds since the epoch. */
export interface DaemonRuns<Feed> {
  begin(): Promise<void>
  /** Called from time to time. */
  look(now: number): Promise<void>
  /** Called when the watched feeds are no longer `before`. */
  changed(before: readonly Feed[], now: number): Promise<void>
  /** Whether a look once a second is needed. */
  bySecond(): boolean
  /** Called after the daemon was told to stop. Resolves once runs under way have ended. */
  end(): Promise<void>
}

interface Feed {
  readonly name: string
  readonly chatbot: string
  readonly times: DueTimes
  isOverdue(now: number): Promise<boolean>
  /** Gives whether the run came to its end: false if it failed, or was told to stop before. */
  run(signal: AbortSignal): Promise<boolean>
  weigh(now: number): Promise<void>
  remind(): void
  /** Tells that a run that was due could not begin. */
  miss(error: string): void
}

/** How often people may be reminded of trouble that lasts, in milliseconds: a feed's next run may be a week away. */
export const remindEvery = 3_600_000

export const runSkipped =
  'run skipped: the last run of this feed has not finished; set a longer `schedule` if this repeats'

const notConfigured =
  'run left out: this configuration has no such feed, or no schedule for it; if another daemon on this store has one, give all of them the same configuration'

/** Milliseconds between two looks for missing runs of feeds, as when a daemon that does not know the feed took one. */
const planEvery = 60_000

/** The job that reminds people of all feeds, in one of the processes. No feed has that name. */
const everybody = '*'

export function sharedRuns(
  app: App,
  queue: Queue,
  most: number,
  watched: () => readonly Feed[],
  signal: AbortSignal,
): DaemonRuns<Feed> {
  const { clock, log } = app.runtime
  const upcoming = new WeakMap<DueTimes, { from: number; at: number | null }>()
  let plannedAt = -Infinity
  let looked = clock.now()
  let planning: Promise<void> | null = null
  /** Feeds that came due when the database was found away: their runs begin late, or not at all. */
  let late: readonly Feed[] = []
  let working = Promise.resolve()

  /** Worked out once for each time. */
  function nextOf({ times }: Feed, now: number): number | null {
    const known = upcoming.get(times)
    if (known !== undefined && known.from <= now && now < (known.at ?? Infinity)) return known.at
    const at = times.next(now)
    upcoming.set(times, { from: now, at })
    return at
  }

  async function plan(now: number): Promise<void> {
    const planned = await queue.names()
    const runs: PlannedRun[] = []
    for (const feed of watched()) {
      const { name, chatbot } = feed
      const at = !planned.has(name) && (await feed.isOverdue(now)) ? now : nextOf(feed, now)
      if (at !== null) runs.push({ name, chatbot, at })
    }
    if (!planned.has(everybody)) runs.push({ name: everybody, chatbot: everybody, at: now + remindEvery })
    await queue.plan(runs)
  }

  /**
   * `due`: feeds that have come due, of which nothing else tells if the database is still away by the next time: then none of their
   * runs begins. Throws, the first time, if `store` or what it names has to be put right.
   */
  async function tryPlan(now: number, due: readonly Feed[], isFirst = false): Promise<void> {
    try {
      await plan(now)
      plannedAt = now
      late = []
    } catch (error) {
      if (!(error instanceof StoreError) || (isFirst && error instanceof StoreConfigError)) throw error
      log.error({ problem: messageOf(error) }, 'could not plan the next runs: trying again')
      for (const feed of late) feed.miss(error.message)
      late = due
    }
  }

  async function weigh(feed: Feed): Promise<void> {
    try {
      await feed.weigh(clock.now())
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      log.error({ feed: feed.name, problem: error.message }, 'could not look into the store')
    }
  }

  async function remind(): Promise<PlannedRun> {
    for (const feed of watched()) {
      await weigh(feed)
      feed.remind()
    }
    return { name: everybody, chatbot: everybody, at: clock.now() + remindEvery }
  }

  async function carryOut(name: string, due: number): Promise<PlannedRun | null> {
    if (name === everybody) return remind()
    const like = (feed: Feed): boolean => feed.name === name
    // Another daemon may know this feed, and plan it again.
    const feed = watched().find(like)
    if (feed === undefined) {
      log.warn({ feed: name }, notConfigured)
      return null
    }
    const begun = clock.now()
    const isThrough = await feed.run(signal)
    const now = Math.max(clock.now(), due)
    // Another process takes over what was not begun or not ended.
    if (signal.aborted && !isThrough) return { name, chatbot: feed.chatbot, at: now }
    await weigh(feed)
    const { chatbot, times } = watched().find(like) ?? feed
    if (times.within(Math.max(begun, due), now)) log.warn({ feed: name }, runSkipped)
    const at = times.next(now)
    return at === null ? null : { name, chatbot, at }
  }

  return {
    async begin() {
      await tryPlan(clock.now(), [], true)
      working = queue.workOff(most, carryOut, signal)
    },
    async look(now) {
      // Not waited for, as a database that is cut off may not answer for minutes, and the daemon is alive meanwhile.
      if (planning !== null) return
      const due = watched().filter(({ times }) => times.within(looked, now))
      looked = now
      if (due.length > 0 || now >= plannedAt + planEvery || now < plannedAt)
        planning = tryPlan(now, due).finally(() => (planning = null))
    },
    changed: (_, now) => tryPlan(now, []),
    bySecond: () => false,
    async end() {
      await planning
      await working
      await queue.close()
    },
  }
}
