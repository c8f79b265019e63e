/** The page of one home: what is known of it now, and what was sent when and why. */
import { html } from 'hono/html'
import type { App } from '../app/app.ts'
import { figuresOf } from '../app/last-good.ts'
import { storedReport } from '../app/stored-report.ts'
import type { FeedConfig } from '../config/config.ts'
import { homeOf } from '../core/home.ts'
import { timeText } from '../core/intl.ts'
import type { Reader } from '../core/intl.ts'
import { fieldChange, fieldLabel, homePrice, placeText, priceChange, saleText } from '../report/values.ts'
import type { HomeEvent } from '../store/store.ts'
import { readerOf } from './feeds.ts'
import { facts, table, text } from './frame.ts'
import type { Piece } from './frame.ts'

const mostEvents = 500
const mostFound = 50

/** The result of a search: nothing, several homes, or one. */
export async function listingOf(app: App, sought: string) {
  const { changes } = app.store()
  const now = await Promise.all(app.config.feeds.map((feed) => nowIn(app, feed, sought)))
  const events = await changes.of(sought, mostEvents)
  const known = now.filter(({ listing, held, rejected }) => listing !== null || held.length > 0 || rejected.length > 0)
  const isOne = events.length > 0 || known.length > 0
  const [reader] = app.config.feeds.map((feed) => readerOf(app, feed))
  const zones = Object.fromEntries(app.config.feeds.map((feed) => [feed.name, readerOf(app, feed)]))
  return {
    sought,
    reader,
    zones,
    events,
    known,
    found: isOne || sought.length < 3 ? [] : await changes.find(sought, mostFound),
  }
}

/** What is known of an MLSNumber in one feed. */
async function nowIn(app: App, feed: FeedConfig, mlsNumber: string) {
  const store = app.store()
  const { name, chatbot } = feed
  const last = (await store.runs.last(name)) ?? undefined
  const confirmed = (await store.snapshot.confirmed(chatbot, name, [mlsNumber])).get(mlsNumber)
  const report =
    last !== undefined && (figuresOf(last).delivery?.rejects ?? 0) > 0 ? await storedReport(store, last.number) : null
  return {
    feed: name,
    chatbot,
    listing: confirmed?.listing ?? null,
    isAbsent: await store.history.isAbsent(chatbot, name, mlsNumber),
    held: await store.holds.held(name, app.runtime.clock.now(), { keys: [mlsNumber] }),
    rejected: [...(report?.rejects() ?? [])].filter((reject) => reject.mlsNumber === mlsNumber),
  }
}

type Known = Awaited<ReturnType<typeof listingOf>>

export function listingPage({ sought, reader, zones, events, known, found }: Known): Piece {
  if (sought === '') return html`<h1 class="plain">Find a home by its MLS number, or by its street.</h1>`
  if (found.length > 0)
    return html`<h1 class="plain">Homes that changed lately, with “${text(sought)}”</h1>
      <ul>
        ${found.map((foundNumber) => html`<li><a href="/listings?q=${encodeURIComponent(foundNumber)}">${text(foundNumber, 100)}</a></li>`)}
      </ul>`
  if (events.length === 0 && known.length === 0)
    return html`<h1 class="plain">Nothing is known of “${text(sought)}”.</h1>
      <p>
        No feed has such an MLS number on its chatbot, and nothing was sent, held or rejected of it in the last 90 days.
        MLS numbers are taken as the feed writes them.
      </p>`
  const home = known.flatMap(({ listing }) => (listing === null ? [] : [homeOf(listing, listing)]))[0]
  const latest = home ?? events.find((event) => event.home !== null)?.home ?? null
  const title = [placeText(latest), saleText(latest), homePrice(latest, reader)]
    .filter((piece) => piece !== '')
    .join(', ')
  return html`<h1 class="plain">${text(sought, 100)}${title === '' ? '' : `: ${title}`}</h1>
    ${known.map((listing) => nowPiece(listing, zones[listing.feed]))}
    <h2 class="plain">What happened in the last 90 days</h2>
    ${
      events.length === 0
        ? html`<p>Nothing was sent or held.</p>`
        : table(
            ['When', 'Feed', 'What', 'Values', 'Why'],
            events.map((event) => eventRow(event, zones[event.feed] ?? reader)),
          )
    }
    ${events.length === mostEvents ? html`<p class="dim">Earlier events are not shown.</p>` : ''}`
}

function nowPiece({ feed, chatbot, listing, isAbsent, held, rejected }: Known['known'][number], reader: Reader): Piece {
  const isAbsentNow = isAbsent
    ? 'The last delivery did not have it.'
    : 'The last delivery had it, or says nothing of it.'
  return html`<h2 class="plain">Now: ${feed} to chatbot ${text(chatbot)}</h2>
    ${facts([
      ['Feed', rejected.length > 0 ? 'The last delivery has it, and it was rejected.' : isAbsentNow],
      ...rejected.flatMap(({ at, problems }) => problems.map((problem) => [text(at, 200), text(problem)] as const)),
      [
        'Chatbot',
        listing === null
          ? 'Nothing of it is confirmed there.'
          : `Confirmed as ${statusOf(listing.Status)}${homeText(listing, reader)}`,
      ],
      ...held.map(({ part, why, since, home }) => {
        const reason = [...priceChange(home, reader), text(why), `since ${timeText(since, reader)}`].join('; ')
        return [`Held${part === null ? '' : `: ${part}`}`, reason] as const
      }),
    ])}`
}

const statusOf = (status: string): string => text(status, 60)

function homeText(listing: Parameters<typeof homeOf>[0], reader: Reader): string {
  const price = homePrice(homeOf(listing, listing), reader)
  return price === '' ? '' : `, ${price}`
}

const verbs = {
  create: 'created',
  update: 'updated',
  delete: 'deleted',
  adopt: 'taken over as it is',
  forget: 'forgotten',
}
const others = {
  held: 'held',
  ended: 'no longer held',
  approved: 'approved',
  refused: 'refused',
  revoked: 'decision taken back',
}

function whatInWords({ what, result, by }: HomeEvent): string {
  if (!(what in verbs)) return `${others[what as keyof typeof others]}${by === null ? '' : ` by ${text(by, 100)}`}`
  const verb = verbs[what as keyof typeof verbs]
  if (result === 'done') return verb
  if (result === 'failed') return `could not be ${verb}`
  return result === 'unknown' ? `perhaps ${verb}: there was no answer` : `not ${verb}: left for a later run`
}

function eventRow(event: HomeEvent, reader: Reader): (string | Piece)[] {
  const { at, feed, home, fields, why, error, what } = event
  const form = { reader, home }
  const values = fields.map((field) =>
    field.from === null && field.to === null
      ? `${fieldLabel(field.field)}: too long to keep`
      : `${fieldLabel(field.field)}: ${fieldChange(field, form)}`,
  )
  const isWhole = what === 'create' || what === 'adopt'
  const whole = [placeText(home), saleText(home), homePrice(home, reader)].filter((piece) => piece !== '').join(', ')
  const lines = isWhole && whole !== '' ? [whole] : [...values, ...(what === 'held' ? priceChange(home, reader) : [])]
  return [
    timeText(at, reader),
    feed,
    whatInWords(event),
    html`${lines.map((line) => html`<div>${text(line)}</div>`)}`,
    `${text(why)}${error === null ? '' : `; ${text(error)}`}`,
  ]
}
