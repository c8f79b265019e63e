import type { StandInProfile } from './profile.ts'
import type { ChatbotSettings } from './setting-fields.ts'

/** The sender of a message, and the chatbot that gets it. */
type Sender = { serialNumber: string; sessionId: number }

/** Numbers the messages and applies the chatbot's limits. Starts again with each start of the stand-in. */
export class Messages {
  readonly #instants = new Map<string, number[]>()
  readonly #months = new Map<string, { month: string; count: number }>()
  #nextId = 1

  nextId(): number {
    return this.#nextId++
  }

  /**
   * Counts a message, or returns why it is refused: RateLimitCount within the last RateLimitTime seconds, MessageLimit in a
   * calendar month of UTC. Refused messages are not counted. `now` is in milliseconds since the epoch.
   */
  refusal(
    { serialNumber, sessionId }: Sender,
    settings: ChatbotSettings,
    profile: StandInProfile,
    now: number,
  ): string | null {
    const { RateLimitCount, RateLimitTime, RateLimitMessage, MessageLimit = -1 } = settings
    const counted = JSON.stringify(
      profile.messagesCountedPer === 'session' ? [serialNumber, sessionId] : [serialNumber],
    )
    const limited = RateLimitCount !== undefined && RateLimitTime !== undefined
    const since = now - (RateLimitTime ?? 0) * 1000
    const young = (this.#instants.get(counted) ?? []).filter((instant) => instant > since)
    if (limited && young.length >= RateLimitCount) return RateLimitMessage ?? 'Too many messages. Please wait a little.'
    const month = new Date(now).toISOString().slice(0, 7)
    const known = this.#months.get(serialNumber)
    const count = known?.month === month ? known.count : 0
    if (MessageLimit >= 0 && count >= MessageLimit) return 'The monthly message limit of this chatbot is reached.'
    if (limited) this.#instants.set(counted, [...young, now])
    this.#months.set(serialNumber, { month, count: count + 1 })
    return null
  }
}
