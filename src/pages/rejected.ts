/** The page with rejects of the last delivery, by what is wrong with them. */
import { html } from 'hono/html'
import type { App } from '../app/app.ts'
import { figuresOf } from '../app/last-good.ts'
import { storedReport } from '../app/stored-report.ts'
import type { FeedConfig } from '../config/config.ts'
import { numberText, timeText } from '../core/intl.ts'
import { withoutValues } from '../report/headline.ts'
import { readerOf } from './feeds.ts'
import { table, text } from './frame.ts'
import type { Piece } from './frame.ts'

/** Most records shown for a reason, and most reasons. */
const mostOfReason = 50
const mostReasons = 100

export async function rejectedOf(app: App, feed: FeedConfig) {
  const store = app.store()
  const run = await store.runs.last(feed.name)
  const report = run === null ? null : await storedReport(store, run.number)
  const rejects = report === null ? [] : [...report.rejects()]
  const reasons = new Map<string, { count: number; records: typeof rejects }>()
  for (const reject of rejects)
    for (const problem of reject.problems) {
      const sentence = withoutValues(problem)
      const reason = reasons.get(sentence) ?? { count: 0, records: [] }
      reasons.set(sentence, reason)
      reason.count++
      if (reason.records.length < mostOfReason) reason.records.push({ ...reject, problems: [problem] })
    }
  return {
    name: feed.name,
    reader: readerOf(app, feed),
    at: run?.finishedAt ?? null,
    count: figuresOf(run ?? undefined).delivery?.rejects ?? rejects.length,
    kept: rejects.length,
    reasons: Array.from(reasons, ([sentence, reason]) => ({ sentence, ...reason }))
      .toSorted((a, b) => b.count - a.count)
      .slice(0, mostReasons),
  }
}

export function rejectedPage({
  name,
  reader,
  at,
  count,
  kept,
  reasons,
}: Awaited<ReturnType<typeof rejectedOf>>): Piece {
  const when = at === null ? '' : ` in the run that ended ${timeText(at, reader)}`
  const many = `${numberText(count, reader)} ${count === 1 ? 'record' : 'records'}`
  return html`<h1 class="${count === 0 ? 'ok' : 'partial'}">
      ${count === 0 ? `No record of ${name} was rejected${when}.` : `${many} of ${name} could not become a listing${when}.`}
    </h1>
    ${count > kept ? html`<p class="left">${kept === 0 ? 'Which they are is not kept of this run.' : `The store keeps the first ${numberText(kept, reader)}.`}</p>` : ''}
    ${
      count === 0
        ? ''
        : html`<p>Each reason says what to do. What the whole feed has in these fields shows:</p>
            <code class="command">listing-sync inspect ${name}</code>`
    }
    ${reasons.map(
      ({ sentence, count: times, records }) =>
        html`<section>
          <h2 class="warning">${text(sentence)} (${numberText(times, reader)})</h2>
          ${table(
            ['Record', 'MLS number', 'What it says'],
            records.map(({ at: place, mlsNumber, problems }) => [
              text(place, 200),
              mlsNumber === null
                ? 'none'
                : html`<a href="/listings?q=${encodeURIComponent(mlsNumber)}">${text(mlsNumber, 100)}</a>`,
              text(problems[0], 300),
            ]),
          )}
          ${times > records.length ? html`<p class="dim">and ${numberText(times - records.length, reader)} more</p>` : ''}
        </section> `,
    )}`
}
