/** Signals to child processes, on a machine that may give them no processor for a while. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from './until.ts'

/** Real milliseconds in which a process that has begun to handle a signal goes on to its handler in JavaScript. */
const soon = 300

/** Sends a signal that the process handles; resolves once it has heard it. */
export async function tell(pid: number, signal: NodeJS.Signals): Promise<void> {
  process.kill(pid, signal)
  await until(() => !isPending(pid))
  await delay(soon)
}

/** Whether a signal waits for the process to be given a processor; false where the system does not say. */
function isPending(pid: number): boolean {
  try {
    return /^ShdPnd:\s*0*[1-9a-f]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}

/** What a process that does nothing takes from its start to its end on a quiet machine, in milliseconds. */
const usual = 50

/**
 * How many times longer than usual things take on this machine right now; 1 at the least. The machine may have been
 * slower a moment ago: what is bounded by this needs a bound several times what it takes.
 */
export function slowness(): number {
  const began = performance.now()
  spawnSync(process.execPath, ['--eval', '0'])
  return Math.max(1, (performance.now() - began) / usual)
}
