import { expect, test } from 'vitest'
import { dayIn, minuteIn, offsetAt } from '../../src/core/zone.ts'

test('UTC, which is told without Intl, is told as by Intl', () => {
  const instants = [
    0,
    -1,
    86_399_999,
    951_782_400_000,
    Date.UTC(1970, 0, 1, 23, 59),
    Date.UTC(2025, 3, 3, 2),
    253_402_300_799_999,
  ]
  for (const instant of instants) {
    expect(minuteIn('UTC', instant)).toBe(minuteIn('Etc/GMT', instant))
    expect(dayIn('UTC', instant)).toBe(dayIn('Etc/GMT', instant))
    expect(offsetAt(instant, 'UTC')).toBe(offsetAt(instant, 'Etc/GMT'))
  }
  expect(minuteIn('UTC', Date.UTC(2025, 3, 3, 2))).toBe('Thu 3 Apr 02:00')
})

test('what is no instant is none in UTC either', () => {
  for (const tell of [minuteIn, dayIn, (zone: string, at: number) => offsetAt(at, zone)])
    for (const none of [NaN, Infinity, 8.64e15 + 1]) expect(() => tell('UTC', none)).toThrow(RangeError)
})
