/** When a feed is due (docs/faults.md, F131): both changes of the clocks in four zones, minute by minute, on a manual clock. */
import { describe, expect, test } from 'vitest'
import { dueTimes } from '../../src/daemon/schedule.ts'

const minute = 60_000
const hour = 60 * minute

/**
 * The daemon checks every ten seconds; here every minute is enough. Returns the local times at which the schedule was due.
 */
function runs(expression: string, timezone: string, start: string, hours: number): string[] {
  const { within } = dueTimes({ expression, timezone })
  const shown = new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' })
  const from = Date.parse(start)
  const found: number[] = []
  for (let at = from; at < from + hours * hour; at += minute) if (within(at, at + minute)) found.push(at + minute)
  return found.map((at) => shown.format(at))
}

function gaps(expression: string, timezone: string, start: string, hours: number): number[] {
  const { within } = dueTimes({ expression, timezone })
  const from = Date.parse(start)
  const found: number[] = []
  for (let at = from; at < from + hours * hour; at += minute) if (within(at, at + minute)) found.push(at + minute)
  return [...new Set(found.slice(1).map((at, i) => (at - found[i]) / minute))]
}

/** Noon to noon around a change; São Paulo, whose clocks are no longer changed, had it at midnight. */
const springs = [
  ['America/Chicago', '2026-03-07T18:00Z', '15 2 * * *', '2026-03-08 03:00'],
  ['Europe/Berlin', '2026-03-28T11:00Z', '15 2 * * *', '2026-03-29 03:00'],
  ['Australia/Lord_Howe', '2026-10-03T01:30Z', '15 2 * * *', '2026-10-04 02:30'],
  ['America/Sao_Paulo', '2018-11-03T15:00Z', '15 0 * * *', '2018-11-04 01:00'],
] as const

const falls = [
  ['America/Chicago', '2026-10-31T17:00Z', '15 1 * * *', '2026-11-01 01:15'],
  ['Europe/Berlin', '2026-10-24T10:00Z', '15 2 * * *', '2026-10-25 02:15'],
  ['Australia/Lord_Howe', '2026-04-04T01:00Z', '45 1 * * *', '2026-04-05 01:45'],
  ['America/Sao_Paulo', '2018-02-17T14:00Z', '30 23 * * *', '2018-02-17 23:30'],
] as const

describe('the clocks are put on', () => {
  test.each(springs)(
    '%s from %s: %s is made up for at the end of the gap, once',
    (zone, start, expression, expected) => {
      expect(runs(expression, zone, start, 24)).toEqual([expected])
      // In the days after it is due at its hour again.
      expect(runs(expression, zone, start, 72)).toHaveLength(3)
    },
  )

  test.each(springs)('%s from %s: what is every half hour stays so', (zone, start) => {
    expect(gaps('*/30 * * * *', zone, start, 24)).toEqual([30])
    expect(gaps('* * * * *', zone, start, 24)).toEqual([1])
  })

  test('several times in the gap are one run', () => {
    expect(runs('0,15,30 2 * * *', 'Europe/Berlin', '2026-03-28T11:00Z', 24)).toEqual(['2026-03-29 03:00'])
  })
})

describe('the clocks are put back', () => {
  test.each(falls)('%s from %s: %s is due the first time only', (zone, start, expression, expected) => {
    expect(runs(expression, zone, start, 25)).toEqual([expected])
    expect(runs(expression, zone, start, 72)).toHaveLength(3)
  })

  test.each(falls)('%s from %s: what is every half hour stays so', (zone, start) => {
    expect(gaps('*/30 * * * *', zone, start, 25)).toEqual([30])
    expect(gaps('* * * * *', zone, start, 25)).toEqual([1])
  })
})

test('a zone that leaves out a whole day leaves out no run', () => {
  // Samoa went from the 29th to the 31st of December 2011.
  expect(runs('0 6 * * *', 'Pacific/Apia', '2011-12-29T12:00Z', 48)).toEqual([
    '2011-12-29 06:00',
    '2011-12-31 00:00',
    '2011-12-31 06:00',
  ])
})

test('days, weekdays and seconds are those of the zone', () => {
  expect(runs('30 23 28-31 * *', 'Asia/Tokyo', '2026-02-25T00:00Z', 24 * 7)).toEqual(['2026-02-28 23:30'])
  expect(runs('0 1 * * mon', 'America/Chicago', '2026-11-19T00:00Z', 24 * 7)).toEqual(['2026-11-23 01:00'])
  expect(runs('0 1 L * *', 'UTC', '2026-11-19T00:00Z', 24 * 14)).toEqual(['2026-11-30 01:00'])
  const { count, bySecond } = dueTimes({ expression: '*/15 * * * * *', timezone: 'UTC' })
  const from = Date.parse('2026-11-21T12:00:00Z')
  expect([bySecond, count(from, from + minute, 99), count(from, from + 14_999, 99)]).toEqual([true, 4, 0])
})

test('what was missed while nobody looked is found, however long ago', () => {
  const { within, count } = dueTimes({ expression: '0 3 1 * *', timezone: 'UTC' })
  const [from, to] = [Date.parse('2026-08-01T03:00Z'), Date.parse('2026-11-21T12:00Z')]
  expect(count(from, to, 99)).toBe(3)
  expect(count(from, to, 2)).toBe(2)
  expect(within(Date.parse('2026-11-01T03:00Z'), to)).toBe(false)
  expect(within(Date.parse('2020-01-01T00:00Z'), to)).toBe(true)
})
