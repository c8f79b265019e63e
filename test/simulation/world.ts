/** What a history is made of, and what goes wrong in it: each switches a subset of its own on (swarm testing). */
import type { Choices } from './choices.ts'
import { hour } from './time.ts'
import { drawShare, drawShares, inEach } from './mishap.ts'
import type { Shares } from './mishap.ts'
import { between } from './between.ts'
import { serviceMishaps } from './service-mishaps.ts'

/** Of histories in which not every run reads the service's list. */
export const seldomListed = 'the list is read now and then'
export const chatbot = 'SN-1'
export const feedName = 'north'
/** Another feed of the same chatbot, which has some listings of its own and wants one that is the first's. */
export const otherFeed = 'west'

/** Thrown by the checks; its message names the invariant of docs/design.md. */
export class Violation extends Error {
  override name = 'Violation'
}

/** What can go wrong in a history, as probabilities a call, a record, or a round; and the service's answers to the open questions. */
export interface Swarm {
  ownership: 'tag' | 'snapshot' | 'mirror'
  drift: 'overwrite' | 'keep' | 'report'
  /** Complete deliveries running in which a listing must be absent before it is deleted. */
  grace: number
  /** Whether `otherFeed` runs as well. */
  twoFeeds: boolean
  /** Calls a second that the program may make. */
  rate: number
  timezone: string
  /** How often the whole list is read, 0 for by every run, in milliseconds. */
  observe: number
  /** When it begins, by the calendar. */
  begins: string
  /** Whether the first feed takes listings over from the other one. */
  isRanked: boolean
  service: {
    refusedConnection: number
    lost: number
    /** Updates alone that get lost. */
    updatesLost: number
    failure: number
    tooMany: number
    html: number
    refusal: number
    credentials: number
    /** Walks over the pages of which one page can't be had. */
    brokenPage: number
    /** Of the calls that were perhaps carried out, how many were, and how many are only later. */
    carriedOut: number
    late: number
    partialDelete: number
    updateCountsChanges: boolean
    updateRefusesNoMatch: boolean
    clear: 'empty' | 'omit'
    pageSize: number
    afterLastPage: 'empty' | 'repeat' | 'refuse'
    order: 'id' | 'newest' | 'shifting'
    virtualCount: 'total' | 'page' | 'none'
    lookUp: 'exact' | 'ignored' | 'part'
    maxKeys: number
    spelling: 'as-sent' | 'escaped'
    glitch: number
  }
  feed: {
    change: number
    /** Deliveries before which nothing changes. */
    still: number
    /** Listings of which a call may still land, and which the source puts in or takes out in the meantime. */
    flip: number
    /** Deliveries that lack most of the listings. */
    sweep: number
    removal: number
    filtered: number
    reject: number
    unreadable: number
    twice: number
    twiceDiffering: number
    cut: number
    empty: number
    mapping: number
    /** Records that tell only a new price. */
    partial: number
    /** Deliveries before which MLSNumbers are spelled otherwise. */
    respelled: number
    /** Documents without an end mark that are cut between two records; 0: all documents show their end. */
    unframed: number
    /** Whether a delivery tells only what changed since the last one, and whether it has an ETag. */
    delta: boolean
    validators: boolean
  }
  /** `remake`: some of ours at once are deleted and made anew by hand. */
  human: { edit: number; remove: number; make: number; double: number; remake: number }
  /** Whether runs follow each other closely, so that the next one comes while calls without answer may still land. */
  brisk: boolean
  /** Rounds after which a day or more passes. */
  days: number
  crash: number
  /** Of the kills, how many are power cuts. */
  power: number
  stop: number
  /** A second run of the same feed is begun while one is under way. */
  second: number
  lostStore: number
  dryRun: number
  approve: number
  /** Of the tables of mishaps, by name. */
  mishaps: Shares
}

const someDay = '2026-11-21T12:00:00Z'
/** Before the clocks change, here and elsewhere, and before a year ends. */
const oddDays = ['2026-10-24T22:00:00Z', '2026-10-31T23:00:00Z', '2027-03-13T20:00:00Z', '2026-12-31T09:00:00Z']

export function drawSwarm(choices: Choices): Swarm {
  const some = (name: string, ...shares: number[]): number => choices.pick(`swarm ${name}`, [0, 0, ...shares])
  const yes = (name: string): boolean => choices.unit(`swarm ${name}`) < 0.3
  const ownership = choices.pick('swarm ownership', ['tag', 'tag', 'tag', 'snapshot', 'snapshot', 'mirror'] as const)
  const marks = ownership !== 'snapshot'
  // In their crowded lists more happens within a run than elsewhere: they are played by themselves.
  const observe = inEach.has(seldomListed) ? choices.pick(`swarm ${seldomListed}`, [hour, 6 * hour, 24 * hour]) : 0
  return {
    observe,
    ownership,
    drift: choices.pick('swarm drift', ['overwrite', 'overwrite', 'overwrite', 'keep', 'report'] as const),
    grace: choices.pick('swarm grace', [1, 1, 2, 3]),
    // A chatbot that belongs to one feed alone has no other.
    twoFeeds: ownership !== 'mirror' && choices.unit('swarm twoFeeds') < 0.3,
    rate: choices.pick('swarm rate', [Infinity, Infinity, 20, 5]),
    timezone: choices.pick('swarm timezone', ['UTC', 'UTC', 'America/Chicago', 'Europe/Berlin', 'Pacific/Auckland']),
    begins: choices.pick('swarm begins', [someDay, someDay, someDay, ...oddDays]),
    isRanked: yes('isRanked'),
    service: {
      refusedConnection: some('refusedConnection', 0.05, 0.2),
      lost: some('lost', 0.03, 0.1, 0.3),
      updatesLost: some('updatesLost', 0.2),
      failure: some('failure', 0.03, 0.1, 0.3),
      tooMany: some('tooMany', 0.05, 0.2),
      html: some('html', 0.03, 0.15),
      refusal: some('refusal', 0.05, 0.3),
      credentials: some('credentials', 0.01, 0.04),
      brokenPage: some('brokenPage', 0.2, 0.5),
      carriedOut: choices.pick('swarm carriedOut', [0, 0.5, 1]),
      late: some('late', 0.5, 0.9),
      partialDelete: some('partialDelete', 0.2, 0.5),
      updateCountsChanges: yes('updateCountsChanges'),
      updateRefusesNoMatch: yes('updateRefusesNoMatch'),
      clear: choices.pick('swarm clear', ['empty', 'omit'] as const),
      pageSize: choices.pick('swarm pageSize', observe > 0 ? [5, 6] : [5, 6, 100]),
      afterLastPage: choices.pick('swarm afterLastPage', ['empty', 'empty', 'repeat', 'refuse'] as const),
      order: choices.pick('swarm order', ['id', 'newest', 'shifting'] as const),
      virtualCount: choices.pick('swarm virtualCount', ['total', 'page', 'none'] as const),
      lookUp: choices.pick('swarm lookUp', ['exact', 'ignored', 'part'] as const),
      maxKeys: choices.pick('swarm maxKeys', [50, 2, 1]),
      spelling: choices.pick('swarm spelling', ['as-sent', 'escaped'] as const),
      // Absence that a list shows wrongly makes a row without mark nobody's: only the mark finds it again.
      glitch: marks ? some('glitch', 0.1, 0.3) : 0,
    },
    feed: {
      change: choices.pick('swarm change', [0.05, 0.2, 0.5]),
      still: some('still', 0.5, 0.8),
      flip: some('flip', 0.3, 0.7),
      sweep: some('sweep', 0.2),
      removal: some('removal', 0.1, 0.3),
      filtered: some('filtered', 0.1),
      reject: some('reject', 0.1),
      unreadable: some('unreadable', 0.03),
      twice: some('twice', 0.1),
      twiceDiffering: some('twiceDiffering', 0.05),
      cut: some('cut', 0.1, 0.3),
      empty: some('empty', 0.1),
      mapping: some('mapping', 0.1),
      partial: some('partial', 0.3),
      respelled: drawShare(choices, 'feed spells MLSNumbers otherwise', [0, 0, 0.1]),
      unframed: drawShare(choices, 'a document without an end is cut at a line break', [0, 0, 0, 0.1, 0.3]),
      delta: drawShare(choices, 'the feed tells only what changed since the last delivery', [0, 0, 0, 0, 0, 1]) > 0,
      validators: drawShare(choices, 'the source has ETags', [0, 0, 1]) > 0,
    },
    human: {
      edit: some('edit', 0.2),
      remove: some('remove', 0.2),
      make: some('make', 0.2),
      double: some('double', 0.1, 0.3),
      remake: some('remake', 0.1),
    },
    brisk: yes('brisk'),
    days: some('days', 0.4, 0.8),
    crash: some('crash', 0.3, 0.7),
    power: some('power', 0.5),
    stop: some('stop', 0.15),
    second: some('second', 0.2),
    lostStore: marks ? some('lostStore', 0.15) : 0,
    dryRun: some('dryRun', 0.3),
    approve: some('approve', 0.5),
    mishaps: drawMishaps(choices, ownership),
  }
}

/**
 * The tables of mishaps. A store that was put back, and another program, are known by what the service shows: marks alone
 * tell whose that is.
 */
function drawMishaps(choices: Choices, ownership: Swarm['ownership']): Shares {
  const shares = drawShares(choices, [...serviceMishaps, ...between])
  const isKept = (name: string): boolean =>
    ownership !== 'snapshot' || !(name.includes('put back') || name.startsWith('another daemon'))
  return Object.fromEntries(Object.entries(shares).filter(([name]) => isKept(name)))
}

/** Everything switched off that goes wrong by itself; the service's answers to the open questions stay what they are. */
export function calmed(swarm: Swarm): Swarm {
  const zero = <Shares extends object>(shares: Shares): Shares =>
    Object.fromEntries(
      Object.entries(shares).map(([name, value]) => [name, typeof value === 'number' ? 0 : value]),
    ) as Shares
  const { pageSize, maxKeys } = swarm.service
  return {
    ...swarm,
    service: {
      ...zero(swarm.service),
      pageSize,
      maxKeys,
      order: swarm.service.order === 'shifting' ? 'id' : swarm.service.order,
    },
    feed: zero(swarm.feed),
    human: zero(swarm.human),
    days: 0,
    crash: 0,
    power: 0,
    stop: 0,
    second: 0,
    lostStore: 0,
    dryRun: 0,
    approve: 0,
    mishaps: {},
  }
}
