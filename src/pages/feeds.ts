/** The first page, how all feeds are, and the page of one feed with its runs. */
import { html } from 'hono/html'
import type { App } from '../app/app.ts'
import { withoutHolds } from '../app/held.ts'
import { figuresOf, lackOf, lastGood } from '../app/last-good.ts'
import type { FeedConfig } from '../config/config.ts'
import { numberText, timeText } from '../core/intl.ts'
import type { Reader } from '../core/intl.ts'
import { many } from '../core/text.ts'
import { staleness } from '../daemon/health.ts'
import { countsInWords, endInWords, runInWords } from '../daemon/run-in-words.ts'
import { dueTimes } from '../daemon/schedule.ts'
import type { NumberedRun } from '../store/store.ts'
import { facts, feedPath, table, text } from './frame.ts'
import type { Piece } from './frame.ts'

const strip = 30
/** Most runs on the page of one feed. */
export const runsShown = 100

export const readerOf = ({ config }: App, { timezone }: FeedConfig): Reader => ({ locale: config.locale, timezone })

/** How a feed is, as plain data. Times in milliseconds. */
export async function stateOf(app: App, feed: FeedConfig, most = strip) {
  const { snapshot, runs, holds } = await withoutHolds(feed, app.store())
  const { name, chatbot, schedule, timezone } = feed
  const now = app.runtime.clock.now()
  const latest = await runs.latest(name, most)
  const waiting = await holds.waitingByRule(name, now)
  const good = await lastGood(app.store(), feed)
  const [last] = latest
  const isFailed = last?.result === 'failed'
  const { delivery, remote } = figuresOf(last)
  return {
    name,
    chatbot,
    reader: readerOf(app, feed),
    underWay: await runInWords(runs, feed, now),
    runs: latest,
    /** The last run, if the store could not take its record. */
    lost: app.lostRun(name, last ?? null),
    good,
    stale: schedule === null ? null : staleness({ expression: schedule, timezone }, good, now),
    next: schedule === null ? null : dueTimes({ expression: schedule, timezone }).next(now),
    /** What was wrong with the last delivery, if the run did not fail. */
    lack: last === undefined ? null : lackOf(last, name),
    // A run that failed may have read nothing.
    inFeed: isFailed && !delivery?.records ? null : (delivery?.listings ?? null),
    inStore: await snapshot.count(chatbot, name),
    onService: isFailed && !remote?.complete ? null : (remote?.listings ?? null),
    rejected: delivery?.rejects ?? 0,
    held: await holds.count(name),
    /** Counts listings, each once, however much of it is held. */
    waits: await holds.waiting(name, now),
    waiting: Array.from(waiting, ([rule, count]) => ({ rule, count })),
  }
}

type State = Awaited<ReturnType<typeof stateOf>>

/** The state of a feed as a sentence, and its tone. */
function stateInWords({ underWay, runs, lost, reader, stale, waits, lack }: State): [tone: string, sentence: string] {
  const [last] = runs
  if (underWay !== null) return ['changes', underWay]
  if (lost !== null)
    return [
      'failed',
      `The run of ${timeText(lost.startedAt, reader)} failed and could not be recorded: ${text(lost.error ?? 'no reason given')}`,
    ]
  if (last === undefined) return ['partial', 'It has not run yet.']
  if (last.result === 'failed') return ['failed', `The last run failed: ${text(last.error ?? 'no reason given')}`]
  if (stale !== null) return ['failed', `It is out of date: ${stale}.`]
  if (waits > 0) return ['held', `${waits} ${waits === 1 ? 'listing is' : 'listings are'} held for you to look at.`]
  if (lack !== null) return ['partial', lack]
  // Nobody is waited for, so all of it was approved since.
  if (last.result === 'held') return ['changes', 'What was held and approved is carried out by the next run.']
  if (last.result === 'partial') return ['partial', 'Up to date, except for what the last run could not do.']
  return ['ok', 'Up to date.']
}

function aboutFeed(state: State): Piece {
  const { name, reader, runs, good, next, inFeed, inStore, onService, held, rejected, waiting } = state
  const [tone, sentence] = stateInWords(state)
  const count = (amount: number | null): string => (amount === null ? 'not known' : numberText(amount, reader))
  const time = (at: number | null, otherwise: string): string => (at === null ? otherwise : timeText(at, reader))
  const rules = waiting.map(({ rule, count }) => `${count} by ${rule}`).join(', ')
  return html`<h1 class="${tone}">${text(sentence, 1000)}</h1>
    ${facts([
      [
        'Homes',
        `${count(inFeed)} in the feed, ${count(inStore)} in the store, ${count(onService)} on the service at the last run`,
      ],
      ['Last good run', time(good, 'none yet')],
      ['Next run', `${time(next, 'by hand only')}${next === null ? '' : ` (${reader.timezone})`}`],
      [
        'Held',
        held === 0
          ? 'nothing'
          : html`<a href="${feedPath(name, 'held')}">${count(held)} ${held === 1 ? 'change' : 'changes'}</a
              >${rules === '' ? '' : ` (${text(rules)})`}`,
      ],
      [
        'Rejected',
        rejected === 0
          ? 'nothing'
          : html`<a href="${feedPath(name, 'rejected')}"
              >${count(rejected)} ${rejected === 1 ? 'record' : 'records'}</a
            >`,
      ],
    ])}
    ${stripOf(name, runs.slice(0, strip), reader)}`
}

/** The last runs, the earliest first, each in the colour of its result. */
function stripOf(feed: string, runs: readonly NumberedRun[], reader: Reader): Piece | string {
  if (runs.length === 0) return ''
  return html`<ul class="strip" aria-label="Last ${many(runs.length, 'run')}">
    ${runs.toReversed().map((run) => {
      const label = `${timeText(run.startedAt, reader)}: ${run.result}`
      return html`<li class="${run.result}">
        <a href="${feedPath(feed, 'runs', run.number)}" title="${label}" aria-label="${label}"></a>
      </li>`
    })}
  </ul>`
}

export function feedsPage(states: readonly State[]): Piece {
  return html`${states.map(
    (state) =>
      html`<section class="feed">
        <h2 class="plain"><a href="${feedPath(state.name)}">${state.name}</a></h2>
        <p class="about">to chatbot ${text(state.chatbot)}</p>
        ${aboutFeed(state)}
      </section> `,
  )}`
}

export function feedPage(state: State): Piece {
  const { name, chatbot, reader, runs } = state
  return html`<h2 class="plain">${name}</h2>
    <p class="about">to chatbot ${text(chatbot)}</p>
    ${aboutFeed(state)}
    <h2 class="plain">Runs</h2>
    ${table(
      ['Run', 'Began', 'Result', 'Changes'],
      runs.map((run) => [
        html`<a href="${feedPath(name, 'runs', run.number)}">${run.number}</a>`,
        timeText(run.startedAt, reader),
        text(`${run.command}: ${endInWords(run, reader.timezone)}`, 1000),
        countsInWords(run.figures),
      ]),
    )}
    <p class="dim">The reports of the last 30 runs are kept.</p>`
}
