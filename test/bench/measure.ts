import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { home, resoHeader, resoRow, zillowEnd, zillowRecord, zillowStart } from '../support/homes.ts'

/** Median milliseconds of interleaved runs of each subject; interleaving lets other load on the machine hit all alike. */
export async function sideBySide(
  subjects: Record<string, () => Promise<void>>,
  rounds: number,
): Promise<Record<string, number>> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(subjects)) {
      globalThis.gc?.()
      const start = performance.now()
      await run()
      times[name].push(performance.now() - start)
    }
  }
  return Object.fromEntries(
    Object.entries(times).map(([name, all]) => [name, all.toSorted((a, b) => a - b)[all.length >> 1]]),
  )
}

export function ratio(what: string, value: number, goal: string): void {
  console.log(`  ${what.padEnd(60)} ${value.toFixed(2).padStart(8)}   goal ${goal}`)
}

export async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'listing-sync-bench-'))
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
    const one = home(number)
    if (number % 1000 < changed) one.price += 1000
    block += format === 'xml' ? zillowRecord(one, padding) : resoRow(one, width)
    if (block.length < 4_000_000) continue
    writeSync(file, block)
    block = ''
  }
  writeSync(file, block + (format === 'xml' ? zillowEnd : ''))
  closeSync(file)
  return path
}
