/** One life of the program: its ports, each of which may be the last thing it ever does. */
import Database from 'better-sqlite3'
import { ServiceError, UserError } from '../../src/core/errors.ts'
import type { Clock } from '../../src/core/machine.ts'
import type { Send, SendResponse } from '../../src/service/send.ts'
import { inStore } from '../../src/store/failure.ts'
import type { Lease, Store, StoreReader } from '../../src/store/store.ts'
import type { ModelService } from './service.ts'
import type { VirtualTime } from './time.ts'
import { Violation } from './world.ts'

/** What a killed process sees, if it sees anything. */
class Killed extends Error {
  override name = 'Killed'
}

type Role = Exclude<keyof Store, 'isBehind' | 'lease' | 'close'>

/** Every method that writes, by its role: a new one does not compile until it is here. */
const writes: { [Name in Role]: Record<Exclude<keyof Store[Name], keyof StoreReader[Name]>, true> } = {
  snapshot: {
    confirm: true,
    forget: true,
    forgetIdentifier: true,
    refuse: true,
    touch: true,
    setBaselines: true,
  },
  ledger: { begin: true, noteMissing: true, end: true },
  history: { noteAbsences: true, pruneAbsences: true },
  holds: { replace: true, decide: true, use: true },
  runs: {
    begin: true,
    noteProgress: true,
    record: true,
    recordVerified: true,
    recordSettled: true,
    recordLost: true,
    noteTold: true,
    renew: true,
    noteStart: true,
    noteSteady: true,
  },
  deliveries: { record: true, notePending: true, prunePending: true, endPending: true },
  records: { begin: true, keep: true, drop: true },
  learnt: {
    setNumber: true,
    setKeys: true,
    setWriters: true,
    addForms: true,
    setSettings: true,
    applySettings: true,
    forgetSettings: true,
  },
  changes: { note: true },
}

/** Writes to the store that find no room, by number: the first of them, and the first one after. */
export interface Full {
  from: number
  until: number
}

/** A process that dies at its `diesAt`th point: before or after a write to the store, before or after a call goes out. */
export class Life {
  alive = true
  /** A write to the store is a fault. */
  readonly #dry: boolean
  #points = 0
  readonly #diesAt: number | null
  readonly #stopsAt: number | null
  /** Told the number of each point; whether the world lets the process die there. */
  readonly #tick: (points: number) => boolean
  readonly #time: VirtualTime
  readonly #leases: Lease[] = []
  readonly #full: Full | null
  #writes = 0
  readonly signal = new AbortController()

  constructor(
    time: VirtualTime,
    fate: { diesAt?: number; stopsAt?: number; dry?: boolean; full?: Full; tick?: (points: number) => boolean } = {},
  ) {
    this.#time = time
    this.#diesAt = fate.diesAt ?? null
    this.#stopsAt = fate.stopsAt ?? null
    this.#dry = fate.dry ?? false
    this.#full = fate.full ?? null
    this.#tick = fate.tick ?? (() => false)
  }

  get clock(): Clock {
    return {
      // What waits as it dies is woken once more, with nobody to catch what it throws; nothing comes of a look at the clock.
      now: () => this.#time.clock,
      sleep: (milliseconds, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason)
          const wake = (): void => {
            if (this.alive) reject(signal!.reason)
          }
          signal?.addEventListener('abort', wake, { once: true })
          this.#time.after(milliseconds, () => {
            signal?.removeEventListener('abort', wake)
            if (this.alive) resolve()
          })
        }),
    }
  }

  /** The store as this process has it. */
  store(store: Store): Store {
    const roles = Object.entries(writes).map(([role, names]) => [role, this.#role(role, store[role as Role], names)])
    return {
      ...store,
      ...Object.fromEntries(roles),
      lease: async (chatbot, now) => {
        this.#mustLive()
        this.#mustNotBeDry('lease')
        this.#mustHaveRoom()
        const lease = await store.lease(chatbot, now)
        this.#leases.push(lease)
        return { ...lease, release: async () => (this.alive ? lease.release() : undefined) }
      },
    }
  }

  /**
   * A role of it: each write is done as the program finds it, with a point before it, one while it may wait for the commit of
   * its group, and one after that.
   */
  #role(role: string, methods: object, writing: object): object {
    const entries = Object.entries(methods as Record<string, (...values: unknown[]) => unknown>)
    const wrapped = entries.map(([name, method]) => [
      name,
      (...values: unknown[]) => {
        this.#mustLive()
        if (!(name in writing)) return method(...values)
        this.#mustNotBeDry(`${role}.${name}`)
        this.#point()
        this.#mustHaveRoom()
        return this.#committed(method(...values))
      },
    ])
    return Object.fromEntries(wrapped)
  }

  async #committed(write: unknown): Promise<unknown> {
    this.#time.committing++
    const settled = Promise.resolve(write).finally(() => this.#time.committing--)
    // Dead, nobody asks any more what became of it.
    settled.catch(() => undefined)
    this.#point()
    const value = await settled
    this.#point()
    return value
  }

  /** A write to the store that a full disk refuses changes nothing. */
  #mustHaveRoom(): void {
    if (this.#full === null) return
    this.#writes++
    if (this.#writes < this.#full.from || this.#writes >= this.#full.until) return
    inStore(':memory:', () => {
      throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL')
    })
  }

  #mustNotBeDry(name: string): void {
    if (this.#dry) throw new Violation(`6: a dry run called ${name}`)
  }

  send(service: ModelService): Send {
    return ({ signal, ...request }) =>
      new Promise((resolve, reject) => {
        const interrupt = (): void => {
          if (this.alive) reject(new ServiceError('transient', 'The call was interrupted', { effect: 'unknown' }))
        }
        this.#point()
        service.receive({ ...request, signal }, (answer: SendResponse | ServiceError) => {
          signal?.removeEventListener('abort', interrupt)
          if (!this.alive) return
          if (answer instanceof Error) reject(answer)
          else resolve(answer)
        })
        if (signal?.aborted) interrupt()
        signal?.addEventListener('abort', interrupt, { once: true })
        this.#point()
      })
  }

  /** What the operating system does after a process is dead: its locks are free. */
  async bury(): Promise<void> {
    this.alive = false
    for (const lease of this.#leases) await lease.release()
  }

  #mustLive(): void {
    if (!this.alive) throw new Killed('the process is dead')
  }

  #point(): void {
    this.#mustLive()
    this.#points++
    if (this.#points === this.#stopsAt) this.signal.abort(new UserError('stopped by SIGTERM'))
    if (!this.#tick(this.#points) && this.#points !== this.#diesAt) return
    this.alive = false
    throw new Killed('killed')
  }
}
