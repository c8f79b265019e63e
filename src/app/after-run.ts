/** What follows a run of a feed, once that is recorded: settings of the chatbot, its verification, the metrics. */
import type { FeedConfig } from '../config/config.ts'
import type { Writers } from '../run/tools.ts'
import type { App, Finished } from './app.ts'
import { createMetrics } from './metrics.ts'
import { withSettings } from './settings.ts'
import { noteLeaving, verifyRun } from './verify.ts'
import type { Leaving } from './verify.ts'

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
      async planned(workspace, digest) {
        leaving = await noteLeaving(app, feed, workspace, digest)
      },
      async end(finished) {
        const settled = await withSettings(app, feed, finished, signal)
        const verified = await verifyRun(app, feed, settled, leaving, signal)
        await metrics.write(verified.report)
        return verified
      },
    }
  }
}
