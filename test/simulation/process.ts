/** One life of the program: its ports, each of which may be the last thing it ever does. */
import { ServiceError } from '../../src/core/errors.ts'
import type { Clock } from '../../src/core/machine.ts'
import type { Send, SendResponse } from '../../src/service/send.ts'
import type { Lease, Store } from '../../src/store/store.ts'
import type { ModelService } from './service.ts'
import type { VirtualTime } from './time.ts'
import { Violation } from './world.ts'

/** What a killed process sees, if it sees anything. */
class Killed extends Error {
  override name = 'Killed'
}

const writes: ReadonlySet<string> = new Set<keyof Store>([
  'markInFlight',
  'clearFlight',
  'endFlight',
  'countDelete',
  'confirm',
  'forget',
  'refuse',
  'touch',
  'firstSight',
  'steady',
  'noteAbsences',
  'pruneAbsences',
  'recordRun',
  'recordDelivery',
  'recordLost',
  'reportEcho',
  'replaceHeld',
  'consumeApproval',
  'learn',
])

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
  readonly signal = new AbortController()

  constructor(
    time: VirtualTime,
    fate: { diesAt?: number; stopsAt?: number; dry?: boolean; tick?: (points: number) => boolean } = {},
  ) {
    this.#time = time
    this.#diesAt = fate.diesAt ?? null
    this.#stopsAt = fate.stopsAt ?? null
    this.#dry = fate.dry ?? false
    this.#tick = fate.tick ?? (() => false)
  }

  get clock(): Clock {
    return {
      now: () => {
        this.#mustLive()
        return this.#time.now
      },
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
    const wrapped: Record<string, unknown> = {}
    for (const [name, method] of Object.entries(store) as [string, (...values: unknown[]) => unknown][]) {
      wrapped[name] = (...values: unknown[]) => {
        this.#mustLive()
        if (this.#dry && (name === 'lease' || writes.has(name))) throw new Violation(`6: a dry run called ${name}`)
        if (name === 'lease') return this.#lease(store, values)
        if (!writes.has(name)) return method(...values)
        this.#point()
        const value = method(...values)
        this.#point()
        return value
      }
    }
    return wrapped as unknown as Store
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
  bury(): void {
    this.alive = false
    for (const lease of this.#leases) lease.release()
  }

  #lease(store: Store, values: unknown[]): Lease {
    const lease = store.lease(...(values as Parameters<Store['lease']>))
    this.#leases.push(lease)
    return { ...lease, release: () => this.alive && lease.release() }
  }

  #mustLive(): void {
    if (!this.alive) throw new Killed('the process is dead')
  }

  #point(): void {
    this.#mustLive()
    this.#points++
    if (this.#points === this.#stopsAt) this.signal.abort(new Error('stop'))
    if (!this.#tick(this.#points) && this.#points !== this.#diesAt) return
    this.alive = false
    throw new Killed('killed')
  }
}
