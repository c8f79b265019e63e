/**
 * The first half of a run, all that `diff` does: delivery → observation → plan → guard, into the workspace. It is given
 * readers only, so a dry run can't write.
 */
import { UserError } from '../core/errors.ts'
import type { RemoteSummary, Shown } from '../core/listing.ts'
import { dayIn } from '../core/zone.ts'
import type { Moment } from '../feed/mapping/mapping.ts'
import type { Opened, Validators } from '../feed/transport/transport.ts'
import { guard } from '../plan/guard/guard.ts'
import { isShrunk } from '../plan/guard/measures.ts'
import { olderThan } from '../plan/guard/older.ts'
import type { FeedState } from '../store/store.ts'
import { count, estimated, hold, notesOf, plan, planSettings } from './plan.ts'
import { receive, receivedUnchanged } from './receive.ts'
import type { Received } from './receive.ts'
import type { Feed, Readers, Prepared } from './run.ts'

export async function prepare(feed: Feed, readers: Readers, deletes: boolean): Promise<Prepared> {
  const { store, runtime } = readers
  const now = runtime.clock.now()
  const moment = { now, today: dayIn(feed.timezone, now), timezone: feed.timezone }
  const state = store.feedState(feed.name, feed.chatbot, now)
  const delivery = await receiveDelivery(feed, readers, state, moment)
  const { received } = delivery
  const { remote, marked } = await observe(feed, readers)
  const lostAt = state.lostAt ?? (state.isNew && state.rows === 0 && marked > 0 ? now : null)
  const driftedAt = store.learnt(feed.chatbot, driftOf(feed.name))
  const settings = planSettings(feed, received, remote, moment, lostAt, deletes, driftedAt)
  const approved = store.approved(feed.name, now)
  const { facts, tally, counts } = plan(feed, readers, received, settings, approved, state.echoReported)
  const { summary } = received
  summary.duplicates += facts.duplicates
  summary.listings -= facts.duplicates
  counts.reject = summary.rejects
  const lastKeys = store.learnt(feed.chatbot, 'keys')
  const otherKeys = lastKeys !== null && lastKeys !== feed.keys
  const older = olderThan(received, store.generations(feed.name, feed.source))
  const trips = hold(
    readers,
    guard(tally, facts, { ...state, older, otherKeys }, summary, feed.limits, settings),
    approved,
  )
  const doubtful = tally.doubts > 0
  const { digest, lookUps, held, inGrace, doubted, drifted } = count(readers, counts, doubtful)
  const looksShrunk = (letGo: number): boolean =>
    settings.mode === 'full' && isShrunk(summary.records, state, feed.limits, letGo, facts.ours)
  // A backfill plans no deletes, so it can't tell whether any are due.
  const isSettled = deletes && (doubted === 0 || !looksShrunk(tally.approved.absent))
  const isAccepted =
    summary.complete &&
    (isSettled || !looksShrunk(0)) &&
    !trips.some(({ rule }) => rule === 'overlap' || rule === 'older')
  const isNewSize = looksShrunk(0) || tally.approved.absent > 0
  const measure = !isAccepted ? 'none' : isNewSize ? 'alone' : 'one of five'
  const estimate = estimated(feed, readers, counts, lookUps, remote)
  const notes = [...received.notes, ...notesOf(trips, facts, state, lostAt, feed)]
  const isNoted = older === null || notes.includes(older.sentence)
  if (!isNoted && counts.create + counts.update + counts.delete > 0) notes.push(older.sentence)
  const { validators } = delivery
  const absenceProven =
    deletes && settings.mode === 'full' && summary.complete && received.unreadable === 0 && remote.complete
  return {
    moment,
    state,
    received,
    remote,
    facts,
    counts,
    held,
    inGrace,
    drifted,
    absenceProven,
    trips,
    measure,
    approved,
    lostAt,
    doubtful,
    estimate,
    digest,
    notes,
    validators,
  }
}

async function receiveDelivery(
  feed: Feed,
  readers: Readers,
  state: FeedState,
  moment: Moment,
): Promise<{ received: Received; validators: Validators }> {
  const { store, workspace, signal, progress } = readers
  const saved = state.validators
  const usable =
    // A delta that is not modified says nothing of the listings that are not in it.
    feed.mapping.delivery === 'full' &&
    saved !== null &&
    saved.source === feed.source &&
    saved.mapping === feed.mapping.version &&
    state.lastRun?.result === 'ok'
  const opened = await feed.open(usable ? saved : null, signal, workspace.folder)
  if (opened === 'not-modified') {
    if (!usable)
      throw new UserError(
        `${feed.name}: the source answered "not modified" though nothing was said of an earlier delivery`,
      )
    return { received: receivedUnchanged(saved.summary), validators: saved }
  }
  const { format, formatOptions, mapping, name, volatile } = feed
  const known = (mlsNumber: string) => store.confirmed(feed.chatbot, feed.name, mlsNumber)
  const parts = {
    opened,
    decompress: (source: Opened) => feed.decompress(source, workspace.folder),
    format,
    formatOptions,
    mapping,
    store,
    workspace,
    feed: name,
    chatbot: feed.chatbot,
    moment,
    known,
    volatile,
    signal,
  }
  const received = await receive({ ...parts, progress: (records) => progress('records', records, null) })
  return { received, validators: opened.validators }
}

/** Walks the service's pages into the workspace; what is as its baseline is kept without its fields. */
async function observe(
  feed: Feed,
  { store, service, workspace, progress }: Readers,
): Promise<{ remote: RemoteSummary & { startedAt: number }; marked: number }> {
  let marked = 0
  let listings = 0
  const remote = await service.observe({
    reset() {
      workspace.clearShown()
      marked = 0
      listings = 0
    },
    add(items: Shown[]) {
      workspace.addShown(
        items.map((shown) => ({ shown, keep: store.baseline(feed.chatbot, shown.mlsNumber) !== shown.hash })),
      )
      for (const shown of items) if (shown.owner === feed.name) marked++
      listings += items.length
      progress('listings', listings, null)
    },
  })
  return { remote, marked }
}

/** Under which name the store keeps when a feed last fought over many listings. */
export function driftOf(feed: string): string {
  return `drifted ${feed}`
}
