import type { Clock } from '../core/machine.ts'
import { createExchange } from '../feed/api/exchange.ts'
import { Allowance, Gate } from '../feed/api/gate.ts'
import type { ResoSettings } from '../feed/api/settings.ts'
import { vendorOf } from '../feed/api/vendors.ts'
import type { Doors } from './doors.ts'

export type Gates = ReturnType<typeof createGates>

/** Most bytes of one answer of a live source, unpacked. */
const maxAnswerBytes = 256 * 1024 * 1024

/**
 * The ways to live sources. Feeds with the same credentials share what the vendor allows, as the vendor counts them together,
 * whichever of its roots they read.
 */
export function createGates(clock: Clock, { learn }: Pick<Doors, 'learn'>) {
  const { exchange, close } = createExchange(maxAnswerBytes)
  const gates = new Map<string, Gate>()
  const allowances = new Map<string, Allowance>()
  return {
    of(settings: ResoSettings): Gate {
      const { reso, vendor, auth } = settings
      const known = JSON.stringify([new URL(reso).origin, vendor, auth])
      const allowance = allowances.get(known) ?? new Allowance(vendorOf(vendor).limits, clock)
      allowances.set(known, allowance)
      const key = JSON.stringify([reso, known])
      const gate = gates.get(key) ?? new Gate(settings, { exchange, clock, allowance, learn })
      gates.set(key, gate)
      return gate
    },
    close,
  }
}
