/** What follows a run of a feed, once that is recorded: settings of the chatbot, its verification, the metrics. */
import type { App, Finished } from './app.ts'
import type { FeedConfig } from './config.ts'
import { createMetrics } from './metrics-app.ts'
import { withSettings } from './settings-app.ts'
import type { Writers } from './sync.ts'
import { noteLeaving, verifyRun } from './verify-app.ts'
import type { Leaving } from './verify-app.ts'

/** Begun before a run: `planned` is for the run, `end` gives it with all that followed. Neither makes a run fail. */
export type Following = (feed: FeedConfig) => {
  planned: NonNullable<Writers['planned']>
  end: (finished: Finished) => Promise<Finished>
}

export function createFollowing(app: App, signal: AbortSignal): Following {
  const metrics = createMetrics(app)
  return (feed) => {
    let leaving: Leaving = new Map()
    return {
      planned: (prepared, workspace) => (leaving = noteLeaving(app, feed, workspace, prepared)),
      async end(finished) {
        const settled = await withSettings(app, feed, finished, signal)
        const verified = await verifyRun(app, feed, settled, leaving, signal)
        metrics.write(verified.report)
        return verified
      },
    }
  }
}
