/** When a feed is due (node-cron, in the feed's time zone), and whether one was missed while nobody was there. */
import { createTask } from 'node-cron'
import type { ScheduledTask } from 'node-cron'
import type { Log } from '../runtime.ts'

export interface Schedule {
  expression: string
  timezone: string
}

const minute = 60_000
/** How far back a missed minute is looked for. */
const horizon = 40 * 24 * 60

/** Whether the schedule wanted a run after `lastSuccess` and up to `now`; a feed that never succeeded is always due. */
export function isOverdue({ expression, timezone }: Schedule, lastSuccess: number | null, now: number): boolean {
  if (lastSuccess === null) return true
  const task = createTask(expression, () => undefined, { timezone })
  try {
    // With seconds in the expression its minutes are not found by whole minutes: there the gap between two runs decides.
    if (expression.trim().split(/\s+/).length > 5) {
      const [first, second] = task.getNextRuns(2)
      return now - lastSuccess >= second.getTime() - first.getTime()
    }
    const earliest = Math.max(lastSuccess, now - horizon * minute)
    for (let at = Math.floor(now / minute) * minute; at > earliest; at -= minute)
      if (task.match(new Date(at))) return true
    return now - lastSuccess >= horizon * minute
  } finally {
    void task.destroy()
  }
}

/** Runs `job` on the schedule, never overlapping itself. The job must not throw. */
export function onSchedule(
  { expression, timezone }: Schedule,
  name: string,
  job: () => Promise<void>,
  log: Log,
): ScheduledTask {
  const logger = {
    info: (message: string) => log.debug(message),
    debug: (message: string | Error) => log.debug(String(message)),
    warn: (message: string) => log.warn(message),
    error: (message: string | Error) => log.error(String(message)),
  }
  const task = createTask(expression, job, {
    timezone,
    name,
    noOverlap: true,
    missedExecutionTolerance: minute,
    logger,
  })
  task.on('execution:overlap', () => log.warn({ feed: name }, 'still running: this tick is left out'))
  task.on('execution:missed', () => log.warn({ feed: name }, 'a tick was missed'))
  void task.start()
  return task
}
