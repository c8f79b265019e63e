import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { Chatbots } from './chatbots.ts'
import type { StandInListing } from './fields.ts'
import type { RowChange, Rows } from './rows.ts'
import { isSettingName, settingProblem } from './setting-fields.ts'
import type { ChatbotSettings } from './setting-fields.ts'

/*
 * One JSON document per line: first `{"nextId"}`, then one line per write: the row, or null if it was removed, or all settings
 * of a chatbot. So a write costs one line, however many rows there are; each start rewrites the file without old values.
 */

const firstLine = z.object({ nextId: z.int() })
const settingsLine = z.object({
  serialNumber: z.string(),
  settings: z.custom<ChatbotSettings>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      Object.entries(value).every(([name, setting]) => isSettingName(name) && settingProblem(name, setting) === null),
  ),
})
const rowLine = z.object({
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
const writeLine = z.union([settingsLine, rowLine])

/**
 * Fills `rows` and `chatbots` from the file, if there is one, and rewrites it (under another name first, so that a crash
 * leaves the old one). An incomplete last line is a write that was never answered and is dropped. Throws an Error with the line
 * for any other content.
 */
export function loadWorld(path: string, rows: Rows, chatbots: Chatbots): void {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
  lines.forEach((line, index) => {
    try {
      const json: unknown = JSON.parse(line)
      if (index === 0) {
        rows.startIdsAt(firstLine.parse(json).nextId)
      } else {
        const write = writeLine.parse(json)
        if ('settings' in write) chatbots.replace(write.serialNumber, write.settings)
        else rows.restore(write.serialNumber, write.id, write.row)
      }
    } catch (error) {
      throw new Error(`${path}, line ${index + 1}: not a stand-in's data`, { cause: error })
    }
  })
  const writes = rows.serialNumbers.flatMap((serialNumber) =>
    rows.all(serialNumber).map((row) => lineOf({ serialNumber, id: row.id, row })),
  )
  for (const serialNumber of chatbots.serialNumbers) {
    writes.push(lineOf({ serialNumber, settings: chatbots.settings(serialNumber) }))
  }
  writeFileSync(`${path}.new`, `${JSON.stringify({ nextId: rows.nextId })}\n${writes.join('')}`)
  renameSync(`${path}.new`, path)
}

/** One write to the listings or the settings. */
type FileWrite = Omit<RowChange, 'before'> | { serialNumber: string; settings: ChatbotSettings }

/** Appends one write to the file, before its call is answered. */
export function appendWrite(path: string, write: FileWrite): void {
  appendFileSync(path, lineOf(write))
}

function lineOf(write: FileWrite): string {
  return `${JSON.stringify(write)}\n`
}
