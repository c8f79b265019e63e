/** A client and an API of a vendor in one process, on a clock that only waiting moves. */
import { FeedError } from '../../../src/core/errors.ts'
import type { Clock } from '../../../src/core/machine.ts'
import { Lost } from '../../../src/feed/api/exchange.ts'
import type { Exchange } from '../../../src/feed/api/exchange.ts'
import { Allowance, Gate } from '../../../src/feed/api/gate.ts'
import { overlaid } from '../../../src/feed/api/mirror.ts'
import type { Mirror } from '../../../src/feed/api/mirror.ts'
import { unpacked } from '../../../src/feed/api/record.ts'
import type { ResoSettings } from '../../../src/feed/api/settings.ts'
import { refresh } from '../../../src/feed/api/source.ts'
import type { Refreshed } from '../../../src/feed/api/source.ts'
import { vendorOf } from '../../../src/feed/api/vendors.ts'
import { profiles } from '../../../src/stand-in/reso/profiles.ts'
import type { ProfileName } from '../../../src/stand-in/reso/profiles.ts'
import { ResoWorld } from '../../../src/stand-in/reso/world.ts'
import type { ResoOptions } from '../../../src/stand-in/reso/world.ts'

export const token = 'static-token-of-the-test-7f3a'
export const secret = 'client-secret-of-the-test-91bc'
export const root = 'http://reso.invalid/odata'

export class Time implements Clock {
  at = Date.UTC(2026, 10, 1, 6)
  /** All that was waited for, in milliseconds. */
  waited = 0

  now(): number {
    return this.at
  }

  async sleep(milliseconds: number): Promise<void> {
    this.at += milliseconds
    this.waited += milliseconds
  }

  pass(milliseconds: number): void {
    this.at += milliseconds
  }
}

export const emptyMirror = (): Mirror =>
  overlaid({ progress: async () => null, stamps: async () => new Map(), rows: async function* () {} })

export function settingsFor(vendor: ProfileName, changes: Partial<ResoSettings> = {}): ResoSettings {
  const isClient = profiles[vendor].token !== null
  return {
    reso: root,
    vendor,
    auth: isClient
      ? { clientId: 'client', clientSecret: secret, tokenUrl: `http://reso.invalid${profiles[vendor].token?.path}` }
      : { token },
    ...(profiles[vendor].needs !== null && { filter: "OriginatingSystemName eq 'actris'" }),
    keys: 86_400_000,
    ...changes,
  }
}

/** `latency`: milliseconds that each answer takes. */
export function exchangeOf(world: ResoWorld, time: Time, latency = 20): Exchange {
  let asked = 0
  return async ({ method, url, headers, body = '' }) => {
    if (++asked > 20_000) throw new Error(`a run without an end: ${decodeURIComponent(url.href)}`)
    const answer = world.answer({ method, url: url.pathname + url.search, headers, body })
    time.pass(latency)
    if (answer.cutAt !== undefined) throw new Lost('ECONNRESET')
    const named = Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), value])
    return { status: answer.status, headers: Object.fromEntries(named), body: answer.body, size: answer.body.length }
  }
}

export interface Ran {
  result: Refreshed | null
  /** Of a run that ended with an error, or of a walk that proves nothing. */
  reasons: string[]
}

export class Bench {
  readonly time = new Time()
  readonly world: ResoWorld
  mirror: Mirror = emptyMirror()
  settings: ResoSettings
  gate: Gate
  /** Everything that was said, in errors, notes and reasons. */
  readonly said: string[] = []
  readonly learnt: string[] = []
  top: number | undefined
  /** Whether many changes make a walk due, which would find what reading the changes missed. */
  walksByChanges = false

  constructor(vendor: ProfileName, options: Partial<ResoOptions> = {}, changes: Partial<ResoSettings> = {}) {
    this.world = new ResoWorld({
      vendor,
      now: () => this.time.now(),
      token,
      client: { id: 'client', secret },
      ...options,
    })
    this.settings = settingsFor(vendor, changes)
    this.gate = this.newGate()
  }

  newGate(): Gate {
    const learn = (found: readonly string[]): void => void this.learnt.push(...found)
    const allowance = new Allowance(vendorOf(this.settings.vendor).limits, this.time)
    return new Gate(this.settings, { exchange: exchangeOf(this.world, this.time), clock: this.time, allowance, learn })
  }

  /** One run: what it accepted is remembered as a run that carried all out remembers it. */
  async run({ isWaiting = false, mirror = this.mirror, signal = new AbortController().signal } = {}): Promise<Ran> {
    const options = {
      signal,
      clock: this.time,
      isWaiting,
      progress: () => undefined,
      ...(this.top !== undefined && { top: this.top }),
    }
    try {
      const result = await refresh(this.settings, this.gate, mirror, options)
      const { reasons } = result.opened.end()
      this.said.push(...reasons, ...result.notes)
      const { walkedKeys, ...carriedOut } = result.carriedOut
      if (reasons.length === 0) await mirror.keep([], { ...carriedOut, ...(this.walksByChanges && { walkedKeys }) })
      return { result, reasons }
    } catch (error) {
      if (!(error instanceof FeedError)) throw error
      this.said.push(error.message)
      return { result: null, reasons: [error.message] }
    }
  }

  /** What is kept, by key. */
  async kept(mirror = this.mirror): Promise<Map<string, Record<string, unknown>>> {
    const found = new Map<string, Record<string, unknown>>()
    for await (const page of mirror.rows())
      for (const record of page) found.set(record.key, JSON.parse(unpacked(record).toString()))
    return found
  }

  /** The same without records that may not be seen. */
  async shown(mirror = this.mirror): Promise<Map<string, Record<string, unknown>>> {
    return new Map([...(await this.kept(mirror))].filter(([, { MlgCanView }]) => MlgCanView !== false))
  }
}
