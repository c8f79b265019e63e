import type { CallLimiter } from '../core/limiter.ts'
import type { Clock } from '../core/machine.ts'
import { SharedLimiter } from '../core/shared-limiter.ts'
import { storeKind } from './adapters.ts'
import type { StoreKind } from './adapters.ts'

type OpenPace = NonNullable<StoreKind['openPace']>

/** Limiters of services that all processes on the store share. `store`: its address. */
export function createLimiters(store: string, clock: Clock) {
  const paces = new Map<string, ReturnType<OpenPace>>()
  return {
    /** The shared limiter of a service at an address; undefined: this process has its services alone. */
    of(baseUrl: string, rate: number): CallLimiter | undefined {
      const kind = storeKind(store)
      if (kind.openPace === undefined) return undefined
      return new SharedLimiter(clock, rate, () => {
        const pace = paces.get(baseUrl) ?? kind.openPace!(store, baseUrl)
        paces.set(baseUrl, pace)
        return pace
      })
    },
    async close(): Promise<void> {
      await Promise.all(Array.from(paces.values(), async (pace) => (await pace).close()))
    },
  }
}
