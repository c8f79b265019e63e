/** What is told of a feed, and how often. */
import { expect, test } from 'vitest'
import { eventNames, newsOf, nothingTold } from '../../src/notify/news.ts'
import type { Condition, EventName, Notified } from '../../src/notify/news.ts'

const hour = 3_600_000
const well = { failed: false, stale: false, good: true, held: [] }
const failing = { ...well, failed: true, good: false }

/** What a place hears over time: hours, how the feed is then. */
function heard(
  course: readonly (readonly [number, Partial<Condition>])[],
  on: readonly EventName[] = eventNames,
): string[] {
  let notified: Notified = nothingTold
  return course.flatMap(([hours, condition]) => {
    const step = newsOf(notified, { ...well, ...condition, at: hours * hour }, on)
    notified = step.after
    return step.news.map(({ event, is, since }) => `${hours}: ${event} ${is} since ${since / hour}`)
  })
}

test('trouble is told once, again after a day, and when it is over', () => {
  const course = [1, 2, 24, 25, 26, 48, 49].map((at) => [at, failing] as const)
  expect(heard([[0, well], ...course, [50, well], [51, well]])).toEqual([
    '1: failed new since 1',
    '25: failed reminder since 1',
    '49: failed reminder since 1',
    '50: recovered new since 1',
  ])
})

test('what was told as failed is not told as stale, too', () => {
  expect(
    heard([
      [1, failing],
      [4, { ...failing, stale: true }],
      [5, { failed: false, good: false, stale: true }],
    ]),
  ).toEqual(['1: failed new since 1'])
  expect(
    heard([
      [1, { good: false, stale: true }],
      [2, { good: false, stale: true }],
      [3, well],
    ]),
  ).toEqual(['1: stale new since 1', '3: recovered new since 1'])
})

test('a run that is neither good nor failed ends no trouble', () => {
  expect(
    heard([
      [1, failing],
      [2, { good: false }],
      [3, well],
    ]),
  ).toEqual(['1: failed new since 1', '3: recovered new since 1'])
})

test('a reminder tells how it is now: runs that fail no more are not said to fail', () => {
  const incomplete = { ...well, good: false }
  const course = [
    [1, failing],
    [2, incomplete],
    [26, incomplete],
  ] as const
  expect(heard([...course, [27, { ...incomplete, stale: true }], [28, well]])).toEqual([
    '1: failed new since 1',
    '27: stale reminder since 1',
    '28: recovered new since 1',
  ])
  expect(heard([...course, [27, failing]])).toEqual(['1: failed new since 1', '27: failed reminder since 1'])
  const stale = { ...incomplete, stale: true }
  // Only a look from time to time knows that a feed is stale; the end of a run does not.
  const messages = ['1: stale new since 1', '26: stale reminder since 1']
  expect(
    heard([
      [1, stale],
      [25, failing],
      [26, { ...failing, stale: true }],
    ]),
  ).toEqual(messages)
})

test('what was told while the clock was years ahead keeps nobody from being told now', () => {
  const years = 40_000
  const before = [
    [years, failing],
    [years + 1, { ...failing, held: ['leaving'] }],
    [years + 2, well],
  ] as const
  expect(heard([...before, [1, failing], [7, failing], [31, failing]]).slice(4)).toEqual([
    '7: failed new since 7',
    '31: failed reminder since 7',
  ])
  const held = { good: false, held: ['leaving'] }
  expect(
    heard([
      [years, held],
      [1, held],
      [26, held],
    ]),
  ).toEqual([`${years}: held new since ${years}`, '26: held reminder since 1'])
})

test('a feed that flaps every half hour is told a few times a day', () => {
  const course = Array.from({ length: 96 }, (_, half) => [half / 2, half % 2 === 0 ? failing : well] as const)
  const news = heard(course)
  expect(news.filter((line) => line.includes('failed new'))).toHaveLength(8)
  expect(news).toHaveLength(16)
})

test('another failure is told at once, though one was told of late; of many kinds only some', () => {
  const failingOf = (failure: string) => ({ ...failing, failure })
  const messages = heard([
    [1, failingOf('no file')],
    [2, well],
    [3, failingOf('403')],
    [4, well],
    [5, failingOf('no file')],
    [6, well],
    [7, failingOf('a')],
    [7.5, well],
    [8, failingOf('b')],
    [8.5, well],
  ])
  expect(messages.filter((line) => line.includes('new') && line.includes('failed'))).toEqual([
    '1: failed new since 1',
    '3: failed new since 3',
    '7: failed new since 7',
  ])
})

test('a hold is told at once, again after a day or for another rule, and when it is over', () => {
  const held = (...rules: string[]) => ({ good: true, held: rules })
  expect(
    heard([
      [1, held('leaving')],
      [2, held('leaving')],
      [3, held('facts', 'leaving')],
      [26, held('facts')],
      [27, held('facts')],
      [28, well],
    ]),
  ).toEqual(['1: held new since 1', '3: held new since 3', '27: held reminder since 1', '28: held over since 1'])
})

test('a hold that flaps is told again after six hours, that of another rule at once', () => {
  const held = (...rules: string[]) => ({ good: true, held: rules })
  const messages = heard([
    [1, held('leaving')],
    [2, well],
    [3, held('leaving')],
    [4, held('facts')],
    [5, well],
    [6, held('leaving')],
    [7, held('facts', 'leaving')],
    [8, well],
    [11, held('leaving')],
  ])
  expect(messages.filter((line) => line.includes('new'))).toEqual([
    '1: held new since 1',
    '4: held new since 4',
    '11: held new since 11',
  ])
})

test('a place hears what it asked for', () => {
  const course = [
    [1, failing],
    [2, { ...failing, stale: true, held: ['leaving'] }],
    [3, well],
  ] as const
  expect(heard(course, ['held'])).toEqual(['2: held new since 2', '3: held over since 2'])
  expect(heard(course, ['stale', 'recovered'])).toEqual(['2: stale new since 2', '3: recovered new since 2'])
  expect(heard(course, ['failed'])).toEqual(['1: failed new since 1'])
})
