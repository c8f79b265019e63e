import { Refusal, refused } from './envelope.ts'
import type { Reply } from './envelope.ts'
import type { StandInProfile } from './profile.ts'

/** Counts the calls let through in the window of one second that ends now (U15). */
export class RateLimit {
  #letThrough: number[] = []

  /** The refusal of one call too many, or null. `now` is in milliseconds since the epoch. */
  check(profile: StandInProfile, now: number): Reply | null {
    if (!profile.rateLimit) return null
    const { callsPerSecond, retryAfter } = profile.rateLimit
    this.#letThrough = this.#letThrough.filter((instant) => instant > now - 1000)
    if (this.#letThrough.length < callsPerSecond) {
      this.#letThrough.push(now)
      return null
    }
    const headers: Record<string, Record<string, string>> = {
      seconds: { 'retry-after': '1' },
      // An HTTP date has whole seconds: the next but one is at least one second away.
      date: { 'retry-after': new Date(Math.ceil(now / 1000) * 1000 + 1000).toUTCString() },
      none: {},
    }
    return refused(new Refusal('rate', 'Too many requests', headers[retryAfter]), profile)
  }
}
