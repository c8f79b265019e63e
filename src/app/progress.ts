import { messageOf } from '../core/errors.ts'
import type { Runtime } from '../core/machine.ts'
import { many } from '../core/text.ts'
import type { Readers } from '../run/tools.ts'
import type { Channel } from './doors.ts'
import { underWay } from './log.ts'

/** Milliseconds between two notes of a run's progress, in the log (without a terminal) and in the store. */
const telling = 30_000

type Stage = Parameters<Readers['progress']>[0]

/** A line on a terminal, updated at most ten times a second; nothing elsewhere. */
export function progressLine(feed: string, stream: Channel): { show: Readers['progress']; end(): void } {
  let shown = ''
  let last = 0
  return {
    show(stage, done, total) {
      if (!stream.isTTY) return
      const now = performance.now()
      if (now - last < 100 && done !== total) return
      last = now
      shown = `${feed}: ${inWords(stage, done, total)}`
      stream.write(`\r\u001B[K${shown}`)
    },
    end() {
      if (shown !== '') stream.write('\r\u001B[K')
      shown = ''
    },
  }
}

/**
 * The progress of a run: the line on a terminal, elsewhere one in the log every 30 seconds, with the rate and the time left;
 * `tell` gets the same words as often, for `status`.
 */
export function progressOf(
  feed: string,
  stream: Channel,
  { clock, log }: Runtime,
  tell: (words: string) => Promise<void>,
): { show: Readers['progress']; end(): void } {
  const line = progressLine(feed, stream)
  let stage: Stage | null = null
  let begun = { at: 0, done: 0 }
  let shownAt = clock.now()
  let isTelling = false
  return {
    show(now, done, total) {
      line.show(now, done, total)
      const at = clock.now()
      if (stage !== now) [stage, begun] = [now, { at, done }]
      if (at - shownAt < telling) return
      shownAt = at
      const seconds = (at - begun.at) / 1000
      const perSecond = seconds > 0 ? (done - begun.done) / seconds : 0
      const left = total === null || perSecond <= 0 ? null : Math.ceil((total - done) / perSecond)
      const rate = { perSecond: Math.round(perSecond * 10) / 10, ...(left !== null && { secondsLeft: left }) }
      if (!stream.isTTY) log.info({ stage: now, done, ...(total !== null && { total }), ...rate }, underWay)
      if (isTelling) return
      isTelling = true
      const words = `${inWords(now, done, total)}${left === null ? '' : `, ${timeLeft(left)} left`}`
      tell(words)
        .catch((error: unknown) => log.debug({ problem: messageOf(error) }, 'could not note the progress'))
        .finally(() => (isTelling = false))
    },
    end: () => line.end(),
  }
}

function inWords(stage: Stage, done: number, total: number | null): string {
  const of = total === null ? '' : ` of ${total} (${total === 0 ? 100 : Math.floor((done / total) * 100)} %)`
  return {
    records: `${many(done, 'record')} read`,
    listings: `${many(done, 'listing')} listed`,
    changes: `${done}${of} ${(total ?? done) === 1 ? 'change' : 'changes'}`,
  }[stage]
}

function timeLeft(seconds: number): string {
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
