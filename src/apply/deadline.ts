import type { Counts } from '../run.ts'
import type { ApplySettings } from './context.ts'

/**
 * Shares of a run's time, so that however slow the service is no kind of change starves behind another (fault-model
 * F126): updates are through by half of it where creates wait, and the last fifth is for deletes where there are any.
 */
const shares = { updates: 0.5, allButDeletes: 0.8 }

/** Until when each kind of change is begun; `deadline` is in milliseconds, null: none. */
export function untilWhen(
  now: number,
  deadline: number | null,
  counts: Pick<Counts, 'create' | 'delete'>,
): ApplySettings['until'] {
  if (deadline === null) return { update: Infinity, create: Infinity, delete: Infinity }
  const create = counts.delete > 0 ? shares.allButDeletes : 1
  const update = counts.create > 0 ? shares.updates : create
  return { update: now + deadline * update, create: now + deadline * create, delete: now + deadline }
}
