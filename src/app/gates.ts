import type { Clock } from '../core/machine.ts'
import { createExchange } from '../feed/api/exchange.ts'
import { Gate } from '../feed/api/gate.ts'
import type { ResoSettings } from '../feed/api/settings.ts'
import type { Doors } from './doors.ts'

export type Gates = ReturnType<typeof createGates>

/** Most bytes of one answer of a live source, unpacked. */
const maxAnswerBytes = 256 * 1024 * 1024

/** The ways to live sources: one for all feeds with the same credentials, as the vendor counts them together. */
export function createGates(clock: Clock, { learn }: Pick<Doors, 'learn'>) {
  const { exchange, close } = createExchange(maxAnswerBytes)
  const gates = new Map<string, Gate>()
  return {
    of(settings: ResoSettings): Gate {
      const { reso, vendor, auth } = settings
      const key = JSON.stringify([reso, vendor, auth])
      const gate = gates.get(key) ?? new Gate(settings, { exchange, clock, learn })
      gates.set(key, gate)
      return gate
    },
    close,
  }
}
