/** Many feeds in one daemon: how soon it is ready, what it costs while nothing is due, and its memory. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expected, figure, inFolder, median, writeFeed } from './measure.ts'
import { configure, feedOf, programFile, startService } from './world.ts'

const [, , , size, asked] = process.argv
const many = Number(size)
const rounds = Number(asked)
const idleSeconds = rounds === 1 ? 5 : 15

const service = await startService()
await inFolder(async (folder) => {
  const source = writeFeed(folder, 'xml', 10)
  const one: Figures[] = []
  const all: Figures[] = []
  for (let round = 0; round < rounds; round++) {
    one.push(await daemon(folder, `one-${round}`, source, 1))
    all.push(await daemon(folder, `all-${round}`, source, many))
  }
  const of = (figures: Figures[], which: keyof Figures): number => median(figures.map((each) => each[which]))
  const most = (10 * of(one, 'ready') + 0.005 * many) / of(one, 'ready')
  figure('feeds', `daemon ready: ${many} feeds / one`, of(all, 'ready') / of(one, 'ready'), '×', {
    most: Math.round(most),
  })
  figure('feeds', `daemon of ${many} feeds: a core while idle`, of(all, 'idle') * 100, '%', { most: 1 })
  figure('feeds', `daemon of ${many} feeds: memory a feed while idle`, (of(all, 'rss') - of(one, 'rss')) / many, 'kB', {
    most: 50,
  })
  figure('feeds', `daemon of ${many} feeds, first runs of 10 listings each`, of(all, 'peak') / 1024, 'MB at the peak')
})
await service.end()

interface Figures {
  /** Seconds until it is at work. */
  ready: number
  /** Seconds of processor time a second while nothing is due. */
  idle: number
  /** kB. */
  rss: number
  peak: number
}

/** From Linux's /proc, in seconds. */
function processorTimeOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

function memoryOf(pid: number, which: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
}

async function daemon(folder: string, name: string, source: string, count: number): Promise<Figures> {
  const feeds = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `feed-${at}`,
      { ...feedOf(source, 'xml'), chatbot: `${name}-${at}`, schedule: '0 4 1 1 *' },
    ]),
  )
  const config = configure(folder, service.url, feeds, { store: join(folder, `${name}.db`) })
  const began = performance.now()
  const child = spawn(process.execPath, [programFile, 'daemon', '--config', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    let log = ''
    let ready = 0
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      log += more
      if (ready === 0 && log.includes('daemon started')) ready = (performance.now() - began) / 1000
    })
    const runs = (): number => log.split('run finished').length - 1
    while (runs() < count) {
      if (child.exitCode !== null) throw new Error(`the daemon ended: ${log.slice(-2000)}`)
      await delay(200)
    }
    expected('runs that failed', log.split('run failed').length - 1, 0)
    await delay(3000)
    const before = processorTimeOf(child.pid!)
    await delay(idleSeconds * 1000)
    const idle = (processorTimeOf(child.pid!) - before) / idleSeconds
    return { ready, idle, rss: memoryOf(child.pid!, 'VmRSS'), peak: memoryOf(child.pid!, 'VmHWM') }
  } finally {
    const ended = once(child, 'exit')
    child.kill()
    await ended
  }
}
