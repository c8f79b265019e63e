/** Clock and calendar of an IANA time zone; instants are milliseconds since the epoch. */

/** UTC needs no `Intl`, whose first formatter takes longer than all else in most commands. */
const isUtc = (timezone: string, instant: number): boolean => timezone === 'UTC' && Math.abs(instant) <= 8.64e15

/** Keeps a formatter for each zone: making one takes as long as many uses of it. */
function perZone(locale: string, options: Intl.DateTimeFormatOptions): (timezone: string) => Intl.DateTimeFormat {
  const made = new Map<string, Intl.DateTimeFormat>()
  return (timezone) => {
    const formatter = made.get(timezone) ?? new Intl.DateTimeFormat(locale, { timeZone: timezone, ...options })
    made.set(timezone, formatter)
    return formatter
  }
}

const clock = perZone('en-US', {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
})
const wordsOfMinute = { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const
const minute = perZone('en-US', { hourCycle: 'h23', ...wordsOfMinute })
const calendar = perZone('en-CA', { year: 'numeric', month: '2-digit', day: '2-digit' })

/** How far a zone is ahead of UTC, in milliseconds. Throws `RangeError` for an unknown zone. */
export function offsetAt(instant: number, timezone: string): number {
  if (isUtc(timezone, instant)) return 0
  const part: Record<string, number> = {}
  for (const { type, value } of clock(timezone).formatToParts(instant)) part[type] = Number(value)
  return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute) - Math.floor(instant / 60_000) * 60_000
}

/** The instant at which the clocks of a zone show what UTC shows at `shown`. Throws `RangeError` for an unknown zone. */
export function instantShown(shown: number, timezone: string): number {
  // The first guess may lie on the other side of a clock change; the second is right.
  return shown - offsetAt(shown - offsetAt(shown, timezone), timezone)
}

/** Local time as "Thu 3 Apr 02:00". Throws `RangeError` for an unknown zone. */
export function minuteIn(timezone: string, instant: number): string {
  if (isUtc(timezone, instant)) {
    const [weekday, day, month, , time] = new Date(instant).toUTCString().split(' ')
    return `${weekday.slice(0, 3)} ${Number(day)} ${month} ${time.slice(0, 5)}`
  }
  const part = Object.fromEntries(
    minute(timezone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  )
  return `${part['weekday']} ${part['day']} ${part['month']} ${part['hour']}:${part['minute']}`
}

/** The local day (YYYY-MM-DD). Throws `RangeError` for an unknown zone. */
export function dayIn(timezone: string, now: number): string {
  return isUtc(timezone, now) ? new Date(now).toISOString().slice(0, 10) : calendar(timezone).format(now)
}
