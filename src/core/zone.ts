/** What the clocks and calendars of a time zone (IANA name) say at an instant, in milliseconds. */
const clocks = new Map<string, Intl.DateTimeFormat>()
const calendars = new Map<string, Intl.DateTimeFormat>()

/** Milliseconds that the clocks of a zone are ahead of UTC. Throws `RangeError` for a zone that is none. */
export function offsetAt(instant: number, timezone: string): number {
  let clock = clocks.get(timezone)
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    })
    clocks.set(timezone, clock)
  }
  const part: Record<string, number> = {}
  for (const { type, value } of clock.formatToParts(instant)) part[type] = Number(value)
  return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute) - Math.floor(instant / 60_000) * 60_000
}

/** The day (YYYY-MM-DD) that it is in a zone. Throws `RangeError` for a zone that is none. */
export function dayIn(timezone: string, now: number): string {
  let calendar = calendars.get(timezone)
  if (calendar === undefined) {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
    calendar = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, ...parts })
    calendars.set(timezone, calendar)
  }
  return calendar.format(now)
}
