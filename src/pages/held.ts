/** The page with what the guard holds of a feed, and the forms to decide about it. */
import { html } from 'hono/html'
import type { App } from '../app/app.ts'
import {
  byListing,
  byRule,
  findingsOf,
  foundIn,
  groupInWords,
  isApprovable,
  partsInWords,
  pricesOf,
  sinceOf,
  withoutHolds,
} from '../app/held.ts'
import type { Approvable } from '../app/held.ts'
import type { FeedConfig } from '../config/config.ts'
import { numberText, timeText } from '../core/intl.ts'
import type { Reader } from '../core/intl.ts'
import { runInWords } from '../daemon/run-in-words.ts'
import { placeText, saleText } from '../report/values.ts'
import type { Held } from '../store/store.ts'
import { readerOf } from './feeds.ts'
import { feedPath, table, text } from './frame.ts'
import type { Piece } from './frame.ts'

/** What a visitor may wish, by the word in the form. */
export const decisions = { approve: 'approved', refuse: 'refused', revoke: null } as const
export type Wish = keyof typeof decisions

/** Most listings whose holds are read for a page; most rows of a group without folding. */
const mostRead = 2000
const unfolded = 200

/** What is held, and its fingerprint, as a decision is only for what was shown. */
export async function heldOf(app: App, feed: FeedConfig) {
  const { holds, runs } = await withoutHolds(feed, app.store())
  const now = app.runtime.clock.now()
  // Read before the list: if something is added in between, the fingerprint is out of date, and nothing unseen is approved.
  const shown = await holds.fingerprint(feed.name)
  const held = await holds.held(feed.name, now, { most: mostRead })
  return {
    name: feed.name,
    reader: readerOf(app, feed),
    shown,
    count: await holds.count(feed.name),
    held,
    // Why, as the rules found it: as plain data, so that it is cleaned as the rest is.
    found: held.length === 0 ? [] : [...(await findingsOf(runs, feed.name))],
    running: await runInWords(runs, feed, now),
    now,
  }
}

type HeldNow = Awaited<ReturnType<typeof heldOf>>

/** `notice`: what became of the visitor's decision. `approves`: forms are shown. */
export function heldPage(
  { name, reader, shown, count, held, found, running, now }: HeldNow,
  feed: FeedConfig,
  { notice, approves }: { notice: string | null; approves: boolean },
): Piece {
  const approvable = held.filter(isApprovable)
  const others = held.filter((entry) => !isApprovable(entry))
  const read = byListing(held).length
  const all = `${numberText(count, reader)} ${count === 1 ? 'change' : 'changes'}`
  const isDecided = approvable.some(({ decision }) => decision !== null)
  const isOpen = (but: NonNullable<Held['decision']>['is']): boolean =>
    approvable.some(({ decision }) => decision?.is !== but)
  return html`${notice === null ? '' : html`<p class="note" role="status">${notice}</p>`}
    <h1 class="${count === 0 ? 'ok' : 'held'}">
      ${count === 0 ? `Nothing of ${name} is held.` : `${all} of ${name} ${count === 1 ? 'is' : 'are'} held.`}
    </h1>
    ${running === null ? '' : html`<p class="left">This run goes on by what was decided before it: ${text(running)}.</p>`}
    ${count > read ? html`<p class="left">The first ${numberText(read, reader)} are shown. A decision is for all ${numberText(count, reader)}.</p>` : ''}
    ${
      approvable.length === 0
        ? ''
        : approves
          ? forms(name, shown, {
              approve: isOpen('approved') && 'Approve: let all of these through with the next run',
              refuse: isOpen('refused') && 'Refuse: keep all of these held until the feed says otherwise',
              revoke: isDecided && 'Revoke what was decided',
            })
          : html`<p>To let them through:</p>
              <code class="command">listing-sync approve ${name}</code>`
    }
    ${Array.from(byRule(approvable), ([rules, group]) => groupOf(groupInWords(rules, group, feed, now), foundIn(new Map(found), rules, group), group, reader))}
    ${others.length === 0 ? '' : groupOf('These wait for a proof or another delivery; no approval ends that', [], others, reader)}`
}

/** `actions`: the label of each; false: it would do nothing. */
function forms(name: string, shown: string, actions: Record<Wish, string | false>): Piece {
  const form = (action: string, label: string): Piece =>
    html`<form method="post" action="${feedPath(name, 'held')}">
      <input type="hidden" name="shown" value="${shown}" /><button type="submit" name="action" value="${action}">
        ${label}
      </button>
    </form>`
  return html`<div class="actions">
    ${Object.entries(actions).map(([action, label]) => (label === false ? '' : form(action, label)))}
  </div>`
}

/** `found`: what the rules found, a sentence each. */
function groupOf(
  title: string,
  found: readonly string[],
  group: readonly (Approvable | Held)[],
  reader: Reader,
): Piece {
  const listings = byListing<Held>(group)
  const rows = (some: typeof listings): Piece =>
    table(
      ['MLS number', 'Home', 'Price', 'Would', 'Why'],
      some.map((entry) => rowOf(entry, reader)),
    )
  const rest = listings.slice(unfolded)
  return html`<section>
    <h2 class="hold">${text(title)}</h2>
    ${found.map((sentence) => html`<p>${text(sentence, 1000)}.</p>`)} ${rows(listings.slice(0, unfolded))}
    ${
      rest.length === 0
        ? ''
        : html`<details class="page">
            <summary>${numberText(rest.length, reader)} more</summary>
            ${rows(rest)}
          </details>`
    }
  </section> `
}

function rowOf(held: readonly [Held, ...Held[]], reader: Reader): (string | Piece)[] {
  const [{ mlsNumber, home, why, decision }] = held
  const decided =
    decision === null ? '' : `; ${decision.is} by ${text(decision.by, 100)}, ${timeText(decision.at, reader)}`
  return [
    html`<a href="/listings?q=${encodeURIComponent(mlsNumber)}">${text(mlsNumber, 100)}</a>`,
    html`<div>${placeText(home)}</div>
      <div>${saleText(home)}</div>`,
    pricesOf(held, reader),
    partsInWords(held),
    `${text(why)}; since ${timeText(sinceOf(held), reader)}${decided}`,
  ]
}
