/**
 * Whether work grows with its input and no faster. Compared are two sizes, never a time with a limit, so that a slow machine
 * fails nothing; and processor time, so that a busy one does not either.
 */
/** Four times the input may cost so many times as much: linear work costs 4 times, quadratic 16 times. */
const most = 8
/** What is cheaper than this grew from nothing worth measuring: constant cost hides growth, and the clock is coarse. */
const nothing = 100
/** A run that takes so long, at a good ratio, has shown enough. */
const enough = 250

export interface Sizes {
  from: number
  /** No input is larger. */
  to: number
}

/** From so many characters to `times` as many. */
export function sizes(from: number, times = 16): Sizes {
  return { from, to: from * times }
}

/** Milliseconds that this thread has had a processor for: what others of the process do, as to collect garbage, is not counted. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Milliseconds of processor time; a promise that `work` returns is waited for. */
async function cost(task: (size: number) => unknown, size: number): Promise<number> {
  const before = processorTime()
  await task(size)
  return processorTime() - before
}

/**
 * Why `work` grows too fast: four times the input costs more than eight times as much, in each of five attempts, and so does
 * four times as much again. Null: it does not. Compared are the least of what each size has cost, as anything else only adds to
 * it. One step alone is no growth: what no longer fits into the young generation is collected at a higher price, once.
 * Sizes grow fourfold until a run takes long enough, as what is quick has shown nothing yet. `work` makes its own input of that
 * size; that belongs to the cost and has to be linear itself.
 */
export async function excess(task: (size: number) => unknown, { from, to }: Sizes): Promise<string | null> {
  // The first run compiles what it runs, and must not hide growth.
  let before = Math.min(await cost(task, from), await cost(task, from))
  for (let size = from; size * 4 <= to; size *= 4) {
    let after = await cost(task, size * 4)
    for (let attempt = 1; after > nothing && after > before * most; attempt++) {
      if (attempt === 5) {
        const beyond = await cost(task, size * 16)
        if (beyond <= after * most) return null
        const costs = [before, after, beyond].map((milliseconds) => milliseconds.toFixed(1)).join(' → ')
        return `${size} → ${size * 4} → ${size * 16}: ${costs} ms`
      }
      before = Math.min(before, await cost(task, size))
      after = Math.min(after, await cost(task, size * 4))
    }
    if (after >= enough) return null
    before = after
  }
  return null
}
