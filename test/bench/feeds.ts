/** Many feeds in one daemon: how soon it is ready, what it costs while nothing is due, and how all of it grows with their number. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startDaemon } from './daemon.ts'
import { expected, figure, inFolder, median, writeFeed } from './measure.ts'
import { configure, feedOf, startService } from './world.ts'

const [, , , size, asked] = process.argv
const many = Number(size)
const numbers = [...[1, 10, 100].filter((count) => count < many), many]
const rounds = Number(asked)
const listings = 10
/** Of rest before idle time is taken, as V8 tidies up for the last time eight seconds after the work; and of that time. */
const [calmSeconds, idleSeconds] = rounds === 1 ? [2, 3] : [9, 15]

/** To be ended, whatever comes. */
const running: ReturnType<typeof startDaemon>[] = []
const service = await startService()
await inFolder(async (folder) => {
  const source = writeFeed(folder, 'xml', listings)
  const all = new Map<number, Figures[]>(numbers.map((count) => [count, []]))
  try {
    for (let round = 0; round < rounds; round++) {
      const atRest: (() => Promise<Figures>)[] = []
      // One rests while the next starts.
      for (const count of numbers) atRest.push(await started(folder, `${count}-${round}`, source, count))
      const measured = await Promise.all(atRest.map((measure) => measure()))
      for (const [at, count] of numbers.entries()) all.get(count)!.push(measured[at])
    }
  } finally {
    for (const daemon of running) await daemon.end()
  }
  const of = (count: number, which: keyof Figures): number => median(all.get(count)!.map((each) => each[which]))
  const few = numbers.at(-2)!
  const slope = (which: keyof Figures): number => (of(many, which) - of(few, which)) / (many - few) / 1024
  const most = (10 * of(1, 'ready') + 0.005 * many) / of(1, 'ready')
  figure('feeds', `daemon ready: ${many} feeds / one`, of(many, 'ready') / of(1, 'ready'), '×', {
    most: Math.round(most),
  })
  figure('feeds', `daemon of ${many} feeds: a core while idle`, of(many, 'idle') * 100, '%', { most: 1 })
  figure('feeds', `memory in use of each feed from ${few} to ${many}, idle`, slope('used'), 'kB', { most: 50 })
  figure('feeds', `the same, resident`, slope('resident'), 'kB')
  for (const count of numbers) {
    const what = `${count === 1 ? '1 feed' : `${count} feeds`} of ${listings} listings`
    figure('growth', `${what}: ready after`, of(count, 'ready'), 's')
    figure('growth', `${what}: all loaded after`, of(count, 'loaded'), 's')
    figure('growth', `${what}: calls`, of(count, 'calls'), '')
    figure('growth', `${what}: memory at the peak`, of(count, 'peak') / 2 ** 20, 'MB')
    figure('growth', `${what}: memory at rest`, of(count, 'resident') / 2 ** 20, 'MB')
    figure('growth', `${what}: the store`, of(count, 'stored') / count / 1000, 'kB a feed')
  }
})
await service.end()

interface Figures {
  /** Seconds until it is at work, and until each feed was loaded. */
  ready: number
  loaded: number
  /** Of the first runs. */
  calls: number
  /** Seconds of processor time a second while nothing is due. */
  idle: number
  /** Bytes. */
  used: number
  resident: number
  peak: number
  /** The store's file. */
  stored: number
}

/** Starts a daemon, and waits until its first runs are over. What this gives measures it at rest, and ends it. */
async function started(folder: string, name: string, source: string, count: number): Promise<() => Promise<Figures>> {
  const feeds = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `feed-${at}`,
      { ...feedOf(source, 'xml'), chatbot: `${name}-${at}`, schedule: '0 4 1 1 *' },
    ]),
  )
  const store = join(folder, `${name}.db`)
  const config = configure(folder, service.url, feeds, { store })
  const memory = join(folder, `${name}.memory`)
  const began = performance.now()
  const daemon = startDaemon(config, memory)
  running.push(daemon)
  const ready = await daemon.ready
  await daemon.until(() => daemon.ends.length >= count)
  const loaded = (performance.now() - began) / 1000
  expected('runs that failed', daemon.ends.filter(({ isFailed }) => isFailed).length, 0)
  const { calls: each } = await service.told()
  expected('creates', each.Create, count * listings)
  const calls = Object.values(each).reduce((sum, some) => sum + some, 0)
  return async () => {
    try {
      await rest(daemon, 2)
      const [resident, peak] = [daemon.memory('VmRSS'), daemon.memory('VmHWM')]
      daemon.child.kill('SIGUSR2')
      await daemon.until(() => existsSync(memory) && readFileSync(memory, 'utf8') !== '')
      const used = Number(readFileSync(memory, 'utf8'))
      const idle = count === many ? await idleOf(daemon) : 0
      return { ready, loaded, calls, idle, used, resident, peak, stored: statSync(store).size }
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

/** Seconds of processor time a second while it rests. */
async function idleOf(daemon: ReturnType<typeof startDaemon>): Promise<number> {
  await rest(daemon, calmSeconds)
  return (await takenIn(daemon, idleSeconds)) / idleSeconds
}

async function takenIn(daemon: ReturnType<typeof startDaemon>, seconds: number): Promise<number> {
  const before = daemon.processorTime()
  await delay(seconds * 1000)
  return daemon.processorTime() - before
}
