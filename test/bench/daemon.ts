/** The built daemon in a process of its own, watched by its log and by Linux's /proc. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { programFile } from './world.ts'

export interface RunEnd {
  feed: string
  isFailed: boolean
}

/** `memory`: the file in which it leaves what is in use, at SIGUSR2. */
export function startDaemon(config: string, memory: string) {
  const began = performance.now()
  const reporter = fileURLToPath(new URL('./report-memory.mjs', import.meta.url))
  const words = ['--expose-gc', '--import', reporter, programFile, 'daemon', '--config', config]
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, BENCH_MEMORY_FILE: memory },
  })
  const ends: RunEnd[] = []
  const others: string[] = []
  const ready = Promise.withResolvers<number>()
  createInterface(child.stderr).on('line', (line) => {
    const { msg, feed } = JSON.parse(line) as { msg: string; feed: string }
    if (msg === 'daemon started') ready.resolve((performance.now() - began) / 1000)
    else if (msg === 'run finished' || msg === 'run failed') ends.push({ feed, isFailed: msg === 'run failed' })
    else others.push(line)
  })
  return {
    child,
    /** Seconds until it was at work. */
    ready: ready.promise,
    /** Of runs, in their order. */
    ends,
    /** What else it said, as lines. */
    others,
    /** Seconds that it has taken, all its threads counted. */
    processorTime(): number {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ')
      return (Number(fields[11]) + Number(fields[12])) / 100
    },
    /** Bytes. */
    memory(which: 'VmRSS' | 'VmHWM'): number {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)![1]) * 1024
    },
    async until(happened: () => boolean): Promise<void> {
      while (!happened()) {
        if (child.exitCode !== null) throw new Error(`the daemon ended: ${others.slice(-20).join('\n')}`)
        await delay(100)
      }
    },
    async end(): Promise<void> {
      if (child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}
