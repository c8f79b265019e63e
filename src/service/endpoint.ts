/** One service as all who call it share it: its connections, its pace, and the page size that it takes. */
import type { Clock } from '../core/machine.ts'
import { Limiter } from './limiter.ts'
import type { Connections } from './send.ts'
import type { ServiceSettings } from './settings-file.ts'

export class Endpoint {
  readonly limiter: Limiter
  /** The PageSize that it took after it had refused a larger one. */
  pageSize = Infinity
  readonly #open: () => Promise<Connections>
  #connections: Promise<Connections> | null = null

  /**
   * The network's library is loaded with the first call: it leaves something in the process's globals, and importing a
   * client should not.
   */
  constructor(
    { baseUrl, rate, concurrency }: Pick<ServiceSettings, 'baseUrl' | 'rate' | 'concurrency'>,
    clock: Clock,
    open = async (): Promise<Connections> => (await import('./send.ts')).openConnections(baseUrl, concurrency, clock),
  ) {
    this.limiter = new Limiter(clock, rate, concurrency)
    this.#open = open
  }

  connect(): Promise<Connections> {
    return (this.#connections ??= this.#open())
  }

  /** Closes the connections; calls under way are lost. */
  async close(): Promise<void> {
    const open = this.#connections
    this.#connections = null
    await (await open)?.close()
  }
}
