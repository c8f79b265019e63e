/** What tests cost, in a unit that is the same on every machine, busy or not. */

/** Milliseconds of processor time, of a file of tests and of `referenceWork` in the same process right behind it. */
export interface Cost {
  milliseconds: number
  reference: number
}

declare module 'vitest' {
  interface TaskMeta {
    cost?: Cost
  }
}

/** Milliseconds that this process has had a processor for. Time in which others have it does not count. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** What `referenceWork` takes on the machine that the budget was set on, with nothing else running. */
export const usualReference = 12

/** Does always the same, of the kind that tests do: texts, sorting, maps, JSON. Gives the milliseconds that it took. */
export function referenceWork(): number {
  const before = processorTime()
  for (let round = 0; round < 4; round++) {
    const records = Array.from({ length: 3000 }, (_, index) => {
      const number = (index * 7919) % 3001
      return { key: `K-${number}`, price: number * 1000, text: `Home ${number} in ${number % 17} words`.repeat(3) }
    })
    const read = JSON.parse(JSON.stringify(records)) as typeof records
    const byKey = new Map(read.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map((one) => [one.key, one]))
    const found = [...byKey.values()].filter(({ key, text }) => /in (\d+) words/.test(text) && key.endsWith('7'))
    if (found.length !== 300) throw new Error(`the reference work has found ${found.length} records`)
  }
  return processorTime() - before
}
