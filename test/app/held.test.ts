import { expect, test } from 'vitest'
import { byListing, byRule, groupInWords, groupsOf, lineOf } from '../../src/app/held.ts'
import type { Approvable } from '../../src/app/held.ts'

const hour = 3_600_000
const monday = Date.parse('2025-03-31T00:00:00Z')
const feed = {
  name: 'north',
  timezone: 'UTC',
  plan: { limits: { confirm: 72 * hour } },
  mapping: { delivery: 'full' },
} as Parameters<typeof groupInWords>[2]

const held = (mlsNumber: string, about: Partial<Approvable> = {}): Approvable => ({
  mlsNumber,
  part: 'delete',
  why: 'gone from the feed',
  home: null,
  rules: ['leaving'],
  since: monday,
  clock: monday,
  decision: null,
  ...about,
})
const decided = (is: 'approved' | 'refused', by: string) => ({ decision: { is, by, at: monday } })

/** What is told at an hour after Monday. */
const linesOf = (all: Approvable[], at = 0): string[] =>
  byRule(all).map(([rules, group]) => groupInWords(rules, group, feed, monday + at * hour))

test('deletes of what a full delivery lacked are told to go with one, where a delta may come next', () => {
  const mirrored = { why: 'not in the feed, to which this chatbot belongs alone (ownership: mirror); held: …' }
  const stated = { why: 'the feed says aktionart DELETE; held: …' }
  const textOf = (...all: Approvable[]): string =>
    groupInWords(['leaving'], all, { ...feed, mapping: { ...feed.mapping, delivery: 'delta' } }, monday)
  expect(textOf(held('1'), held('2', mirrored))).toContain(
    'they go by themselves with the first full delivery from Thu 3 Apr 00:00 on, if it still says so',
  )
  expect(textOf(held('1'), held('2', stated))).toContain(
    'they go by themselves on Thu 3 Apr 00:00 if the feed still says so; deletes of what a full delivery lacked with a full one only',
  )
  expect(textOf(held('2', stated))).toContain('it goes by itself on Thu 3 Apr 00:00 if the feed still says so')
})

test('what is held is told with the end that it has', () => {
  const later = { since: monday + 24 * hour, clock: monday + 24 * hour }
  expect(linesOf([held('1')])).toEqual([
    '1 change held by leaving since Mon 31 Mar 00:00; it goes by itself on Thu 3 Apr 00:00 if the feed still says so',
  ])
  expect(linesOf([held('1'), held('2', later)])).toEqual([
    '2 changes held by leaving since Mon 31 Mar 00:00; they go by themselves from Thu 3 Apr 00:00 on, if the feed still says so',
  ])
  expect(linesOf([held('1', { rules: ['older'], clock: null })])).toEqual([
    '1 change held by older since Mon 31 Mar 00:00; it waits for you',
  ])
  expect(linesOf([held('1', { rules: ['chatbot'] }), held('2', { rules: ['chatbot'] })])).toEqual([
    '2 changes held by chatbot since Mon 31 Mar 00:00; they go by themselves once another complete list, an hour later or more, says the same; if the keys to the service were changed, they wait for you',
  ])
  expect(linesOf([held('1', { rules: ['arriving', 'chatbot'] })])).toEqual([
    '1 change held by arriving and chatbot since Mon 31 Mar 00:00; it goes by itself on Thu 3 Apr 00:00 if the feed still says so; if the keys to the service were changed, it waits for you',
  ])
})

test('of what was held before the guard was switched off, all goes with the next run but what was refused', () => {
  const off = { ...feed, plan: { ...feed.plan, limits: { ...feed.plan.limits, isOff: true } } }
  const end = (about: Partial<Approvable>): string => groupInWords(['leaving'], [held('1', about)], off, monday)
  const goes = 'it goes with the next complete delivery that still says so, as limits is off'
  expect(end({})).toBe(`1 change held by leaving since Mon 31 Mar 00:00; ${goes}`)
  expect(end(decided('refused', 'ann'))).toContain('only the feed or an approval ends it')
  expect(end({ rules: [], clock: null })).not.toContain('limits is off')
  const groups = groupsOf([held('1'), held('2', decided('refused', 'ann'))], off, monday, new Map())
  expect(groups).toMatchObject([
    { goesAt: null, asks: false, sentence: expect.stringContaining(goes) as string },
    { goesAt: null, asks: true, decision: 'refused' },
  ])
})

test('a listing of which several facts are held is one, with the end of each of them', () => {
  const later = { since: monday + 24 * hour, clock: monday + 24 * hour }
  const both = [
    held('1', { part: 'update class', rules: ['facts'], ...later }),
    held('1', { part: 'update price', rules: ['facts'] }),
  ]
  expect(linesOf(both)).toEqual([
    '1 change held by facts since Mon 31 Mar 00:00; it goes by itself from Thu 3 Apr 00:00 on, if the feed still says so',
  ])
  expect(linesOf(both.map((approvable) => ({ ...approvable, ...decided('refused', 'ann') })))).toEqual([
    '1 change held by facts since Mon 31 Mar 00:00; it was refused, so that only the feed or an approval ends it',
  ])
  expect(byListing(both).map((approvable) => lineOf(approvable, { locale: 'en-US', timezone: 'UTC' }))).toEqual([
    'update class, price 1: since Mon 31 Mar 00:00; gone from the feed',
  ])
})

test('of a listing that waits for a person nothing goes by itself, whatever else is held of it', () => {
  const price = { part: 'update price', rules: ['facts'] } as const
  const asked = held('1', { part: 'update', rules: ['unrecognisable'], clock: null })
  expect(linesOf([asked, held('1', { ...price, clock: null }), held('2', price)])).toEqual([
    '1 change held by unrecognisable since Mon 31 Mar 00:00; it waits for you',
    '1 change held by facts since Mon 31 Mar 00:00; it goes by itself on Thu 3 Apr 00:00 if the feed still says so',
  ])
  expect(
    linesOf([held('1', { ...price, clock: null }), held('2', { ...price, clock: null }), held('3', price)]),
  ).toEqual([
    '3 changes held by facts since Mon 31 Mar 00:00; they go by themselves on Thu 3 Apr 00:00 if the feed still says so, but for 2 that wait for you',
  ])
})

test('a time that is over is told by no date: the next complete delivery is what counts', () => {
  expect(linesOf([held('1')], 73)).toEqual([
    '1 change held by leaving since Mon 31 Mar 00:00; it goes by itself with the next complete delivery that still says so',
  ])
  expect(linesOf([held('1'), held('2', { clock: monday + 24 * hour })], 73)).toEqual([
    '2 changes held by leaving since Mon 31 Mar 00:00; they go by themselves from Thu 3 Apr 01:00 on, if the feed still says so',
  ])
})

test('what was refused, what was approved and what nobody decided are told apart', () => {
  const all = [
    held('1', decided('refused', 'ann')),
    held('2', decided('refused', 'ann')),
    held('3', { since: monday + 24 * hour, clock: monday + 24 * hour }),
    held('4', decided('approved', 'bob')),
    held('5', decided('approved', 'uid 12345')),
  ]
  expect(linesOf(all)).toEqual([
    '2 changes held by leaving since Mon 31 Mar 00:00; they were refused, so that only the feed or an approval ends them',
    '1 change held by leaving since Tue 1 Apr 00:00; it goes by itself on Fri 4 Apr 00:00 if the feed still says so',
    '2 changes held by leaving since Mon 31 Mar 00:00; approved by bob and uid 12345',
  ])
  expect(linesOf([held('1', { rules: ['chatbot'], ...decided('refused', 'ann') })])).toEqual([
    '1 change held by chatbot since Mon 31 Mar 00:00; it was refused, so that only the feed, a later list of the chatbot or an approval ends it',
  ])
})

test('of a whole large feed it is told, too', () => {
  expect(linesOf(Array.from({ length: 200_000 }, (_, i) => held(`${i}`)))).toEqual([
    '200000 changes held by leaving since Mon 31 Mar 00:00; they go by themselves on Thu 3 Apr 00:00 if the feed still says so',
  ])
})
