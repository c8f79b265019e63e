/** Wiring of `probe`: a feed's client and the chatbot's lease. */
import type { FeedConfig } from '../config/config.ts'
import { askAll } from '../probe/ask.ts'
import { probedJson, probedText, resultOf } from '../probe/report.ts'
import type { Probed } from '../probe/report.ts'
import type { App } from './app.ts'

export const probedForms: Record<'text' | 'json', (probed: Probed) => string> = { text: probedText, json: probedJson }
export { resultOf }

/** One probe of the feed's service. Throws `UserError` if it can't begin. */
export async function probe(
  app: App,
  feed: FeedConfig,
  signal: AbortSignal,
  progress: (title: string) => void,
): Promise<Probed> {
  const { runtime } = app
  const { clock } = runtime
  const startedAt = clock.now()
  const lease = await app.store().lease(feed.chatbot, startedAt)
  try {
    const { name, chatbot, service: settings } = feed
    const client = await app.client(feed)
    const asked = await askAll({ feed: name, chatbot, client, settings, runtime, signal, progress })
    return {
      ...asked,
      error: signal.aborted ? 'it was stopped by a signal' : asked.error,
      feed: feed.name,
      chatbot: feed.chatbot,
      startedAt,
      finishedAt: clock.now(),
      settle: feed.plan.settle,
    }
  } finally {
    await lease.release()
  }
}
