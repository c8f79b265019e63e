/** Wiring of `probe`: a feed's client and the chatbot's lease. */
import type { FeedConfig } from '../config/config.ts'
import { askAll } from '../probe/ask.ts'
import { probedJson, probedText, resultOf } from '../probe/report.ts'
import type { Probed } from '../probe/report.ts'
import type { App } from './app.ts'
import { scrubbedTexts } from './scrubbed.ts'

/** How a finished probe is written, and its one word. */
export const probedForms: Record<'text' | 'json', (probed: Probed) => string> = { text: probedText, json: probedJson }
export { resultOf }

/** One probe of the feed's service. Throws `UserError` where it can't even begin. */
export async function probe(
  app: App,
  feed: FeedConfig,
  signal: AbortSignal,
  progress: (title: string) => void,
): Promise<Probed> {
  const { runtime, scrub } = app
  const { clock } = runtime
  const startedAt = clock.now()
  const lease = await app.store().lease(feed.chatbot, startedAt)
  try {
    const { name, chatbot, service: settings } = feed
    const client = app.client(feed)
    const asked = await askAll({ feed: name, chatbot, client, settings, runtime, signal, progress })
    const { left, lost, ...rest } = asked
    return {
      ...scrubbedTexts(rest, scrub),
      error: signal.aborted ? 'it was stopped by a signal' : asked.error && scrub(asked.error),
      left: new Map([...left].map(([mlsNumber, why]) => [mlsNumber, scrub(why)])),
      lost,
      feed: feed.name,
      chatbot: feed.chatbot,
      startedAt,
      finishedAt: clock.now(),
      settle: feed.settle,
    }
  } finally {
    await lease.release()
  }
}
