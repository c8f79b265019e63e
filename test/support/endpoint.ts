import type { Clock } from '../../src/core/machine.ts'
import { Endpoint } from '../../src/service/client.ts'
import type { Send } from '../../src/service/send.ts'

/** An endpoint whose requests go to a function instead of a network. */
export function endpointOver(send: Send, settings: ConstructorParameters<typeof Endpoint>[0], clock: Clock): Endpoint {
  const stream = (): never => {
    throw new Error('nothing is streamed here')
  }
  return new Endpoint(settings, clock, async () => ({ send, stream, rest: () => {}, close: async () => {} }))
}
