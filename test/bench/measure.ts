import { appendFileSync, closeSync, existsSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { home, resoHeader, resoRow, zillowEnd, zillowRecord, zillowStart } from '../support/homes.ts'

export const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1]

const collectAll = (): void => globalThis.gc?.()

/**
 * Of the young objects alone. A whole collection lets go of what V8 has compiled for objects of which none is alive then, which
 * happens to no program that goes on; but after a young one a subject pays for what the one before it left.
 */
export const collectYoung = (): void => globalThis.gc?.({ type: 'minor' } as never)

/** Seconds of processor time that this process takes for a job, all its threads counted. */
export async function processorTime(job: () => Promise<unknown>, collect: () => void = collectAll): Promise<number> {
  collect()
  const before = process.cpuUsage()
  await job()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

/**
 * Medians of interleaved rounds of each subject, which lets other load on the machine hit all alike. A subject gives its own
 * figure, or is measured in processor time, where it gives none. The first round warms up and does not count.
 */
export async function sideBySide<Name extends string>(
  subjects: Record<Name, () => Promise<number | void>>,
  rounds: number,
  collect = collectAll,
): Promise<Record<Name, number>> {
  const names = Object.keys(subjects) as Name[]
  const all = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      let own: number | void = undefined
      const taken = await processorTime(async () => (own = await subjects[name]()), collect)
      if (round > 0) all[name].push(own ?? taken)
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(all[name])])) as Record<Name, number>
}

/** A measured figure and, where there is one, its goal. */
export interface Row {
  goal: string
  what: string
  value: number
  unit: string
  /** null: none is set. */
  limit: { most: number } | { least: number } | null
}

/** Prints a figure and keeps it for the table of `bench.ts`. */
export function figure(goal: string, what: string, value: number, unit: string, limit: Row['limit'] = null): void {
  const row: Row = { goal, what, value, unit, limit }
  process.stdout.write(`  ${what.padEnd(72)} ${inWords(value)} ${unit}   ${verdict(row)}\n`)
  const file = process.env['BENCH_RESULTS']
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`)
}

/** Of a share of one, three digits: 0.989 is not 0.99. */
export const inWords = (value: number): string => {
  const size = Math.abs(value)
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 || size === 0 ? 2 : 3)
}

/** Not met where it is no number, either. */
export function isMet({ value, limit }: Row): boolean {
  if (limit === null) return true
  return 'most' in limit ? value <= limit.most : value >= limit.least
}

export function verdict(row: Row): string {
  if (row.limit === null) return ''
  const words = 'most' in row.limit ? `at most ${row.limit.most}` : `at least ${row.limit.least}`
  return `${words}: ${isMet(row) ? 'met' : '**missed**'}`
}

/** A result that is not the right one: the time it took says nothing. */
export function expected(what: string, found: unknown, wanted: unknown): void {
  const [is, should] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (is !== should) throw new Error(`${what}: ${is} where ${should} is right`)
}

/** The most calls in any window of one second; `starts` in milliseconds, sorted. */
export function mostInASecond(starts: readonly number[]): number {
  let most = 0
  for (let first = 0, last = 0; last < starts.length; last++) {
    while (starts[last] - starts[first] >= 1000) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

/** A disk in memory, where there is one: for loads that are no part of what is measured, and wait for nothing but the disk. */
export const quickDisk = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export async function inFolder(run: (folder: string) => Promise<void>, on = tmpdir()): Promise<void> {
  const folder = mkdtempSync(join(on, 'listing-sync-bench-'))
  try {
    await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Photos added to a record so that it weighs about 5.9 kB, as in real feeds. */
const padding = 30
/** Columns of the wide CSV. */
const width = 150

/** Writes a feed of so many records and gives its path; `changed` in a thousand differ from the same feed without. */
export function writeFeed(folder: string, format: 'xml' | 'csv', records: number, changed = 0): string {
  const path = join(folder, `feed-${records}-${changed}.${format}`)
  const file = openSync(path, 'w')
  const start = format === 'xml' ? zillowStart : resoHeader(width)
  let block = start
  for (let number = 0; number < records; number++) {
    const original = home(number)
    if (number % 1000 < changed) original.price += 1000
    block += format === 'xml' ? zillowRecord(original, padding) : resoRow(original, width)
    if (block.length < 4_000_000) continue
    writeSync(file, block)
    block = ''
  }
  writeSync(file, block + (format === 'xml' ? zillowEnd : ''))
  closeSync(file)
  return path
}
