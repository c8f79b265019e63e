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
const running: Daemon[] = []
const service = await startService()
await inFolder(async (folder) => {
  const source = writeFeed(folder, 'xml', listings)
  const readyAfter = new Map<number, number[]>(numbers.map((count) => [count, []]))
  const all = new Map<number, Figures>()
  try {
    // The last round waits for the first runs, too.
    for (let round = 1; round < rounds; round++)
      for (const count of numbers) {
        const { daemon, ready } = await started(folder, `${count}-${round}`, source, count)
        readyAfter.get(count)!.push(ready)
        await daemon.end()
      }
    const atRest: (() => Promise<Figures>)[] = []
    // One rests while the next starts.
    for (const count of numbers) atRest.push(await loaded(folder, source, count))
    const figures = await Promise.all(atRest.map((measure) => measure()))
    for (const [at, count] of numbers.entries()) {
      all.set(count, figures[at])
      readyAfter.get(count)!.push(figures[at].ready)
    }
  } finally {
    for (const daemon of running) await daemon.end()
  }
  const of = (count: number, which: keyof Figures): number => all.get(count)![which]
  const ready = (count: number): number => median(readyAfter.get(count)!)
  const few = numbers.at(-2)!
  const slope = (which: keyof Figures): number => (of(many, which) - of(few, which)) / (many - few) / 1024
  const most = (10 * ready(1) + 0.005 * many) / ready(1)
  figure('feeds', `daemon ready: ${many} feeds / one`, ready(many) / ready(1), '×', {
    most: Math.round(most),
  })
  figure('feeds', `daemon of ${many} feeds: a core while idle`, of(many, 'idle') * 100, '%', { most: 1 })
  figure('feeds', `memory in use of each feed from ${few} to ${many}, idle`, slope('used'), 'kB', { most: 50 })
  figure('feeds', `the same, resident`, slope('resident'), 'kB')
  for (const count of numbers) {
    const what = `${count === 1 ? '1 feed' : `${count} feeds`} of ${listings} listings`
    figure('growth', `${what}: ready after`, ready(count), 's')
    figure('growth', `${what}: all loaded after`, of(count, 'loaded'), 's')
    figure('growth', `${what}: calls`, of(count, 'calls'), '')
    figure('growth', `${what}: memory at the peak`, of(count, 'peak') / 2 ** 20, 'MB')
    figure('growth', `${what}: memory at rest`, of(count, 'resident') / 2 ** 20, 'MB')
    figure('growth', `${what}: the store`, of(count, 'stored') / count / 1000, 'kB a feed')
  }
})
await service.end()

type Daemon = ReturnType<typeof startDaemon>

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

/** Starts a daemon with an empty store, and waits until it is at work: after so many seconds. */
async function started(folder: string, name: string, source: string, count: number) {
  const feeds = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `feed-${at}`,
      { ...feedOf(source, 'xml'), chatbot: `${name}-${at}`, schedule: '0 4 1 1 *' },
    ]),
  )
  const store = join(folder, `${name}.db`)
  const memory = join(folder, `${name}.memory`)
  const daemon = startDaemon(configure(folder, service.url, feeds, { store }), memory)
  running.push(daemon)
  return { daemon, store, memory, ready: await daemon.ready }
}

/** Starts one, and waits until its first runs are over. What this gives measures it at rest, and ends it. */
async function loaded(folder: string, source: string, count: number): Promise<() => Promise<Figures>> {
  await service.told()
  const began = performance.now()
  const { daemon, store, memory, ready } = await started(folder, `${count}-loaded`, source, count)
  await daemon.until(() => daemon.ends.length >= count)
  const seconds = (performance.now() - began) / 1000
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
      return { ready, loaded: seconds, calls, idle, used, resident, peak, stored: statSync(store).size }
    } finally {
      await daemon.end()
    }
  }
}

/** Waits until it has done nothing for so many seconds. One that does not rest within a minute is measured as it is. */
async function rest(daemon: Daemon, calm: number): Promise<void> {
  for (let seconds = 0, left = 60; seconds < calm && left > 0; left--)
    seconds = (await takenIn(daemon, 1)) === 0 ? seconds + 1 : 0
}

/** Seconds of processor time a second while it rests. */
async function idleOf(daemon: Daemon): Promise<number> {
  await rest(daemon, calmSeconds)
  return (await takenIn(daemon, idleSeconds)) / idleSeconds
}

async function takenIn(daemon: Daemon, seconds: number): Promise<number> {
  const before = daemon.processorTime()
  await delay(seconds * 1000)
  return daemon.processorTime() - before
}
