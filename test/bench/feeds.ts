/** Many feeds in one daemon: how soon it is ready, what it costs while nothing is due, and the memory of each more. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startDaemon } from './daemon.ts'
import { expected, figure, inFolder, median, writeFeed } from './measure.ts'
import { configure, feedOf, startService } from './world.ts'

const [, , , size, asked] = process.argv
const many = Number(size)
const few = Math.max(20, many / 20)
const rounds = Number(asked)
const idleSeconds = rounds === 1 ? 5 : 15

/** To be ended, whatever comes. */
const running: ReturnType<typeof startDaemon>[] = []
const service = await startService()
await inFolder(async (folder) => {
  const source = writeFeed(folder, 'xml', 10)
  const [one, some, all]: Figures[][] = [[], [], []]
  try {
    for (let round = 0; round < rounds; round++) {
      // One rests while the next starts.
      const first = await started(folder, `one-${round}`, source, 1)
      const second = await started(folder, `some-${round}`, source, few)
      const third = await started(folder, `all-${round}`, source, many)
      const measured = await Promise.all([first(), second(), third()])
      for (const [at, figures] of [one, some, all].entries()) figures.push(measured[at])
    }
  } finally {
    for (const daemon of running) await daemon.end()
  }
  const of = (figures: Figures[], which: keyof Figures): number => median(figures.map((each) => each[which]))
  const slope = (which: keyof Figures): number => (of(all, which) - of(some, which)) / (many - few) / 1024
  const most = (10 * of(one, 'ready') + 0.005 * many) / of(one, 'ready')
  figure('feeds', `daemon ready: ${many} feeds / one`, of(all, 'ready') / of(one, 'ready'), '×', {
    most: Math.round(most),
  })
  figure('feeds', `daemon of ${many} feeds: a core while idle`, of(all, 'idle') * 100, '%', { most: 1 })
  figure('feeds', `memory in use of each feed from ${few} to ${many}, idle`, slope('used'), 'kB', { most: 50 })
  figure('feeds', `the same, resident`, slope('resident'), 'kB')
  figure(
    'feeds',
    `daemon of ${many} feeds, first runs of 10 listings each`,
    of(all, 'peak') / 2 ** 20,
    'MB at the peak',
  )
})
await service.end()

interface Figures {
  /** Seconds until it is at work. */
  ready: number
  /** Seconds of processor time a second while nothing is due. */
  idle: number
  /** Bytes. */
  used: number
  resident: number
  peak: number
}

/** Starts a daemon, and waits until its first runs are over. What this gives measures it at rest, and ends it. */
async function started(folder: string, name: string, source: string, count: number): Promise<() => Promise<Figures>> {
  const feeds = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `feed-${at}`,
      { ...feedOf(source, 'xml'), chatbot: `${name}-${at}`, schedule: '0 4 1 1 *' },
    ]),
  )
  const config = configure(folder, service.url, feeds, { store: join(folder, `${name}.db`) })
  const memory = join(folder, `${name}.memory`)
  const daemon = startDaemon(config, memory)
  running.push(daemon)
  const ready = await daemon.ready
  await daemon.until(() => daemon.ends.length >= count)
  expected('runs that failed', daemon.ends.filter(({ isFailed }) => isFailed).length, 0)
  return async () => {
    try {
      await rest(daemon, 2)
      const [resident, peak] = [daemon.memory('VmRSS'), daemon.memory('VmHWM')]
      daemon.child.kill('SIGUSR2')
      await daemon.until(() => existsSync(memory) && readFileSync(memory, 'utf8') !== '')
      const used = Number(readFileSync(memory, 'utf8'))
      return { ready, idle: count === many ? await idleOf(daemon) : 0, used, resident, peak }
    } finally {
      await daemon.end()
    }
  }
}

/** Waits until it has done nothing for so many seconds. One that does not rest within a minute is measured as it is. */
async function rest(daemon: ReturnType<typeof startDaemon>, calm: number): Promise<void> {
  for (let seconds = 0, left = 60; seconds < calm && left > 0; left--)
    seconds = (await takenIn(daemon, 1)) === 0 ? seconds + 1 : 0
}

/** Seconds of processor time a second while it rests: V8 tidies up for the last time eight seconds after the work. */
async function idleOf(daemon: ReturnType<typeof startDaemon>): Promise<number> {
  await rest(daemon, 9)
  return (await takenIn(daemon, idleSeconds)) / idleSeconds
}

async function takenIn(daemon: ReturnType<typeof startDaemon>, seconds: number): Promise<number> {
  const before = daemon.processorTime()
  await delay(seconds * 1000)
  return daemon.processorTime() - before
}
