import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Garbage is collected, in a turn of its own: a `WeakRef` that was looked at holds for the turn. */
export async function collected(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
}
