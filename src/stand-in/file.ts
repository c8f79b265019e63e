import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { StandInListing } from './fields.ts'
import type { RowChange, Rows } from './rows.ts'

/*
 * One JSON document a line: first `{"nextId"}`, then one line per write, the row or null where it was removed. A write costs
 * one line however many rows there are; the file is written anew, without what has been overwritten, at each start.
 */

const firstLine = z.object({ nextId: z.int() })
const writeLine = z.object({
  serialNumber: z.string(),
  id: z.int(),
  row: z
    .object({
      id: z.int(),
      identifier: z.string(),
      changed: z.int(),
      listing: z.custom<StandInListing>(
        (value) =>
          typeof value === 'object' && value !== null && 'MLSNumber' in value && typeof value.MLSNumber === 'string',
      ),
    })
    .nullable(),
})

/**
 * Fills `rows` from the file, if there is one, and rewrites it (under another name first, so that a crash leaves the old
 * one). A last line without its end is a write that was never answered and is dropped. Throws an Error naming the line
 * where the file is anything else.
 */
export function loadRows(path: string, rows: Rows): void {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
  lines.forEach((line, index) => {
    try {
      const json: unknown = JSON.parse(line)
      if (index === 0) {
        rows.startIdsAt(firstLine.parse(json).nextId)
      } else {
        const { serialNumber, id, row } = writeLine.parse(json)
        rows.restore(serialNumber, id, row)
      }
    } catch (error) {
      throw new Error(`${path}, line ${index + 1}: not a stand-in's data`, { cause: error })
    }
  })
  const writes = rows.serialNumbers.flatMap((serialNumber) =>
    rows.all(serialNumber).map((row) => lineOf({ serialNumber, id: row.id, row })),
  )
  writeFileSync(`${path}.new`, `${JSON.stringify({ nextId: rows.nextId })}\n${writes.join('')}`)
  renameSync(`${path}.new`, path)
}

/** Adds one write to the file, before its call is answered. */
export function appendChange(path: string, change: RowChange): void {
  appendFileSync(path, lineOf(change))
}

function lineOf({ serialNumber, id, row }: Omit<RowChange, 'before'>): string {
  return `${JSON.stringify({ serialNumber, id, row })}\n`
}
