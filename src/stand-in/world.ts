import type { IncomingMessage, ServerResponse } from 'node:http'
import { Chatbots } from './chatbots.ts'
import { deliver } from './deliver.ts'
import { Refusal, refused } from './envelope.ts'
import type { Reply } from './envelope.ts'
import { Faults } from './faults.ts'
import type { Operation, StandInListing } from './fields.ts'
import { appendWrite, loadWorld } from './file.ts'
import { Journal } from './journal.ts'
import { Lag } from './lag.ts'
import { Messages } from './messages.ts'
import type { Call } from './call.ts'
import { profileSchema } from './profile.ts'
import type { StandInProfile, StandInProfileInput } from './profile.ts'
import { Rows } from './rows.ts'
import type { Row, RowChange } from './rows.ts'
import { carryOut } from './service.ts'
import type { StandInSettings } from './settings.ts'
import { parseJson, readBody, reset } from './wire.ts'
import type { Delay } from './wire.ts'

export interface WorldOptions extends Pick<StandInSettings, 'keys' | 'sessions' | 'files'> {
  profile: StandInProfileInput
  file: string | undefined
  keepRequests: number
  delay: Delay
  now: () => number
}

/** The state of the stand-in: rows, settings, fault rules, journal, and calls that take effect later. */
export class World {
  readonly rows: Rows
  readonly chatbots: Chatbots
  readonly faults = new Faults()
  readonly journal: Journal
  profile: StandInProfile
  readonly #options: WorldOptions
  readonly #lag = new Lag()
  readonly #rate = new RateLimit()
  readonly #messages = new Messages()
  #late: { call: Call; due: number }[] = []
  #requests = 0
  #loaded = false
  /** Number of the current request; null while somebody writes past the API. */
  #carrying: number | null = null

  constructor(options: WorldOptions) {
    this.#options = options
    this.profile = profileSchema.parse(options.profile)
    this.journal = new Journal(options.keepRequests)
    this.rows = new Rows((change) => this.#noteChange(change))
    this.chatbots = new Chatbots((serialNumber, settings) => {
      if (this.#loaded && options.file !== undefined) appendWrite(options.file, { serialNumber, settings })
    })
    if (options.file !== undefined) loadWorld(options.file, this.rows, this.chatbots)
    this.#loaded = true
  }

  /** Handles one request, with its fault, if any. */
  async handle(operation: Operation, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization, 'chatrobot-sessionkey': session, 'content-type': contentType } = request.headers
    const sessionKey = Array.isArray(session) ? session.join() : session
    const note = (body: unknown, fault: string | null) =>
      this.journal.add({
        at: this.#options.now(),
        operation,
        body,
        authorization: Boolean(authorization),
        sessionKey: Boolean(sessionKey),
        fault,
      })
    const early = this.faults.beforeReading(operation)
    if (early) {
      note(undefined, early.name ?? early.fault.kind)
      return reset(response)
    }
    const bytes = await readBody(request)
    if (!bytes) return reset(response)
    const json = parseJson(bytes)
    const rule = this.faults.afterReading(operation, json)
    const entry = note(json, rule ? (rule.name ?? rule.fault.kind) : null)
    const number = ++this.#requests
    this.#land((due) => due < number)
    await deliver(rule?.fault ?? null, response, {
      call: { operation, request: number, authorization, sessionKey, contentType, json },
      version: this.profile.version,
      delay: this.#options.delay,
      carryOut: (call) => {
        const reply = this.#rate.check(this.profile, this.#options.now()) ?? this.#carryOut(call)
        entry.success = reply.body.Success
        return reply
      },
      carryOutLater: (call, requests) => this.#late.push({ call, due: number + requests }),
    })
  }

  /** Carries out every late call now; returns their number. */
  landLateCalls(): number {
    return this.#land(() => true)
  }

  seed(serialNumber: string, listings: readonly StandInListing[]): Row[] {
    return listings.map((listing) => this.rows.insert(serialNumber, listing, this.profile.createdIdentifier))
  }

  /** As a person in the service's own pages would. Gives the number of rows touched. */
  edit(serialNumber: string, mlsNumber: string, patch: Partial<StandInListing>): number {
    const found = this.rows.find(serialNumber, 'MLSNumber', mlsNumber, false)
    for (const row of found) {
      const listing: StandInListing = { ...row.listing, ...patch }
      for (const [name, value] of Object.entries(patch)) if (value === undefined) Reflect.deleteProperty(listing, name)
      this.rows.replace(serialNumber, row, listing)
    }
    return found.length
  }

  /** As a person in the service's own pages would. Gives the number of rows removed. */
  remove(serialNumber: string, mlsNumber: string): number {
    const found = this.rows.find(serialNumber, 'MLSNumber', mlsNumber, false)
    for (const row of found) this.rows.remove(serialNumber, row)
    return found.length
  }

  #land(isDue: (due: number) => boolean): number {
    const landing = this.#late.filter(({ due }) => isDue(due))
    this.#late = this.#late.filter(({ due }) => !isDue(due))
    for (const { call } of landing) this.#carryOut({ ...call, request: this.#requests })
    return landing.length
  }

  #carryOut(call: Call): Reply {
    this.#carrying = call.request
    try {
      const { keys, sessions, files, now } = this.#options
      const { rows, chatbots, profile } = this
      const service = { rows, chatbots, lag: this.#lag, messages: this.#messages, keys, sessions, files, profile, now }
      return carryOut(call, service)
    } finally {
      this.#carrying = null
    }
  }

  #noteChange(change: RowChange): void {
    if (!this.#loaded) return
    const { serialNumber, id, row } = change
    if (this.#options.file !== undefined) appendWrite(this.#options.file, { serialNumber, id, row })
    if (this.#carrying === null) this.#lag.settle(change)
    else {
      const longest = Math.max(this.profile.listLag, this.profile.answerLag ?? 0)
      if (longest > 0) this.#lag.note(change, this.#carrying, longest)
    }
  }
}

/** Counts the calls let through within the last second. */
class RateLimit {
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
      // An HTTP date has whole seconds: the second after next is at least one second away.
      date: { 'retry-after': new Date(Math.ceil(now / 1000) * 1000 + 1000).toUTCString() },
      none: {},
    }
    return refused(new Refusal('rate', 'Too many requests', headers[retryAfter]), profile)
  }
}
