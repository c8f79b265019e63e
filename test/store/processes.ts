import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const child = fileURLToPath(new URL('./child.ts', import.meta.url))

export interface OtherProcess {
  pid: number | undefined
  /** Kills it with SIGKILL. */
  kill(): Promise<void>
  /** Lets it close the store. */
  end(): Promise<void>
}

/** A process that holds the store open with a lease, two confirmed rows (A, B) and a mark (C). */
export async function otherProcess(file: string): Promise<OtherProcess> {
  const other = spawn(process.execPath, [child, 'hold', file], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void other.kill('SIGKILL'))
  const [line] = await once(other.stdout, 'data')
  if (String(line) !== 'ready\n') throw new Error(`The other process said: ${line}`)
  const exit = once(other, 'exit')
  return {
    pid: other.pid,
    async kill() {
      other.kill('SIGKILL')
      await exit
    },
    async end() {
      other.stdin.end()
      await exit
    },
  }
}

/** Runs an action to its end and gives what it said. `prefix` is a shell command that runs it, such as a limit. */
export function tell(
  action: 'copy' | 'read' | 'hold' | 'fill',
  file: string,
  options: { uid?: number; limit?: string } = {},
): string {
  const words = [process.execPath, child, action, file]
  const result =
    options.limit === undefined
      ? spawnSync(words[0], words.slice(1), { uid: options.uid, input: '', encoding: 'utf8' })
      : spawnSync('sh', ['-c', `${options.limit}; exec "$@"`, 'sh', ...words], { input: '', encoding: 'utf8' })
  return result.stdout + result.stderr
}
