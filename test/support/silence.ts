/** When this process has nothing to do but wait for time, so that a clock of a test may jump. */
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextRound, setTimeout as delay } from 'node:timers/promises'

/** Calls of this process that have no answer yet. */
const calls = new Set<unknown>()
const nameOf = (message: unknown): unknown => (message as { request: unknown }).request
subscribe('undici:request:create', (message) => calls.add(nameOf(message)))
for (const end of ['trailers', 'error']) subscribe(`undici:request:${end}`, (message) => calls.delete(nameOf(message)))

/** Calls that a server of this process has taken and not answered: it hangs, or pauses. */
const taken = new Set<IncomingMessage>()
subscribe('http.server.request.start', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
  taken.add(request)
  response.once('finish', () => taken.delete(request)).once('close', () => taken.delete(request))
})

/** Real milliseconds between two looks, and how many in a row must find nothing. */
const look = 5
const looks = 4
/** So many where calls are on their way to a server that is not of this process, and might be answered. */
const looksAtStrangers = 400

/** What the event loop has had to do so far: sockets, files, threads. */
const events = (): number => performance.nodeTiming.uvMetricsInfo.events

/**
 * Resolves once nothing comes in any more and no call is on its way between this process and itself, however slow the
 * machine is: calls are only waited for that somebody is about to answer. Rejects with the signal's reason when aborted.
 */
export async function silence(signal?: AbortSignal): Promise<void> {
  for (let silent = 0; silent < (calls.size > taken.size ? looksAtStrangers : looks); silent++) {
    const before = events()
    await delay(look, undefined, { signal, ref: false })
    // What has arrived meanwhile is read first, and what comes of that.
    for (let round = 0; round < 5; round++) await nextRound()
    const isBusy = process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))
    if (events() !== before || isBusy) silent = -1
  }
}
